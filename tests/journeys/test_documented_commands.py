"""The README and the documentation are run: every block of commands, in a clone, on the demo that `make demo` starts.

Blocks that need another machine or the network say so (```sh elsewhere) and are only parsed.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import textwrap
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from django.core.management import get_commands

from .demo import ROOT, START_SECONDS, free_port, heed_every_signal, processes_of, wait_until

pytestmark = pytest.mark.slow

BLOCK = re.compile(r"^ *```(?:sh|bash|shell|console)\b *(.*)\n((?:.*\n)*?) *```$", re.MULTILINE)
DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")),
]
# `.ci/run` begins with it; and the demo is running already.
INSTEAD = {"make test": "make -n test", "make demo": "make -n demo"}
STUDY = "docs/how-to/commands.md"
# What PostgreSQL could do otherwise: exports and reports are tested on it one by one.
WRITES = re.compile("import_dataset|run_checker")


@dataclass(frozen=True)
class Block:
    place: str
    mark: str
    commands: str


def blocks() -> list[Block]:
    found = []
    for name in DOCUMENTS:
        text = (ROOT / name).read_text("utf-8")
        for match in BLOCK.finditer(text):
            found.append(
                Block(
                    f"{name}:{text.count(chr(10), 0, match.start()) + 1}", match[1].strip(), textwrap.dedent(match[2])
                )
            )
    return found


ALL = blocks()
HERE = [block for block in ALL if not block.mark]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def clone(request, tmp_path_factory):
    """The checkout with a running demo, as a newcomer has it, beside packages that are installed already."""
    folder = tmp_path_factory.mktemp("clone") / "assay"
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists() and not name.startswith("tests/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    for name in folder.glob("requirements*.txt"):
        os.utime(name, (0, 0))  # older than what says that they are installed
    (folder / ".venv").symlink_to((ROOT / ".venv").resolve())
    variables = newcomer(folder)
    log, port = folder.parent / "demo.log", free_port()
    with database_of(request.param, variables), log.open("wb") as output:
        demo = subprocess.Popen(
            ["make", "demo", f"PORT={port}"],
            cwd=folder,
            env=variables,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=heed_every_signal,
        )
        try:
            wait_until(
                lambda: b"Assay is running" in log.read_bytes() or demo.poll() is not None, START_SECONDS, "it started"
            )
            assert demo.poll() is None, log.read_text()
            yield folder, variables
        finally:
            demo.send_signal(signal.SIGTERM)
            demo.wait()
            wait_until(lambda: not processes_of(folder / "var" / "demo"), 30, "the demo had ended")


def newcomer(folder: Path) -> dict[str, str]:
    """A shell that knows nothing of Assay."""
    return {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}


@contextlib.contextmanager
def database_of(kind: str, variables: dict[str, str]):
    """Puts a PostgreSQL database of its own into the shell's variables, where that is wanted."""
    if kind == "sqlite":
        yield
        return
    server = "postgresql://postgres@127.0.0.1:5432"
    try:
        connection = psycopg.connect(f"{server}/postgres", connect_timeout=3, autocommit=True)
    except psycopg.OperationalError:
        pytest.skip("No PostgreSQL on 127.0.0.1:5432")
    name = f"assay_documented_{os.getpid()}"
    with connection:
        connection.execute(f"create database {name}")
        variables["DATABASE_URL"] = f"{server}/{name}"
        try:
            yield
        finally:
            connection.execute(f"drop database {name} with (force)")


@pytest.mark.parametrize("block", HERE, ids=lambda block: block.place)
def test_commands_work_as_printed_beside_the_demo(clone, block):
    folder, variables = clone
    if "DATABASE_URL" in variables and not (block.place.startswith(STUDY) and WRITES.search(block.commands)):
        pytest.skip("on PostgreSQL what the steps of a study write is enough")
    commands = "\n".join(INSTEAD.get(line.partition("#")[0].strip(), line) for line in block.commands.splitlines())
    done = subprocess.run(
        ["bash", "-e", "-u", "-x", "-o", "pipefail", "-c", commands],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Traceback" not in done.stderr


def test_what_is_imported_by_command_is_in_the_demo(clone):
    folder, variables = clone
    count = "from annotation.models import Project; print(Project.objects.get(slug='my-project').items.count())"
    done = subprocess.run(
        [".venv/bin/python", "manage.py", "shell", "-v0", "-c", count],
        cwd=folder,
        env=variables | {"ASSAY_DATA_DIR": str(folder / "var" / "demo")},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "59", done.stderr


@pytest.mark.parametrize("block", ALL, ids=lambda block: block.place)
def test_every_block_can_be_parsed_and_names_commands_that_there_are(block):
    assert block.mark in ("", "elsewhere"), block.mark
    done = subprocess.run(["bash", "-n", "-c", block.commands], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name in re.findall(r"manage\.py (\w+)", block.commands):
        assert name in get_commands()
    for program in re.findall(r"\.venv/bin/(\w+)", block.commands):
        assert (ROOT / ".venv" / "bin" / program).exists()


def test_the_steps_of_a_study_are_run():
    assert len([block for block in HERE if block.place.startswith(STUDY)]) >= 4
    assert len([block for block in HERE if block.place.startswith(("README.md", "docs/tutorials/"))]) >= 5
