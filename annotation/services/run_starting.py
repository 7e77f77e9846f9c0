"""What starting a run and trying its failures again have in common, be it of a checker, an extractor or a retriever."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence

from django.db.models import Model, QuerySet

from annotation.models import Job
from annotation.services import jobs
from models_runtime.contracts import CheckerInfo

Chunks = Iterable[tuple[dict, int]]


class RunExists(Exception):
    """The same was asked before, and that run is done or on its way."""

    def __init__(self, run: Model) -> None:
        self.run = run
        super().__init__(f"The same run exists already, {run.job.state}, of {run.created_at:%Y-%m-%d %H:%M} UTC")


def digest_of(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def chosen_queue(info: CheckerInfo, queues: Sequence[str], queue: str | None, problem: type[Exception]) -> str:
    """The queue that was asked for, or the first; `problem` where it is none of them."""
    if queue and queue not in queues:
        raise problem(f"{info.title} is work of {' or '.join(queues)}, not of the queue {queue!r}")
    return queue or queues[0]


def same_run(runs: QuerySet, *, again: bool) -> Model | None:
    """The newest of the runs that is on its way or, unless one is wanted `again`, done."""
    standing = runs.filter(job__state__in=jobs.UNFINISHED if again else [*jobs.UNFINISHED, Job.State.DONE])
    return standing.select_related("job").order_by("-pk").first()


def chunks_of(name: str, ids: list[int], size: int) -> Iterator[tuple[dict, int]]:
    """Chunks of at most `size`, whose payload has the ids as `name`."""
    for start in range(0, len(ids), size):
        part = ids[start : start + size]
        yield {name: part}, len(part)


def retry(
    job: Job, failures: QuerySet, column: str, chunks: Callable[[list[int]], Chunks], *, include_permanent: bool
) -> int:
    """Give a job that is done the failures again, those that would fail again only on request. Their number; 0 also
    when the job is not done."""
    if not include_permanent:
        failures = failures.filter(is_permanent=False)
    ids = list(failures.order_by(column).values_list(column, flat=True))
    return len(ids) if ids and jobs.add_chunks(job, chunks(ids)) else 0
