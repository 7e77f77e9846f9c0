"""The pages of the runs of all kinds: the list with what can be started, what a run would cost, how far it is, other
limits, trying failures again, publishing."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.forms import Form
from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import URLPattern, path
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import has_open_work, may_edit_dataset, run_for
from annotation.imports.staged_job import PublishingProblem
from annotation.jobs.queries import progress_of
from annotation.machines.kinds import MachineKind, RunKind, kind_of
from annotation.machines.runs import limits
from annotation.machines.runs.forms import LimitsForm
from annotation.machines.runs.queries import costs
from annotation.machines.runs.queries import runs as queries
from annotation.machines.runs.queries.checkers import group_of, grouped, needs_of
from annotation.machines.runs.starting import RunError, SameRun, queues_of
from annotation.models import Job, MachineRun
from models_runtime import registry
from models_runtime.contracts import CheckerInfo, ParameterError


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def start_page(request, slug, kind: MachineKind):
    """The runs that there are, and a form for each machine that can run here."""
    project = kind.project_for(request.user, slug)
    infos, choices = kind.offered(request, project)
    chosen = request.POST.get(kind.machine)
    if chosen is not None and chosen not in infos:
        raise BadRequest(f"{kind.machine}: this project has none of that name")
    bound = {chosen: request.POST}
    forms = {slug: kind.form(info, bound.get(slug), **choices) for slug, info in infos.items()}
    same = None
    if chosen in infos and (form := forms[chosen]).is_valid():
        try:
            runs = kind.start(project, request.user, _asked(kind, form))
            return to_run(runs[0]) if len(runs) == 1 else redirect(kind.list_url, project.slug)
        except SameRun as exists:
            same = exists.run
        except ParameterError as error:
            form.add_error(error.name, str(error))
        except RunError as error:
            form.add_error(None, str(error))
    entries = [_entry(infos[slug], form, slug == chosen or len(infos) == 1, same) for slug, form in forms.items()]
    context = {"project": project, "run_kind": kind, "entries": entries, "groups": grouped(entries)}
    context |= kind.list_parts(request, project, choices)
    return render(request, kind.list_template, context)


def _asked(kind: RunKind, form: Form) -> dict[str, Any]:
    return form.asked | {kind.machine: form.info.slug}


def _entry(info: CheckerInfo, form: Form, is_open: bool, same: MachineRun | None) -> dict[str, Any]:
    needs = needs_of(info)
    return {
        "info": info,
        "form": form,
        "needs": needs,
        "group": group_of(info, needs),
        "missing": registry.missing_packages(info.slug),
        "not_configured": registry.not_configured(info.slug),
        "may_cost": limits.may_ask_server(info),
        "fetch": registry.fetch_command(info.slug),
        "queues": queues_of(info),
        "is_open": is_open or form.is_filled_in,
        "same_run": same if form.is_bound else None,
    }


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def run_estimate(request, slug, kind: MachineKind, **chosen: str):
    """What the run would cost that the form asks for, or one with the values that the form begins with: a part of the
    form's page, since counting takes a moment."""
    project, estimate, problem = kind.project_for(request.user, slug), None, ""
    (infos, choices), entry = kind.offered(request, project), chosen[kind.machine]
    if entry not in infos:
        raise Http404(f"No such {kind.machine} here")
    data = request.POST if request.method == "POST" else kind.form(infos[entry], **choices).initial_data
    form = kind.form(infos[entry], data, **choices)
    if not form.is_valid():
        problem = "Correct the settings below to see the cost"
    else:
        try:
            estimate, problem = kind.estimate(project, request.user, _asked(kind, form)), form.no_estimate
        except (ParameterError, RunError) as error:
            problem = str(error)
    context = {"estimate": estimate, "problem": problem, "title": infos[entry].title}
    return render(request, "annotation/runs/estimate.html", context | {"detail_url": f"{kind.name}_detail"})


def to_run(run: MachineRun):
    return redirect(f"{kind_of(run).name}_detail", uuid=run.uuid)


@login_required
@require_safe
def run_detail(request, uuid, kind: MachineKind):
    return _render_run(request, run_for(request.user, uuid, kind.model), kind)


