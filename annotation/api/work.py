"""What the labelling page says to the server. Plain JSON views: every millisecond here is waited for by a person.

An answer is stored in one transaction; the next item is taken in another, after the first is safe on disk.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from uuid import UUID

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import DatabaseError
from django.http import Http404, JsonResponse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from rest_framework.exceptions import APIException, NotAuthenticated

from annotation import access, incoming
from annotation.api.problems import problem_response, refused
from annotation.api.repeating import once_of_body
from annotation.api.tokens import ANNOTATE, bearer_of, check_scope, token_in
from annotation.models import Annotation, Assignment
from annotation.projects import guidelines as guideline_service
from annotation.projects.queries import guidelines
from annotation.projects.queries.outlook import OUTLOOKS
from annotation.projects.raters import rater_of
from annotation.projects.settings import SETTINGS
from annotation.statements import prepares_statements
from annotation.work import annotating, assigning
from annotation.work.learning import results
from annotation.work.queries import pages, work
from annotation.work.views.labelling import (
    feedback_on,
    guidelines_told,
    item_parts,
    nothing,
    offer,
    suggested,
    take,
)

log = logging.getLogger(__name__)

MAX_REASON = 2000
MOST_READY = SETTINGS["items_ahead"].bounds[1]
MOST_AT_ONCE = 10  # items in the answer to one request


def only(*verbs: str):
    """As Django's `require_http_methods`, with a refusal that says so."""

    def decorate(view):
        @wraps(view)
        def answer(request, *args, **kwargs):
            if request.method in verbs:
                return view(request, *args, **kwargs)
            response = problem_response(405, f"Only {' and '.join(verbs)} can be used here")
            response["Allow"] = ", ".join(verbs)
            return response

        return answer

    return decorate


def json_view(view):
    """For a user who is signed in, or a program with a token that may annotate; errors are answered in JSON,
    to programs as problem details, whose repeated requests have their effect once. A page says whose it is: once
    another user has signed in with the same browser, what it sends waits for the person who said it."""

    def of_page(request, *args, **kwargs):
        if "X-Assay-User" not in request.headers and not request.user.is_authenticated:  # no page
            return refused(NotAuthenticated())
        if details := access.not_the_person(request):
            return JsonResponse(details, status=401)
        try:
            return view(request, *args, **kwargs)
        except REFUSED as error:
            status, details = _problem_of(error)
            return JsonResponse(details, status=status)

    of_page = csrf_protect(of_page)

    @csrf_exempt  # of_page is protected; a token is in no cookie that another site could make a browser send
    @wraps(view)
    def answer(request, *args, **kwargs):
        if not bearer_of(request):
            return of_page(request, *args, **kwargs)
        try:
            token = token_in(request)
            check_scope(token, ANNOTATE)
            request.user = token.user
            return once_of_body(request, lambda: view(request, *args, **kwargs))
        except APIException as error:
            return refused(error)
        except REFUSED as error:
            status, details = _problem_of(error)
            errors = details.get("errors", [])
            message = details.get("message") or details.get("title") or "; ".join(one["message"] for one in errors)
            return problem_response(status, message, **({"errors": errors} if errors else {}))

    return never_cache(prepares_statements(answer))


REFUSED = (annotating.InvalidSubmission, annotating.Conflict, assigning.AssigningError, Http404, PermissionDenied)


def _problem_of(error: Exception) -> tuple[int, dict]:
    """Status and words of what a view refuses."""
    match error:
        case annotating.InvalidSubmission():
            names = ("unit", "dimension", "field", "message")
            errors = [{name: getattr(one, name) for name in names} for one in error.errors]
            return 422, {"status": "invalid", "errors": errors}
        case Http404():
            return 404, {"status": "missing", "message": str(error)}
        case access.Removed():
            return 403, {"status": "forbidden", **nothing(OUTLOOKS[error.outlook])}
        case PermissionDenied():
            return 403, {"status": "forbidden", "message": str(error)}
    return 409, {"status": "conflict", "message": str(error)}


def _body(request) -> dict:
    """The request's JSON object. Beacons come as forms, which carry nothing but the token."""
    if request.content_type in ("application/x-www-form-urlencoded", "multipart/form-data"):
        return {}
    try:
        body = incoming.json_value(request.body or b"{}")
    except RequestDataTooBig:
        raise annotating.InvalidSubmission([annotating.FieldError(gettext("The request is too large"))]) from None
    except incoming.Refused as refused:
        place = refused.place
        raise annotating.InvalidSubmission(
            [annotating.FieldError(f"{place or 'The request'} {refused}", field=place)]
        ) from None
    if not isinstance(body, dict):
        raise annotating.InvalidSubmission([annotating.FieldError("The request is not a JSON object")])
    return body


def _checked(name: str, value: object, kind: Callable, *limits: int):
    """The value as `kind` of `annotation.incoming` gives it; InvalidSubmission with the field's name otherwise. None
    where there is none."""
    if value is None:
        return None
    try:
        return kind(value, *limits)
    except incoming.Refused as refused:
        raise annotating.InvalidSubmission([annotating.FieldError(f"{name} {refused}", field=name)]) from None


