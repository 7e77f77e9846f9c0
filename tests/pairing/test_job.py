"""Pairs as a background job: nobody sees half of them, whatever happens to the worker."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.imports import importing, staging
from annotation.imports.importing import ImportProblem, ImportRequest
from annotation.imports.pairs.pairing import PairingProblem
from annotation.jobs import lifecycle
from annotation.models import Chunk, ContentBatch, Job, Pair, Unit
from tests.importing.own_worker import ask, make_place, manage, start_worker, wait_for
from tests.pairing.harbour import bring_in, line, make, pairs, start
from tests.suggesting.workers import kill_session

DOCUMENTS = 30


class Killed(BaseException):
    """What no handler catches, as a killed process runs none."""


@pytest.fixture
def dataset(db, tmp_path, monkeypatch):
    monkeypatch.setattr(staging, "BATCH_RECORDS", 20)
    documents = tuple(f"Sentence one of {n}. Sentence two of {n}." for n in range(DOCUMENTS))
    return bring_in(tmp_path, line(documents=documents))


ALL = DOCUMENTS * 2 * 2


def at_batch(monkeypatch, number, act):
    """Make `act` happen when the given batch of rows is being written."""
    real, seen = staging.insert_units, []

    def counted(*args, **kwargs):
        seen.append(1)
        if len(seen) == number:
            act()
        return real(*args, **kwargs)

    monkeypatch.setattr(staging, "insert_units", counted)


def test_nobody_sees_pairs_before_all_are_made(dataset, monkeypatch):
    seen = []
    at_batch(monkeypatch, 4, lambda: seen.append((len(pairs(dataset)), Pair.objects.count() > 0)))
    make(dataset)
    assert seen == [(0, True)] and len(pairs(dataset)) == ALL


def test_a_killed_worker_leaves_nothing_and_the_next_one_makes_them_all(dataset, monkeypatch):
    job = start(dataset)

    def kill():
        raise Killed

    with monkeypatch.context() as patch:
        at_batch(patch, 4, kill)
        with pytest.raises(Killed):
            lifecycle.run_here(job)
    assert pairs(dataset) == {} and 0 < Pair.objects.count() < ALL
    job.chunks.filter(state=Chunk.State.LEASED).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert lifecycle.run_here(job).state == "done"
    assert len(pairs(dataset)) == Pair.objects.count() == Unit.objects.filter(kind="pair").count() == ALL


def test_cancelling_takes_everything_back_and_resuming_makes_it(dataset, monkeypatch):
    job = start(dataset)
    with monkeypatch.context() as patch:
        at_batch(patch, 4, lambda: lifecycle.request_cancel(Job.objects.get(pk=job.pk)))
        progress = lifecycle.Lease.progress
        patch.setattr(lifecycle.Lease, "progress", lambda self, *args: progress(self, *args, force=True))
        job = lifecycle.run_here(job)
    assert job.state == "cancelled" and not Pair.objects.exists()
    assert job.batch.state == ContentBatch.State.DISCARDED
    lifecycle.resume(job)
    assert lifecycle.run_here(job).state == "done" and len(pairs(dataset)) == ALL


def test_imports_and_the_making_of_pairs_wait_for_each_other(dataset, monkeypatch, tmp_path):
    refused = []
    path = tmp_path / "more.jsonl"
    path.write_text(json.dumps(line(7)), encoding="utf-8")

    def others():
        request = ImportRequest("content", importing.files_of_paths([path]))
        with pytest.raises(ImportProblem) as problem:
            importing.start(dataset.owner, dataset, request, is_dry_run=False, wake_workers=False)
        refused.append(str(problem.value))
        with pytest.raises(PairingProblem) as problem:
            start(dataset)
        refused.append(str(problem.value))

    at_batch(monkeypatch, 2, others)
    make(dataset)
    assert len(refused) == 2 and refused[0] == refused[1]
    assert f"The making of pairs in {dataset.title} is being prepared" in refused[0]


SETTING_UP = """
import json, sys
from pathlib import Path
from annotation.models import Dataset, User
from annotation.imports import importing
from annotation.imports.pairs import pairing
from annotation.jobs import lifecycle
user = User.objects.create_superuser('admin', 'admin@example.org')
dataset = Dataset.objects.create(slug='d', title='d', owner=user)
request = importing.ImportRequest('content', importing.files_of_paths([Path({path!r})]))
assert lifecycle.run_here(importing.start(user, dataset, request, is_dry_run=False, wake_workers=False)).state == 'done'
pairing.start(user, dataset, pairing.PairRequest(), is_dry_run=False)
"""


@pytest.mark.slow
def test_another_worker_makes_what_one_killed_by_the_system_began(tmp_path):
    place = make_place(tmp_path)
    number, gold = 1000, tuple(f"Gold evidence {n} of the claim." for n in range(5))
    text = " ".join(f"This is sentence number {n} of a long document." for n in range(5))
    path = tmp_path / "content.jsonl"
    rows = (json.dumps(line(n, documents=(text,), gold=gold)) for n in range(number))
    path.write_text("\n".join(rows), encoding="utf-8")
    manage(place, "shell", "-v0", "-c", SETTING_UP.format(path=str(path)))
    rows, state = "SELECT count(*) FROM annotation_pair", "SELECT state FROM annotation_job WHERE kind = 'pairs'"
    first = start_worker(place)
    try:
        staged = wait_for(place, rows, lambda found: found > 0)
    finally:
        kill_session(first)
    assert 0 < staged < number * 25 and ask(place, state) == "running"
    second = start_worker(place)
    try:
        wait_for(place, state, lambda found: found in ("done", "failed"))
    finally:
        kill_session(second)
    assert ask(place, state) == "done"
    units = "SELECT count(*) FROM annotation_unit WHERE kind = 'pair'"
    assert ask(place, rows) == ask(place, units) == number * 25
    assert ask(place, "SELECT count(*) FROM annotation_contentbatch WHERE state = 'staged'") == 0
