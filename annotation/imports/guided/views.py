"""A new study: its file first; each later step is found again from here."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import dataset_for, may_create, visible_projects
from annotation.datasets.managing import create_dataset, free_title
from annotation.imports import uploads
from annotation.imports.forms import UploadForm
from annotation.imports.guided.queries import last_import, newest_uploads, unfinished_studies
from annotation.imports.views import receive, takes_files, to_columns
from annotation.models import Dataset, User

TITLE_CHARS = Dataset._meta.get_field("title").max_length


def _check_may_create(user: User) -> None:
    if not may_create(user):
        raise PermissionDenied("Your account may not create studies; ask a site administrator")


@takes_files
@require_http_methods(["GET", "HEAD", "POST"])
def study_new(request):
    _check_may_create(request.user)
    form = UploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        title = uploads.title_of(uploads.shown_name(form.cleaned_data["files"][0].name or ""))
        title = free_title(request.user, title[:TITLE_CHARS] or "New study")
        dataset, response = create_dataset(request.user, title), None
        try:
            response = receive(request, dataset, form, is_guided=True)
        finally:
            if response is None:
                dataset.delete()
        if response is not None:
            return response
    context = {"form": form, "limit": settings.UPLOAD_LIMIT // 1024**2, "unfinished": unfinished_studies(request.user)}
    return render(request, "annotation/imports/guided/new.html", context)


@takes_files
@require_http_methods(["GET", "HEAD", "POST"])
def study_file(request, slug):
    """Another file in place of the one that was sent, before anything of it is imported."""
    dataset = dataset_for(request.user, slug, edit=True)
    _check_may_create(request.user)
    form = UploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        before = newest_uploads(dataset, request.user)
        if response := receive(request, dataset, form, is_guided=True):
            for upload in before:
                uploads.remove(upload)
            return response
    context = {"form": form, "limit": settings.UPLOAD_LIMIT // 1024**2, "dataset": dataset}
    return render(request, "annotation/imports/guided/new.html", context)


@login_required
@require_safe
def study(request, slug):
    """The step at which the study stands."""
    dataset = dataset_for(request.user, slug, edit=True)
    if project := visible_projects(request.user).filter(dataset=dataset).order_by("pk").last():
        return redirect("project_detail", project.slug)
    if stored := newest_uploads(dataset, request.user):
        return to_columns(request, dataset, stored, is_guided=True)
    job = last_import(dataset)
    return redirect("import_detail", job.uuid) if job else redirect("study_file", slug)


urlpatterns = [
    path("studies/new/", study_new, name="study_new"),
    path("studies/<slug:slug>/", study, name="study"),
    path("studies/<slug:slug>/file/", study_file, name="study_file"),
]