def _after(body: dict) -> UUID | None:
    """The item on the screen."""
    return _checked("after", body.get("after") or None, incoming.uuid_of)


def _holds(sent: Iterable) -> list[UUID]:
    """The items that the page has ready, with the one after which it asks for more."""
    names = list(sent) if isinstance(sent, list | tuple) else None
    if names is None or len(names) > MOST_READY:
        message = f"holds must be a list of at most {MOST_READY} assignments"
        raise annotating.InvalidSubmission([annotating.FieldError(message, field="holds")])
    return [_checked("holds", one, incoming.uuid_of) for one in names]


def _instant(body: dict, name: str) -> datetime | None:
    return _checked(name, body.get(name) or None, incoming.instant)


@dataclass(frozen=True)
class Screen:
    """What a page has when it sends an answer: the item on the screen, since when, and those that are ready."""

    after: UUID | None
    after_shown_at: datetime | None
    holds: list[UUID]


def _screen(body: dict) -> Screen:
    """Looked at before anything is stored."""
    return Screen(_after(body), _instant(body, "after_shown_at"), _holds(body.get("holds") or []))


def _held(body: dict, assignment: Assignment) -> int | None:
    """The version of the guidelines that the page holds; what the person last acknowledged where it does not say."""
    if "guideline_version" not in body:
        return assignment.guideline_acknowledged
    return _checked("guideline_version", body["guideline_version"], incoming.whole, 0, incoming.MAX_INTEGER)


def _progress_and_next(request, assignment: Assignment, body: dict, screen: Screen) -> dict:
    """How far the work is, the next item where it was asked for, and a newer version of the guidelines. The answer
    before it is stored: no failure in looking for more may look like its own."""
    project, rater, ahead = assignment.project, None, None
    if body.get("want_next") and len(screen.holds) < project.items_ahead:
        after = screen.after or assignment.uuid
        try:
            assigned = take(
                project, request.user, ahead=True, after=after, holds=screen.holds, shown_at=screen.after_shown_at
            )
            rater = assigned.rater if assigned else rater_of(project, request.user)
            ahead = offer(project, rater, assigned, assignment.guideline_acknowledged, after)
        except (DatabaseError, ValueError):
            log.exception("No item could be fetched ahead in %s", project.slug)
    rater = rater or rater_of(project, request.user)
    standing = guidelines.Standing(assignment.guideline_newest, assignment.guideline_acknowledged)
    details = guidelines_told(project, standing, _held(body, assignment))
    warning = results.due_warning(rater)
    return {
        "progress": work.progress(project, rater),
        "ahead": ahead,
        "guidelines": details,
        **({"warning": warning} if warning else {}),
    }


@only("GET", "HEAD")
@json_view
def next_item(request, slug):
    project = access.project_for(request.user, slug, access.ANNOTATOR)
    after, holds = _after(request.GET), _holds(request.GET.getlist("holds"))
    most = _checked("most", request.GET.get("most"), incoming.whole_in_words, 1, MOST_AT_ONCE) or 1
    most = min(most, project.items_ahead - len(holds))
    if most < 1:
        return JsonResponse({"state": "enough"})
    standing = guidelines.standing(project, request.user)
    offers = []
    while len(offers) < most:  # the last one may be the reason why there are no more
        assigned = take(project, request.user, ahead=request.GET.get("ahead") == "1", after=after, holds=holds)
        rater = assigned.rater if assigned else rater_of(project, request.user)
        offers.append(offer(project, rater, assigned, standing.acknowledged, after))
        if assigned is None:
            break
        holds.append(assigned.uuid)
    details = guidelines_told(project, standing, standing.acknowledged)
    first, *more = offers
    return JsonResponse(first | ({"more": more} if more else {}) | {"guidelines": details})


@only("GET", "HEAD")
@json_view
def answered(request, slug):
    """The way back: which items this person answered, before the one that they have reached."""
    project = access.project_for(request.user, slug, access.ANNOTATOR)
    before = _checked("before", request.GET.get("before") or None, incoming.uuid_of)
    try:
        found, has_older = work.own_answers(rater_of(project, request.user), before)
    except Annotation.DoesNotExist:
        raise Http404("You have not answered that item") from None
    return JsonResponse({"assignments": found, "has_older": has_older})


@only("POST")
@json_view
def submit(request, uuid):
    body = _body(request)
    screen = _screen(body)
    try:
        assignment = access.assignment_for(request.user, uuid)
    except access.Removed as removed:
        # What was stored while they took part is told again, where the first reply got lost.
        stored = annotating.stored_before(removed.assignment, request.user, body)
        if stored is None:
            raise
        return JsonResponse({"status": "saved", "revision": stored.revision, "surplus": stored.is_surplus})
    stored = annotating.submit(assignment, request.user, body)
    return JsonResponse(
        {
            "status": "saved",
            "revision": stored.revision,
            "surplus": stored.is_surplus,
            "suggestions": stored.suggestions,
            "prefill": assignment.prefill_arm,
            **({"feedback": feedback_on(assignment, request.user)} if assignment.reason in Assignment.LEARNING else {}),
            **_progress_and_next(request, assignment, body, screen),
        }
    )


