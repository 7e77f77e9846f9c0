"""The Celery app: queues `default`, `cpu`, `gpu` and `llm`; tasks carry ids only."""

import os
import threading
import time
from pathlib import Path

from celery import Celery, signals
from django.conf import settings
from kombu import Queue
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("assay")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Each with a routing key of its own: without one, every queue would get every message.
app.conf.task_queues = [Queue(name, routing_key=name) for name in ("default", "cpu", "gpu", "llm")]
app.conf.task_create_missing_queues = False
app.autodiscover_tasks()
app.conf.beat_schedule = {
    "sweep": {
        "task": "annotation.sweep",
        "schedule": float(settings.SWEEP_SECONDS),
        # A worker drops what has expired; a broker that can (`expiration`) does so without one.
        "options": {"queue": "default", "expires": settings.SWEEP_SECONDS, "expiration": settings.SWEEP_SECONDS},
    }
}
app.conf.beat_schedule_filename = str(settings.DATA_DIR / "celerybeat-schedule")

if settings.CELERY_BROKER_URL.startswith("filesystem"):
    TRANSPORT_ALIASES["filesystem"] = "config.embedded_broker:Transport"
    for option in ("data_folder_in", "control_folder"):
        Path(settings.CELERY_BROKER_TRANSPORT_OPTIONS[option]).mkdir(parents=True, exist_ok=True)


@signals.beat_embedded_init.connect
@signals.worker_process_init.connect
def leave_with_the_worker(**kwargs) -> None:
    """End this child when its worker was killed: an orphaned clock would tick beside the next worker's for good, and an
    orphaned pool process waits for work that cannot come. What a pool process has in hand, its lease gives back."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


@signals.worker_process_init.connect
def finish_what_is_in_hand(**kwargs) -> None:
    """A signal to the worker's whole group (from honcho, or Ctrl+C) is for the worker alone, which then lets its pool
    finish. A pool process that it ended at once would leave its chunk until the lease is over."""
    os.setpgid(0, 0)
