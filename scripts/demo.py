"""Start Assay with embedded defaults and demo data: SQLite, an embedded broker, one web server, and two workers (see
Procfile): what people wait for (imports, reports, exports) never queues behind training or checkers.

They end together: when one of them ends, when this process is asked to, when whoever started it is gone, and, by a
guard that waits for a pipe to close, when this process is killed.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STOP_SECONDS = 5.0  # to finish what is in hand; what has not is done again after the next start
LINE = re.compile(r"^([A-Za-z0-9_-]+):\s*(.+)$", re.MULTILINE)
# Keeps the last list of processes that it read. When the pipe's other end is closed, it ends them, as `end_all` does.
GUARD = """while read -r line; do groups=$line; done
for group in $groups; do kill -s TERM "$group" 2>/dev/null; done
sleep "$0"
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done"""


def fail(message: str) -> None:
    print(message, file=sys.stderr)
    raise SystemExit(1)


def wanted_port() -> int:
    raw = os.environ.get("PORT", "8000")
    if not re.fullmatch(r"[0-9]{1,5}", raw) or not 1 <= int(raw) <= 65535:
        fail(f"PORT must be a number from 1 to 65535 (it is {raw!r}).")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", int(raw)))
        except OSError:
            fail(f"Port {raw} is taken. Choose another one: make demo PORT=8001")
    return int(raw)


def set_environment(port: int) -> Path:
    """Variables that are set already win. Returns the demo's folder."""
    folder = Path(os.environ.get("ASSAY_DATA_DIR") or ROOT / "var" / "demo").expanduser().resolve()
    own = {"ASSAY_DEMO": "1", "ASSAY_STATIC_ROOT": str(folder / "static"), "HF_HUB_OFFLINE": "1", "PORT": str(port)}
    os.environ.update(own, ASSAY_DATA_DIR=str(folder))
    os.environ.setdefault("ASSAY_LOG_LEVEL", "WARNING")
    # Celery's warning to whoever is root speaks of servers; this one answers on loopback only.
    ignored = "ignore:You're running the worker with superuser privileges"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (os.environ.get("PYTHONWARNINGS"), ignored)))
    return folder


class Supervisor:
    """Runs processes, each in a session of its own: Ctrl+C comes here alone, and what they start ends with them."""

    def __init__(self) -> None:
        self.starter = os.getppid()
        self.asked: list[int] = []
        for one in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(one) != signal.SIG_IGN:  # as under nohup
                signal.signal(one, lambda number, frame: self.asked.append(number))
        self.guard = subprocess.Popen(
            ["sh", "-c", GUARD, str(STOP_SECONDS)], stdin=subprocess.PIPE, text=True, start_new_session=True
        )

    @property
    def is_to_end(self) -> bool:
        return bool(self.asked) or os.getppid() != self.starter

    def run(self, *commands: list[str], tick: Callable[[], None] = lambda: None) -> int:
        """Until one of them ends; then all do. Returns the exit status of the one that ended."""
        processes: list[subprocess.Popen] = []
        for command in commands:
            processes.append(subprocess.Popen(command, cwd=ROOT, start_new_session=True))
            self._tell_guard(processes)
        while not self.is_to_end and all(one.poll() is None for one in (*processes, self.guard)):
            tick()
            time.sleep(0.05)
        status = next((one.returncode for one in processes if one.poll() is not None), 1)
        end_all(processes)
        self._tell_guard([])
        return status

    def _tell_guard(self, processes: list[subprocess.Popen]) -> None:
        with contextlib.suppress(BrokenPipeError):  # the guard's end is noticed above
            print(*[one.pid for one in processes], file=self.guard.stdin, flush=True)

    def close(self) -> None:
        self.guard.kill()
        self.guard.wait()


def end_all(processes: list[subprocess.Popen]) -> None:
    """Ask each, which knows what to do with its own processes; then end whatever is left of its group."""
    until = time.monotonic() + STOP_SECONDS
    for one in processes:
        one.terminate()
    for one in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            one.wait(max(0.0, until - time.monotonic()))
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(one.pid, signal.SIGKILL)
        one.wait()


def preparations(folder: Path) -> list[list[str]]:
    """Commands of manage.py, one after the other."""
    stamp = folder / ".static-collected"
    newest = max(one.stat().st_mtime for one in [*(ROOT / "static").rglob("*"), ROOT / "requirements.txt"])
    is_collected = stamp.exists() and stamp.stat().st_mtime >= newest
    return [["demo"]] if is_collected else [["collectstatic", "--noinput", "--verbosity", "0"], ["demo"]]


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}accounts/login/", timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False


def main() -> int:
    port = wanted_port()
    address = f"http://127.0.0.1:{port}/"
    folder = set_environment(port)
    folder.mkdir(parents=True, exist_ok=True)
    supervisor = Supervisor()
    is_told = False

    def tell() -> None:
        nonlocal is_told
        if not is_told and answers(address):
            is_told = True
            print(
                f"\n  Assay is running:  {address}\n\n"
                "  Sign in with one click there as annotator, second annotator, adjudicator or researcher.\n"
                f"  The demo's data lie in {folder} (make clean-demo removes them). Ctrl+C stops it.\n",
                flush=True,
            )

    try:
        for arguments in preparations(folder):
            status = supervisor.run([sys.executable, "manage.py", *arguments])
            if supervisor.is_to_end or status:
                return 0 if supervisor.is_to_end else status
            (folder / ".static-collected").touch()
        commands = LINE.findall((ROOT / "Procfile").read_text("utf-8"))
        status = supervisor.run(*(["sh", "-c", f"exec {command}"] for _, command in commands), tick=tell)
        if supervisor.is_to_end:
            return 0
    finally:
        supervisor.close()
    print("Assay has stopped by itself; its last messages are above.", file=sys.stderr)
    return status if status > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
