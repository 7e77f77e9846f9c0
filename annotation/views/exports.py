"""Exports of a project: start one, see how far it is, download its files."""

from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import job_for, project_with_labels_for, sees_labels
from annotation.forms.exports import ExportForm
from annotation.models import Artifact, Job
from annotation.services import releasing


@login_required
@require_http_methods(["GET", "POST"])
def project_exports(request, slug):
    project = project_with_labels_for(request.user, slug)
    form = ExportForm(project, request.POST or None)
    if request.method == "POST" and form.is_valid():
        releasing.start_export(project, request.user, form.cleaned_data["kinds"])
        return redirect("project_exports", slug=slug)
    jobs = (
        project.jobs.filter(kind=Job.Kind.EXPORT)
        .select_related("created_by")
        .prefetch_related("artifacts")
        .order_by("-created_at")[:20]
    )
    return render(request, "annotation/exports/list.html", {"project": project, "form": form, "jobs": jobs})


@login_required
@require_GET
def artifact_download(request, uuid):
    artifact = get_object_or_404(Artifact.objects.select_related("job__project"), uuid=uuid)
    job = job_for(request.user, artifact.job.uuid)
    if job.project is not None and not sees_labels(request.user, job.project):
        raise Http404("No such file")
    location = releasing.artifact_path(artifact)
    if not location.exists():
        raise Http404("The file is gone; export again")
    return FileResponse(
        location.open("rb"),
        as_attachment=True,
        filename=artifact.file_name,
        content_type=artifact.media_type,
        headers={"X-Content-Type-Options": "nosniff"},
    )


urlpatterns = [
    path("projects/<slug:slug>/exports/", project_exports, name="project_exports"),
    path("artifacts/<uuid:uuid>/", artifact_download, name="artifact_download"),
]
