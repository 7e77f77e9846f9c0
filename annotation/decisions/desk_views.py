"""The adjudicators' page and what its script asks for."""

import json
from functools import wraps
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, PermissionDenied
from django.core.paginator import Paginator
from django.http import JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import path
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_POST, require_safe

from annotation import incoming
from annotation.access import ADJUDICATOR, not_the_person, project_with_labels_for, roles_of
from annotation.decisions import desk
from annotation.models import Decision, Item, Project
from annotation.projects.guidelines import render as render_markdown
from annotation.task_types import keys
from annotation.work.answer_rules import InvalidSubmission
from annotation.work.label_access import labels_served
from annotation.work.queries import unit_words

MAX_BEYOND = 1000


def asked_by_page(view):
    """A request of the page's script, which says whose page it is and gets 401 where they are signed in no longer."""
    signed_in = login_required(require_POST(view))

    @wraps(view)
    def answer(request, *args, **kwargs):
        refusal = not_the_person(request) if "X-Assay-User" in request.headers else None
        return JsonResponse(refusal, status=401) if refusal else signed_in(request, *args, **kwargs)

    return answer


def _project(request, slug) -> Project:
    project = project_with_labels_for(request.user, slug)
    if ADJUDICATOR not in roles_of(request.user, project):
        raise PermissionDenied("This needs the role of adjudicator")
    return project


def _queue(values) -> desk.Queue:
    which, order, beyond = values.get("which", ""), values.get("order", "distance"), values.get("beyond") or "0"
    if which not in desk.WHICH or order not in desk.ORDERS:
        raise BadRequest("There is no such queue")
    try:
        return desk.Queue(which, order, incoming.whole_in_words(beyond, 0, MAX_BEYOND))
    except incoming.Refused as refused:
        raise BadRequest(f"beyond {refused}") from refused


def _body(request) -> dict:
    try:
        body = json.loads(request.body or b"{}")
    except (ValueError, RecursionError) as error:
        raise BadRequest("This is not JSON") from error
    if not isinstance(body, dict):
        raise BadRequest("This is not a JSON object")
    return body


def _shown(request, project: Project, item: Item) -> dict:
    labels_served(request, project, item=item)
    context = desk.parts(project, request.user, item)
    html = render_to_string("annotation/work/item.html", context)
    return {"state": "item", "html": html, "payload": context["payload"]}


def _next(request, project: Project, body: dict) -> dict:
    """The next item of the queue that the request names; those named in `passed` are for later, and `keep` stays on the
    screen."""
    queue, passed = _queue(request.GET), body.get("passed") or []
    try:
        keep = incoming.uuid_of(body["keep"]) if body.get("keep") else None
        passed = [incoming.uuid_of(one) for one in passed[: desk.MAX_PASSED]] if isinstance(passed, list) else []
    except incoming.Refused as refused:
        raise BadRequest(f"passed or keep {refused}") from refused
    item = desk.take(project, request.user, queue, passed, keep)
    waiting = desk.length(project, queue)
    if item is None:
        html = render_to_string("annotation/adjudication/empty.html", {"project": project, "waiting": waiting})
        return {"state": "empty", "html": html, "waiting": waiting}
    return _shown(request, project, item) | {"waiting": waiting}


def _item(project: Project, uuid) -> Item:
    return get_object_or_404(project.items, uuid=uuid)


@login_required
@require_safe
def adjudication(request, slug):
    project = _project(request, slug)
    queue, kind = _queue(request.GET), desk.desk_type(project.type)
    guideline = project.guidelines.order_by("-version").first()
    chosen = {"which": queue.which, "order": queue.order, "beyond": int(queue.beyond)}
    context = {
        "project": project,
        "type": kind,
        "is_desk": True,
        "shortcuts": keys.shortcuts_of(kind, keys.DESK, request.user.own_keys),
        "keys": keys.page_keys(keys.DESK, kind, request.user.own_keys),
        "chosen": chosen,
        "query": urlencode(chosen),
        "which": desk.WHICH.items(),
        "orders": desk.ORDERS.items(),
        "item": request.GET.get("item", "")[:36],
        "reasons": Decision.Reason.choices,
        "guidelines": guideline
        and {"version": guideline.version, "html": mark_safe(render_markdown(guideline.markdown))},
        "waiting": desk.length(project, queue),
        "needs_snapshot": queue.needs_snapshot,
        "snapshot": desk.snapshot_of(project) if queue.needs_snapshot else None,
        "low_posterior": desk.LOW_POSTERIOR,
        "max_counted": desk.MAX_COUNTED,
    }
    return render(request, "annotation/adjudication/page.html", context)


@asked_by_page
def adjudication_next(request, slug):
    return JsonResponse(_next(request, _project(request, slug), _body(request)))


