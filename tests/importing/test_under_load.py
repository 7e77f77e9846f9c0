"""Annotators go on submitting while a large file comes in and a checker runs, on SQLite too."""

import os
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest
from django.db import connection, connections

from annotation.access import assignment_for
from annotation.jobs import lifecycle
from annotation.machines.runs import suggesting
from annotation.models import ContentBatch, Evidence, Job, Revision
from annotation.task_types import task_type
from annotation.work import annotating, assigning
from annotation.work.queries import pages
from benchmarks.shared.made_up import write_druid_file
from tests.factories import make_claim_evidence, make_dataset, make_project, make_user

ROOT = Path(__file__).resolve().parents[2]
PAIRS = 48_517
ANNOTATORS = 3
CHECKED = 10_000


class Annotating(threading.Thread):
    """One person who takes, reads a little and submits until told to stop."""

    def __init__(self, project, user, stop):
        super().__init__()
        self.project, self.user, self.stop = project, user, stop
        self.seconds, self.failures = [], []

    def run(self):
        try:
            while not self.stop.is_set():
                self.one()
                time.sleep(0.1)
        except Exception as error:
            self.failures.append(repr(error))
        finally:
            connections.close_all()

    def one(self):
        started = time.perf_counter()
        taken = assigning.take(self.project, self.user)
        assignment = assignment_for(self.user, taken.uuid)
        page = pages.load_page(assignment.item_id, task_type(self.project.task_type))
        [unit] = page.unit_keys
        body = {
            "client_id": str(uuid.uuid4()),
            "text_hash": page.text_hash,
            "judgements": [
                {"unit": unit, "dimension": "relevance", "label": "relevant", "spans": []},
                {"unit": unit, "dimension": "stance", "label": "refutes", "spans": []},
            ],
        }
        annotating.submit(assignment, self.user, body)
        self.seconds.append(time.perf_counter() - started)


def import_elsewhere(path, owner):
    """The import in a process of its own, as a worker does it, on the test's database."""
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        address = f"sqlite:///{settings['NAME']}"
    else:
        address = f"postgresql://{settings['USER']}@{settings['HOST']}:{settings['PORT']}/{settings['NAME']}"
    arguments = [str(path), "--format", "druid", "--dataset", "large", "--owner", owner.email]
    return subprocess.Popen(
        [sys.executable, "manage.py", "import_dataset", *arguments],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": address, "DJANGO_SETTINGS_MODULE": "tests.settings"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.on_postgresql
@pytest.mark.django_db(transaction=True)
def test_people_submit_while_a_large_file_comes_in_and_a_checker_runs(tmp_path):
    path = write_druid_file(tmp_path / "large.tsv", PAIRS)
    owner = make_user()
    dataset = make_dataset(owner)
    make_claim_evidence(dataset, 1500)
    people = [make_user() for _ in range(ANNOTATORS)]
    project = make_project(dataset, annotators=people, overlap=ANNOTATORS)
    busy = make_dataset(owner)
    make_claim_evidence(busy, CHECKED)
    run = suggesting.start_run(make_project(busy), owner, "fake", wake_workers=False)

    stop = threading.Event()
    threads = [Annotating(project, person, stop) for person in people]
    process = import_elsewhere(path, owner)
    for thread in threads:
        thread.start()
    checked = lifecycle.run_here(run.job)
    out, _ = process.communicate(timeout=300)
    stop.set()
    for thread in threads:
        thread.join()

    assert process.returncode == 0, out
    assert [thread.failures for thread in threads] == [[]] * ANNOTATORS
    seconds = sorted(each for thread in threads for each in thread.seconds)
    slow = f"{len(seconds)} submits, median {seconds[len(seconds) // 2]:.3f} s, slowest {seconds[-1]:.3f} s"
    print(slow)
    assert len(seconds) >= ANNOTATORS * 5, slow
    assert Revision.objects.count() == len(seconds)
    assert Evidence.objects.published().filter(dataset__slug="large").count() == PAIRS
    assert checked.state == Job.State.DONE
    assert run.suggestions.values("unit").distinct().count() + run.failures.count() == CHECKED
    assert ContentBatch.objects.filter(dataset__slug="large").get().state == "published"
