"""Assay as a newcomer gets it: scripts/demo.py with a port and a data folder of its own, started and stopped."""

import contextlib
import http.cookiejar
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 240  # demo data included, on a machine that has other things to do
STOP_SECONDS = 30
KEY = "only-for-tests-" + "x" * 40
COMMAND = [".venv/bin/python", "scripts/demo.py"]


@dataclass(frozen=True, slots=True)
class Demo:
    process: subprocess.Popen
    folder: Path
    address: str
    seconds: float  # from the command to the printed address
    log: Path

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Ask as a terminal or a supervisor does; returns the exit status."""
        self.process.send_signal(how)
        return self.process.wait(STOP_SECONDS)

    def said(self) -> str:
        return self.log.read_text(errors="replace")


def made_before(factory, name: str) -> Path:
    """A folder of one's own with the demo's data and static files. They are made once for all processes that test side
    by side; that they are also made when the demo starts for the first time is what test_demo.py looks at."""
    folder = factory.mktemp(name) / "demo"
    shared = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    ready = shared / "demo-made-once"
    with FileLock(f"{ready}.lock"):
        if not ready.exists():
            making = shared / "demo-in-the-making"
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir()
            manage(making, "prepare", "--demo", ASSAY_STATIC_ROOT=str(making / "static"))
            making.rename(ready)
    shutil.copytree(ready, folder)
    return folder


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(folder: Path, **more: str) -> dict[str, str]:
    """This process's, without what tests set for Assay itself. With a key, nothing reads a file of this folder."""
    own = ("ASSAY_", "DATABASE_URL", "CELERY_", "DJANGO_", "PYTEST_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    return kept | {"ASSAY_DATA_DIR": str(folder), "ASSAY_SECRET_KEY": KEY} | more


def script(folder: Path, port: int | str, **more: str) -> subprocess.CompletedProcess:
    """Run the script where it is expected to end by itself."""
    return subprocess.run(
        COMMAND,
        cwd=ROOT,
        env=environment(folder, PORT=str(port), **more),
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
    )


def manage(folder: Path, *arguments: str, **more: str) -> str:
    """A management command on the data in `folder`. Returns what it printed; fails with what it complained about."""
    done = subprocess.run(
        [".venv/bin/python", "manage.py", *arguments],
        cwd=ROOT,
        env=environment(folder, ASSAY_DEMO="1", ASSAY_LOG_LEVEL="WARNING", **more),
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
    )
    assert done.returncode == 0, f"manage.py {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def heed_every_signal() -> None:
    """As a process of a terminal does. Tests that run in the background or under nohup ignore the interrupt, the quit
    and the hang-up, and a shell that starts so cannot trap them."""
    for one in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(one, signal.SIG_DFL)


@contextlib.contextmanager
def running_demo(folder: Path, port: int | None = None, **more: str):
    """`more` goes into its environment."""
    port = port or free_port()
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"demo-{time.monotonic_ns()}.log"
    began = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            COMMAND,
            cwd=ROOT,
            env=environment(folder, PORT=str(port), **more),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=heed_every_signal,
        )
    try:
        while not (found := re.search(r"Assay is running: +(http://\S+)", log.read_text(errors="replace"))):
            ended = process.poll() is not None
            assert not ended and time.monotonic() - began < START_SECONDS, log.read_text(errors="replace")[-5000:]
            time.sleep(0.1)
        yield Demo(process, folder, found[1].rstrip("/"), time.monotonic() - began, log)
    finally:
        if process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
        for leftover in processes_of(folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(leftover, signal.SIGKILL)
        process.wait(STOP_SECONDS)


def processes_of(folder: Path) -> list[int]:
    """Processes that were started with this data folder; none is known where there is no /proc."""
    wanted = f"ASSAY_DATA_DIR={folder}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


def wait_until(condition, seconds: float, what: str):
    """The condition's first true value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.1)
    raise AssertionError(f"Waited {seconds} seconds in vain until {what}")


def visitor():
    jar = http.cookiejar.CookieJar()
    return urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))


def text_of(opener, address: str, data: dict | None = None) -> str:
    body = urllib.parse.urlencode(data).encode() if data else None
    request = urllib.request.Request(address, body, {"Referer": address})
    with opener.open(request, timeout=30) as response:
        return response.read().decode()


def sign_in(demo: Demo, account: str):
    """Somebody who is signed in, and the page that they see first."""
    opener = visitor()
    page = text_of(opener, f"{demo.address}/accounts/login/")
    action = re.search(rf'action="([^"]*/{account}/?)"', page)[1]
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[1]
    return opener, text_of(opener, demo.address + action, {"csrfmiddlewaretoken": token})
