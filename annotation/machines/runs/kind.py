"""Runs of checkers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.machines.kinds import MachineKind
from annotation.machines.runs import forms, retrieved, shapes, suggesting
from annotation.machines.runs.limits import CostLimits
from annotation.machines.runs.queries import costs
from annotation.machines.runs.retrieved import RetrievedPassages
from annotation.machines.runs.starting import RunError
from annotation.machines.runs.views import runs
from annotation.models import CheckerRun, Project, User


def start(project: Project, user: User, asked: Mapping[str, Any], *, wake_workers: bool = True) -> list[CheckerRun]:
    """Start a run of one of Assay's checkers over the project's units."""
    chosen = (asked["checker"], asked["parameters"], asked["queue"])
    options = {"again": asked["again"], "limits": CostLimits.asked(asked), "wake_workers": wake_workers}
    if repetitions := asked.get("retrievals"):
        return suggesting.start_by_retrievals(
            project, user, chosen[0], repetitions, asked["first"], *chosen[1:], **options
        )
    return [suggesting.start_run(project, user, *chosen, retrieved=_passages(asked), **options)]


def estimate(project: Project, user: User, asked: Mapping[str, Any]) -> costs.RunEstimate | None:
    """About what a run of a checker would cost: as the newest run with these parameters took per unit, or from the
    requests for some of the units. POST what would start it; nothing is started."""
    passages = _passages(asked)
    suggesting.checker_info(project.type, asked["checker"], retrieved=passages is not None)
    if passages and (reason := retrieved.why_not(passages, project, user)):
        raise RunError(reason)
    times = len(asked.get("retrievals") or (None,))
    return costs.estimate_of(project, asked["checker"], asked["parameters"], passages, times)


def _passages(asked: Mapping[str, Any]) -> RetrievedPassages | None:
    return RetrievedPassages(str(asked["retrieval"]), asked["first"]) if asked.get("retrieval") else None


KIND = MachineKind(
    name="run",
    model=CheckerRun,
    start=start,
    estimate=estimate,
    described="Runs of checkers, and what was uploaded of checkers elsewhere.",
    shape=shapes.RunShape,
    request_shape=shapes.NewRun,
    retry=suggesting.retry_failures,
    one="unit",
    several="units",
    title="Checker runs",
    form=forms.RunForm,
    offered=runs.offered,
    list_url="project_runs",
    list_path="projects/<slug:slug>/runs/",
    list_template="annotation/runs/list.html",
    list_parts=runs.list_parts,
    path="runs/",
    template="annotation/runs/detail.html",
    parts=runs.parts_of,
    crumb="project_runs",
    pages=runs.urlpatterns,
)
