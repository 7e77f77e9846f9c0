"""What one part of a job may take: time and memory. A part beyond either fails its job, and the worker goes on.

Both are soft: Python code is interrupted by an exception. A part inside of a library's code that never comes back to
Python uses processor time until the system ends the process; another worker takes the chunk then, and a chunk that ends
several workers fails its job.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import resource
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from annotation.jobs.leases import JobCancelled, JobError, Lease

# How long a part may go on after its job was cancelled, or its time was over, before it is interrupted, and until it is
# interrupted again.
GRACE_SECONDS = 5.0
MEBI = 1024**2
# Queues whose jobs hold no models: what a model needs is limited by ASSAY_MODEL_LIMIT_GB.
LIMITED_QUEUES = ("default",)


class OverTime(JobError):
    def __str__(self) -> str:
        return (
            f"A part of this job took longer than {settings.JOB_PART_SECONDS // 60:,} minutes, the limit. Split the "
            "input, or ask your administrator to raise the limit"
        )


class OverMemory(JobError):
    def __str__(self) -> str:
        return (
            f"A part of this job needed more than {settings.JOB_MEMORY_MB:,} MB of memory, the limit. Split the input, "
            "or ask your administrator to raise the limit"
        )


@contextlib.contextmanager
def limited(lease: Lease, queue: str) -> Iterator[None]:
    """JobCancelled, OverTime or OverMemory inside, wherever the code is."""
    has_limit = queue in LIMITED_QUEUES and settings.JOB_MEMORY_MB
    memory = _data_bytes() + settings.JOB_MEMORY_MB * MEBI if has_limit else resource.RLIM_INFINITY
    # Interruptions end before the limits are lifted: one that came while they are would leave them to what the process
    # does next, and the system would end it in the middle of that.
    with _limited_processor(), _soft_limit(resource.RLIMIT_DATA, memory):
        try:
            with _interrupted(lease):
                yield
        except MemoryError as error:
            if not has_limit:
                raise
            raise OverMemory from error


@contextlib.contextmanager
def _interrupted(lease: Lease) -> Iterator[None]:
    stop, worker = threading.Event(), threading.get_ident()
    begun = time.monotonic()

    def watch() -> None:
        since_cancelled = None
        while not stop.wait(min(1.0, GRACE_SECONDS)):
            now = time.monotonic()
            if lease.is_cancelled:
                since_cancelled = since_cancelled or now
            if since_cancelled is not None and now - since_cancelled > GRACE_SECONDS:
                error = JobCancelled
            elif now - begun > settings.JOB_PART_SECONDS:
                error = OverTime
            else:
                continue
            _raise_in(worker, error)
            stop.wait(GRACE_SECONDS)

    thread = threading.Thread(target=watch, name=f"limits-{lease.chunk.pk}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        while True:
            with contextlib.suppress(JobCancelled, OverTime):  # which come too late
                stop.set()
                thread.join()
                _raise_in(worker, None)
                break


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), ctypes.py_object(error) if error is not None else None
    )


@contextlib.contextmanager
def _limited_processor() -> Iterator[None]:
    """The process ends where all processors were busy for longer than a part may take.

    By a timer, since RLIMIT_CPU counts from the start of the process, and in ticks: these differ from the time that a
    process can ask for by several percent, so that the limit of an old process could be behind it when it was set.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seconds = (settings.JOB_PART_SECONDS + 12 * GRACE_SECONDS) * (os.cpu_count() or 1)
    before = signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, *before)


@contextlib.contextmanager
def _soft_limit(what: int, limit: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(what)
    known = [one for one in (limit, soft, hard) if one != resource.RLIM_INFINITY]
    resource.setrlimit(what, (min(known, default=resource.RLIM_INFINITY), hard))
    try:
        yield
    finally:
        resource.setrlimit(what, (soft, hard))


def _data_bytes() -> int:
    """What the process holds already, as the limit counts it."""
    try:
        found = re.search(r"^VmData:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return int(found[1]) * 1024 if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
