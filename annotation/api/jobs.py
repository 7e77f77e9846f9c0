"""Background work: how far it is, what came of it, cancelling it."""

from rest_framework.response import Response

from annotation import access
from annotation.api import shapes
from annotation.api.routes import Listing, QueryFilter, Route
from annotation.jobs import lifecycle, results
from annotation.jobs.kinds import KINDS
from annotation.jobs.queues import look_up_waits
from annotation.models import Job
from annotation.work.label_access import API, labels_served


class JobsRoute(Listing):
    """The jobs that you may see, without their results, and without messages of those that read labels: ask for the
    job itself."""

    shape = shapes.ListedJobShape
    filters = {
        "kind": QueryFilter("kind", Job.Kind.values),
        "state": QueryFilter("state", Job.State.values),
        "project": QueryFilter("project__slug"),
        "dataset": QueryFilter("dataset__slug"),
    }

    def rows(self, request):
        return access.visible_jobs(request.user).select_related("project", "dataset").defer("result", "parameters")

    def prepared(self, page: list) -> list:
        look_up_waits(page)
        return page


class JobDetailRoute(Route):
    """One job."""

    shape = shapes.JobDetailShape

    def get(self, request, uuid):
        job = access.job_for(request.user, uuid)
        _note_labels(request, job)
        return Response(self.shape(job, context={"request": request}).data)


def _note_labels(request, job: Job) -> None:
    """That this person is served others' labels by the job's result, if they are."""
    if job.result and KINDS[job.kind].is_of_labels and results.tells_labels(request.user, job):
        for project in access.projects_in(job):
            labels_served(request, project, API)


class CancelJobRoute(Route):
    """Ask a job to stop. What it stored and nobody sees yet is taken back."""

    request_shape, response_shape, status = shapes.Nothing, shapes.JobDetailShape, 202

    def post(self, request, uuid):
        job = access.job_for(request.user, uuid)
        lifecycle.request_cancel(job)
        _note_labels(request, job)
        return self.respond(access.job_for(request.user, uuid))


class ResumeJobRoute(Route):
    """Go on with a job that failed or was cancelled; what is done already stays done."""

    request_shape, response_shape, status = shapes.Nothing, shapes.JobDetailShape, 202

    def post(self, request, uuid):
        job = access.job_for(request.user, uuid)
        lifecycle.resume(job)
        _note_labels(request, job)
        return self.respond(access.job_for(request.user, uuid))
