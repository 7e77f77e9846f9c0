"""The labelling page, and the fragments that it and the JSON API share."""

from dataclasses import replace
from pathlib import Path
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.contrib.staticfiles import finders
from django.core.exceptions import BadRequest
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import path, reverse
from django.utils import timezone
from django.utils.safestring import mark_safe
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from annotation import access, incoming
from annotation.models import Assignment, Project, Rater, Shown, User
from annotation.participation import steps
from annotation.projects.guidelines import render as render_markdown
from annotation.projects.limits import last_day
from annotation.projects.queries import guidelines, outlook
from annotation.projects.queries.projects import questions_changed_for
from annotation.projects.raters import rater_of
from annotation.task_types import keys
from annotation.task_words import worded
from annotation.work import assigning, showing
from annotation.work.learning import queries as learning
from annotation.work.queries import own_work, pages, work

SOON = 5  # seconds; work is there, and was just being assigned
SOON_THERE = {"work": "waiting", "learning": "learning"}
WORKER = "js/work/offline/worker.js"
NO_ASSIGNMENT = "00000000-0000-0000-0000-000000000000"


def offer(
    project: Project, rater: Rater, assignment: Assignment | None, guideline_version: int | None, besides=None
) -> dict:
    """What the browser is given next: an item with its payload, or the reason why there is none. `besides` is the
    assignment that is on the screen."""
    if assignment is None:
        found, step = steps.outlook_of(project, rater.user, besides)
        return nothing(found, work.progress(project, rater), project, step)
    return {"state": "item", **item_parts(assignment, rater, guideline_version)}


def take(project: Project, user: User, **options) -> Assignment | None:
    """The next assignment of a person whom nothing is asked before it."""
    step, takes_new = steps.way(project, user)
    return None if step else assigning.take(project, user, takes_new=takes_new, **options)


def suggested(page: pages.LabellingPage, assignment: Assignment, answers: list[dict]) -> list[dict]:
    """The suggestions that the assignment's holder may see now about what they are asked after `answers`, noted as
    served."""
    if not pages.shows_suggestions(assignment):
        return []
    labels = pages.labels_by_unit((one["unit"], one["dimension"], one["label"]) for one in answers)
    suggestions = pages.suggestions_for(page, assignment.project, labels)
    is_theirs = not suggestions or assigning.expose(assignment, assignment.project.prefill_run, len(suggestions))
    return suggestions if is_theirs else []


def item_parts(assignment: Assignment, rater: Rater, guideline_version: int | None, *, revisit: bool = False) -> dict:
    """`html` and `payload` of an assignment's page as its holder may see it now."""
    project = assignment.project
    page = pages.load_page(assignment.item_id, project.type, rater.user)
    revision, answers = pages.own_answers(page, rater) if revisit else (None, [])
    expires = assignment.lease_expires_at
    payload = pages.make_payload(
        page,
        assignment,
        project,
        guideline_version=guideline_version,
        lease_seconds=max(0, int((expires - timezone.now()).total_seconds())) if expires else 0,
        suggestions=suggested(page, assignment, answers),
        revision=revision,
        answers=answers,
    )
    if assignment.reason in Assignment.LEARNING:
        payload["waits"] = True  # for what follows the answer
    context = pages.template_context(page, payload)
    if assignment.reason in Assignment.LEARNING:
        context["lesson"] = learning.lesson_of(project, rater, assignment)
    if revision is not None and assignment.state == Assignment.State.DONE:
        context["decided"] = decided(page, project, rater)
    return {"html": render_to_string("annotation/work/item.html", context), "payload": payload}


def feedback_on(assignment: Assignment, user) -> str:
    """What follows an answer to an item of training or qualification, as HTML: the right answers where the person may
    see them, and how the try ended."""
    context = learning.feedback_on(assignment.project, rater_of(assignment.project, user), assignment.item_id)
    return render_to_string("annotation/work/feedback.html", context) if context else ""


def decided(page: pages.LabellingPage, project: Project, rater: Rater) -> list[dict]:
    """The decision on the item, for an annotator who has answered it, if the project shows that; noted as shown."""
    found = pages.decisions_on(page, project) if project.shows_decisions else []
    if found:
        showing.showed(project, rater.user, [page.item], [], labels=False, more=[Shown.DECISION])
    return found


def nothing(
    outlook_now: outlook.Outlook,
    progress: dict | None = None,
    project: Project | None = None,
    step: steps.Step | None = None,
) -> dict:
    """`state`, the words for the page, when it may look again, and whether this ends what it still has before it."""
    if outlook_now.name in SOON_THERE:
        outlook_now = replace(outlook.OUTLOOKS[SOON_THERE[outlook_now.name]], retry_seconds=SOON)
    context = {"outlook": outlook_now, "progress": progress, "project": project, "step": step}
    context["step_url"] = step.url(project) if step else ""
    html = render_to_string("annotation/work/empty.html", context)
    return {
        "state": "empty",
        "outlook": outlook_now.name,
        "ends": outlook_now.ends,
        "message": str(outlook_now),
        "html": html,
        "retry_seconds": outlook_now.retry_seconds,
    }


