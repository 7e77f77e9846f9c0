"""Holding a chunk of a job: who may take one, and how a worker keeps it while it lives."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError, connection, connections, transaction
from django.db.models import DateTimeField, F, Q, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.models import Chunk, Job

log = logging.getLogger(__name__)

# The last chunk of every job; it is given out only when all others are done.
FINISH_INDEX = 2_000_000_000
# How often a worker looks whether its job was cancelled while a chunk is in its hands.
CANCEL_SECONDS = 1.0
# Of a job that waits for no server.
NOT_WAITING = {"waits_for": "", "waits_since": None, "waits_until": None}
UNFINISHED = (Job.State.QUEUED, Job.State.RUNNING)


class JobError(Exception):
    """The job cannot succeed however often it is tried; the message is shown to its owner."""


class JobCancelled(Exception):
    """The job was cancelled."""


class LeaseLost(Exception):
    """The lease ran out and the chunk may be another worker's: nothing may be written for it any more."""


@dataclass
class Lease:
    """A worker's hold on one chunk. `beat()` between steps notices cancelling and a lost lease."""

    chunk: Chunk
    token: uuid.UUID
    _cancelled: threading.Event
    _lost: threading.Event
    _last_progress: float = 0.0

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()

    def beat(self) -> None:
        if self._lost.is_set():
            raise LeaseLost
        if self._cancelled.is_set():
            raise JobCancelled

    def progress(self, done: int, total: int, message: str = "", *, force: bool = False) -> None:
        """Show how far the job is; at most once a second, so that progress does not itself become load."""
        self.beat()
        now = time.monotonic()
        if not force and now - self._last_progress < 1.0:
            return
        self._last_progress = now
        Job.objects.filter(pk=self.chunk.job_id).update(
            progress_done=done, progress_total=total, **({"message": message} if message else {})
        )
        if Job.objects.filter(pk=self.chunk.job_id, cancel_requested=True).exists():
            self._cancelled.set()
            raise JobCancelled

    def keep(self, payload: dict, done: int) -> None:
        """What is left of the chunk, `done` of its inputs being stored. Belongs into the transaction that stores them;
        raises if the lease was lost. The chunk stays in this worker's hands."""
        changed = Chunk.objects.filter(pk=self.chunk.pk, lease_token=self.token, state=Chunk.State.LEASED).update(
            payload=payload, size=F("size") - done
        )
        if not changed:
            raise LeaseLost
        self.chunk.payload, self.chunk.size = payload, self.chunk.size - done
        Job.objects.filter(pk=self.chunk.job_id).update(progress_done=F("progress_done") + done)

    def complete(self) -> None:
        """Close the chunk. Belongs into the transaction that stores its results; raises if the lease was lost."""
        changed = Chunk.objects.filter(pk=self.chunk.pk, lease_token=self.token, state=Chunk.State.LEASED).update(
            state=Chunk.State.DONE, done_at=timezone.now(), lease_token=None, lease_expires_at=None, error=""
        )
        if not changed:
            raise LeaseLost
        go_on_at_once(self.chunk.job_id)
        if self.chunk.size:
            Job.objects.filter(pk=self.chunk.job_id).update(progress_done=F("progress_done") + self.chunk.size)


def claim_chunk(job_id: int) -> Lease | None:
    """Take the job's next open chunk, or None where there is none to take now."""
    now = timezone.now()
    with transaction.atomic():
        others = Chunk.objects.filter(job_id=job_id).exclude(index=FINISH_INDEX)
        candidates = Chunk.objects.filter(takeable(now), job_id=job_id, job__state__in=UNFINISHED)
        if others.exclude(state=Chunk.State.DONE).exists():
            candidates = candidates.exclude(index=FINISH_INDEX)
        if connection.features.has_select_for_update_skip_locked:
            candidates = candidates.select_for_update(skip_locked=True, of=("self",))
        chunk = candidates.order_by("index").first()
        if chunk is None:
            return None
        token = uuid.uuid4()
        Chunk.objects.filter(pk=chunk.pk).update(
            state=Chunk.State.LEASED,
            lease_token=token,
            lease_expires_at=now + timedelta(seconds=settings.CHUNK_LEASE_SECONDS),
            attempts=F("attempts") + 1,
            started_at=now,
            not_before=None,
        )
        # Also locks the job's row, so that nothing is taken from a job while it is being cancelled.
        n_claimed = Job.objects.filter(pk=job_id, state__in=UNFINISHED, cancel_requested=False).update(
            state=Job.State.RUNNING, started_at=Coalesce("started_at", Value(now, DateTimeField()))
        )
        if not n_claimed:
            transaction.set_rollback(True)
            return None
    chunk.refresh_from_db()
    return Lease(chunk, token, threading.Event(), threading.Event())


@contextlib.contextmanager
def kept_alive(lease: Lease):
    """Extend the lease from a thread while the work goes on; a killed process stops extending with everything else."""
    stop = threading.Event()

    def extend() -> None:
        due = time.monotonic() + settings.CHUNK_LEASE_SECONDS / 4
        while not stop.wait(min(CANCEL_SECONDS, settings.CHUNK_LEASE_SECONDS / 4)):
            try:
                if Job.objects.filter(pk=lease.chunk.job_id, cancel_requested=True).exists():
                    lease._cancelled.set()
                if time.monotonic() < due:
                    continue
                kept = Chunk.objects.filter(pk=lease.chunk.pk, lease_token=lease.token).update(
                    lease_expires_at=timezone.now() + timedelta(seconds=settings.CHUNK_LEASE_SECONDS)
                )
                due = time.monotonic() + settings.CHUNK_LEASE_SECONDS / 4
                if not kept:
                    lease._lost.set()
                    break
            except DatabaseError as error:
                # Tried again; if it stays away, the lease runs out and the next worker repeats it.
                log.warning("Could not extend the lease of chunk %s: %s", lease.chunk.pk, error)
                connections.close_all()
        connections.close_all()

    thread = threading.Thread(target=extend, name=f"lease-{lease.chunk.pk}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def go_on_at_once(job_id: int) -> None:
    """The server that the job waited for is back: its other chunks need not wait for their time."""
    if Job.objects.filter(pk=job_id, waits_since__isnull=False).update(**NOT_WAITING):
        Chunk.objects.filter(job_id=job_id, state=Chunk.State.OPEN, error="").update(not_before=None)


def takeable(now: datetime) -> Q:
    """Chunks that a worker may take."""
    is_due = Q(not_before=None) | Q(not_before__lte=now)
    return Q(is_due, state=Chunk.State.OPEN) | Q(state=Chunk.State.LEASED, lease_expires_at__lt=now)
