"""Any background job: how far it is, cancel, resume."""

from operator import attrgetter

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_POST, require_safe

from annotation.access import job_for
from annotation.jobs import lifecycle, results
from annotation.jobs.queries import progress_of
from annotation.models import ClaimCollection, Job

# Kinds of jobs that have a page of their own, which shows the progress, too: its name, and what its address is made of.
OWN_PAGES = {
    Job.Kind.IMPORT: ("import_detail", attrgetter("uuid")),
    Job.Kind.PAIRS: ("pairs_detail", attrgetter("uuid")),
    Job.Kind.CHECKER_RUN: ("run_detail", attrgetter("checker_run.uuid")),
    Job.Kind.TRAINING: ("training_detail", attrgetter("trained_model.uuid")),
    Job.Kind.EXTRACTION: ("extraction_detail", attrgetter("extraction_run.uuid")),
    Job.Kind.DRAFTS: ("project_drafts", attrgetter("project.slug")),
    Job.Kind.RETRIEVAL: ("retrieval_detail", attrgetter("retrieval_run.uuid")),
    Job.Kind.RULE: ("rule_job", attrgetter("uuid")),
    Job.Kind.PASSAGES: ("retrieval_detail", lambda job: job.parameters["run"]),
    Job.Kind.DOCUMENTS: ("retrieval_detail", lambda job: job.parameters["run"]),
    Job.Kind.GENERATION: ("generation_detail", attrgetter("generation_run.uuid")),
    Job.Kind.RESPONSES: ("generation_detail", lambda job: job.parameters["run"]),
    Job.Kind.CLAIMS: ("claims_detail", lambda job: ClaimCollection.objects.get(job=job).uuid),
    Job.Kind.CHOSEN_CLAIMS: ("claims_detail", lambda job: job.parameters["collection"]),
}


@login_required
@require_safe
def job_detail(request, uuid):
    job = job_for(request.user, uuid)
    if job.kind in OWN_PAGES:
        name, part = OWN_PAGES[job.kind]
        return redirect(name, part(job))
    return render(request, "annotation/jobs/detail.html", _context(request, job))


def _context(request, job: Job) -> dict:
    """The job without failures that tell of labels which this person may not see."""
    tells = job.kind not in results.OF_LABELS or results.tells_labels(request.user, job)
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
