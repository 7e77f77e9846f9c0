"""What jobs tell about the workers of a queue: whether they are at work, and when one last took work there.

Which workers listen to a queue is known to the broker alone, and asking it takes seconds.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Exists, Max, OuterRef, Q
from django.utils import timezone

from annotation.jobs.leases import takeable
from annotation.models import Chunk, Job

# Workers take what waits within seconds; what waits longer waits for a reason that is worth telling.
PATIENCE = timedelta(seconds=20)


@dataclass(frozen=True)
class QueueState:
    """`at_work`: jobs that a worker has in hand now; `last_begun`: when work on a job was last begun, if ever."""

    name: str
    at_work: int = 0
    last_begun: datetime | None = None

    @property
    def reason(self) -> str:
        """Why a job of the queue waits."""
        if self.at_work:
            jobs = "1 other job" if self.at_work == 1 else f"{self.at_work:,} other jobs"
            return f"The workers of the queue {self.name} are busy with {jobs}."
        if self.last_begun is None:
            return f"No worker has asked for work in the queue {self.name} yet."
        since = self.last_begun.astimezone(timezone.get_default_timezone())
        day = "" if since.date() == timezone.localdate() else f"{since:%-d %b %Y}, "
        return f"No worker has asked for work in the queue {self.name} since {day}{since:%H:%M} UTC."

    @property
    def command(self) -> str:
        """What starts a worker for it; nothing where the workers are only busy."""
        if self.at_work:
            return ""
        clock = " -B" if self.name == settings.CELERY_TASK_DEFAULT_QUEUE else ""
        return f"celery -A config worker{clock} -Q {self.name}"


def queue_states(names: Collection[str]) -> dict[str, QueueState]:
    """By name; one query."""
    held = Chunk.objects.filter(job=OuterRef("pk"), state=Chunk.State.LEASED, lease_expires_at__gte=timezone.now())
    is_held = Q(Exists(held), state=Job.State.RUNNING)
    rows = Job.objects.filter(queue__in=names).values("queue")
    rows = rows.annotate(at_work=Count("pk", filter=is_held), last_begun=Max("started_at"))
    states = {row["queue"]: QueueState(row["queue"], row["at_work"], row["last_begun"]) for row in rows}
    return {name: states.get(name, QueueState(name)) for name in names}


def long_wait(job: Job) -> QueueState | None:
    """The queue of a job that has waited for a worker longer than it should, at its start or because the worker that
    had it is gone; None while all is well, and where it waits for something else."""
    now = timezone.now()
    if job.is_finished or job.waits_since or job.cancel_requested or now - job.created_at < PATIENCE:
        return None
    found = job.chunks.aggregate(
        held=Count("pk", filter=Q(state=Chunk.State.LEASED, lease_expires_at__gte=now)),
        to_take=Count("pk", filter=takeable(now)),
        seen=Max("started_at"),
        done=Max("done_at"),
        left=Max("lease_expires_at"),
        due=Max("not_before", filter=takeable(now)),
    )
    moments = [found[name] for name in ("seen", "done", "left", "due") if found[name] is not None]
    if found["held"] or not found["to_take"] or (moments and now - max(moments) < PATIENCE):
        return None
    queue = queue_states([job.queue])[job.queue]
    taken = [moment for moment in (queue.last_begun, found["seen"], found["done"]) if moment is not None]
    return replace(queue, last_begun=max(taken, default=None))


def waits_for(job: Job) -> str:
    """What an unfinished job waits for, a server or a worker, in a sentence; empty while it is worked on."""
    if job.waits_since and not job.is_finished:
        return f"{job.waits_for}. Next try at {job.waits_until:%H:%M:%S} UTC."
    wait = long_wait(job)
    return wait.reason if wait else ""
