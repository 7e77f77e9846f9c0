"""What jobs tell about the workers of a queue: whether they are at work, and when work was last begun there.

Which workers listen to a queue is known to the broker alone, and asking it takes seconds.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Exists, Max, OuterRef, Q
from django.utils import timezone

from annotation.models import Chunk, Job

# Workers take what waits within seconds; what waits longer waits for a reason that is worth telling.
PATIENCE = timedelta(seconds=20)


@dataclass(frozen=True)
class QueueState:
    """`at_work`: jobs that a worker has in hand now; `last_begun`: when work on a job was last begun, if ever."""

    name: str
    at_work: int = 0
    last_begun: datetime | None = None


def queue_states(names: Collection[str]) -> dict[str, QueueState]:
    """By name; one query."""
    held = Chunk.objects.filter(job=OuterRef("pk"), state=Chunk.State.LEASED, lease_expires_at__gte=timezone.now())
    is_held = Q(Exists(held), state=Job.State.RUNNING)
    rows = Job.objects.filter(queue__in=names).values("queue")
    rows = rows.annotate(at_work=Count("pk", filter=is_held), last_begun=Max("started_at"))
    states = {row["queue"]: QueueState(row["queue"], row["at_work"], row["last_begun"]) for row in rows}
    return {name: states.get(name, QueueState(name)) for name in names}


def long_wait(job: Job) -> QueueState | None:
    """The queue of a job that has waited for a worker longer than it should; None while all is well."""
    if job.state != Job.State.QUEUED or timezone.now() - job.created_at < PATIENCE:
        return None
    return queue_states([job.queue])[job.queue]
