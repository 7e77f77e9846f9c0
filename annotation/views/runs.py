"""Checker runs of a project: start one, see how far it is and what it says, choose the one that annotators see."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import RESEARCHER, has_open_work, project_for, run_for
from annotation.forms.runs import RunForm
from annotation.queries import costs, draft_sources, run_samples
from annotation.queries import runs as queries
from annotation.queries.doubtful_runs import doubtful_units
from annotation.queries.queues import long_wait, queue_states
from annotation.services import checker_inputs, running_every, showing, suggesting, trained_models
from models_runtime import registry
from models_runtime.contracts import ParameterError

LISTED = 50


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_runs(request, slug):
    project = project_for(request.user, slug, RESEARCHER)
    infos = {checker: registry.get_info(checker) for checker in suggesting.checkers_of(project.type)}
    # What was trained here is run from its own page.
    checkers = {checker: info for checker, info in infos.items() if info.kind != trained_models.KIND}
    forms = {checker: RunForm(info) for checker, info in checkers.items()}
    why_not = checker_inputs.why_not(project.type)
    same_run, outcomes = None, []
    chosen = request.POST.get("checker")
    if "every" in request.POST and not why_not:
        outcomes = running_every.start_every(project, request.user)
    elif chosen in checkers:
        form = forms[chosen] = RunForm(checkers[chosen], request.POST)
        if form.is_valid():
            try:
                again = form.cleaned_data["again"]
                run = suggesting.start_run(project, request.user, chosen, form.parameters, form.queue, again=again)
                return redirect("run_detail", uuid=run.uuid)
            except suggesting.SameRun as same:
                same_run = same.run
            except ParameterError as error:
                form.add_error(error.name, str(error))
            except suggesting.RunError as error:
                form.add_error(None, str(error))
    plans = [] if why_not else running_every.plans_of(project)
    runs = list(queries.runs_of(project)[:LISTED])
    context = {
        "project": project,
        "runs": runs,
        "doubtful": {run.pk for run in runs if doubtful_units(run)},
        "why_not": why_not,
        "drafted": draft_sources.overview_of(request.user, project),
        "can_train": len(infos) > len(checkers),
        "outcomes": outcomes,
        "ready": [plan for plan in plans if not plan.needs],
        "others": [plan for plan in plans if plan.needs],
        "queue_states": queue_states({plan.queue for plan in plans if not plan.needs}).values(),
        "entries": [
            {
                "info": info,
                "form": forms[checker],
                "missing": registry.missing_packages(checker),
                "not_configured": registry.not_configured(checker),
                "fetch": registry.fetch_command(checker),
                "queues": suggesting.queues_of(info),
                "is_open": checker == chosen,
                "same_run": same_run if checker == chosen else None,
            }
            for checker, info in checkers.items()
        ],
    }
    return render(request, "annotation/runs/list.html", context)


@login_required
@require_safe
def run_estimate(request, slug, checker):
    """What a run that asks a server would cost: a part of the page that starts runs, since counting takes a moment."""
    project = project_for(request.user, slug, RESEARCHER)
    if checker not in suggesting.checkers_of(project.type):
        raise Http404("No such checker here")
    return render(request, "annotation/runs/estimate.html", {"estimate": costs.estimate_of(project, checker)})


@login_required
@require_safe
def run_detail(request, uuid):
    run = run_for(request.user, uuid)
    project, kind = run.project, run.project.type
    context = {
        "run": run,
        "job": run.job,
        "project": project,
        "info": queries.info_of(run),
        "progress": queries.progress_of(run),
        "long_wait": long_wait(run.job),
        "cost": costs.cost_of(run),
        "facts": queries.facts_of(run),
        "is_shown": project.prefill_run_id == run.pk,
        "doubtful": doubtful_units(run),
        # Who still labels here would see on this page what the project's policy may withhold from them.
        "is_blind": has_open_work(request.user, project),
    }
    if not context["is_blind"]:
        numbers = queries.numbers_of(run)
        context |= {
            "numbers": numbers,
            "shares": queries.label_shares(numbers, kind) if numbers else [],
            "score_rows": queries.score_rows(run, numbers) if numbers else [],
            "sample": run_samples.answers_of(run, kind, request.GET.get("page")),
            "failed": run_samples.failures_of(run, kind),
            "others": queries.others_of(run),
        }
        told = project.items.filter(item_units__unit__key__in=[one.key for one in context["sample"].object_list])
        showing.showed(project, request.user, told, [run], labels=False)
    return render(request, "annotation/runs/detail.html", context)


@login_required
@require_safe
def run_progress(request, uuid):
    """The moving part of a run's page. When the job ends, the page around it is reloaded."""
    run = run_for(request.user, uuid)
    context = {"run": run, "job": run.job, "progress": queries.progress_of(run), "long_wait": long_wait(run.job)}
    response = render(request, "annotation/runs/progress.html", context)
    if run.job.is_finished:
        response["HX-Refresh"] = "true"
    return response


@login_required
@require_POST
def run_retry(request, uuid):
    run = run_for(request.user, uuid)
    tried = suggesting.retry_failures(run, include_permanent="permanent" in request.POST)
    if not tried:
        messages.info(request, "There is nothing to try again")
    return redirect("run_detail", uuid=run.uuid)


@login_required
@require_POST
def run_show(request, uuid):
    run = run_for(request.user, uuid)
    try:
        suggesting.show_to_annotators(run)
    except suggesting.RunError as error:
        messages.error(request, str(error))
    return redirect("run_detail", uuid=run.uuid)


urlpatterns = [
    path("projects/<slug:slug>/runs/", project_runs, name="project_runs"),
    path("projects/<slug:slug>/runs/<slug:checker>/estimate/", run_estimate, name="run_estimate"),
    path("runs/<uuid:uuid>/", run_detail, name="run_detail"),
    path("runs/<uuid:uuid>/progress/", run_progress, name="run_progress"),
    path("runs/<uuid:uuid>/retry/", run_retry, name="run_retry"),
    path("runs/<uuid:uuid>/show/", run_show, name="run_show"),
]
