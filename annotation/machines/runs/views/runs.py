"""Checker runs of a project: start one, see how far it is and what it says, choose the one that annotators see."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import RESEARCHER, has_open_work, project_for, run_for
from annotation.jobs.queues import look_up_waits, queue_states
from annotation.machines.drafts.queries import sources
from annotation.machines.generations import generating
from annotation.machines.runs import checker_inputs, retrieved, running_every, suggesting
from annotation.machines.runs.queries import costs, samples
from annotation.machines.runs.queries import runs as queries
from annotation.machines.runs.queries.doubtful import doubtful_units
from annotation.machines.runs.views.shared import render_estimate, start_chosen, to_run
from annotation.machines.training import trained_models
from annotation.models import CheckerRun, Project
from annotation.work import showing
from models_runtime import registry

LISTED = 50


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_runs(request, slug):
    project = project_for(request.user, slug, RESEARCHER)
    retrievals = retrieved.retrievals_for(project, request.user) if _needs_retrieval(project) else []
    usable = suggesting.checkers_of(project.type, retrieved=bool(retrievals))
    infos = {checker: registry.get_info(checker) for checker in usable}
    # What was trained here is run from its own page.
    checkers = {checker: info for checker, info in infos.items() if info.kind != trained_models.KIND}
    why_not = checker_inputs.why_not(project.type, retrieved=bool(retrievals))
    outcomes = []
    if "every" in request.POST and not checker_inputs.why_not(project.type):
        outcomes = running_every.start_every(project, request.user)
    run, entries = start_chosen(request, "checker", project, checkers, retrievals=retrievals)
    if run:
        return to_run(run)
    plans = running_every.plans_of(project)
    runs = list(queries.runs_of(project)[:LISTED])
    look_up_waits(run.job for run in runs)
    context = {
        "project": project,
        "runs": runs,
        "doubtful": {run.pk for run in runs if doubtful_units(run)},
        "why_not": why_not,
        "has_questions": generating.questions_in(project.dataset).exists(),
        "by_retrieval": bool(retrievals),
        "needs_retrieval": _needs_retrieval(project),
        "drafted": sources.overview_of(request.user, project),
        "can_train": len(infos) > len(checkers),
        "outcomes": outcomes,
        "ready": [plan for plan in plans if not plan.needs],
        "others": [plan for plan in plans if plan.needs],
        "queue_states": queue_states({plan.queue for plan in plans if not plan.needs}).values(),
        "entries": entries,
    }
    return render(request, "annotation/runs/list.html", context)


def _needs_retrieval(project: Project) -> bool:
    reader = checker_inputs.reader_of(project.type)
    return reader is not None and reader.needs_retrieval


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def run_estimate(request, slug, checker):
    """What a run would cost with the default parameters, or with those that are posted."""
    project = project_for(request.user, slug, RESEARCHER)
    if checker not in suggesting.checkers_of(project.type, retrieved=_needs_retrieval(project)):
        raise Http404("No such checker here")
    info = registry.get_info(checker)
    if request.method == "POST":
        retrievals = retrieved.retrievals_for(project, request.user) if _needs_retrieval(project) else []
        return render_estimate(request, "checker", project, info, retrievals=retrievals)
    context = {"estimate": costs.estimate_of(project, checker), "title": info.title, "detail_url": "run_detail"}
    return render(request, "annotation/runs/estimate.html", context)


def parts_of(request, run: CheckerRun) -> dict:
    """What the page of a checker's run shows; nothing that the checker says to somebody who still labels here."""
    project, kind = run.project, run.project.type
    parts = {
        "is_shown": project.prefill_run_id == run.pk,
        "retrieved": retrieved.RetrievedPassages.of(run),
        "doubtful": doubtful_units(run),
        # Who still labels here would see on this page what the project's policy may withhold from them.
        "is_blind": has_open_work(request.user, project),
    }
    if parts["is_blind"]:
        return parts
    numbers = queries.numbers_of(run)
    sample = samples.answers_of(run, kind, request.GET.get("page"))
    told = project.items.filter(item_units__unit__key__in=[one.key for one in sample.object_list])
    showing.showed(project, request.user, told, [run], labels=False)
    return parts | {
        "numbers": numbers,
        "shares": queries.label_shares(numbers, kind) if numbers else [],
        "score_rows": queries.score_rows(run, numbers) if numbers else [],
        "sample": sample,
        "failed": samples.failures_of(run, kind),
        "others": queries.others_of(run),
    }


@login_required
@require_POST
def run_show(request, uuid):
    run = run_for(request.user, uuid)
    try:
        suggesting.show_to_annotators(run)
    except suggesting.RunError as error:
        messages.error(request, str(error))
    return to_run(run)


urlpatterns = [
    path("projects/<slug:slug>/runs/", project_runs, name="project_runs"),
    path("projects/<slug:slug>/runs/<slug:checker>/estimate/", run_estimate, name="run_estimate"),
    path("runs/<uuid:uuid>/show/", run_show, name="run_show"),
]
