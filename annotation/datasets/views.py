"""Data sets: the list, one with its imports and projects, and making a new one."""

from copy import copy

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import IntegrityError, transaction
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import dataset_for, may_create, may_edit_dataset
from annotation.datasets import queries
from annotation.datasets.forms import DatasetForm, DatasetSettingsForm
from annotation.datasets.managing import update_dataset
from annotation.editing import last_change, locked
from annotation.jobs import counts
from annotation.models import SettingsChange


@login_required
@require_safe
def dataset_list(request):
    page = Paginator(queries.dataset_list(request.user), 25).get_page(request.GET.get("page"))
    return render(request, "annotation/datasets/list.html", {"page": page, "may_create": may_create(request.user)})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def dataset_new(request):
    if not may_create(request.user):
        raise PermissionDenied("Your account may not create data sets; ask a site administrator")
    form = DatasetForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.instance.owner = request.user
        try:
            with transaction.atomic():
                return redirect("import_new", slug=form.save().slug)
        except IntegrityError:  # made at the same moment, after the form was checked
            form.add_error("slug", "A data set with this short name already exists")
    return render(request, "annotation/datasets/new.html", {"form": form})


@login_required
@require_safe
def dataset_detail(request, slug):
    dataset = dataset_for(request.user, slug)
    counted = counts.counted("content", dataset)
    rows = queries.content_counts(counted.values or {})
    context = {
        "dataset": dataset,
        "counted": counted,
        "counts": rows,
        "is_empty": not rows and not counted.is_waiting,
        "has_sets": any(row.sets for row in rows),
        "imports": queries.import_history(dataset, request.user),
        "projects": queries.projects_of(dataset, request.user),
        "may_edit": may_edit_dataset(request.user, dataset),
        "may_create": may_create(request.user),
        "has_documents": queries.documents_of(dataset).exists(),
    }
    return render(request, "annotation/datasets/detail.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def dataset_settings(request, slug):
    """Its title and description, with who changed them."""
    dataset = dataset_for(request.user, slug, edit=True)
    with locked(dataset, request.method == "POST"):
        form = DatasetSettingsForm(request.POST or None, instance=copy(dataset))  # the page tells what is stored
        if request.method == "POST" and form.is_valid():
            update_dataset(dataset, request.user, **form.changes)
            messages.success(request, "Saved")
            return redirect("dataset_detail", slug)
    if form.has_conflict:
        form.last_change = last_change(dataset, SettingsChange.What.DATASET)
    changes = dataset.settings_changes.select_related("user").order_by("-pk")
    page = Paginator(changes, 50).get_page(request.GET.get("page"))
    rows = [(one, [(name.capitalize(), *values) for name, values in one.changes.items()]) for one in page.object_list]
    context = {"dataset": dataset, "form": form, "page": page, "rows": rows}
    return render(request, "annotation/datasets/settings.html", context, status=409 if form.has_conflict else 200)


urlpatterns = [
    path("datasets/", dataset_list, name="dataset_list"),
    path("datasets/new/", dataset_new, name="dataset_new"),
    path("datasets/<slug:slug>/", dataset_detail, name="dataset_detail"),
    path("datasets/<slug:slug>/settings/", dataset_settings, name="dataset_settings"),
]
