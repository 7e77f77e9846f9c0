"""A worker killed with SIGKILL in the middle of an import, on the embedded broker, which then has no message left."""

import pytest

from benchmarks.shared.made_up import write_druid_file
from tests.importing.own_worker import ask, make_place, manage, start_worker, wait_for
from tests.suggesting.workers import kill_session

PAIRS = 20_000
START = """
from pathlib import Path
from annotation.models import Dataset, User
from annotation.imports import importing
from annotation.imports.importing import ImportRequest
user = User.objects.create_superuser('admin', 'admin@example.org')
dataset = Dataset.objects.create(slug='d', title='d', owner=user)
importing.start(user, dataset, ImportRequest('druid', importing.files_of_paths([Path({path!r})])), is_dry_run=False)
"""


@pytest.mark.slow
def test_another_worker_finishes_what_a_killed_one_began(tmp_path):
    place = make_place(tmp_path)
    path = str(write_druid_file(tmp_path / "d.tsv", PAIRS))
    manage(place, "shell", "-v0", "-c", START.format(path=path))
    rows = "SELECT count(*) FROM annotation_evidence"
    pairs = "SELECT count(*) FROM annotation_unit WHERE kind = 'evidence'"  # claims are units, too
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
    assert ask(place, rows) == ask(place, pairs) == PAIRS
    assert ask(place, "SELECT state FROM annotation_contentbatch") == "published"
    assert ask(place, "SELECT max(attempts) FROM annotation_chunk") == 2
