"""Signs of life of workers and of the sweep's clock, as rows: which queues are served, and by which version."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import timedelta

from django.utils import timezone

from annotation.jobs.versions import why_they_differ
from annotation.models import WorkerBeat

BEAT_SECONDS = 15.0
# What has been silent for longer is not counted as alive.
ALIVE = timedelta(seconds=4 * BEAT_SECONDS)
FORGOTTEN = timedelta(days=1)


@dataclass
class SignOfLife:
    """Of one process: `give` writes its row, at most once in `BEAT_SECONDS`."""

    name: str
    version: str  # of Assay
    queues: tuple[str, ...] = ()  # none: the clock
    _due: float = field(default=0.0, init=False)

    def give(self) -> None:
        if time.monotonic() < self._due:
            return
        now = timezone.now()
        row = WorkerBeat(
            name=self.name[:200], queues=list(self.queues), version=self.version, problem=why_they_differ(), beat_at=now
        )
        WorkerBeat.objects.bulk_create(
            [row],
            update_conflicts=True,
            unique_fields=["name"],
            update_fields=["queues", "version", "problem", "beat_at"],
        )
        WorkerBeat.objects.filter(beat_at__lt=now - FORGOTTEN).delete()
        self._due = time.monotonic() + BEAT_SECONDS

    def end(self) -> None:
        WorkerBeat.objects.filter(name=self.name[:200]).delete()


def alive() -> list[WorkerBeat]:
    """Workers and clocks that gave a sign of life within a minute, by name."""
    return list(WorkerBeat.objects.filter(beat_at__gte=timezone.now() - ALIVE).order_by("name"))
