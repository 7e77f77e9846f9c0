"""Several processes that end together: when one of them ends, when this process is asked to, where wanted when the
process that started it is gone, and, by a guard that waits for a pipe to close, when this process is killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence

from assay.places import PACKAGES

STOP_SECONDS = 5.0  # to finish what is in hand; what has not is done again after the next start
# Keeps the last list of processes that it read. When the pipe's other end is closed, it ends them, as `end_all` does.
GUARD = """while read -r line; do groups=$line; done
for group in $groups; do kill -s TERM "$group" 2>/dev/null; done
sleep "$0"
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done"""


class Supervisor:
    """Runs processes, each in a session of its own: Ctrl+C comes here alone, and what they start ends with them.

    `follows_starter`: end when the process that started this one has ended.
    """

    def __init__(self, *, follows_starter: bool) -> None:
        self.starter = os.getppid() if follows_starter else None
        self.signals: list[int] = []
        for one in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(one) != signal.SIG_IGN:  # as under nohup
                signal.signal(one, lambda number, frame: self.signals.append(number))
        self.guard = subprocess.Popen(
            ["sh", "-c", GUARD, str(STOP_SECONDS)], stdin=subprocess.PIPE, text=True, start_new_session=True
        )

    @property
    def is_to_end(self) -> bool:
        return bool(self.signals) or self.starter not in (None, os.getppid())

    def run(self, *commands: Sequence[str], tick: Callable[[], None] = lambda: None) -> int:
        """Until one of them ends; then all do. Returns the exit status of the one that ended."""
        processes: list[subprocess.Popen] = []
        for command in commands:
            processes.append(subprocess.Popen(command, cwd=PACKAGES, start_new_session=True))
            self._tell_guard(processes)
        return self._watched(processes, tick)

    def ask(self, command: Sequence[str], answer: str | None = None) -> int:
        """One command that may ask on the terminal, which only this session has; or that reads `answer`."""
        source = None if answer is None else subprocess.PIPE
        process = subprocess.Popen(command, cwd=PACKAGES, stdin=source, text=True)
        if answer is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(f"{answer}\n")
                process.stdin.close()
        self._tell_guard([process])
        return self._watched([process])

    def _watched(self, processes: list[subprocess.Popen], tick: Callable[[], None] = lambda: None) -> int:
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
    """Ask each, which knows what to do with its own processes; then end all that is left of its group."""
    until = time.monotonic() + STOP_SECONDS
    for one in processes:
        one.terminate()
    for one in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            one.wait(max(0.0, until - time.monotonic()))
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(one.pid, signal.SIGKILL)
        if one.poll() is None:  # it is in this process's group
            one.kill()
        one.wait()
