"""Read-only JSON for researchers: projects, items, annotations, jobs. Keys and UUIDs, never row numbers."""

from collections.abc import Mapping
from dataclasses import asdict

from django.core.exceptions import BadRequest
from django.db.models import Count, Prefetch, Q
from rest_framework.decorators import api_view
from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination
from rest_framework.response import Response

from annotation import access, incoming
from annotation.models import Annotation, Assignment, Item, Judgement, Membership, Project, Rater, Revision, Span
from annotation.projects.options import named_version
from annotation.task_types import Dimension
from annotation.work.label_access import API, labels_served
from annotation.work.queries.pages import FREE_TEXT

# Parameter -> (lookup, allowed values or None for any). What is not named here is refused.
ITEM_FILTERS = {
    "state": ("state", Item.State.values),
    "key": ("key", None),
    "is_multiple": ("is_multiple", ("true", "false")),
}
ANNOTATION_FILTERS = {
    "item": ("item__key", None),
    "rater": ("rater__pseudonym", None),
    "rater_kind": ("rater__kind", Rater.Kind.values),
    "surplus": ("is_surplus", ("true", "false")),
}
PROJECT_FILTERS = {"state": ("state", Project.State.values), "dataset": ("dataset__slug", None)}
PAGING = ("cursor", "page_size")
_BOOLEANS = {"true": True, "false": False}


class Pages(CursorPagination):
    """By a cursor, so that the last page costs what the first does."""

    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 1000
    ordering = "id"

    def decode_cursor(self, request):
        """The library passes on whatever a cursor says; the place in the table is a row's id."""
        found = super().decode_cursor(request)
        if found is not None and found.position is not None:
            try:
                incoming.whole_in_words(found.position)
            except incoming.Refused:
                raise NotFound(self.invalid_cursor_message) from None
        return found


def _filtered(rows, request, filters: dict):
    for name, value in request.query_params.items():
        if name in PAGING:
            continue
        if name not in filters:
            raise BadRequest(f"Unknown parameter {name!r}; known are {', '.join(filters)}")
        lookup, allowed = filters[name]
        if allowed is not None and value not in allowed:
            raise BadRequest(f"{name} must be one of {', '.join(allowed)}")
        rows = rows.filter(**{lookup: _BOOLEANS[value] if allowed == ("true", "false") else value})
    return rows


def _paged(rows, request, filters: dict, show) -> Response:
    paginator = Pages()
    try:
        rows = _filtered(rows, request, filters)
    except BadRequest as error:
        return Response({"detail": str(error)}, status=400)
    return paginator.get_paginated_response([show(row) for row in paginator.paginate_queryset(rows, request)])


def show_project(project: Project, *, to_researcher: bool) -> dict:
    """Which items come next follows from the seed, and a data set's name may say whose answers are in it: researchers
    alone are told."""
    shown = {
        "slug": project.slug,
        "title": project.title,
        "task_type": project.task_type,
        "state": project.state,
        "overlap": project.overlap,
        "multiple_share": project.multiple_share,
        "order": project.order,
        "prefill": project.prefill,
        "created_at": project.created_at,
    }
    return shown | ({"dataset": project.dataset.slug, "seed": project.seed} if to_researcher else {})


def show_dimension(dimension: Dimension) -> dict:
    """A question as the project asks it. `labels` are the values in the scale's order, which nothing changes;
    `shown_labels` are in the order of the screen, in the project's words; `derived` says which coarser label follows
    from each, by name."""
    return {
        "slug": dimension.slug,
        "title": dimension.title,
        "question": dimension.question,
        "level": dimension.level,
        "answer": dimension.answer,
        "hidden": dimension.is_hidden,
        "labels": dimension.values,
        "shown_labels": [
            {"value": label.value, "title": label.title, "hint": label.hint} for label in dimension.shown_labels
        ],
        "spans": dimension.spans
        and {
            "title": dimension.spans.title,
            "fields": dimension.spans.fields,
            "labels": dimension.spans.labels,
            "required": dimension.spans.required,
        },
        "derived": {derived.slug: dict(derived.of) for derived in dimension.derived},
    }


def show_item(item: Item, *, with_key: bool) -> dict:
    return {
        "uuid": item.uuid,
        **({"key": item.key} if with_key else {}),
        "state": item.state,
        "priority": item.priority,
        "planned": item.planned,
        "is_multiple": item.is_multiple,
        "unit_count": item.unit_count,
        "done": item.done,
        "skipped": item.skipped,
    }


