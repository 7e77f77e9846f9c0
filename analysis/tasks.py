"""Celery's entry points of what is made from labels: ids in, one service call each."""

import logging

from celery import current_app, shared_task
from django.utils import timezone

from analysis.progress import mail
from annotation.projects.invitations import has_mail_server
from annotation.tasks import with_same_migrations
from annotation.webhooks.events import BROKER_RETRIES

log = logging.getLogger(__name__)
EXPIRES_SECONDS = 3600.0


@shared_task(name="analysis.weekly_mails", acks_late=False)
@with_same_migrations
def weekly_mails() -> None:
    """Wake a worker for each project whose weekly mail is due. Counting takes too long for the clock, which runs
    this."""
    if not has_mail_server():
        return
    for project_id in mail.due(timezone.now()).values_list("project", flat=True).distinct():
        try:
            current_app.send_task(
                "analysis.weekly_mail", args=[project_id], expires=EXPIRES_SECONDS, retry_policy=BROKER_RETRIES
            )
        except Exception as error:  # every transport fails in its own way; the next hour tries again
            log.warning("The broker took no message to send a weekly mail: %s", error)


@shared_task(name="analysis.weekly_mail")
@with_same_migrations
def weekly_mail(project_id: int) -> None:
    mail.send_due(project_id)
