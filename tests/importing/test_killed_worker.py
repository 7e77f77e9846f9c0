"""A worker killed with SIGKILL in the middle of an import, on the embedded broker, which then has no message left."""

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.generate import write_druid_file
from tests.suggesting.workers import kill_session

ROOT = Path(__file__).resolve().parents[2]
PAIRS = 20_000
START = """
from pathlib import Path
from annotation.models import Dataset, User
from annotation.services import importing
from annotation.services.importing import ImportRequest
user = User.objects.create_superuser('admin', 'admin@example.org')
dataset = Dataset.objects.create(slug='d', title='d', owner=user)
importing.start(user, dataset, ImportRequest('druid', importing.files_of_paths([Path({path!r})])), is_dry_run=False)
"""


@pytest.fixture
def place(tmp_path):
    """A database, a broker and an environment of their own."""
    (tmp_path / "broker").mkdir()
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


def start_worker(place):
    """A worker with its beat, in a session of its own so that it can be killed with its children."""
    options = ["-B", "--concurrency", "1", "-Q", "default", "--loglevel", "WARNING", "--without-gossip"]
    return subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "config", "worker", *options, "-n", f"w{time.time_ns()}@test"],
        cwd=ROOT,
        env=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


@pytest.mark.slow
def test_another_worker_finishes_what_a_killed_one_began(tmp_path, place):
    path = str(write_druid_file(tmp_path / "d.tsv", PAIRS))
    for arguments in (["migrate", "-v0"], ["shell", "-v0", "-c", START.format(path=path)]):
        subprocess.run([sys.executable, "manage.py", *arguments], cwd=ROOT, env=place, check=True)
    rows = "SELECT count(*) FROM annotation_evidence"
    first = start_worker(place)
    try:
        staged = wait_for(place, rows, lambda number: number > 0)
    finally:
        kill_session(first)
    assert 0 < staged < PAIRS
    state = "SELECT state FROM annotation_job"
    assert ask(place, state) == "running"
    assert ask(place, "SELECT state FROM annotation_contentbatch") == "staged"
    second = start_worker(place)
    try:
        wait_for(place, state, lambda found: found in ("done", "failed"))
    finally:
        kill_session(second)
    assert ask(place, state) == "done"
    assert ask(place, rows) == ask(place, "SELECT count(*) FROM annotation_unit") == PAIRS
    assert ask(place, "SELECT state FROM annotation_contentbatch") == "published"
    assert ask(place, "SELECT max(attempts) FROM annotation_chunk") == 2
