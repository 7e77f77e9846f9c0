"""Background work. A chunk row with its lease is the truth; the broker only wakes workers.

A worker claims one chunk at a time, writes its results in one transaction with the chunk's own state, and so neither
loses nor repeats anything when it is killed: the lease runs out and another worker takes the chunk. A broker that
forgets messages costs a few seconds, until the sweep wakes workers again. A chunk that met an error is not tried again
before its `not_before`; the sweep wakes a worker then. A job whose server is away gives its workers back, however
often that happens, until it has waited for too long.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Protocol

from celery import current_app
from django.conf import settings
from django.db import connections, transaction
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

from annotation import editing
from annotation.jobs import counts
from annotation.jobs.current import job_in_hand
from annotation.jobs.kinds import KINDS
from annotation.jobs.leases import (
    FINISH_INDEX,
    NOT_WAITING,
    UNFINISHED,
    JobCancelled,
    JobError,
    Lease,
    LeaseLost,
    claim_chunk,
    kept_alive,
    takeable,
)
from annotation.jobs.limits import limited
from annotation.models import Chunk, Job, Project, User
from annotation.webhooks import events
from models_runtime.contracts import ModelError, UnavailableError

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 4
# The wait before a chunk is tried again after an error doubles from attempt to attempt up to this many seconds.
MAX_RETRY_SECONDS = 120.0
# A job looks for a server that is away after a quarter of the time that it has been away, within these bounds. One of
# its chunks does; the others would only find out the same, and come later.
SERVER_RETRY_SECONDS = (1.0, 60.0)
PROBE_SECONDS = 30.0
# A chunk that was taken this often and never answered for kills its workers (or outlives its lease), so the job fails.
MAX_LEASES = 5
# A worker goes on with a job's chunks for this long before it lets other jobs have a turn.
TURN_SECONDS = 10.0
MAX_WAKE_MESSAGES = 8
BROKER_RETRIES = {"max_retries": 1, "interval_start": 0.1, "interval_max": 0.1}


class SameJob(Exception):
    """The same job is queued or running already; `job` is that one."""

    def __init__(self, job: Job) -> None:
        self.job = job
        super().__init__(f"The same job is {job.state} already, so no second one was started")


class TooManyJobs(Exception):
    """The person has as many unfinished jobs as one person may have; the message is for them."""


class Handler(Protocol):
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        """Do the chunk's work and call `lease.complete()` inside the transaction that stores the last of it."""

    def finish(self, job: Job, lease: Lease) -> dict:
        """When all chunks are done: close the job and return its result. May run again after a crash."""

    def clean_up(self, job: Job) -> None:
        """After a cancelled or failed job: take back what it staged. May run more than once."""


def create_job(
    kind: str,
    user,
    *,
    chunks: Iterable[tuple[dict, int]],
    queue: str = "default",
    project=None,
    dataset=None,
    parameters: dict | None = None,
    wake_workers: bool = True,
) -> Job:
    """Store a job with its chunks (payload, number of inputs) and, once that is committed, wake workers.

    Raises SameJob where an unfinished job would do the same, and TooManyJobs where the person has too many of them;
    not if workers are not woken, since the caller runs it itself.
    """
    chunks = list(chunks)
    with transaction.atomic():
        if wake_workers:
            User.objects.select_for_update(no_key=True).get(pk=user.pk)  # of two clicks the second sees the first
            _refuse(kind, user, project, dataset, parameters or {})
        job = Job.objects.create(
            kind=kind,
            created_by=user,
            queue=queue,
            project=project,
            dataset=dataset,
            parameters=parameters or {},
            progress_total=sum(size for _, size in chunks),
        )
        rows = [Chunk(job=job, index=index, payload=payload, size=size) for index, (payload, size) in enumerate(chunks)]
        rows.append(Chunk(job=job, index=FINISH_INDEX, payload={}, size=0))
        Chunk.objects.bulk_create(rows, batch_size=1000)
        if wake_workers:
            transaction.on_commit(lambda: wake(job))
    return job


def has_room(user: User, kind: str = "", limit: int | None = None) -> bool:
    """Whether the person may queue one more job, or one more of a kind."""
    unfinished = Job.objects.filter(created_by=user, state__in=UNFINISHED)
    if kind:
        unfinished = unfinished.filter(kind=kind)
    return unfinished.count() < (settings.JOBS_PER_PERSON if limit is None else limit)


