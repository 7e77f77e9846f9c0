"""The Celery app: queues `default`, `cpu`, `gpu` and `llm`; tasks carry ids only."""

import os

from celery import Celery
from django.conf import settings
from kombu import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("assay")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.task_queues = [Queue(name) for name in ("default", "cpu", "gpu", "llm")]
app.conf.task_create_missing_queues = False
app.autodiscover_tasks()
app.conf.beat_schedule = {
    "sweep": {
        "task": "annotation.sweep",
        "schedule": float(settings.SWEEP_SECONDS),
        "options": {"queue": "default", "expires": settings.SWEEP_SECONDS},
    }
}
app.conf.beat_schedule_filename = str(settings.DATA_DIR / "celerybeat-schedule")
