"""What starting a run and trying its failures again have in common, be it of a checker, an extractor or a retriever."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from django.db import transaction
from django.forms import BaseForm

from annotation.jobs import lifecycle
from annotation.machines.runs.limits import CostLimits
from annotation.models import Job, MachineRun, Project
from models_runtime.contracts import CheckerInfo

QUEUES = {"cpu": "cpu", "gpu": "gpu", "server": "llm"}
TEXT_LENGTH = 20_000  # of a prompt, and of examples

Chunks = Iterable[tuple[dict, int]]
Run = TypeVar("Run", bound=MachineRun)


class RunError(Exception):
    """The run cannot be started; the message is for the person who asked."""


class InvalidForm(RunError):
    """The values of a form are not valid; its `errors` say which."""

    def __init__(self, form: BaseForm) -> None:
        self.form = form
        super().__init__("; ".join(f"{name}: {' '.join(errors)}" for name, errors in form.errors.items()))


class SameRun(RunError):
    """There is a run of the same machine, version, parameters and inputs that is done or on its way."""

    def __init__(self, run: MachineRun) -> None:
        self.run = run
        super().__init__(f"The same run already exists, {run.job.state}, of {run.created_at:%Y-%m-%d %H:%M} UTC")


def values_for(request: type, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that fields of the request, a dataclass with `limits`, are named after."""
    named = {one.name: asked[one.name] for one in fields(request) if one.name in asked}
    return named | {"limits": CostLimits.asked(asked)}


def digest_of(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def chosen_queue(info: CheckerInfo, queue: str | None) -> str:
    """The queue that was asked for, or the first one of `queues_of`; RunError where it is not one of them."""
    queues = queues_of(info)
    if queue and queue not in queues:
        raise RunError(f"{info.title} runs on the queue {' or '.join(queues)}, not on the queue {queue!r}")
    return queue or queues[0]


def queues_of(info: CheckerInfo) -> tuple[str, ...]:
    """The queues whose workers can do a checker's work, the usual one first: what computes on a device of its choice
    can be given to machines with a GPU or to others."""
    usual = QUEUES[info.needs]
    if any(parameter.name == "device" for parameter in info.parameters):
        return (usual, *(queue for queue in ("cpu", "gpu") if queue != usual))
    return (usual,)


def store_run(
    run: Run,
    kind: Job.Kind,
    *,
    queue: str,
    chunks: Chunks,
    asked: dict[str, str],
    noted: dict,
    again: bool,
    wake_workers: bool,
) -> Run:
    """Store the run with its job, whose parameters are `asked` (hashes of the inputs, by which the same run is found)
    and `noted`. SameRun where there is one that is on its way or, unless one is wanted `again`, done."""
    run.parameters_hash = digest_of(run.parameters)
    with transaction.atomic():
        # Two people who press the button at once get one run.
        Project.objects.select_for_update().get(pk=run.project_id)
        if (wake_workers or not again) and (same := _same_run(run, asked, again)):
            raise SameRun(same)
        run.job = lifecycle.create_job(
            kind,
            run.created_by,
            project=run.project,
            queue=queue,
            chunks=chunks,
            parameters=asked | noted,
            wake_workers=wake_workers,
        )
        run.save()
    return run


def _same_run(run: MachineRun, asked: dict[str, str], again: bool) -> MachineRun | None:
    same = {name: getattr(run, name) for name in ("project", run.machine, "version", "parameters_hash")}
    same |= {f"job__parameters__{name}": digest for name, digest in asked.items()}
    states = lifecycle.UNFINISHED if again else [*lifecycle.UNFINISHED, Job.State.DONE]
    return type(run).objects.filter(**same, job__state__in=states).select_related("job").order_by("-pk").first()


def chunks_of(name: str, ids: list[int], size: int) -> Iterator[tuple[dict, int]]:
    """Chunks of at most `size`, whose payload has the ids as `name`."""
    for start in range(0, len(ids), size):
        part = ids[start : start + size]
        yield {name: part}, len(part)


def retry(run: MachineRun, column: str, chunks: Callable[[list[int]], Chunks], *, include_permanent: bool) -> int:
    """Try the inputs again that failed, of a run that is done; those that would fail again only on request.

    The number of inputs; 0 also when the run is not done. A failure stays on record until its input has an answer.
    """
    if getattr(run, "origin", None):  # it never ran here
        return 0
    failures = run.failures.all()
    if not include_permanent:
        failures = failures.filter(is_permanent=False)
    ids = list(failures.order_by(column).values_list(column, flat=True))
    return len(ids) if ids and lifecycle.add_chunks(run.job, chunks(ids)) else 0
