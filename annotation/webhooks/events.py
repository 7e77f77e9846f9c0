"""Events of a project, sent to the URLs that its researchers registered: as rows, which are sent afterwards.

A payload holds ids, states and counts. For more, a receiver asks the API, with rights of its own.
"""

from __future__ import annotations

from datetime import timedelta

from celery import current_app
from django.db import transaction
from django.utils import timezone

from annotation.models import Job, Project, Webhook, WebhookDelivery

EVENTS = {
    "project.opened": "A project is open for labelling",
    "project.paused": "A project is paused",
    "project.closed": "A project is closed",
    "job.done": "A job is done",
    "job.failed": "A job failed",
    "job.cancelled": "A job was cancelled",
    "release.frozen": "A release is frozen",
}
PING = "ping"  # sent by hand, to see whether the address works
KEPT = timedelta(days=30)
BROKER_RETRIES = {"max_retries": 1, "interval_start": 0.1, "interval_max": 0.1}


def project_moved(project: Project) -> None:
    """The project has just got into its state."""
    event = {"open": "project.opened"}.get(project.state, f"project.{project.state}")
    emit(project.pk, event, {"state": str(project.state)})


def job_ended(job: Job) -> None:
    """Reports are left out: pages start them, by being looked at."""
    if job.project_id is None or job.kind == Job.Kind.REPORT:
        return
    about = {"uuid": str(job.uuid), "kind": str(job.kind), "state": str(job.state)}
    about |= {"progress_done": job.progress_done, "progress_total": job.progress_total}
    emit(job.project_id, f"job.{job.state}", {"job": about})
    if job.kind == Job.Kind.RELEASE and job.state == Job.State.DONE:
        emit(job.project_id, "release.frozen", {"release": {name: job.result[name] for name in ("number", "sha256")}})


def emit(project_id: int, event: str, about: dict) -> None:
    """To be called in the transaction that made it happen: an event that is rolled back is not sent."""
    with transaction.atomic():
        for webhook in Webhook.objects.filter(project=project_id).select_related("project"):
            if event in webhook.events:
                send(webhook, event, about)


def send(webhook: Webhook, event: str, about: dict) -> WebhookDelivery:
    now = timezone.now()
    webhook.deliveries.filter(created_at__lt=now - KEPT).delete()
    payload = {"event": event, "at": now.isoformat(), "project": webhook.project.slug, **about}
    delivery = WebhookDelivery.objects.create(webhook=webhook, event=event, payload=payload, due_at=now)
    transaction.on_commit(lambda: wake(delivery))
    return delivery


def wake(delivery: WebhookDelivery) -> None:
    """A hint for workers; one that is lost is given again by the sweep."""
    try:
        current_app.send_task("annotation.deliver", args=[delivery.pk], expires=60.0, retry_policy=BROKER_RETRIES)
    except Exception:  # noqa: BLE001 (every transport fails in its own way; what is committed stays)
        return
