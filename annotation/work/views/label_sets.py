"""Label sets that people make: the list, one with its panel, and the form that makes one or its next version."""

import json
from dataclasses import replace

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import is_researcher, researched_projects
from annotation.incoming import BAD_CHARACTER, JSON_BYTES, Refused, is_storable, json_value
from annotation.models import LabelSet, User
from annotation.projects import label_sets
from annotation.projects.forms.label_sets import PAGE_CHOICES, LabelSetDraft, blank, draft_from, draft_of, pressed
from annotation.projects.presets import PRESETS
from annotation.task_types import LabelSetError, current_task_types, is_shipped, task_type
from annotation.task_types.label_sets import description_of, page_of, slug_of
from annotation.work.queries import pages


def _researcher(request) -> None:
    if not is_researcher(request.user):
        raise PermissionDenied("Label sets are made by researchers; ask a site administrator for the right")


def _label_set(request, pk: int) -> LabelSet:
    _researcher(request)
    return get_object_or_404(label_sets.label_sets_for(request.user).select_related("created_by", "follows"), pk=pk)


@login_required
@require_safe
def label_set_list(request):
    _researcher(request)
    rows = label_sets.newest_for(request.user).select_related("created_by").order_by("title", "pk")
    page = Paginator(rows, 25).get_page(request.GET.get("page"))
    presets = [(name, description["name"]) for name, description in PRESETS.items()]
    shipped = presets + [(kind.identifier, kind.title) for kind in current_task_types() if page_of(kind)]
    return render(request, "annotation/projects/label_sets/list.html", {"page": page, "shipped": shipped})


@login_required
@require_safe
def label_set_detail(request, pk: int):
    row = _label_set(request, pk)
    kind = task_type(row.identifier)
    context = {
        "label_set": row,
        "kind": kind,
        "projects": researched_projects(request.user).filter(task_type=row.identifier).order_by("title"),
        "page_title": dict(PAGE_CHOICES)[row.description["page"]],
        **pages.panel_context(kind),
    }
    return render(request, "annotation/projects/label_sets/detail.html", context)


@login_required
@require_safe
def label_set_file(request, pk: int):
    row = _label_set(request, pk)
    text = json.dumps(row.description, indent=2, ensure_ascii=False) + "\n"
    response = HttpResponse(text, content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug_of(row.description["name"])}.json"'
    return response


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def label_set_new(request):
    """From nothing, from a task type (`?from=`), from another label set, or from the file of one."""
    _researcher(request)
    if "file" in request.FILES:
        return _from_file(request)
    if request.method == "POST":
        return _edited(request, _draft(request, version=1), None)
    return _form(request, _start(request.user, request.GET.get("from", "")), None)


def _start(user: User, identifier: str) -> LabelSetDraft:
    """What the form begins with; empty where this person has nothing of that name."""
    if identifier in PRESETS:
        return draft_from(PRESETS[identifier], version=1)
    if not (is_shipped(identifier) or label_sets.label_sets_for(user).filter(identifier=identifier).exists()):
        return blank()
    kind = task_type(identifier)
    page = page_of(kind)
    return draft_from(description_of(kind, page, f"{kind.title}, changed"), version=1) if page else blank()


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def label_set_next(request, pk: int):
    row = _label_set(request, pk)
    version = row.description["version"] + 1
    if request.method == "POST":
        return _edited(request, _draft(request, version), row)
    return _form(request, draft_from(row.description, version), row)


def _draft(request, version: int) -> LabelSetDraft:
    """What the form says; 400 with the field's name where something in it cannot be stored."""
    for name, values in request.POST.lists():
        if not all(map(is_storable, values)):
            raise BadRequest(f"{name} {BAD_CHARACTER}")
    return draft_of(request.POST, version)


def _from_file(request):
    file = request.FILES["file"]
    try:
        row = label_sets.save_label_set(request.user, json_value(file.read(JSON_BYTES + 1)))
    except (Refused, LabelSetError) as error:
        messages.error(request, f"{file.name}: {error}")
        return redirect("label_set_list")
    messages.success(request, f"{row} was imported")
    return redirect("label_set_detail", row.pk)


def _edited(request, draft: LabelSetDraft, follows: LabelSet | None):
    if pressed(draft, request.POST.get("do", "")) or "preview" in request.POST:
        return _form(request, draft, follows, is_draft=True)
    kind = draft.check()
    if kind is None:
        return _form(request, draft, follows, status=422)
    if follows is not None and replace(kind, version=kind.version - 1) == replace(
        task_type(follows.identifier), variant=kind.variant
    ):
        messages.info(request, "There are no changes")
        return redirect("label_set_detail", follows.pk)
    row = label_sets.save_label_set(request.user, draft.description, follows)
    messages.success(request, f"{row} was saved")
    return redirect("label_set_detail", row.pk)


def _form(request, draft: LabelSetDraft, follows: LabelSet | None, *, is_draft: bool = False, status: int = 200):
    kind = draft.kind()
    context = {
        "draft": draft,
        "said": draft.raw,
        "questions": draft.questions(),
        "errors": {name: draft.error_at(name) for name in ("name", "page", "summary", "free_text")}
        | {"questions": "; ".join(draft.errors.get("questions", ()))},
        "page_choices": PAGE_CHOICES,
        "follows": follows,
        "is_only": len(draft.raw["questions"]) == 1,
        "is_draft": is_draft,
        **(pages.panel_context(kind) if kind else {"units": None}),
    }
    return render(request, "annotation/projects/label_sets/edit.html", context, status=status)


urlpatterns = [
    path("label-sets/", label_set_list, name="label_set_list"),
    path("label-sets/new/", label_set_new, name="label_set_new"),
    path("label-sets/<int:pk>/", label_set_detail, name="label_set_detail"),
    path("label-sets/<int:pk>/next/", label_set_next, name="label_set_next"),
    path("label-sets/<int:pk>/file/", label_set_file, name="label_set_file"),
]
