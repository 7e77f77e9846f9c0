"""Exports of a project's content and labels, as files."""

from annotation import access
from annotation.api import shapes
from annotation.api.problems import invalid_form
from annotation.api.routes import Listing, QueryFilter, Route
from annotation.exports import releasing
from annotation.exports.forms import ExportForm
from annotation.exports.layouts import kinds_for
from annotation.exports.views import artifact_for, serve_file
from annotation.models import Job


class ExportsRoute(Listing):
    """Exports, each a job with the files that it made."""

    shape, request_shape, status = shapes.ExportShape, shapes.NewExport, 202
    filters = {"state": QueryFilter("state", Job.State.values)}

    def rows(self, request, slug):
        project = access.project_with_labels_for(request.user, slug)
        return project.jobs.filter(kind=Job.Kind.EXPORT).prefetch_related("artifacts")

    def post(self, request, slug):
        """Write the files. An export that is under way already and would be the same is given instead."""
        project = access.project_with_labels_for(request.user, slug)
        body = self.validated_body(request)
        form = ExportForm(project, body | {"kinds": body["kinds"] or list(kinds_for(project))})
        if not form.is_valid():
            raise invalid_form(form)
        job = releasing.start_export(project, request.user, **form.cleaned_data)
        return self.respond(job, Location=f"/api/v1/jobs/{job.uuid}/")


class FileRoute(Route):
    """A file of an export or a release; an interrupted download goes on by Range."""

    answers_with = "*/*"

    def get(self, request, uuid):
        return serve_file(request, artifact_for(uuid))