def _refuse(kind: str, user: User, project, dataset, parameters: dict) -> None:
    if KINDS[kind].is_unique:
        same = Job.objects.filter(kind=kind, project=project, dataset=dataset, state__in=UNFINISHED)
        for job in same.filter(cancel_requested=False):
            if job.parameters == parameters:
                raise SameJob(job)
    if not has_room(user):
        raise TooManyJobs(
            f"You have {settings.JOBS_PER_PERSON} unfinished jobs, the limit per person. Wait until some are done, or "
            "cancel some."
        )


def add_chunks(job: Job, chunks: Iterable[tuple[dict, int]]) -> bool:
    """Give a job that is done more to do; its last chunk runs again afterwards. False if it was not done."""
    chunks = list(chunks)
    with transaction.atomic():
        changed = Job.objects.filter(pk=job.pk, state=Job.State.DONE).update(
            state=Job.State.QUEUED,
            cancel_requested=False,
            finished_at=None,
            progress_total=F("progress_total") + sum(size for _, size in chunks),
        )
        if not changed:
            return False
        last = job.chunks.exclude(index=FINISH_INDEX).aggregate(last=Max("index"))["last"]
        first = 0 if last is None else last + 1
        Chunk.objects.bulk_create(
            [Chunk(job=job, index=first + n, payload=payload, size=size) for n, (payload, size) in enumerate(chunks)],
            batch_size=1000,
        )
        job.chunks.filter(index=FINISH_INDEX).update(state=Chunk.State.OPEN, attempts=0, done_at=None, error="")
        job.refresh_from_db()
        transaction.on_commit(lambda: wake(job))
    return True


def wake(job: Job) -> None:
    """Send workers to a job that nobody works on yet, one message per chunk up to a limit."""
    waiting = job.chunks.filter(state=Chunk.State.OPEN).exclude(index=FINISH_INDEX).count()
    _send(job, min(max(waiting, 1), MAX_WAKE_MESSAGES))


def go_on_later(job: Job) -> None:
    """Queue up again behind other jobs. One message for the one whose turn is over, or they would multiply."""
    _send(job, 1)


def _send(job: Job, messages: int, expires: float = 300.0) -> None:
    """Messages are hints: one too many finds nothing to do, and for one that is lost the sweep sends another."""
    for _ in range(messages):
        try:
            current_app.send_task(
                "annotation.work_on", args=[job.pk], queue=job.queue, expires=expires, retry_policy=BROKER_RETRIES
            )
        except Exception as error:  # every transport fails in its own way, and none of them may undo what is committed
            log.warning("The broker took no message for job %s: %s", job.uuid, error)
            return


def work_on(job_id: int, *, turn_seconds: float | None = TURN_SECONDS) -> bool:
    """Do chunks of the job until none can be taken or the turn is over. True if there may be more to do."""
    started = time.monotonic()
    while True:
        job = Job.objects.filter(pk=job_id).first()
        if job is None or job.is_finished:
            return False
        if job.cancel_requested:
            close_cancelled(job)
            return False
        lease = claim_chunk(job_id)
        if lease is None:
            return False
        if lease.chunk.attempts > MAX_LEASES:
            _close_failed(job, lease, f"Workers died or hung {MAX_LEASES} times on part {lease.chunk.index + 1}")
            return False
        work_on_chunk(job, lease)
        if turn_seconds is not None and time.monotonic() - started > turn_seconds:
            return True


def work_on_beside(job_id: int) -> bool:
    """`work_on` in two threads, for work that waits for a server: while the last answers to one chunk come in and are
    stored, the next chunk is read and asked about, so that the server is never without work."""

    def help_out() -> None:
        try:
            work_on(job_id)
        except Exception:  # the lease runs out, and a worker takes the chunk again
            log.exception("A second thread of job %s failed", job_id)
        finally:
            connections.close_all()

    helper = threading.Thread(target=help_out, name=f"beside-{job_id}", daemon=True)
    helper.start()
    try:
        return work_on(job_id)
    finally:
        helper.join()


def _handler_of(job: Job) -> Handler:
    return import_string(KINDS[job.kind].handler)


