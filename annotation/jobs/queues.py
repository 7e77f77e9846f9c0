"""Why jobs of a queue wait: by the jobs that its workers have in hand, and by the workers' signs of life."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Exists, Max, OuterRef, Q
from django.utils import timezone

from annotation.jobs import workers
from annotation.jobs.leases import takeable
from annotation.models import Chunk, Job

# Workers take what waits within seconds; what waits longer waits for a reason that is worth telling.
PATIENCE = timedelta(seconds=20)


@dataclass(frozen=True)
class QueueState:
    """`at_work`: jobs that a worker has in hand now; `last_begun`: when work on a job was last begun, if ever;
    `n_workers`: workers that serve it, by their signs of life."""

    name: str
    at_work: int = 0
    last_begun: datetime | None = None
    n_workers: int = 0

    @property
    def reason(self) -> str:
        """Why a job of the queue waits."""
        if self.at_work:
            jobs = "1 other job" if self.at_work == 1 else f"{self.at_work:,} other jobs"
            return f"The workers of the queue {self.name} are busy with {jobs}."
        if self.n_workers:
            return f"{self.served}, but the job was not started yet."
        if self.last_begun is None:
            return f"{self.served}."
        since = self.last_begun.astimezone(timezone.get_default_timezone())
        day = "" if since.date() == timezone.localdate() else f"{since:%-d %b %Y}, "
        return f"{self.served}. The last job was started at {day}{since:%H:%M} UTC."

    @property
    def served(self) -> str:
        if not self.n_workers:
            return f"No worker serves the queue {self.name}"
        return (
            f"{'1 worker serves' if self.n_workers == 1 else f'{self.n_workers} workers serve'} the queue {self.name}"
        )

    @property
    def command(self) -> str:
        """What starts a worker for it; nothing where there is one."""
        if self.at_work or self.n_workers:
            return ""
        clock = " -B" if self.name == settings.CELERY_TASK_DEFAULT_QUEUE else ""
        return f"celery -A config worker{clock} -n {self.name}@%h -Q {self.name}"


def queue_states(names: Collection[str]) -> dict[str, QueueState]:
    """By name; two queries."""
    held = Chunk.objects.filter(job=OuterRef("pk"), state=Chunk.State.LEASED, lease_expires_at__gte=timezone.now())
    is_held = Q(Exists(held), state=Job.State.RUNNING)
    rows = Job.objects.filter(queue__in=names).values("queue")
    rows = rows.annotate(at_work=Count("pk", filter=is_held), last_begun=Max("started_at"))
    found = {row["queue"]: (row["at_work"], row["last_begun"]) for row in rows}
    serving = Counter(queue for one in workers.alive() if not one.problem for queue in one.queues)
    return {name: QueueState(name, *found.get(name, (0, None)), serving[name]) for name in names}


def long_wait(job: Job) -> QueueState | None:
    """The queue of a job that has waited for a worker longer than it should, at its start or because the worker that
    had it is gone; None while all is well, and where it waits for something else."""
    return job.found_wait if hasattr(job, "found_wait") else _long_waits([job]).get(job.pk)


def look_up_waits(jobs: Iterable[Job]) -> None:
    """For lists: what `long_wait` says of each of these jobs from now on, in three queries for all of them."""
    jobs = list(jobs)
    found = _long_waits(jobs)
    for job in jobs:
        job.found_wait = found.get(job.pk)


def _long_waits(jobs: list[Job]) -> dict[int, QueueState]:
    now = timezone.now()
    waiting = [
        job
        for job in jobs
        if not (job.is_finished or job.waits_since or job.cancel_requested) and now - job.created_at >= PATIENCE
    ]
    if not waiting:
        return {}
    rows = Chunk.objects.filter(job__in=waiting).values("job")
    rows = rows.annotate(
        held=Count("pk", filter=Q(state=Chunk.State.LEASED, lease_expires_at__gte=now)),
        to_take=Count("pk", filter=takeable(now)),
        seen=Max("started_at"),
        done=Max("done_at"),
        left=Max("lease_expires_at"),
        due=Max("not_before", filter=takeable(now)),
    )
    found = {row["job"]: row for row in rows}
    queues = queue_states({job.queue for job in waiting})
    waits = {}
    for job in waiting:
        row = found.get(job.pk)
        if row is None or row["held"] or not row["to_take"]:
            continue
        moments = [row[name] for name in ("seen", "done", "left", "due") if row[name] is not None]
        if moments and now - max(moments) < PATIENCE:
            continue
        queue = queues[job.queue]
        times = [moment for moment in (queue.last_begun, row["seen"], row["done"]) if moment is not None]
        waits[job.pk] = replace(queue, last_begun=max(times, default=None))
    return waits


def waits_for(job: Job) -> str:
    """What an unfinished job waits for, a server or a worker, in a sentence; empty while it is worked on."""
    if job.waits_since and not job.is_finished:
        return f"{job.waits_for}. Next try at {job.waits_until:%H:%M:%S} UTC."
    wait = long_wait(job)
    return wait.reason if wait else ""
