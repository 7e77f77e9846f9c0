"""What the runs of all kinds share: starting one from a form, its page, how far it is, trying failures again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_POST, require_safe

from annotation.access import run_for
from annotation.machines.runs import limits
from annotation.machines.runs.forms import LimitsForm, limits_of
from annotation.machines.runs.kinds import RUN_KINDS
from annotation.machines.runs.queries import costs
from annotation.machines.runs.queries import runs as queries
from annotation.machines.runs.queries.checkers import needs_of
from annotation.machines.runs.starting import RunError, SameRun, queues_of
from annotation.models import Job, MachineRun, Project
from models_runtime import registry
from models_runtime.contracts import CheckerInfo, ParameterError


def start_chosen(
    request, machine: str, project: Project, infos: Mapping[str, CheckerInfo], **choices: Any
) -> tuple[MachineRun | None, list[dict]]:
    """The run that the request starts, if it does, and an entry of the page for each of `infos`, with its form.

    `choices` are what forms of this kind are made with besides.
    """
    form_class, chosen = RUN_KINDS[machine].form_class, request.POST.get(machine)
    if chosen is not None and chosen not in infos:
        raise BadRequest(f"{machine}: this project has none of that name")
    given = {chosen: request.POST}
    forms = {slug: form_class(info, given.get(slug), **choices) for slug, info in infos.items()}
    same = None
    if chosen in infos and (form := forms[chosen]).is_valid():
        try:
            return form.start(project, request.user), []
        except SameRun as exists:
            same = exists.run
        except ParameterError as error:
            form.add_error(error.name, str(error))
        except RunError as error:
            form.add_error(None, str(error))
    return None, [
        {
            "info": info,
            "form": forms[slug],
            "needs": needs_of(info),
            "missing": registry.missing_packages(slug),
            "not_configured": registry.not_configured(slug),
            "may_cost": limits.may_ask_server(info),
            "fetch": registry.fetch_command(slug),
            "queues": queues_of(info),
            "is_open": slug == chosen or len(infos) == 1,
            "same_run": same if slug == chosen else None,
        }
        for slug, info in infos.items()
    ]


def render_estimate(request, machine: str, project: Project, info: CheckerInfo, **choices: Any):
    """What the run would cost that the form asks for: a part of the form's page, since counting takes a moment."""
    kind, estimate, problem = RUN_KINDS[machine], None, ""
    form = kind.form_class(info, request.POST, **choices)
    if not form.is_valid():
        problem = "Correct the settings below to see the cost"
    else:
        try:
            estimate, problem = form.estimate(project), form.no_estimate
        except ParameterError as error:
            problem = str(error)
    context = {"estimate": estimate, "problem": problem, "title": info.title, "detail_url": kind.detail_url}
    return render(request, "annotation/runs/estimate.html", context)


def to_run(run: MachineRun):
    return redirect(RUN_KINDS[run.machine].detail_url, uuid=run.uuid)


@login_required
@require_safe
def run_detail(request, uuid, machine):
    return render_run(request, run_for(request.user, uuid, RUN_KINDS[machine].model))


def render_run(request, run: MachineRun, *, status: int = 200, **more: Any):
    kind = RUN_KINDS[run.machine]
    context = _progress(run) | {
        "project": run.project,
        "info": queries.info_of(run),
        "cost": costs.cost_of(run),
        "facts": queries.facts_of(run),
        "limits": limits.CostLimits.of(run.job),
        "limits_form": _limits_form(run),
    }
    return render(request, kind.template, context | kind.parts_of(request, run) | more, status=status)


def _limits_form(run: MachineRun) -> LimitsForm | None:
    info = queries.info_of(run)
    is_over = getattr(run, "origin", None) or run.job.state == Job.State.DONE
    if is_over or info is None or not limits.may_ask_server(info):
        return None
    now = limits.CostLimits.of(run.job)
    return LimitsForm(initial={"limit_tokens": now.tokens, "limit_money": now.money})


def _progress(run: MachineRun) -> dict[str, Any]:
    return {
        "run": run,
        "job": run.job,
        "run_kind": RUN_KINDS[run.machine],
        "progress": queries.progress_of(run),
    }


@login_required
@require_safe
def run_progress(request, uuid, machine):
    """The moving part of a run's page. When the job ends, the page around it is reloaded."""
    run = run_for(request.user, uuid, RUN_KINDS[machine].model)
    response = render(request, "annotation/runs/progress.html", _progress(run))
    if run.job.is_finished:
        response["HX-Refresh"] = "true"
    return response


@login_required
@require_POST
def run_retry(request, uuid, machine):
    kind = RUN_KINDS[machine]
    run = run_for(request.user, uuid, kind.model)
    if not kind.retry_failures(run, include_permanent="permanent" in request.POST):
        messages.info(request, "There is nothing to retry")
    return to_run(run)


@login_required
@require_POST
def run_limits(request, uuid, machine):
    """Other limits; a run that has stopped goes on."""
    run = run_for(request.user, uuid, RUN_KINDS[machine].model)
    form = LimitsForm(request.POST)
    if not form.is_valid():
        messages.error(request, "; ".join(f"{form[name].label}: {error[0]}" for name, error in form.errors.items()))
        return to_run(run)
    chosen = limits_of(form.cleaned_data)
    if reason := limits.why_not(chosen, run.parameters):
        messages.error(request, reason)
    else:
        limits.change(run, chosen)
    return to_run(run)


urlpatterns = [
    path(f"{kind.address}/<uuid:uuid>/{tail}", view, {"machine": machine}, name=name)
    for machine, kind in RUN_KINDS.items()
    for tail, view, name in (
        ("", run_detail, kind.detail_url),
        ("progress/", run_progress, kind.progress_url),
        ("retry/", run_retry, kind.retry_url),
        ("limits/", run_limits, kind.limits_url),
    )
]
