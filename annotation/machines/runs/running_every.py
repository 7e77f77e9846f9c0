"""One run of every kind of checker that suits a project and that this machine can serve, and why not of the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from annotation.machines.runs import suggesting
from annotation.machines.runs.queries.checkers import Need, needs_of
from annotation.machines.runs.starting import queues_of
from annotation.machines.training import trained_models
from annotation.models import CheckerRun, Job, Project, TrainedModel, User
from annotation.task_types import TaskType
from models_runtime import registry
from models_runtime.contracts import CheckerInfo, ParameterError

TRAIN_FIRST = Need("A checker trained on this project's labels: train one first", is_training=True)
BY_ITSELF = Need("It answers at random, so it is not started here; you can start it below")
DRAWN = "fake"  # the kind of what answers by chance


@dataclass(frozen=True)
class Plan:
    """How a checker would be run, and what is missing for it; nothing where it can run."""

    info: CheckerInfo
    parameters: dict[str, Any] = field(default_factory=dict)
    needs: tuple[Need, ...] = ()

    @property
    def queue(self) -> str:
        return queues_of(self.info)[0]


@dataclass(frozen=True)
class RunOutcome:
    """What came of a checker: a run that was started, the same one that there was already, or why there is none."""

    info: CheckerInfo
    run: CheckerRun | None = None
    is_new: bool = False
    needs: tuple[Need, ...] = ()


def plans_of(project: Project) -> list[Plan]:
    """A plan for each checker of the project's task type, in that order; one query at most."""
    return [_plan(project, registry.get_info(slug)) for slug in suggesting.checkers_of(project.type)]


def _plan(project: Project, info: CheckerInfo) -> Plan:
    if info.kind == DRAWN:
        return Plan(info, needs=(BY_ITSELF,))
    if reason := _unsuited(project.type, info):
        return Plan(info, needs=(Need(reason),))
    needs = needs_of(info)
    parameters = {}
    if info.kind == trained_models.KIND:
        newest = _newest_trained(project)
        parameters = {"model": newest}
        needs += [] if newest else [TRAIN_FIRST]
    return Plan(info, parameters, tuple(needs))


def _unsuited(task_type: TaskType, info: CheckerInfo) -> str:
    try:
        suggesting.checker_info(task_type, info.slug)
    except suggesting.RunError as error:
        return str(error)
    return ""


def _newest_trained(project: Project) -> str:
    trained = TrainedModel.objects.filter(project=project, job__state=Job.State.DONE).exclude(file_hash="")
    return trained.order_by("-pk").values_list("file_hash", flat=True).first() or ""


def start_every(project: Project, user: User, *, wake_workers: bool = True) -> list[RunOutcome]:
    """Start a run of each checker that can run here; one that cannot be started keeps no other from it.

    A run of the same checker, parameters and units that is done or on its way is used instead of a new one.
    """
    outcomes = []
    for plan in plans_of(project):
        if plan.needs:
            outcomes.append(RunOutcome(plan.info, needs=plan.needs))
            continue
        try:
            run = suggesting.start_run(
                project, user, plan.info.slug, plan.parameters, plan.queue, wake_workers=wake_workers
            )
            outcomes.append(RunOutcome(plan.info, run, is_new=True))
        except suggesting.SameRun as same:
            outcomes.append(RunOutcome(plan.info, same.run))
        except (suggesting.RunError, ParameterError) as error:
            outcomes.append(RunOutcome(plan.info, needs=(Need(str(error)),)))
    return outcomes
