"""Any background job: how far it is, cancel, resume."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_POST, require_safe

from annotation.access import job_for
from annotation.models import Job
from annotation.queries.jobs import progress_of
from annotation.services import jobs

# Kinds of jobs that have a page of their own, which shows the progress, too.
OWN_PAGES = {Job.Kind.IMPORT: "import_detail", Job.Kind.PAIRS: "pairs_detail"}


@login_required
@require_safe
def job_detail(request, uuid):
    job = job_for(request.user, uuid)
    if job.kind in OWN_PAGES:
        return redirect(OWN_PAGES[job.kind], uuid=job.uuid)
    if job.kind == Job.Kind.CHECKER_RUN:
        return redirect("run_detail", uuid=job.checker_run.uuid)
    if job.kind == Job.Kind.TRAINING:
        return redirect("training_detail", uuid=job.trained_model.uuid)
    if job.kind == Job.Kind.EXTRACTION:
        return redirect("extraction_detail", uuid=job.extraction_run.uuid)
    if job.kind == Job.Kind.DRAFTS:
        return redirect("project_drafts", slug=job.project.slug)
    if job.kind == Job.Kind.RETRIEVAL:
        return redirect("retrieval_detail", uuid=job.retrieval_run.uuid)
    if job.kind == Job.Kind.PASSAGES:
        return redirect("retrieval_detail", uuid=job.parameters["run"])
    return render(request, "annotation/jobs/detail.html", {"job": job, "progress": progress_of(job)})


@login_required
@require_safe
def job_progress(request, uuid):
    """The moving part of a job's page, asked for again and again. When the job ends, the page around it is reloaded."""
    job = job_for(request.user, uuid)
    response = render(request, "annotation/jobs/progress.html", {"job": job, "progress": progress_of(job)})
    if job.is_finished:
        response["HX-Refresh"] = "true"
    return response


@login_required
@require_POST
def job_cancel(request, uuid):
    job = job_for(request.user, uuid)
    jobs.request_cancel(job)
    if job.is_finished:
        messages.info(request, f"The job is {job.state}")
    else:
        messages.info(request, "Cancelling; what is being worked on now stops in a moment")
    return redirect("job_detail", uuid=job.uuid)


@login_required
@require_POST
def job_resume(request, uuid):
    job = job_for(request.user, uuid)
    jobs.resume(job)
    return redirect("job_detail", uuid=job.uuid)


urlpatterns = [
    path("jobs/<uuid:uuid>/", job_detail, name="job_detail"),
    path("jobs/<uuid:uuid>/progress/", job_progress, name="job_progress"),
    path("jobs/<uuid:uuid>/cancel/", job_cancel, name="job_cancel"),
    path("jobs/<uuid:uuid>/resume/", job_resume, name="job_resume"),
]