@login_required
@require_POST
def adjudication_snapshot(request, slug):
    """Have posteriors and checkers' uncertainty computed again, and redirect to the job."""
    return redirect("job_detail", desk.start_snapshot(_project(request, slug), request.user).uuid)


@asked_by_page
def adjudication_item(request, slug, uuid):
    """This item, whether it waits or not."""
    project = _project(request, slug)
    item = _item(project, uuid)
    notice = "" if desk.hold(project, request.user, item) else "Another adjudicator has this item now."
    return JsonResponse(_shown(request, project, item) | {"notice": notice})


@asked_by_page
def adjudication_decide(request, slug, uuid):
    """Stores the decision. With `then` the answer has what comes `after`: the "next" item, or the "same" one anew."""
    project = _project(request, slug)
    item, body = _item(project, uuid), _body(request)
    try:
        done = desk.decide(project, request.user, item, body)
    except InvalidSubmission as invalid:
        return JsonResponse({"message": str(invalid)}, status=422)
    except desk.Outdated as outdated:
        return JsonResponse({"message": str(outdated)} | _shown(request, project, item), status=409)
    if body.get("then") == "next":
        return JsonResponse({"done": done, "after": _next(request, project, body)})
    if body.get("then") == "same":
        return JsonResponse({"done": done, "after": _shown(request, project, item)})
    return JsonResponse({"done": done})


@asked_by_page
def adjudication_undo(request, slug, uuid):
    project = _project(request, slug)
    item, body, queue = _item(project, uuid), _body(request), _queue(request.GET)
    try:
        desk.undo(project, request.user, item, body.get("done"))
    except InvalidSubmission as invalid:
        return JsonResponse({"message": str(invalid)}, status=422)
    except desk.Outdated as outdated:
        return JsonResponse({"message": str(outdated)}, status=409)
    desk.hold(project, request.user, item)
    return JsonResponse(_shown(request, project, item) | {"waiting": desk.length(project, queue)})


@asked_by_page
def adjudication_reveal(request, slug, uuid):
    """Names, or checkers' answers, on request; they are noted as shown before they leave the server."""
    project = _project(request, slug)
    item, body = _item(project, uuid), _body(request)
    if body.get("what") == "names":
        labels_served(request, project, item=item)
        return JsonResponse({"names": desk.names(project, request.user, item)})
    if body.get("what") == "checkers":
        return JsonResponse({"suggestions": desk.checkers_view(project, request.user, item)})
    raise BadRequest("what must be names or checkers")


@login_required
@require_safe
def guideline_examples(request, slug):
    """What adjudicators marked as examples for the guidelines, for their author."""
    project = project_with_labels_for(request.user, slug)
    labels_served(request, project)
    rows = Decision.objects.in_force().filter(project=project, for_guidelines=True).select_related("unit")
    page = Paginator(rows.order_by("-pk"), 50).get_page(request.GET.get("page"))
    words = unit_words.words_of(project.type.unit_kind, [row.unit_id for row in page.object_list])
    of_unit = dict(
        Item.objects.filter(
            project=project, item_units__unit__in=[row.unit_id for row in page.object_list]
        ).values_list("item_units__unit", "uuid")
    )
    found = [
        {
            "decision": row,
            "words": words[row.unit_id][0],
            "question": project.type.dimension(row.dimension).title,
            "title": project.type.dimension(row.dimension).title_of(row.label)
            if row.label
            else row.get_outcome_display(),
            "item": of_unit.get(row.unit_id),
        }
        for row in page.object_list
    ]
    return render(
        request,
        "annotation/adjudication/guidelines.html",
        {"project": project, "rows": found, "page": page, "query": ""},
    )


urlpatterns = [
    path("projects/<slug:slug>/adjudication/", adjudication, name="adjudication"),
    path("projects/<slug:slug>/adjudication/next/", adjudication_next, name="adjudication_next"),
    path("projects/<slug:slug>/adjudication/snapshot/", adjudication_snapshot, name="adjudication_snapshot"),
    path("projects/<slug:slug>/adjudication/guidelines/", guideline_examples, name="guideline_examples"),
    path("projects/<slug:slug>/adjudication/items/<uuid:uuid>/", adjudication_item, name="adjudication_item"),
    path(
        "projects/<slug:slug>/adjudication/items/<uuid:uuid>/decide/", adjudication_decide, name="adjudication_decide"
    ),
    path("projects/<slug:slug>/adjudication/items/<uuid:uuid>/undo/", adjudication_undo, name="adjudication_undo"),
    path(
        "projects/<slug:slug>/adjudication/items/<uuid:uuid>/reveal/", adjudication_reveal, name="adjudication_reveal"
    ),
]
