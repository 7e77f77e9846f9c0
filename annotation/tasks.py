"""Celery's entry points: ids in, one service call each."""

import logging
from functools import wraps

from celery import shared_task

from annotation.jobs import counts, leftovers, lifecycle, versions
from annotation.models import Job
from annotation.participation import leaving
from annotation.projects import managing, reach
from annotation.webhooks import delivering
from annotation.work import assigning, further, threads

log = logging.getLogger(__name__)


def with_same_migrations(task):
    """Leave the work to other workers while the database has other migrations than this one: the sweep wakes workers
    again."""

    @wraps(task)
    def run(*args) -> None:
        if reason := versions.why_to_wait():
            log.warning("This worker takes no work: %s", reason)
        else:
            task(*args)

    return run


@shared_task(name="annotation.work_on")
@with_same_migrations
def work_on(job_id: int) -> None:
    job_id = lifecycle.most_urgent(job_id)
    waits_for_servers = Job.objects.filter(pk=job_id, queue="llm").exists()
    if lifecycle.work_on_beside(job_id) if waits_for_servers else lifecycle.work_on(job_id):
        job = Job.objects.filter(pk=job_id).first()
        if job is not None:
            lifecycle.go_on_later(job)


@shared_task(name="annotation.sweep", acks_late=False)
@with_same_migrations
def sweep() -> None:
    """What time alone brings about: leases that ran out, jobs whose message the broker forgot; and what no service
    sees, such as an account that was deactivated by a query."""
    lifecycle.sweep()
    assigning.return_expired_leases()
    leaving.end_timed_out()
    managing.end_last_days()
    further.ask_now_and_then()
    reach.check_accounts()
    delivering.sweep()
    leftovers.sweep_now_and_then()


@shared_task(name="annotation.mail_comment")
@with_same_migrations
def mail_comment(thread_id: int, to_annotator: bool) -> None:
    threads.mail_comment(thread_id, to_annotator)


@shared_task(name="annotation.deliver")
@with_same_migrations
def deliver(delivery_id: int) -> None:
    delivering.deliver(delivery_id)


@shared_task(name="annotation.count")
@with_same_migrations
def count(name: str, pk: int) -> None:
    counts.count_anew(name, pk)
