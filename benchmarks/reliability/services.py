"""The processes of an installation, to be killed with all their children and started again."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from glob import glob
from pathlib import Path

import psutil

from benchmarks.shared.processes import ROOT
from tests.suggesting.brokers import Server, free_port

START_SECONDS = 90
WORKERS = {"default": ("-B", "-Q", "default"), "checkers": ("-Q", "cpu,gpu,llm")}


@dataclass
class Process:
    """A command that runs until it is killed, in a session of its own, with its output in `log`."""

    name: str
    command: list[str]
    env: dict[str, str]
    log: Path
    is_ready: Callable[[], bool] = lambda: True
    user: str | None = None
    process: subprocess.Popen | None = None

    def start(self) -> None:
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                self.command,
                cwd=ROOT if self.user is None else self.log.parent,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                user=self.user,
            )
        end = time.monotonic() + START_SECONDS
        while not self.is_ready():
            if time.monotonic() > end or self.process.poll() is not None:
                raise SystemExit(f"{self.name} did not start:\n{self.log.read_text(errors='replace')[-3000:]}")
            time.sleep(0.1)

    def has_ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def kill(self) -> None:
        """SIGKILL to it and everything that it started."""
        if self.process is None:
            return
        with contextlib.suppress(psutil.NoSuchProcess):
            root = psutil.Process(self.process.pid)
            for one in [root, *root.children(recursive=True)]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    one.kill()
        self.process.wait()


class Broker(Server):
    """A Redis or RabbitMQ that goes on from its own files; nothing but Assay uses it."""

    def start(self) -> None:
        """RabbitMQ does not always come up on a busy machine; a supervisor would start it again."""
        for is_last in (False, False, True):
            try:
                return super().start()
            except AssertionError:
                if is_last:
                    raise
                self.kill()

    def has_ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None


def postgresql_bin() -> Path | None:
    """The folder of the newest server that is installed."""
    found = sorted(glob("/usr/lib/postgresql/*/bin"), key=lambda name: int(name.split("/")[-2]))
    return Path(found[-1]) if found else None


def postgresql(folder: Path) -> tuple[Process, str]:
    """A cluster of its own in that folder, and its address. It refuses to run as root, so that uses `postgres`."""
    programs, port, data = postgresql_bin(), free_port(), folder / "cluster"
    data.mkdir()
    user = "postgres" if os.geteuid() == 0 else None
    if user:
        shutil.chown(data, user)
        folder.chmod(0o755)
    initdb = [str(programs / "initdb"), "-D", str(data), "-U", "postgres", "--auth=trust", "--encoding=UTF8"]
    subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, cwd=folder, user=user)
    command = [str(programs / "postgres"), "-D", str(data), "-h", "127.0.0.1", "-p", str(port), "-k", str(data)]

    def is_ready() -> bool:
        ask = [str(programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port), "-U", "postgres"]
        return subprocess.run(ask, check=False).returncode == 0

    server = Process("PostgreSQL", command, dict(os.environ), folder / "postgresql.log", is_ready, user)
    return server, f"postgresql://postgres@127.0.0.1:{port}/postgres"


def web(env: dict[str, str], folder: Path) -> tuple[Process, int]:
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{port}"]
    command += ["--worker-class", "gthread", "--workers", "2", "--threads", "8", "--log-level", "warning"]

    def is_ready() -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.request("GET", "/accounts/login/")
            return connection.getresponse().status < 600
        return False

    return Process("web", command, env, folder / "web.log", is_ready), port


def worker(name: str, env: dict[str, str], folder: Path) -> Process:
    command = [
        sys.executable,
        "-m",
        "celery",
        "-q",
        "-A",
        "config",
        "worker",
        "--pool",
        "prefork",
        "--concurrency",
        "2",
    ]
    command += [*WORKERS[name], "-n", f"{name}@localhost", "--loglevel", "WARNING", "--without-gossip"]
    return Process(f"worker {name}", [*command, "--without-mingle"], env, folder / f"worker-{name}.log")
