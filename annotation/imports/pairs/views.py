"""Making pairs from a data set's own documents: choose, look at what would be made, make them."""

from dataclasses import replace

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import dataset_for, job_for, may_create, may_edit_dataset
from annotation.imports.forms import ImportNowForm
from annotation.imports.pairs import pairing
from annotation.imports.pairs.forms import PairsForm
from annotation.imports.pairs.pairing import PairingProblem, PairRequest
from annotation.imports.pairs.queries import fitting_task_type, material_counts, pairs_result
from annotation.jobs import counts
from annotation.jobs.queries import progress_of
from annotation.models import Job


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def pairs_new(request, slug):
    dataset = dataset_for(request.user, slug, edit=True)
    form = PairsForm(request.POST or None, dataset=dataset)
    if request.method == "POST" and form.is_valid():
        try:
            job = pairing.start(request.user, dataset, form.request(), is_dry_run=True)
            return redirect("pairs_detail", uuid=job.uuid)
        except PairingProblem as problem:
            form.add_error(None, str(problem))
    counted = counts.counted("pairs-material", dataset)
    context = {"dataset": dataset, "form": form, "counted": counted, "counts": material_counts(counted.values or {})}
    return render(request, "annotation/pairs/new.html", context)


def pairs_job_for(request, uuid) -> Job:
    job = job_for(request.user, uuid)
    if job.kind != Job.Kind.PAIRS:
        raise Http404("No such job")
    return job


@login_required
@require_safe
def pairs_detail(request, uuid):
    job = pairs_job_for(request, uuid)
    return _detail(request, job, _now_form(request, job))


def _detail(request, job: Job, form: ImportNowForm | None, status: int = 200):
    context = {
        "job": job,
        "dataset": job.dataset,
        "progress": progress_of(job),
        "result": pairs_result(job),
        "form": form,
        "may_create": may_create(request.user),
        "task_type": fitting_task_type(),
    }
    return render(request, "annotation/pairs/detail.html", context, status=status)


def _now_form(request, job: Job, data=None) -> ImportNowForm | None:
    """What is asked before pairs are made; None where there is nothing to make."""
    result = pairs_result(job)
    if not (result.found.may_import and not result.found.error_count and may_edit_dataset(request.user, job.dataset)):
        return None
    judged = result.found.judged_count
    return ImportNowForm(data, judged=judged, makes_project=False, fitting="", title="")


@login_required
@require_POST
def pairs_start(request, uuid):
    """Make the pairs that the dry run looked at."""
    job = pairs_job_for(request, uuid)
    dataset = dataset_for(request.user, job.dataset.slug, edit=True)
    form = _now_form(request, job, request.POST)
    if form is None:
        messages.error(request, "There are no pairs to make; choose the documents first")
        return redirect("pairs_detail", uuid=uuid)
    if form.is_valid():
        wanted = replace(PairRequest.from_json(job.parameters), on_judged=form.choice)
        try:
            return redirect("pairs_detail", uuid=pairing.start(request.user, dataset, wanted, is_dry_run=False).uuid)
        except PairingProblem as problem:
            form.add_error(None, str(problem))
    return _detail(request, job, form, status=422)


urlpatterns = [
    path("datasets/<slug:slug>/pairs/", pairs_new, name="pairs_new"),
    path("pairs/<uuid:uuid>/", pairs_detail, name="pairs_detail"),
    path("pairs/<uuid:uuid>/start/", pairs_start, name="pairs_start"),
]
