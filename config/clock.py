"""The clock of the sweep, which does the sweep itself, and is started again where it dies inside a worker.

As a message the sweep would wait behind the very work that it is there to set going again, and where every worker is
busy for hours such messages would pile up. It is short, and it needs no broker.
"""

import contextlib
import logging
import os
import socket
import threading
from functools import cached_property

from celery import bootsteps
from celery.beat import EmbeddedService, PersistentScheduler
from celery.worker.components import Beat
from django.db import DatabaseError, close_old_connections

from annotation import __version__
from annotation.jobs.workers import SignOfLife

logger = logging.getLogger(__name__)
LOOK_SECONDS = 1.0


class Clock(PersistentScheduler):
    # Beat opens its connection to the broker through this; there is nothing to send.
    producer = None

    @cached_property
    def sign_of_life(self) -> SignOfLife:
        return SignOfLife(f"clock-{os.getpid()}@{socket.gethostname()}", __version__)

    def apply_async(self, entry, producer=None, advance=True, **kwargs):
        close_old_connections()
        try:
            with contextlib.suppress(DatabaseError):  # the sweep says it
                self.sign_of_life.give()
            return self.app.tasks[entry.task].apply(args=entry.args, kwargs=entry.kwargs)
        finally:
            close_old_connections()


class ClockKeeper(bootsteps.StartStopStep):
    """Of a worker with `-B`: without its clock, what was forgotten waits for good, and nothing would say so."""

    requires = (Beat,)

    def __init__(self, worker, **kwargs):
        super().__init__(worker, **kwargs)
        self._is_ending = threading.Event()

    def include_if(self, worker) -> bool:
        return worker.beat is not None

    def start(self, worker) -> None:
        threading.Thread(target=self._keep, args=[worker], name="clock-keeper", daemon=True).start()

    def stop(self, worker) -> None:
        self._is_ending.set()

    close = terminate = stop

    def _keep(self, worker) -> None:
        first = worker.beat
        logger.info("The clock's process is %s", first.pid)
        while not self._is_ending.wait(LOOK_SECONDS):
            # A signal to all of a worker's processes ends the clock a little before it says here that all is to end.
            if not worker.beat.is_alive() and not self._is_ending.wait(LOOK_SECONDS):
                logger.warning("The clock's process has ended; starting it again")
                worker.beat = EmbeddedService(
                    worker.app, schedule_filename=worker.schedule_filename, scheduler_cls=worker.scheduler
                )
                worker.beat.start()
                logger.info("The clock's process is %s", worker.beat.pid)
        if worker.beat is not first:  # Celery itself ends the first one, and knows of no other
            worker.beat.stop()
