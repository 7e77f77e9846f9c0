"""Counts of requests and their durations, of all web processes of a machine together.

Each process counts in a small file of its own in the data directory, which it holds by a lock; the next process that
gets the lock goes on with its counts, so that sums never fall and there are no more files than processes at a time.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import socket
import threading
from array import array
from bisect import bisect_left
from pathlib import Path

from django.conf import settings

log = logging.getLogger(__name__)

STATUS_CLASSES = ("1xx", "2xx", "3xx", "4xx", "5xx")
BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds; what takes longer is in one more
# Places of a file, all of them doubles: requests by class, durations by bucket, the sum of durations.
FIRST_BUCKET = len(STATUS_CLASSES)
SUM = FIRST_BUCKET + len(BUCKETS) + 1
PLACES = SUM + 1
SIZE = 8 * PLACES
MOST_PROCESSES = 1000


def folder() -> Path:
    """Of this machine, since several may share a data directory."""
    return settings.DATA_DIR / "metrics" / (socket.gethostname() or "unnamed")


class RequestCounts:
    """What this process counts. It survives a fork: the new process takes a file of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pid = 0
        self._file = None
        self._values = array("d", bytes(SIZE))

    def add(self, status: int, seconds: float) -> None:
        """One answered request: its status, and how long it took until the answer began."""
        with self._lock:
            if self._pid != os.getpid():
                self._take_file()
            self._values[min(max(status // 100, 1), 5) - 1] += 1
            self._values[FIRST_BUCKET + bisect_left(BUCKETS, seconds)] += 1
            self._values[SUM] += seconds
            if self._file is not None:
                with contextlib.suppress(OSError):  # a full disk; the sums come with a later request
                    os.pwrite(self._file.fileno(), self._values.tobytes(), 0)

    def _take_file(self) -> None:
        self._pid = os.getpid()
        try:
            self._file = _free_file()
            data = os.pread(self._file.fileno(), SIZE, 0)
        except OSError as error:
            log.warning("Requests of this process are not in the metrics: %s", error)
            self._file, data = None, b""
        self._values = array("d", data if len(data) == SIZE else bytes(SIZE))


def _free_file():
    folder().mkdir(parents=True, exist_ok=True)
    for number in range(MOST_PROCESSES):
        # Without O_APPEND, by which every write would go to the end.
        file = os.fdopen(os.open(folder() / f"web-{number}", os.O_RDWR | os.O_CREAT, 0o644), "r+b", buffering=0)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            continue
        return file
    raise OSError(f"{MOST_PROCESSES} processes count already in {folder()}")


COUNTS = RequestCounts()


def totals() -> list[float]:
    """The sums over all processes of this machine, by place."""
    sums = [0.0] * PLACES
    for path in folder().glob("web-*"):
        data = path.read_bytes()
        if len(data) == SIZE:
            sums = [total + one for total, one in zip(sums, array("d", data), strict=True)]
    return sums
