"""`manage.py jobs`: the jobs that are not finished, and what each waits for."""

from django.core.management.base import BaseCommand

from annotation.jobs.kinds import KINDS
from annotation.jobs.leases import UNFINISHED
from annotation.jobs.queues import long_wait, waits_for
from annotation.models import Job


class Command(BaseCommand):
    help = "List the unfinished jobs, what each waits for, and the commands that start missing workers."

    def handle(self, **options) -> None:
        jobs, commands = list(Job.objects.filter(state__in=UNFINISHED).order_by("pk")), []
        for job in jobs:
            wait = long_wait(job)
            state = "waiting" if wait or job.waits_since or job.state == Job.State.QUEUED else job.state
            what = f"{KINDS[job.kind].title} {job.uuid}, queue {job.queue}"
            self.stdout.write(f"{what}: {state}. {waits_for(job)}".rstrip())
            commands += [wait.command] if wait and wait.command and wait.command not in commands else []
        if not jobs:
            self.stdout.write("Every job is finished.")
        if commands:
            self.stdout.write("Start workers with:")
        for command in commands:
            self.stdout.write(f"  {command}")
