"""A worker with a database and a broker of its own, to be killed with SIGKILL."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from tests.own_database import ROOT, empty_database


def manage(place: dict[str, str], *arguments: str) -> None:
    subprocess.run([sys.executable, "manage.py", *arguments], cwd=ROOT, env=place, check=True)


def make_place(tmp_path: Path) -> dict[str, str]:
    """The environment of a database and a broker of their own."""
    (tmp_path / "broker").mkdir()
    shutil.copyfile(empty_database(), tmp_path / "assay.sqlite3")
    return os.environ | {
        "ASSAY_SECRET_KEY": "only-for-tests-" + "x" * 40,
        "ASSAY_DEBUG": "1",
        "ASSAY_DATA_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path / 'assay.sqlite3'}",
        "CELERY_BROKER_URL": "filesystem://",
        "ASSAY_CHUNK_LEASE_SECONDS": "3",
        "ASSAY_SWEEP_SECONDS": "1",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }


def ask(place, question):
    with closing(sqlite3.connect(Path(place["ASSAY_DATA_DIR"]) / "assay.sqlite3", timeout=30)) as database:
        return database.execute(question).fetchone()[0]


def wait_for(place, question, expected, seconds=90):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = ask(place, question)
        if expected(found):
            return found
        time.sleep(0.05)
    raise AssertionError(f"{question} is still {found!r}")


def start_worker(place, *more):
    """A worker with its beat, in a session of its own so that it can be killed with its children."""
    options = ["-B", "--concurrency", "1", "-Q", "default", "--loglevel", "WARNING", "--without-gossip"]
    return subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "config", "worker", *options, *more, "-n", f"w{time.time_ns()}@test"],
        cwd=ROOT,
        env=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
