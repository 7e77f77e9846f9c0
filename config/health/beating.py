"""Signs of life of a worker, from its pool processes: a thread of the main process could hold a lock of SQLite while a
pool process is forked, which would wait for it for good. Imported once the worker's Django is set up."""

import contextlib
import logging
import threading
import time

from celery import signals
from django.db import DatabaseError, connections

from annotation import __version__
from annotation.jobs.versions import code_migrations
from annotation.jobs.workers import BEAT_SECONDS, SignOfLife

logger = logging.getLogger(__name__)
_signs: list[SignOfLife] = []


def begin(worker) -> None:
    """In the main process, before pool processes are forked, which then also have the migrations of their code."""
    code_migrations()
    _signs[:] = [SignOfLife(worker.hostname, __version__, tuple(sorted(worker.app.amqp.queues.consume_from)))]


@signals.worker_process_init.connect
def beat(**kwargs) -> None:
    def give_signs() -> None:
        while True:
            try:
                _signs[0].give()
            except DatabaseError as error:
                logger.warning("The sign of life of this worker could not be stored: %s", error)
            finally:
                connections.close_all()
            time.sleep(BEAT_SECONDS)

    threading.Thread(target=give_signs, name="beating", daemon=True).start()


@signals.worker_shutdown.connect
def end(**kwargs) -> None:
    with contextlib.suppress(DatabaseError):
        _signs[0].end()
