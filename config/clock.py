"""The clock of the sweep, which does the sweep itself.

As a message the sweep would wait behind the very work that it is there to set going again, and where every worker is
busy for hours such messages would pile up. It is short, and it needs no broker.
"""

from celery.beat import PersistentScheduler
from django.db import close_old_connections


class Clock(PersistentScheduler):
    # Beat opens its connection to the broker through this; there is nothing to send.
    producer = None

    def apply_async(self, entry, producer=None, advance=True, **kwargs):
        close_old_connections()
        try:
            return self.app.tasks[entry.task].apply(args=entry.args, kwargs=entry.kwargs)
        finally:
            close_old_connections()
