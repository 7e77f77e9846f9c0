"""Asking a machine about the inputs of a chunk. What servers were paid for is kept where that is stopped in the middle:
the server refuses everything or wants a pause, the run's limit is reached, it is cancelled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from annotation.jobs import lifecycle
from annotation.machines.runs import predicting
from annotation.machines.runs.limits import CostLimits, endpoint_of
from annotation.models import MachineRun
from models_runtime.contracts import OF_THE_SERVER, ModelError, Usage

Answer = TypeVar("Answer")
# Answers of a chunk that is larger are stored in parts of this size: as much as a killed worker loses, and the longest
# transaction that annotators wait for.
PART = 256


class LimitReached(Exception):
    """The run has cost as much as it may."""


class _Watched:
    """The lease of a chunk whose beats also look at what the run may cost: what is stored of it, and what has come in
    since, against its limits. `has_more`: something is still to be asked."""

    def __init__(self, lease: lifecycle.Lease, run: MachineRun, has_more: Callable[[], bool]) -> None:
        self.lease, self.chunk, self.has_more = lease, lease.chunk, has_more
        self.limits, self.queue, self.endpoint = CostLimits.of(run.job), run.job.queue, endpoint_of(run.parameters)
        self.usage = Usage(run.prompt_tokens, run.completion_tokens, run.device_seconds)

    def beat(self) -> None:
        self.lease.beat()
        if self.limits and self.has_more() and (reason := self.limits.reached(self.usage, self.endpoint, self.queue)):
            raise LimitReached(f"{reason}. What is done is kept; raise the limit to go on")


def gather(
    run: MachineRun,
    machine: Any,
    inputs: Sequence,
    lease: lifecycle.Lease,
    *,
    check: Callable[[Any], Answer],
    keep: Callable[[dict[int, Answer]], None] | None,
    ask: Callable[[list], list] | None = None,
    measures_time: bool = False,
) -> dict[int, Answer]:
    """The answer to each input by its id, after `check`. Where the run is stopped before all are there, those that hold
    go to `keep`, which stores them and what is left of the chunk; without it they are lost. `ask` and `measures_time`
    are those of `predicting.predict`. Of more than PART answers, those that `keep` has stored are not given back."""
    found: dict[int, Answer] = {}
    kept = 0
    watched = _Watched(lease, run, lambda: kept + len(found) < len(inputs))
    try:
        for answer in predicting.predict(machine, list(inputs), watched, ask=ask, measures_time=measures_time):
            found[int(answer.id)] = check(answer)
            watched.usage += answer.usage or Usage()
            if keep and len(found) == PART and kept + PART < len(inputs):
                keep(found)
                kept, found = kept + PART, {}
    except (*predicting.STOPS, LimitReached, lifecycle.JobCancelled) as stop:
        if isinstance(stop, predicting.STOPS):  # what the server refused is to be asked again
            refused = {one for one, each in found.items() if each.error and each.error.reason in OF_THE_SERVER}
            found = {one: each for one, each in found.items() if one not in refused}
        if found and keep:
            keep(found)
        if isinstance(stop, ModelError | LimitReached):
            raise lifecycle.JobError(str(stop)) from stop
        raise
    return found
