"""`pip install` of a wheel, outside the repository: every command of `assay`, the demo with its style sheet, and a
server of one's own with its first administrator."""

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

from .demo import (
    ROOT,
    START_SECONDS,
    environment,
    free_port,
    heed_every_signal,
    made_before,
    processes_of,
    text_of,
    visitor,
    wait_until,
)

pytestmark = pytest.mark.slow

BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"
PASSWORD = "a-long-password-of-ada"


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel, and an empty folder to work in."""

    bin: Path
    folder: Path

    def environment(self, **more: str) -> dict[str, str]:
        kept = environment(self.folder)
        return {name: value for name, value in kept.items() if not name.startswith(("ASSAY_", "PYTHON"))} | more

    def run(self, *arguments: str, status: int = 0) -> str:
        done = subprocess.run(
            [self.bin / "assay", *arguments],
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
        )
        assert done.returncode == status, f"{arguments}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    @contextlib.contextmanager
    def running(self, *arguments: str, data: Path, **more: str):
        """`assay ARGUMENTS` in the background; yields the address that it prints."""
        log = self.folder / f"{arguments[0]}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [self.bin / "assay", *arguments, "--port", str(free_port()), "--data", str(data)],
                cwd=self.folder,
                env=self.environment(**more),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=heed_every_signal,
            )
        try:
            found = wait_until(
                lambda: re.search(r"is running: +(http://\S+)/", log.read_text()) or process.poll() is not None,
                START_SECONDS,
                "it answered",
            )
            assert found is not True, log.read_text()
            yield found[1]
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0, log.read_text()
            wait_until(lambda: not processes_of(data), 30, "all of it had ended")
            assert "Traceback" not in log.read_text()
        finally:
            process.kill()
            for leftover in processes_of(data):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(leftover, signal.SIGKILL)


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Installed:
    """With the packages of this environment, and no path to the checkout."""
    place = tmp_path_factory.mktemp("installed")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists() and not name.startswith(("tests/", "benchmarks/", "clients/")):
            (place / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / "source" / name)
    build = [sys.executable, "-c", BUILD, str(place)]
    built = subprocess.run(build, cwd=place / "source", capture_output=True, text=True, check=True)
    wheel = place / built.stdout.splitlines()[-1]
    shutil.rmtree(place / "source")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "env"], check=True)
    [packages] = (place / "env").glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    pip = [sys.executable, "-m", "pip", "--python", str(place / "env" / "bin" / "python"), "install", "-q"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
    (place / "work").mkdir()
    return Installed(place / "env" / "bin", place / "work")


def test_commands_without_a_server_leave_nothing_behind(installed):
    (installed.folder / "labels.csv").write_text(
        "item,rater,label\n1,a,yes\n1,b,yes\n2,a,no\n2,b,no\n3,a,yes\n3,b,no\n"
    )
    (installed.folder / "judged.csv").write_text("judge,human\n" + "yes,yes\nno,no\n" * 30)
    before = sorted(installed.folder.iterdir())
    assert re.match(r"assay \d+\.\d+", installed.run("--version"))
    assert "usable for" in installed.run("judge", "judged.csv")
    assert "Krippendorff" in installed.run("report", "labels.csv", "agreement", "--from-files")
    assert "name the folder with --data" in installed.run("report", "labels", "agreement", status=1)
    assert "no command 'reprot'" in installed.run("reprot", status=2)
    for name in ("demo", "serve", "worker", "import", "report", "release", "export", "judge"):
        assert f"usage: assay {name}" in installed.run(name, "--help")
    assert sorted(installed.folder.iterdir()) == before
    where = "import assay, annotation; assay.Labels; print(assay.__file__, annotation.__file__)"
    done = subprocess.run([installed.bin / "python", "-c", where], cwd="/", capture_output=True, text=True, check=True)
    assert done.stdout.count("site-packages") == 2 and str(ROOT) not in done.stdout


def test_the_demo_has_its_style_sheet_and_commands_work_on_its_data(installed, tmp_path_factory):
    data = made_before(tmp_path_factory, "demo")
    with installed.running("demo", data=data) as address:
        page = text_of(visitor(), f"{address}/")
        assert "Sign in" in page
        style = re.search(r'href="(/static/\S+\.css)"', page)[1]
        assert "--" in text_of(visitor(), address + style)
        file = str(ROOT / "fixtures" / "demo" / "claims.tsv")
        asked = ("--format", "druid", "--dataset", "own", "--project", "own", "--data", str(data))
        assert "59 items" in installed.run("import", file, *asked)
        assert "Krippendorff" in installed.run("report", "demo-stance", "agreement", f"--data={data}")
        assert "annotations: " in installed.run("export", "demo-stance", "exported", "--data", str(data))
        installed.run("release", "demo-stance", "release.zip", "--data", str(data))
        assert "Krippendorff" in installed.run("report", "release.zip", "agreement", "--from-files")
        assert "no issues" in installed.run("manage", "check", "--data", str(data))


def test_a_server_of_ones_own_asks_for_the_first_administrator(installed):
    data = installed.folder / "assay-data"
    (installed.folder / "assay-demo").mkdir()  # which is not taken for data of one's own
    assert "There is no administrator yet" in installed.run("serve", "--port", str(free_port()), status=1)
    assert data.is_dir()
    with installed.running("serve", "--email", "ada@example.org", data=data, ASSAY_ADMIN_PASSWORD=PASSWORD) as address:
        opener = visitor()
        page = text_of(opener, f"{address}/accounts/login/")
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[1]
        signed_in = {"csrfmiddlewaretoken": token, "login": "ada@example.org", "password": PASSWORD}
        assert "Sign out" in text_of(opener, f"{address}/accounts/login/", signed_in)
        assert (data / "assay.env").stat().st_mode & 0o077 == 0
    with installed.running("serve", data=data) as address:
        assert "Sign in" in text_of(visitor(), f"{address}/accounts/login/")


def test_the_tutorial_for_operators(installed):
    """Each of its commands, in the order in which they are printed."""
    text = (ROOT / "docs" / "tutorials" / "operator.md").read_text("utf-8")
    install, serve, doctor, worker, backup, restore = re.findall(r"^```sh elsewhere\n(.*?)^```$", text, re.M | re.S)
    assert "pip install '.[server" in install
    place = installed.folder / "group"
    place.mkdir()
    shell = {"PATH": f"{installed.bin}:{os.environ['PATH']}"}

    def outcome(commands: str) -> subprocess.CompletedProcess:
        words = ["bash", "-e", "-u", "-o", "pipefail", "-c", commands]
        return subprocess.run(words, cwd=place, env=installed.environment(**shell), capture_output=True, text=True)

    def run(commands: str) -> None:
        done = outcome(commands)
        assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"

    program, command, *arguments = shlex.split(serve.replace("--data study", ""))
    assert program == "assay"
    with installed.running(command, *arguments, data=place / "study", ASSAY_ADMIN_PASSWORD=PASSWORD):
        # The scheduler begins some seconds after the pages.
        wait_until(lambda: outcome(doctor).returncode == 0, START_SECONDS, "doctor finds no error")
        second = subprocess.Popen(
            shlex.split(worker), cwd=place, env=installed.environment(**shell), preexec_fn=heed_every_signal
        )
        try:
            wait_until(lambda: "cpu: 2 workers" in outcome(doctor).stdout, START_SECONDS, "both are counted")
        finally:
            second.terminate()
            second.wait(30)
        run(backup)
        run(restore)
    assert len(list((place / "backups").iterdir())) == 1 and (place / "rehearsal").is_dir()
