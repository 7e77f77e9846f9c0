"""What a project changes about its task: the form, and how the labelling page's panel will look with it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import RESEARCHER, project_for
from annotation.editing import last_change, locked
from annotation.models import Project, SettingsChange
from annotation.projects.options import set_options
from annotation.work.forms import OptionsForm, with_label_moved
from annotation.work.queries import pages

VERSIONS = 10


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_options(request, slug):
    project = project_for(request.user, slug, RESEARCHER)
    is_draft = "move" in request.POST or "preview" in request.POST
    data = with_label_moved(request.POST) if "move" in request.POST else request.POST or None
    with locked(project, request.method == "POST" and not is_draft):
        form = OptionsForm(data, project=project)
        is_good = request.method == "POST" and (form.is_valid() or "reset" in request.POST and not form.has_conflict)
        if is_good and not is_draft:
            return _store(request, project, {} if "reset" in request.POST else form.options)
    if form.has_conflict:
        form.last_change = last_change(project, SettingsChange.What.QUESTIONS)
    context = {
        "project": project,
        "form": form,
        "parts": form.parts(),
        "words": form.words(),
        "is_draft": is_draft,
        "versions": project.options_versions.select_related("created_by").order_by("-version")[:VERSIONS],
        **_preview(project, form),
    }
    status = 409 if form.has_conflict and not is_draft else 200  # a button that moves a label swaps what succeeds
    return render(request, "annotation/projects/options.html", context, status=status)


def _store(request, project: Project, options: dict):
    before = project.options_version
    set_options(project, request.user, options)
    if project.options_version == before:
        messages.info(request, "There are no changes")
    elif project.options:
        messages.success(request, f"Version {project.options_version} is used from everyone's next item on")
    else:
        messages.success(request, "The task's own questions are used again from everyone's next item on")
    return redirect("project_options", project.slug)


def _preview(project: Project, form: OptionsForm) -> dict:
    if form.is_bound and not form.is_valid():
        return {"units": None}
    return pages.preview_context(project, form.asked())


@login_required
@require_POST
def project_options_preview(request, slug):
    project = project_for(request.user, slug, RESEARCHER)
    form = OptionsForm(request.POST, project=project)
    return render(request, "annotation/projects/options_preview.html", {"form": form, **_preview(project, form)})


urlpatterns = [
    path("projects/<slug:slug>/questions/", project_options, name="project_options"),
    path("projects/<slug:slug>/questions/preview/", project_options_preview, name="project_options_preview"),
]
