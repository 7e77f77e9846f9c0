"""What benchmarks run in processes of their own: commands, the production server, and the databases of both."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
POSTGRESQL = "postgresql://postgres@127.0.0.1:5432"
START_SECONDS = 180

# Run in the measured process: a command, then how long it took without start-up, and the peak of memory. Processor time
# includes that of the database's process.
MEASURED = """
import resource, sys, time
import django
django.setup()
from django.core.management import call_command
from django.db import connection
from benchmarks.shared.processes import Processor
processor = Processor(connection)
started, used = time.perf_counter(), processor.seconds()
call_command(*sys.argv[1:])
print("seconds", time.perf_counter() - started)
print("processor", processor.seconds() - used)
print("peak_kb", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def environment(folder: Path, database: str = "") -> dict[str, str]:
    """Settings of a production server on loopback; without an address, the database is a file in the folder."""
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "ASSAY_DATA_DIR": str(folder),
        "ASSAY_STATIC_ROOT": str(folder / "static"),
        "ASSAY_SECRET_KEY": "only-for-benchmarks-" + "x" * 32,
        "ASSAY_DEBUG": "0",
        "ASSAY_LOG_LEVEL": "WARNING",
        "ASSAY_HTTPS": "0",
        "DATABASE_URL": database or f"sqlite:///{folder / 'bench.sqlite3'}",
    }


def run(env: dict[str, str], *arguments: str) -> None:
    """`python` with these arguments, in the project's folder."""
    subprocess.run([sys.executable, *arguments], cwd=ROOT, env=env, check=True)


class Processor:
    """Seconds that this process and, on PostgreSQL, the one at the other end of its connection have run."""

    def __init__(self, connection):
        self.backend = None
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                self.backend = Path(f"/proc/{cursor.fetchone()[0]}/schedstat")

    def seconds(self) -> float:
        here = time.process_time()
        return here + (int(self.backend.read_text().split()[0]) / 1e9 if self.backend else 0.0)


class Measured(NamedTuple):
    seconds: float  # of the management command
    whole: float  # of its process
    peak: float  # MB
    processor: float  # seconds of the command and its database, whatever else the machine does


def measured(env: dict[str, str], *command: str) -> Measured:
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *command], cwd=ROOT, env=env, check=True, capture_output=True, text=True
    )
    whole = time.perf_counter() - started
    seconds, processor, peak = (
        float(re.search(rf"^{name} (.+)$", done.stdout, re.M)[1]) for name in ("seconds", "processor", "peak_kb")
    )
    return Measured(seconds, whole, peak / 1024, processor)


@contextlib.contextmanager
def empty_postgresql(server: str, name: str) -> Iterator[str]:
    """The address of an empty database of that name; it is gone afterwards."""
    import psycopg

    server = urlsplit(server)._replace(path="").geturl()
    drop = f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'
    with psycopg.connect(f"{server}/postgres", connect_timeout=3, autocommit=True) as connection:
        connection.execute(drop)
        connection.execute(f'CREATE DATABASE "{name}"')
    try:
        yield f"{server}/{name}"
    finally:
        with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
            connection.execute(drop)


@contextlib.contextmanager
def web_server(env: dict[str, str], workers: int = 2, threads: int = 8) -> Iterator[tuple[int, int]]:
    """The production server on a free port of loopback: its port and process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{port}"]
    command += ["--worker-class", "gthread", "--workers", str(workers), "--threads", str(threads)]
    command += ["--log-level", "warning", "--keep-alive", "30"]
    process = subprocess.Popen(command, env=env, cwd=ROOT)
    try:
        _wait_for(port)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(timeout=30)


@contextlib.contextmanager
def worker(env: dict[str, str], processes: int = 1) -> Iterator[None]:
    """Of the queue `default`, with the scheduler; what it does in the end is cut off."""
    command = [sys.executable, "-m", "celery", "-A", "config", "worker", "-B", "--concurrency", str(processes)]
    command += ["--loglevel", "WARNING", "-Q", "default"]
    process = subprocess.Popen(command, cwd=ROOT, env=env, start_new_session=True)
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # its children too: they would go on with a report for minutes
        process.wait(timeout=60)


def _wait_for(port: int) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
            connection.request("GET", "/accounts/login/")
            if connection.getresponse().status == 200:
                return
        time.sleep(0.1)
    raise SystemExit("The server did not start")
