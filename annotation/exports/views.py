"""Exports of a project: start one, see how far it is, download its files."""

from collections.abc import Callable
from pathlib import Path

from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_safe

from annotation import incoming
from annotation.access import project_with_labels_for, projects_with_labels_for
from annotation.exports import releasing
from annotation.exports.forms import ExportForm
from annotation.exports.tools import lost_in
from annotation.jobs import counts
from annotation.jobs.queries import progress_of
from annotation.models import Artifact, Job
from annotation.projects import cases
from annotation.work import showing
from annotation.work.label_access import FILE, labels_served

SHOWN = 20


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_exports(request, slug):
    project = project_with_labels_for(request.user, slug)
    form = ExportForm(project, request.POST or None)
    if request.method == "POST" and form.is_valid():
        releasing.start_export(project, request.user, **form.cleaned_data)
        return redirect("project_exports", slug=slug)
    jobs = (
        project.jobs.filter(kind=Job.Kind.EXPORT)
        .select_related("created_by")
        .prefetch_related("artifacts")
        .order_by("-created_at")[:SHOWN]
    )
    rows = [
        {
            "job": job,
            "progress": None if job.is_finished else progress_of(job),
            "open": [
                (project.type.dimension(slug).title, list(counts.items()))
                for slug, counts in job.result.get("without_label", {}).items()
            ],
        }
        for job in jobs
    ]
    held = counts.counted("not-in-files", project)
    lost = {tool.title: lost_in(project, name, held.values or {}) for name, tool in form.tools.items()}
    first, *others = lost.values() or [[]]
    by_all = [one for one in first if others and all(one in each for each in others)]
    losses = [("All of them", by_all)] if by_all else []
    losses += [(title, [one for one in each if one not in by_all]) for title, each in lost.items()]
    context = {"project": project, "form": form, "rows": rows, "losses": losses, "counted": held}
    context["divided"] = cases.divided(project)
    context["is_done"] = bool(rows) and rows[0]["job"].state == Job.State.DONE
    return render(request, "annotation/exports/list.html", context)


@login_required
@require_safe
def artifact_download(request, uuid):
    return serve_file(request, artifact_for(uuid))


def artifact_for(uuid) -> Artifact:
    """The file of a project's job; nobody's rights are checked yet."""
    artifact = Artifact.objects.select_related("job__project").filter(uuid=uuid).first()
    if artifact is None or artifact.job.project is None:
        raise Http404("No such file")
    return artifact


def serve_file(request, artifact: Artifact, readers: Callable = projects_with_labels_for) -> HttpResponse:
    """The file, or the part of it that is asked for. The one way by which stored labels leave as a file: `readers`
    refuses the person, or returns the projects in the file for which their access is noted; by default every project
    in it, for a user who may see the labels of all of them."""
    projects = readers(request.user, artifact.job)
    response = _sent(request, artifact)
    for project in projects:
        labels_served(request, project, FILE)
        if request.method == "GET" and artifact.media_type != "application/json":  # a manifest holds no labels
            showing.handed_out(request.user, artifact, project)
    return response


def _sent(request, artifact: Artifact) -> HttpResponse:
    """The file, or the part of it that is asked for."""
    location = releasing.artifact_path(artifact)
    if not location.is_file():
        raise Http404("The file is gone; export again")
    response = _part(request, location, artifact) or FileResponse(location.open("rb"))
    response["Content-Type"] = artifact.media_type
    name = artifact.file_name
    if is_withdrawn(artifact):
        stem, dot, end = name.rpartition(".")
        name = f"{stem}-WITHDRAWN{dot}{end}"
        response["Assay-Withdrawn"] = "true"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    response["Accept-Ranges"] = "bytes"
    response["ETag"] = f'"{artifact.sha256}"'
    return response


def is_withdrawn(artifact: Artifact) -> bool:
    """Whether it is a file of a release that must not be used any more."""
    release = getattr(artifact.job, "release", None) or getattr(artifact.job, "public_release", None)
    return release is not None and release.is_withdrawn


def _part(request, location: Path, artifact: Artifact) -> HttpResponse | None:
    """The part of the file that an interrupted download asks for; None where the whole is wanted."""
    if request.headers.get("If-Range", f'"{artifact.sha256}"') != f'"{artifact.sha256}"':
        return None  # begun with another file
    try:
        asked = incoming.byte_range(request.headers.get("Range", ""), artifact.size)
    except incoming.Refused:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{artifact.size}"})
    if asked is None:
        return None
    start, end = asked
    file = location.open("rb")
    file.seek(start)
    response = FileResponse(_Limited(file, end + 1 - start), status=206)
    response["Content-Length"] = str(end + 1 - start)
    response["Content-Range"] = f"bytes {start}-{end}/{artifact.size}"
    return response


class _Limited:
    """An open file that ends after `left` bytes."""

    def __init__(self, file, left: int):
        self.file, self.left = file, left

    def read(self, size: int = -1) -> bytes:
        block = self.file.read(self.left if size < 0 else min(size, self.left))
        self.left -= len(block)
        return block

    def close(self) -> None:
        self.file.close()


urlpatterns = [
    path("projects/<slug:slug>/exports/", project_exports, name="project_exports"),
    path("artifacts/<uuid:uuid>/", artifact_download, name="artifact_download"),
]
