"""Cancelled, killed and simultaneous imports: nothing half done is seen, and nothing stands in the way afterwards."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.imports import external_labels, staging
from annotation.imports.importing import ImportProblem
from annotation.jobs import lifecycle
from annotation.models import Annotation, Chunk, Claim, ContentBatch, Evidence, Item, Job, Project, Rater, Unit
from tests.factories import make_dataset
from tests.importing.files import druid_row, druid_rows, run, start, texts, write_druid

pytestmark = pytest.mark.django_db

ROWS = 120


class Killed(BaseException):
    """What no handler catches, as a killed process runs none."""


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(staging, "BATCH_RECORDS", 20)


@pytest.fixture
def dataset():
    return make_dataset()


@pytest.fixture
def file(tmp_path):
    return write_druid(
        tmp_path / "d.tsv", [druid_row(n, relevant="True", evidence_stance="refutes") for n in range(ROWS)]
    )


def after(monkeypatch, module, name, calls, act):
    """Make `act` happen at the given call of a function."""
    real, seen = getattr(module, name), []

    def counted(*args, **kwargs):
        seen.append(1)
        if len(seen) == calls:
            act()
        return real(*args, **kwargs)

    monkeypatch.setattr(module, name, counted)


def kill():
    raise Killed


def lease_runs_out(job):
    job.chunks.filter(state=Chunk.State.LEASED).update(lease_expires_at=timezone.now() - timedelta(seconds=1))


def test_nobody_sees_rows_while_they_are_staged(dataset, file, monkeypatch):
    seen = []
    after(monkeypatch, staging, "insert_units", 5, lambda: seen.append(texts(dataset)))
    assert run(dataset, file).state == "done"
    assert seen == [{}]
    assert len(texts(dataset)) == ROWS


def test_cancelling_in_the_middle_takes_everything_back(dataset, file, monkeypatch):
    job = start(dataset, file)

    def cancel():
        assert Evidence.objects.exists()
        lifecycle.request_cancel(Job.objects.get(pk=job.pk))

    after(monkeypatch, staging, "insert_units", 3, cancel)
    progress = lifecycle.Lease.progress
    monkeypatch.setattr(lifecycle.Lease, "progress", lambda self, *args, **kw: progress(self, *args, force=True))
    # Cancelling is looked for when progress is reported; a small file is read in one go, so report at each batch.
    monkeypatch.setattr(lifecycle.Lease, "beat", lambda self: _look(self))
    job = lifecycle.run_here(job)
    assert job.state == "cancelled"
    assert not Evidence.objects.exists()
    assert not Unit.objects.exists()
    assert job.batch.state == ContentBatch.State.DISCARDED


def _look(lease):
    if Job.objects.filter(pk=lease.chunk.job_id, cancel_requested=True).exists():
        raise lifecycle.JobCancelled


def test_a_cancelled_import_can_be_resumed(dataset, file):
    job = start(dataset, file)
    lifecycle.request_cancel(job)
    assert job.state == "cancelled"
    lifecycle.resume(job)
    assert lifecycle.run_here(job).state == "done"
    assert len(texts(dataset)) == ROWS


def test_a_killed_import_starts_again_cleanly(dataset, file, monkeypatch):
    job = start(dataset, file)
    with monkeypatch.context() as patch:
        after(patch, staging, "insert_units", 4, kill)
        with pytest.raises(Killed):
            lifecycle.run_here(job)
    assert texts(dataset) == {}
    lease_runs_out(job)
    assert lifecycle.run_here(job).state == "done"
    assert len(texts(dataset)) == Evidence.objects.count() == ROWS
    assert Unit.objects.filter(kind="evidence").count() == ROWS
    assert Unit.objects.filter(kind="claim").count() == Claim.objects.count()


def test_a_worker_that_lost_its_lease_writes_nothing_more(dataset, file, monkeypatch):
    job = start(dataset, file)

    def take_over():
        Chunk.objects.filter(job=job, state=Chunk.State.LEASED).update(lease_token="0" * 32)

    after(monkeypatch, staging, "insert_units", 3, take_over)
    lifecycle.work_on(job.pk)
    batch = ContentBatch.objects.get(job=job)
    written = Evidence.objects.filter(batch=batch).count()
    assert 0 < written < ROWS
    assert batch.state == ContentBatch.State.STAGED


def test_a_second_import_is_refused_while_one_is_staging(dataset, file, tmp_path, monkeypatch):
    other = write_druid(tmp_path / "other.tsv", druid_rows(4))
    refused = []

    def second():
        with pytest.raises(ImportProblem) as problem:
            start(dataset, other)
        refused.append(str(problem.value))

    after(monkeypatch, staging, "insert_units", 2, second)
    assert run(dataset, file).state == "done"
    assert "Another import into" in refused[0]
    assert "Wait for it, or cancel it" in refused[0]


def test_two_imports_started_at_once_do_not_mix(dataset, file, tmp_path, monkeypatch):
    first, second = start(dataset, file), start(dataset, write_druid(tmp_path / "o.tsv", druid_rows(4)))
    messages = []
    after(monkeypatch, staging, "insert_units", 2, lambda: messages.append(lifecycle.run_here(second).message))
    assert lifecycle.run_here(first).state == "done"
    assert "Another import into" in messages[0]
    assert len(texts(dataset)) == ROWS


def test_what_a_failed_job_left_behind_does_not_block_the_next(dataset, file, monkeypatch):
    job = start(dataset, file)
    with monkeypatch.context() as patch:
        after(patch, staging, "insert_units", 3, kill)
        with pytest.raises(Killed):
            lifecycle.run_here(job)
    # The worker that marked it failed died before it had cleaned up.
    job.chunks.filter(state=Chunk.State.LEASED).update(state="failed", lease_token=None, lease_expires_at=None)
    Job.objects.filter(pk=job.pk).update(state=Job.State.FAILED)
    assert run(dataset, file).state == "done"
    assert Evidence.objects.count() == ROWS


def test_killed_between_publishing_and_the_end_it_publishes_once_and_goes_on_with_the_labels(
    dataset, file, monkeypatch
):
    monkeypatch.setattr(external_labels, "BATCH", 30)
    job = start(dataset, file, project="p")
    with monkeypatch.context() as patch:
        after(patch, external_labels, "bulk_insert", 4, kill)
        with pytest.raises(Killed):
            lifecycle.run_here(job)
    project = Project.objects.get(slug="p")
    assert project.state == Project.State.PREPARING
    assert 0 < project.decisions.count() < 2 * ROWS
    lease_runs_out(job)
    job = lifecycle.run_here(job)
    assert job.state == "done", job.message
    project.refresh_from_db()
    assert (project.state, project.decisions.count(), project.items.count()) == ("open", 2 * ROWS, ROWS)
    assert len(texts(dataset)) == ROWS


def test_cancelled_while_the_project_is_filled_the_project_is_taken_back(dataset, file, monkeypatch):
    monkeypatch.setattr(external_labels, "BATCH", 30)
    job = start(dataset, file, project="p")
    after(monkeypatch, external_labels, "bulk_insert", 4, lambda: lifecycle.request_cancel(Job.objects.get(pk=job.pk)))
    monkeypatch.setattr(lifecycle.Lease, "beat", lambda self: _look(self))
    job = lifecycle.run_here(job)
    assert job.state == "cancelled"
    assert not Project.objects.exists()
    assert not Item.objects.exists()
    assert not (Annotation.objects.exists() or Rater.objects.exists())
    assert len(texts(dataset)) == ROWS
    monkeypatch.undo()
    lifecycle.resume(job)
    assert lifecycle.run_here(job).state == "done"
    assert Project.objects.get().decisions.count() == 2 * ROWS
