"""Any background job: how far it is, cancel, resume."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_POST, require_safe

from annotation.access import job_for
from annotation.jobs import lifecycle, results
from annotation.jobs.kinds import KINDS
from annotation.jobs.queries import progress_of
from annotation.models import Job


@login_required
@require_safe
def job_detail(request, uuid):
    job = job_for(request.user, uuid)
    kind = KINDS[job.kind]
    if kind.page:
        return redirect(kind.page, kind.page_of(job))
    return render(request, "annotation/jobs/detail.html", _context(request, job))


def _context(request, job: Job) -> dict:
    """The job without failures that tell of labels which this person may not see."""
    tells = not KINDS[job.kind].is_of_labels or results.tells_labels(request.user, job)
    if not tells:
        job.message = ""
    return {"job": job, "progress": progress_of(job, with_failures=tells)}


@login_required
@require_safe
def job_progress(request, uuid):
    """The moving part of a job's page, asked for again and again. When the job ends, the page around it is reloaded."""
    job = job_for(request.user, uuid)
    response = render(request, "annotation/jobs/progress.html", _context(request, job))
    if job.is_finished:
        response["HX-Refresh"] = "true"
    return response


@login_required
@require_POST
def job_cancel(request, uuid):
    job = job_for(request.user, uuid)
    lifecycle.request_cancel(job)
    if job.is_finished:
        messages.info(request, f"The job is {job.state}")
    else:
        messages.info(request, "Cancelling; parts in progress stop shortly")
    return redirect("job_detail", uuid=job.uuid)


@login_required
@require_POST
def job_resume(request, uuid):
    job = job_for(request.user, uuid)
    lifecycle.resume(job)
    return redirect("job_detail", uuid=job.uuid)


urlpatterns = [
    path("jobs/<uuid:uuid>/", job_detail, name="job_detail"),
    path("jobs/<uuid:uuid>/progress/", job_progress, name="job_progress"),
    path("jobs/<uuid:uuid>/cancel/", job_cancel, name="job_cancel"),
    path("jobs/<uuid:uuid>/resume/", job_resume, name="job_resume"),
]