def show_annotation(annotation: Annotation, several: Mapping[str, Dimension]) -> dict:
    """`several` are the questions that take several labels, whose answers are given label by label, too."""
    [revision] = annotation.latest
    return {
        "item": annotation.item.key,
        "rater": annotation.rater.pseudonym,
        "rater_kind": annotation.rater.kind,
        "surplus": annotation.is_surplus,
        "revision": revision.number,
        "shown_at": revision.shown_at,
        "submitted_at": revision.submitted_at,
        "active_ms": revision.active_ms,
        "guideline_version": revision.guideline_version,
        "suggestion_shown": revision.suggestion_shown,
        "labels_seen": revision.labels_seen,
        "options_version": named_version(revision.metadata),
        "free_text": revision.metadata.get(FREE_TEXT),
        "comment": revision.comment,
        "judgements": [
            {
                "unit": row.unit.key,
                "dimension": row.dimension,
                "label": row.label,
                **({"labels": several[row.dimension].chosen(row.label)} if row.dimension in several else {}),
                "spans": [
                    {"field": span.field, "start": span.start, "end": span.end, "quote": span.quote}
                    for span in row.spans.all()
                ],
            }
            for row in revision.judgements.all()
        ],
    }


@api_view(["GET", "HEAD"])
def projects(request):
    rows, own = (
        access.visible_projects(request.user).select_related("dataset"),
        access.researched_projects(request.user),
    )
    if "dataset" in request.query_params:
        rows = rows.filter(pk__in=own)
    researched = set(own.values_list("pk", flat=True))
    return _paged(rows, request, PROJECT_FILTERS, lambda one: show_project(one, to_researcher=one.pk in researched))


@api_view(["GET", "HEAD"])
def project(request, slug):
    found = access.project_for(request.user, slug)
    description = found.type
    shown = {"description": found.description, "options_version": found.options_version}
    shown["dimensions"] = [show_dimension(dimension) for dimension in description.dimensions]
    shown["free_text"] = description.free_text and asdict(description.free_text)
    is_researcher = access.RESEARCHER in access.roles_of(request.user, found)
    return Response(show_project(found, to_researcher=is_researcher) | shown)


@api_view(["GET", "HEAD"])
def items(request, slug):
    found = access.project_for(request.user, slug, Membership.Role.RESEARCHER, Membership.Role.ADJUDICATOR)
    rows = found.items.annotate(
        done=Count("assignments", filter=Q(assignments__state=Assignment.State.DONE)),
        skipped=Count("assignments", filter=Q(assignments__state=Assignment.State.SKIPPED)),
    )
    with_key = access.sees_keys(request.user, found)
    filters = {name: known for name, known in ITEM_FILTERS.items() if with_key or name != "key"}
    return _paged(rows, request, filters, lambda item: show_item(item, with_key=with_key))


@api_view(["GET", "HEAD"])
def annotations(request, slug):
    found = access.project_with_labels_for(request.user, slug)
    spans = Prefetch("spans", Span.objects.order_by("field", "start", "end"))
    judgements = Judgement.objects.select_related("unit").prefetch_related(spans).order_by("id")
    latest = Revision.objects.filter(is_latest=True).prefetch_related(Prefetch("judgements", judgements))
    rows = (
        Annotation.objects.filter(item__project=found)
        .select_related("item", "rater")
        .prefetch_related(Prefetch("revisions", latest, to_attr="latest"))
    )

    by, several = set(), {one.slug: one for one in found.type.dimensions if one.takes_several}

    def show(annotation: Annotation) -> dict:
        by.add(annotation.rater.user_id)
        return show_annotation(annotation, several)

    response = _paged(rows, request, ANNOTATION_FILTERS, show)
    if by - {request.user.pk}:
        labels_served(request, found, API)
    return response


@api_view(["GET", "HEAD"])
def job(request, uuid):
    found = access.job_for(request.user, uuid)
    return Response(
        {
            "uuid": found.uuid,
            "kind": found.kind,
            "state": found.state,
            "project": found.project.slug if found.project else None,
            "dataset": found.dataset.slug if found.dataset else None,
            "progress_done": found.progress_done,
            "progress_total": found.progress_total,
            "message": found.message,
            "result": found.result,
            "created_at": found.created_at,
            "started_at": found.started_at,
            "finished_at": found.finished_at,
        }
    )