def _render_run(request, run: MachineRun, kind: MachineKind, *, status: int = 200, **more: Any):
    context = _progress(run, kind) | {
        "project": run.project,
        "info": queries.info_of(run),
        "cost": costs.cost_of(run),
        "facts": queries.facts_of(run),
        "limits": limits.CostLimits.of(run.job),
        "limits_form": _limits_form(run),
        # What a checker says, which evidence is gold and which model wrote what is hidden from who still labels here.
        "is_blind": has_open_work(request.user, run.project),
    }
    if kind.publishing and kind.publishing.form:
        context |= _publishing(request, run, kind)
    return render(request, kind.template, context | kind.parts(request, run) | more, status=status)


def _publishing(request, run: MachineRun, kind: MachineKind) -> dict[str, Any]:
    published = kind.publishing.jobs_of(run)
    return {
        "publishings": published,
        "publishing": progress_of(published[0]) if published and published[0].state != Job.State.DONE else None,
        "may_publish": may_edit_dataset(request.user, run.project.dataset),
        "why_not": kind.publishing.why_not(run),
        "publish_form": kind.publishing.form(run),
    }


def _limits_form(run: MachineRun) -> LimitsForm | None:
    info = queries.info_of(run)
    is_over = getattr(run, "origin", None) or run.job.state == Job.State.DONE
    if is_over or info is None or not limits.may_ask_server(info):
        return None
    now = limits.CostLimits.of(run.job)
    return LimitsForm(initial={"limit_tokens": now.tokens, "limit_money": now.money})


def _progress(run: MachineRun, kind: MachineKind) -> dict[str, Any]:
    return {"run": run, "job": run.job, "run_kind": kind, "progress": queries.progress_of(run)}


@login_required
@require_safe
def run_progress(request, uuid, kind: MachineKind):
    """The moving part of a run's page. When the job ends, the page around it is reloaded."""
    run = run_for(request.user, uuid, kind.model)
    response = render(request, "annotation/runs/progress.html", _progress(run, kind))
    if run.job.is_finished:
        response["HX-Refresh"] = "true"
    return response


@login_required
@require_POST
def run_retry(request, uuid, kind: MachineKind):
    run = run_for(request.user, uuid, kind.model)
    if not kind.retry(run, include_permanent="permanent" in request.POST):
        messages.info(request, "There is nothing to retry")
    return to_run(run)


@login_required
@require_POST
def run_limits(request, uuid, kind: MachineKind):
    """Other limits; a run that has stopped goes on."""
    run = run_for(request.user, uuid, kind.model)
    form = LimitsForm(request.POST)
    if not form.is_valid():
        messages.error(request, "; ".join(f"{form[name].label}: {error[0]}" for name, error in form.errors.items()))
        return to_run(run)
    chosen = limits.CostLimits.asked(form.cleaned_data)
    if reason := limits.why_not(chosen, run.parameters):
        messages.error(request, reason)
    else:
        limits.change(run, chosen)
    return to_run(run)


@login_required
@require_POST
def run_publish(request, uuid, kind: MachineKind):
    """What the run made becomes content of the data set."""
    run = run_for(request.user, uuid, kind.model, edit=True)
    form = kind.publishing.form(run, request.POST)
    if form.is_valid():
        try:
            kind.publishing.start(request.user, run, **form.cleaned_data)
            return to_run(run)
        except PublishingProblem as problem:
            form.add_error(None, str(problem))
    return _render_run(request, run, kind, status=422, publish_form=form)


def pages_of(kind: RunKind) -> list[URLPattern]:
    """The URLs of all its pages."""
    if not isinstance(kind, MachineKind):
        return [*kind.pages]
    views = {
        "estimate": (f"{kind.list_path}<slug:{kind.machine}>/estimate/", run_estimate),
        "detail": (f"{kind.path}<uuid:uuid>/", run_detail),
        "progress": (f"{kind.path}<uuid:uuid>/progress/", run_progress),
        "retry": (f"{kind.path}<uuid:uuid>/retry/", run_retry),
        "limits": (f"{kind.path}<uuid:uuid>/limits/", run_limits),
    }
    if kind.publishing and kind.publishing.form:
        views["publish"] = (f"{kind.path}<uuid:uuid>/publish/", run_publish)
    return [
        path(kind.list_path, start_page, {"kind": kind}, name=kind.list_url),
        *(path(place, view, {"kind": kind}, name=f"{kind.name}_{name}") for name, (place, view) in views.items()),
        *kind.pages,
    ]