@only("POST")
@json_view
def acknowledge(request, slug):
    """The person was shown a version of the guidelines and said so. Repeating it changes nothing."""
    body = _body(request)
    version = _checked("version", body.get("version"), incoming.whole, 1, incoming.MAX_INTEGER)
    at = _instant(body, "at")
    project = access.project_for(request.user, slug, access.ANNOTATOR)
    if version is None:
        raise annotating.InvalidSubmission([annotating.FieldError("version is missing", field="version")])
    try:
        stored = guideline_service.acknowledge(project, request.user, version, at)
    except guideline_service.NoSuchVersion as missing:
        raise annotating.InvalidSubmission([annotating.FieldError(str(missing), field="version")]) from None
    return JsonResponse({"status": "saved", "version": stored.version, "at": stored.acknowledged_at.isoformat()})


@only("POST")
@json_view
def skip(request, uuid):
    body = _body(request)
    screen, shown_at = _screen(body), _instant(body, "shown_at")
    reason = _checked("reason", body.get("reason") or "", incoming.text, MAX_REASON)
    try:
        assignment = access.assignment_for(request.user, uuid)
    except access.Removed as removed:
        if not assigning.is_skipped(removed.assignment, request.user):
            raise
        return JsonResponse({"status": "saved"})
    _held(body, assignment)  # looked at before anything is stored
    try:
        flag, park = body.get("flag") is True, body.get("park") is True
        is_skipped = assigning.skip(
            assignment, request.user, reason, flag=flag, park=park and not flag, shown_at=shown_at
        )
    except assigning.NoReason as missing:
        raise annotating.InvalidSubmission([annotating.FieldError(str(missing), field="reason")]) from None
    if not is_skipped:
        raise annotating.Conflict(gettext("You have answered this item already; change the answer instead."))
    return JsonResponse({"status": "saved", **_progress_and_next(request, assignment, body, screen)})


@only("POST")
@json_view
def take_back(request, uuid):
    """The person takes their skip back, and is given the item again. Repeating it changes nothing."""
    row = assigning.take_back_skip(access.assignment_for(request.user, uuid), request.user)
    return JsonResponse({"status": "saved", "assignment": str(row.uuid)})


@only("POST")
@json_view
def shown(request, uuid):
    body = _body(request)
    at = _instant(body, "at")
    assignment = access.assignment_for(request.user, uuid)
    kept = assigning.shown(assignment, request.user, at, suggestions=body.get("suggestions") is True)
    return JsonResponse({"status": "saved" if kept else "lost"})


def _answers(body: dict) -> list[dict]:
    """What the page's person has answered so far: units, dimensions and labels."""
    answers = body.get("answers")
    names = ("unit", "dimension", "label")
    if not isinstance(answers, list) or not all(
        isinstance(one, dict) and all(isinstance(one.get(name), str) for name in names) for one in answers
    ):
        message = f"answers must be a list of objects with {', '.join(names)}"
        raise annotating.InvalidSubmission([annotating.FieldError(message, field="answers")])
    return answers


@only("POST")
@json_view
def suggestions(request, uuid):
    """What is suggested about the questions that are asked after the answers on the page: no page holds a suggestion
    about a question that is asked only after another answer before that is given."""
    body = _body(request)
    assignment = access.assignment_for(request.user, uuid)
    answers = _answers(body)
    is_own = assignment.rater_id == rater_of(assignment.project, request.user).pk
    if not is_own or assignment.state not in (Assignment.State.LEASED, Assignment.State.DONE):
        raise Http404("No such assignment")
    page = pages.load_page(assignment.item_id, assignment.project.type, request.user)
    return JsonResponse({"suggestions": suggested(page, assignment, answers)})


@only("POST")
@json_view
def release(request, uuid):
    assignment = access.assignment_for(request.user, uuid)
    return JsonResponse({"status": "released" if assigning.release(assignment, request.user) else "kept"})


@only("GET", "HEAD")
@json_view
def own_item(request, uuid):
    """An item that this person holds or has answered, with what they said last."""
    assignment = access.assignment_for(request.user, uuid)
    rater = rater_of(assignment.project, request.user)
    if assignment.rater_id != rater.pk:
        # Answered late and kept as surplus: the place belongs to another person, the answer does not.
        if not Annotation.objects.filter(item=assignment.item_id, rater=rater).exists():
            raise Http404("No such assignment")
        assignment.prefill_arm, assignment.suggestions_shown_at = "off", None
        assignment.state, assignment.lease_expires_at = Assignment.State.DONE, None
    return JsonResponse(item_parts(assignment, rater, assignment.guideline_acknowledged, revisit=True))
