"""The Celery app: queues `default`, `cpu`, `gpu` and `llm`; tasks carry ids only."""

import gc
import os
import threading
import time
from pathlib import Path

from celery import Celery, signals
from django.conf import settings
from kombu import Queue
from kombu.transport import TRANSPORT_ALIASES

from analysis import preloading

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("assay")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Each with a routing key of its own: without one, every queue would get every message.
app.conf.task_queues = [Queue(name, routing_key=name) for name in ("default", "cpu", "gpu", "llm")]
app.conf.task_create_missing_queues = False
app.autodiscover_tasks()
app.conf.beat_schedule = {
    "sweep": {"task": "annotation.sweep", "schedule": float(settings.SWEEP_SECONDS)},
    "weekly-mails": {"task": "analysis.weekly_mails", "schedule": 3600.0},
}
app.conf.beat_scheduler = "config.clock:Clock"
app.steps["worker"].add("config.clock:ClockKeeper")
app.conf.beat_schedule_filename = str(settings.DATA_DIR / "celerybeat-schedule")

TRANSPORT_ALIASES["redis"] = TRANSPORT_ALIASES["rediss"] = "config.redis_broker:RedisTransport"
if settings.CELERY_BROKER_URL.startswith("filesystem"):
    TRANSPORT_ALIASES["filesystem"] = "config.embedded_broker:Transport"
    for option in ("data_folder_in", "control_folder") if settings.NEEDS_DATA else ():
        Path(settings.CELERY_BROKER_TRANSPORT_OPTIONS[option]).mkdir(parents=True, exist_ok=True)


@signals.worker_init.connect
def get_ready(sender, **kwargs) -> None:
    """Before pool processes are forked, which then have what is loaded here, share its memory, and start no threads of
    their own to load it. Those that take the place of others later have it too."""
    from config.health import beating  # needs the tables

    beating.begin(sender)
    share_the_processor(sender.concurrency)
    if sender.app.conf.task_default_queue in sender.app.amqp.queues.consume_from:  # reports' queue
        preloading.load()
    # The collector writes into whatever it looks at, and a page of memory that is written to is shared no longer.
    gc.freeze()


def share_the_processor(processes: int | str | None) -> None:
    """Numerical libraries start a thread per core, in every pool process; they would then only wait for each other.
    They read this when they are loaded."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = max(1, cores // max(1, processes or 1)) if processes != "auto" else 1
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))


@signals.worker_process_init.connect
def let_pages_come_first(**kwargs) -> None:
    """People wait for pages more often than for jobs."""
    if settings.WORKER_NICE and hasattr(os, "nice"):
        os.nice(settings.WORKER_NICE)


@signals.worker_process_init.connect
@signals.beat_embedded_init.connect
def end_with_the_worker(**kwargs) -> None:
    """Where a worker is killed, the clock inside it would go on as well as that of the next for good, and a pool
    process until what it has in hand is done."""
    worker = os.getppid()

    def watch() -> None:
        while os.getppid() == worker:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, name="worker-watch", daemon=True).start()
