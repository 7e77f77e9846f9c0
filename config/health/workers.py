"""Checks of what does background work: the broker, workers by queue, and the clock of the sweep."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta

from celery import current_app
from django.conf import settings
from django.db.models import Count, Exists, Min, OuterRef, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation import __version__
from annotation.jobs import workers
from annotation.jobs.leases import FINISH_INDEX, UNFINISHED, takeable
from annotation.jobs.queues import PATIENCE, QueueState
from annotation.models import Chunk
from config.health.findings import Finding, error, ok, warning

BROKER_SECONDS = 2
# Of a clock; one that was started again soon after it ended has two rows until then.
CLOCK_ALIVE = timedelta(seconds=2 * workers.BEAT_SECONDS)


def check_broker() -> Iterator[Finding]:
    url = settings.CELERY_BROKER_URL
    waits = {"socket_connect_timeout": BROKER_SECONDS, "socket_timeout": BROKER_SECONDS}
    try:
        with current_app.connection_for_read(connect_timeout=BROKER_SECONDS, transport_options=waits) as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, timeout=BROKER_SECONDS)
            if folder := connection.transport_options.get("data_folder_in"):
                if not os.access(folder, os.W_OK | os.X_OK):
                    raise PermissionError(f"the folder {folder} cannot be written")
                yield ok(f"The embedded broker, in {folder}")
            else:
                yield ok(f"{connection.as_uri()} answers")
    except Exception as problem:  # every transport fails in its own way
        scheme = url.partition(":")[0]
        yield error(
            f"The broker ({scheme}) cannot be reached: {' '.join(str(problem).split()) or type(problem).__name__}",
            "Start it, or correct CELERY_BROKER_URL. Until then jobs wait; nothing is lost.",
        )


def oldest_waiting() -> dict[str, tuple[int, timedelta]]:
    """By queue: how many chunks a worker could take now, and for how long the first of them has waited."""
    now = timezone.now()
    undone = Chunk.objects.filter(job=OuterRef("job")).exclude(index=FINISH_INDEX).exclude(state=Chunk.State.DONE)
    is_due = ~Q(index=FINISH_INDEX) | ~Exists(undone)
    rows = Chunk.objects.filter(takeable(now), is_due, job__state__in=UNFINISHED).values("job__queue")
    since = Coalesce("lease_expires_at", "not_before", "job__created_at")
    rows = rows.annotate(waiting=Count("pk"), since=Min(since))
    return {row["job__queue"]: (row["waiting"], now - row["since"]) for row in rows}


def check_workers() -> Iterator[Finding]:
    """A queue without a worker is an error where jobs wait in it, and the default queue is always needed."""
    now, waiting = timezone.now(), oldest_waiting()
    alive = [one for one in workers.alive() if one.queues]
    default = settings.CELERY_TASK_DEFAULT_QUEUE
    for queue in current_app.amqp.queues:
        served = [one for one in alive if queue in one.queues and not one.problem]
        chunks, age = waiting.get(queue, (0, timedelta()))
        if served:
            last = max(0, round((now - max(one.beat_at for one in served)).total_seconds()))
            count = "1 worker" if len(served) == 1 else f"{len(served)} workers"
            yield ok(f"{queue}: {count}, last sign of life {last} s ago, {chunks:,} chunks wait")
        elif queue == default or age > PATIENCE:
            waits = f", and jobs have waited for {round(age.total_seconds()):,} s" if chunks else ""
            yield error(f"{queue}: no worker{waits}", f"Start one: {QueueState(queue).command}")
        else:
            yield ok(f"{queue}: no worker, and no job waits", f"To start one: {QueueState(queue).command}")
    for one in alive:
        if one.problem:
            what, _, todo = one.problem.partition(". ")
            yield error(f"The worker {one.name} takes no work: {what}", todo)
        elif one.version != __version__:
            yield error(
                f"The worker {one.name} runs Assay {one.version}, and this process {__version__}",
                "Restart the older one.",
            )


def check_clock() -> Iterator[Finding]:
    now = timezone.now()
    clocks = [one for one in workers.alive() if not one.queues and now - one.beat_at < CLOCK_ALIVE]
    if not clocks:
        yield error(
            "The scheduler is not running, so expired leases, lost messages and retries wait",
            "Start exactly one: celery -A config beat, or a worker with -B.",
        )
    elif len(clocks) > 1:
        names = ", ".join(one.name for one in clocks)
        yield warning(f"{len(clocks)} schedulers are running: {names}", "Run exactly one per installation.")
    else:
        yield ok(f"The scheduler is running ({clocks[0].name})")
