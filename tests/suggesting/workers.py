"""Real Celery workers as subprocesses that share the test's database."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from django.db import connection

ROOT = Path(__file__).resolve().parents[2]
# How long to wait for what must come: for a machine that has other things to do, since nothing here measures time.
PATIENCE_SECONDS = 120
QUEUES = "default,cpu,gpu,llm"


def database_url() -> str:
    """The address of the test database, for another process."""
    values = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{values['NAME']}"
    host, port = values["HOST"] or "127.0.0.1", values["PORT"] or 5432
    password = f":{values['PASSWORD']}" if values["PASSWORD"] else ""
    return f"postgresql://{values['USER']}{password}@{host}:{port}/{values['NAME']}"


def worker_environment(folder: Path, broker: str, **variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    return kept | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "ASSAY_SECRET_KEY": "only-for-tests-" + "x" * 40,
        "ASSAY_DEBUG": "1",
        "ASSAY_DATA_DIR": str(folder),
        "DATABASE_URL": database_url(),
        "CELERY_BROKER_URL": broker,
        "ASSAY_MODELS": "*",
        "ASSAY_CHUNK_LEASE_SECONDS": "3",
        "ASSAY_SWEEP_SECONDS": "1",
        **variables,
    }


def signal_session(process: subprocess.Popen, what: signal.Signals) -> None:
    """To every process of a session, since a worker's pool processes have groups of their own."""
    for one in [process.pid, *map(int, filter(str.isdigit, os.listdir("/proc")))]:
        with contextlib.suppress(ProcessLookupError):
            if os.getsid(one) == process.pid:
                os.kill(one, what)


def kill_session(process: subprocess.Popen) -> None:
    signal_session(process, signal.SIGKILL)
    process.wait()


class Worker:
    """A worker with its clock and two pool processes, in a session of its own, logging into `folder`."""

    def __init__(self, folder: Path, environment: dict[str, str], queues: str = QUEUES) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / f"worker-{time.monotonic_ns()}.log"
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "celery", "-A", "config", "worker", "-B", "--pool", "prefork"]
                + ["--concurrency", "2", "-Q", queues, "--loglevel", "INFO"]
                + ["-n", f"test-{time.monotonic_ns()}@localhost"],
                cwd=ROOT,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def kill(self) -> None:
        """Nobody gets to tidy up."""
        kill_session(self.process)

    def freeze(self) -> None:
        """Stand still, so that what it has in hand can be looked at before it is killed."""
        signal_session(self.process, signal.SIGSTOP)

    def thaw(self) -> None:
        signal_session(self.process, signal.SIGCONT)

    def stop(self, timeout: float = PATIENCE_SECONDS) -> int:
        """A warm shutdown, as a deployment does it."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout)

    def said(self) -> str:
        return self.log.read_text(errors="replace")


@contextlib.contextmanager
def running_worker(folder: Path, environment: dict[str, str], queues: str = QUEUES):
    worker = Worker(folder, environment, queues)
    try:
        yield worker
    finally:
        worker.kill()


def wait_for(condition, what: str, worker: Worker | None = None):
    """The condition's first true value; fails with the worker's last words when there is none in time."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if value := condition():
            return value
        if worker and worker.process.poll() is not None:
            break
        time.sleep(0.05)
    raise AssertionError(f"Waited in vain until {what}\n{worker.said()[-3000:] if worker else ''}")