def _addresses(project: Project) -> dict:
    def of_assignment(name: str) -> str:
        return reverse(name, args=[NO_ASSIGNMENT]).replace(NO_ASSIGNMENT, "__assignment__")

    return {
        "next": reverse("api_work_next", args=[project.slug]),
        "submit": of_assignment("api_work_submit"),
        "skip": of_assignment("api_work_skip"),
        "release": of_assignment("api_work_release"),
        "shown": of_assignment("api_work_shown"),
        "item": of_assignment("api_work_item"),
        "suggestions": of_assignment("api_work_suggestions"),
        "acknowledge": reverse("api_work_acknowledge", args=[project.slug]),
        "answered": reverse("api_work_answered", args=[project.slug]),
        "page": reverse("work_page", args=[project.slug]),
        "worker": reverse("work_worker", args=[project.slug]),
        "leave": f"/projects/{project.slug}/",
        "login": reverse("account_login"),
    }


def guidelines_told(project: Project, standing: guidelines.Standing, held: int | None) -> dict | None:
    """What a page with the version `held` gets about a newer one: the text, what changed against the version that
    the person acknowledged, and whether they did so with the newer one too, on another page."""
    if (standing.newest or 0) <= (held or 0):
        return None
    texts = dict(
        project.guidelines.filter(version__in=[standing.newest, standing.acknowledged]).values_list(
            "version", "markdown"
        )
    )
    newest, known = texts[standing.newest], texts.get(standing.acknowledged)
    context = {
        "version": standing.newest,
        "known": standing.acknowledged,
        "changes": guidelines.changes(known, newest) if known is not None else [],
        "html": mark_safe(render_markdown(newest)),  # sanitised there
    }
    html = render_to_string("annotation/work/guidelines.html", context)
    return {"version": standing.newest, "acknowledged": standing.acknowledged, "html": html}


def _acknowledged(project: Project, version: int | None) -> dict | None:
    """The version that this person knows, for the page's dialog."""
    known = project.guidelines.filter(version=version).first() if version else None
    return known and {"version": known.version, "html": mark_safe(render_markdown(known.markdown))}


def _wanted(request) -> UUID | None:
    """The item that the address names, by an assignment of it."""
    if "item" not in request.GET:
        return None
    try:
        return incoming.uuid_of(request.GET["item"])
    except incoming.Refused as refused:
        raise BadRequest(f"item {refused}") from None


@login_required
@require_safe
def work_page(request, slug):
    project = access.project_for(request.user, slug, access.ANNOTATOR)
    step, takes_new = steps.way(project, request.user)
    if step is not None and not step.is_after_work:
        return redirect(step.url(project))
    rater, wanted, held, newer = rater_of(project, request.user), _wanted(request), None, 0
    if wanted is not None:
        held, number = own_work.held(rater, wanted), own_work.number_of(rater, wanted)
        if held is None and number is None:
            raise Http404("You neither hold this item nor have you answered it")
    assignment = None if step else held or assigning.take(project, request.user, takes_new=takes_new)
    rater = assignment.rater if assignment else rater
    standing = guidelines.standing(project, request.user)
    first = offer(project, rater, assignment, standing.acknowledged)
    kind = worded(project.type)
    recent, has_older = work.own_answers(rater)
    answered = work.answers_of(rater).count()
    if wanted is not None and held is None and str(wanted) not in recent:
        recent, has_older = work.own_answers(rater, upto=wanted)
        newer = answered - number
    return render(
        request,
        "annotation/work/page.html",
        {
            "project": project,
            "last_day": last_day.of_person(request.user, [project]).get(project.pk),
            "type": kind,
            "shortcuts": keys.shortcuts_of(kind, keys.LABELLING, request.user.own_keys, gettext),
            "takes_highlights": keys.takes_highlights(project.type),
            "keys": keys.page_keys(keys.LABELLING, project.type, request.user.own_keys),
            "urls": _addresses(project),
            "item_html": first["html"],
            "state": first["state"],
            "retry_seconds": first.get("retry_seconds", 0),
            "progress": work.progress(project, rater),
            "guidelines": _acknowledged(project, standing.acknowledged),
            "newer_guidelines": guidelines_told(project, standing, standing.acknowledged),
            "questions_changed": questions_changed_for(project, request.user),
            "recent": recent,
            "has_older": has_older,
            "answered": answered,
            "newer": newer,
            "wanted": "" if held or wanted is None else wanted,
        },
    )


@login_required
@require_safe
def work_worker(request, slug):
    """The script that shows the labelling page without a connection. A browser lets it act on what is below its own
    address: on this page, and on nothing else."""
    access.project_for(request.user, slug, access.ANNOTATOR)
    return HttpResponse(Path(finders.find(WORKER)).read_text("utf-8"), content_type="text/javascript")


urlpatterns = [
    path("projects/<slug:slug>/work/", work_page, name="work_page"),
    path("projects/<slug:slug>/work/worker.js", work_worker, name="work_worker"),
]
