"""For a worker with `celery -I tests.importing.hungry`: jobs of the kind `items` that take more than they may."""

from dataclasses import replace

from annotation.jobs.kinds import KINDS
from annotation.models import Job


class Handler:
    def run_chunk(self, chunk, lease):
        how = chunk.job.parameters["how"]
        if how == "memory":
            held = [bytearray(16 * 1024**2) for _ in range(10_000)]
            raise AssertionError(len(held))
        while how == "time":
            try:
                pass
            except Exception:
                raise AssertionError from None
        lease.complete()

    def finish(self, job, lease):
        return {"done": True}

    def clean_up(self, job):
        """Nothing is staged."""


HANDLER = Handler()
KINDS[Job.Kind.ITEMS] = replace(KINDS[Job.Kind.ITEMS], handler="tests.importing.hungry.HANDLER")
