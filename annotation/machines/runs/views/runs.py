"""Checker runs of a project: start one, see how far it is and what it says, choose the one that annotators see."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.urls import path
from django.views.decorators.http import require_POST

from annotation.access import has_open_work, run_for
from annotation.jobs.queues import look_up_waits, queue_states
from annotation.machines.runs import checker_inputs, retrieved, running_every, suggesting
from annotation.machines.runs.queries import runs as queries
from annotation.machines.runs.queries import samples
from annotation.machines.runs.queries.doubtful import doubtful_units
from annotation.machines.training import trained_models
from annotation.machines.views import to_run
from annotation.models import CheckerRun, Project
from annotation.work import showing
from models_runtime import registry
from models_runtime.contracts import CheckerInfo

LISTED = 50


def offered(request, project: Project) -> tuple[dict[str, CheckerInfo], dict[str, Any]]:
    """The checkers that can run here. What was trained here is run from its own page."""
    retrievals = retrieved.retrievals_for(project, request.user) if _needs_retrieval(project) else []
    usable = suggesting.checkers_of(project.type, retrieved=bool(retrievals))
    infos = {slug: registry.get_info(slug) for slug in usable}
    return {slug: info for slug, info in infos.items() if info.kind != trained_models.KIND}, {"retrievals": retrievals}


def list_parts(request, project: Project, choices: dict[str, Any]) -> dict[str, Any]:
    outcomes, by_retrieval = [], bool(choices["retrievals"])
    if "every" in request.POST and not checker_inputs.why_not(project.type):
        outcomes = running_every.start_every(project, request.user)
    plans = running_every.plans_of(project)
    runs = list(queries.runs_of(project)[:LISTED])
    look_up_waits(run.job for run in runs)
    return {
        "runs": runs,
        "doubtful": {run.pk for run in runs if doubtful_units(run)},
        "why_not": checker_inputs.why_not(project.type, retrieved=by_retrieval),
        "by_retrieval": by_retrieval,
        "needs_retrieval": _needs_retrieval(project) and project.type.is_for_checkers,
        "outcomes": outcomes,
        "ready": [plan for plan in plans if not plan.needs],
        "by_chance": [plan.info.title for plan in plans if running_every.BY_ITSELF in plan.needs],
        "must_train": any(need.is_training for plan in plans for need in plan.needs),
        "queue_states": queue_states({plan.queue for plan in plans if not plan.needs}).values(),
    }


def _needs_retrieval(project: Project) -> bool:
    reader = checker_inputs.reader_of(project.type)
    return reader is not None and reader.needs_retrieval


def parts_of(request, run: CheckerRun) -> dict:
    """What the page of a checker's run shows; nothing that the checker says to members who still label here."""
    project, kind = run.project, run.project.type
    parts = {
        "is_shown": project.prefill_run_id == run.pk,
        "retrieved": retrieved.RetrievedPassages.of(run),
        "doubtful": doubtful_units(run),
    }
    if has_open_work(request.user, project):  # the project's policy may withhold from them what this page shows
        return parts
    numbers = queries.numbers_of(run)
    sample = samples.answers_of(run, kind, request.GET.get("page"))
    items = project.items.filter(item_units__unit__key__in=[one.key for one in sample.object_list])
    showing.showed(project, request.user, items, [run], labels=False)
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


urlpatterns = [path("runs/<uuid:uuid>/show/", run_show, name="run_show")]