def work_on_chunk(job: Job, lease: Lease) -> None:
    handler = _handler_of(job)
    chunk = lease.chunk
    chunk.job = job  # as it was loaded
    in_hand = job_in_hand.set(str(job.uuid))
    try:
        with kept_alive(lease), limited(lease, job.queue):
            if chunk.index == FINISH_INDEX:
                result = handler.finish(job, lease)
                with transaction.atomic():
                    lease.complete()
                    Job.objects.filter(pk=job.pk).update(
                        state=Job.State.DONE, result=result or {}, finished_at=timezone.now(), message=""
                    )
                    _note_in_history(job, result or {})
                    counts.changed(project_id=job.project_id, dataset_id=job.dataset_id)
                    events.job_ended(Job.objects.get(pk=job.pk))
            else:
                handler.run_chunk(chunk, lease)
    except (KeyboardInterrupt, SystemExit):  # this process stops: free the lease for the next one
        _reopen(lease)
        raise
    except LeaseLost:
        log.warning("Lost the lease of chunk %s of job %s; its present holder finishes it", chunk.index, job.uuid)
    except JobCancelled:
        _reopen(lease)
        close_cancelled(job)
    except (JobError, ModelError) as error:
        _close_failed(job, lease, str(error))
    except UnavailableError as error:
        _wait_for_server(lease, str(error), error.seconds)
    except Exception as error:
        log.exception("Chunk %s of job %s failed, attempt %s", chunk.index, job.uuid, chunk.attempts)
        if chunk.attempts >= MAX_ATTEMPTS:
            _close_failed(job, lease, f"{type(error).__name__}: {error}")
        else:
            wait = retry_seconds(chunk.attempts)
            _reopen(lease, f"{type(error).__name__}: {error}", timezone.now() + timedelta(seconds=wait))
    finally:
        job_in_hand.reset(in_hand)


def _note_in_history(job: Job, result: dict) -> None:
    if (what := KINDS[job.kind].in_history(job)) and (place := job.project or job.dataset):
        number = job.parameters.get("number") or result.get("items") or ""
        editing.record(job.created_by, place, what, {}, {KINDS[job.kind].title: number or "done"})


def retry_seconds(attempts: int) -> float:
    """How long to wait after that many attempts have failed. Half of it is drawn by chance, so that chunks that failed
    together, say because a server went away, do not all come back together."""
    longest = min(settings.CHUNK_RETRY_SECONDS * 2.0 ** (attempts - 1), MAX_RETRY_SECONDS)
    return longest * random.uniform(0.5, 1.0)


def _wait_for_server(lease: Lease, error: str, at_least: float = 0.0) -> None:
    """Put the chunk back for as long as the server is likely to be away, or `at_least` seconds, with all
    others of the job, which ask the same one. That is no attempt."""
    now, chunk = timezone.now(), lease.chunk
    since = Job.objects.values_list("waits_since", flat=True).get(pk=chunk.job_id) or now
    away = (now - since).total_seconds()
    if away > settings.SERVER_WAIT_SECONDS:
        hours = f"{away / 3600:.1f} hours" if away >= 3600 else f"{away / 60:.0f} minutes"
        _close_failed(chunk.job, lease, f"{error[:1].upper()}{error[1:]}, and has been unavailable for {hours}")
        return
    least, most = SERVER_RETRY_SECONDS
    seconds = max(least, settings.CHUNK_RETRY_SECONDS, min(away / 4, most), at_least)
    until = now + timedelta(seconds=seconds)
    with transaction.atomic():
        put_back = Chunk.objects.filter(pk=chunk.pk, lease_token=lease.token).update(
            state=Chunk.State.OPEN,
            lease_token=None,
            lease_expires_at=None,
            attempts=F("attempts") - 1,
            not_before=until,
        )
        if not put_back:
            return
        later = until + timedelta(seconds=PROBE_SECONDS)
        Chunk.objects.filter(job_id=chunk.job_id, state=Chunk.State.OPEN).exclude(pk=chunk.pk).update(not_before=later)
        Job.objects.filter(pk=chunk.job_id, state__in=UNFINISHED).update(
            waits_for=error[:300], waits_since=since, waits_until=until
        )


def _reopen(lease: Lease, error: str = "", not_before: datetime | None = None) -> None:
    Chunk.objects.filter(pk=lease.chunk.pk, lease_token=lease.token).update(
        state=Chunk.State.OPEN, lease_token=None, lease_expires_at=None, error=error, not_before=not_before
    )


def _close_failed(job: Job, lease: Lease, message: str) -> None:
    with transaction.atomic():
        held = Chunk.objects.filter(pk=lease.chunk.pk, lease_token=lease.token).update(
            state=Chunk.State.FAILED, lease_token=None, lease_expires_at=None, error=message
        )
        # The present holder of the chunk decides what becomes of the job.
        failed = held and Job.objects.filter(pk=job.pk, state__in=UNFINISHED).update(
            state=Job.State.FAILED, message=message, finished_at=timezone.now()
        )
        if failed:
            job.refresh_from_db()
            events.job_ended(job)
    if failed:
        _handler_of(job).clean_up(job)


def request_cancel(job: Job) -> None:
    """Ask the job to stop. A running chunk notices at its next beat; with nothing running it stops at once."""
    Job.objects.filter(pk=job.pk, state__in=UNFINISHED).update(cancel_requested=True)
    job.refresh_from_db()
    if job.cancel_requested and not job.is_finished:
        close_cancelled(job)


def close_cancelled(job: Job) -> None:
    """Mark the job cancelled unless a live worker still holds a chunk."""
    now = timezone.now()
    with transaction.atomic():
        if job.chunks.filter(state=Chunk.State.LEASED, lease_expires_at__gte=now).exists():
            return
        job.chunks.filter(state=Chunk.State.LEASED, lease_expires_at__lt=now).update(
            state=Chunk.State.OPEN, lease_token=None, lease_expires_at=None
        )
        closed = Job.objects.filter(pk=job.pk, state__in=UNFINISHED).update(
            state=Job.State.CANCELLED, finished_at=now, message="Cancelled"
        )
        if closed:
            job.refresh_from_db()
            events.job_ended(job)
    if closed:
        _handler_of(job).clean_up(job)


def resume(job: Job) -> None:
    """Go on with a cancelled or failed job; chunks that are done stay done."""
    with transaction.atomic():
        changed = Job.objects.filter(pk=job.pk, state__in=[Job.State.CANCELLED, Job.State.FAILED]).update(
            state=Job.State.QUEUED, cancel_requested=False, finished_at=None, message="", **NOT_WAITING
        )
        if not changed:
            return
        job.chunks.filter(state=Chunk.State.FAILED).update(state=Chunk.State.OPEN)
        job.chunks.exclude(state=Chunk.State.DONE).update(attempts=0, error="", not_before=None)
        job.refresh_from_db()
        transaction.on_commit(lambda: wake(job))


def _jobs_to_take(now: datetime) -> QuerySet[Job]:
    """Unfinished jobs in which there is something to take now: a part, or the end once all parts are done."""
    parts = Chunk.objects.filter(job=OuterRef("pk")).exclude(index=FINISH_INDEX)
    is_at_end = ~Exists(parts.exclude(state=Chunk.State.DONE))
    end = Chunk.objects.filter(takeable(now), job=OuterRef("pk"), index=FINISH_INDEX)
    return Job.objects.filter(Exists(parts.filter(takeable(now))) | (is_at_end & Exists(end)), state__in=UNFINISHED)


def next_retry(job: Job) -> Chunk | None:
    """Of the chunks that wait to be tried again, after an error or for a server, the one whose turn comes first."""
    waiting = job.chunks.filter(state=Chunk.State.OPEN, not_before__gt=timezone.now())
    return waiting.order_by("not_before").first()


def most_urgent(job_id: int) -> int:
    """This job, or where it has a worker already the oldest job of its queue that has none.

    Messages queue up in the order in which they were sent, and a long job has several of them."""
    now = timezone.now()
    held = Chunk.objects.filter(job=OuterRef("pk"), state=Chunk.State.LEASED, lease_expires_at__gte=now)
    if not Job.objects.filter(Exists(held), pk=job_id).exists():
        return job_id
    waiting = _jobs_to_take(now).filter(~Exists(held), cancel_requested=False)
    waiting = waiting.filter(queue__in=Job.objects.filter(pk=job_id).values("queue"))
    return waiting.order_by("pk").values_list("pk", flat=True).first() or job_id


def sweep() -> int:
    """Send a worker to every unfinished job that has something to take. The number of jobs.

    Also to a job with an active worker: the others may have died. The message is short-lived, so that it is dropped
    where every worker has its hands full.
    """
    for job in Job.objects.filter(pk__in=Project.objects.values("filled_by")).exclude(
        state__in=(*UNFINISHED, Job.State.DONE)
    ):
        _handler_of(job).clean_up(job)  # the process that ended it died before all was taken back
    waiting = Q(pk__in=_jobs_to_take(timezone.now()).values("pk")) | Q(cancel_requested=True)
    jobs = Job.objects.filter(waiting, state__in=UNFINISHED)
    for job in jobs:
        if job.cancel_requested:
            close_cancelled(job)
        else:
            _send(job, 1, expires=2.0 * settings.SWEEP_SECONDS)
    return len(jobs)


def run_here(job: Job) -> Job:
    """Work the job off in this process: for commands and for tests. Returns it as it ended."""
    while True:
        work_on(job.pk, turn_seconds=None)
        job.refresh_from_db()
        waiting = None if job.is_finished else next_retry(job)
        if waiting is not None:
            if job.waits_for:  # the user of a command sees why nothing happens
                log.warning("%s; next try at %s", job.waits_for, waiting.not_before)
            time.sleep(max(0.0, (waiting.not_before - timezone.now()).total_seconds()))
        elif not _jobs_to_take(timezone.now()).filter(pk=job.pk).exists():
            return job
