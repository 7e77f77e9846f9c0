"""Cancelled, killed and simultaneous imports: nothing half done is seen, and nothing stands in the way afterwards."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from analysis.sources.database import DatabaseSource
from annotation.access import InPreparation, project_with_labels_for
from annotation.exports.releasing import write_export
from annotation.imports import external_labels, staging
from annotation.imports.importing import ImportProblem
from annotation.jobs import lifecycle
from annotation.models import Annotation, Chunk, Claim, ContentBatch, Evidence, Item, Job, Project, Rater, Unit
from annotation.projects.preparing import NotReady
from tests.factories import make_dataset
from tests.importing.files import druid_row, druid_rows, run, start, texts, write_druid

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]

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


# --- labels that come into a project that is open --------------------------------------------------------------------


@pytest.fixture
def live(dataset, file):
    """An open project with the content and half of the labels; the importing file changes and completes them."""
    half = [druid_row(n, relevant="True", evidence_stance="supports") for n in range(ROWS // 2)]
    before = file.with_name("before.tsv")
    assert run(dataset, write_druid(before, half), project="p").state == "done"
    return Project.objects.get(slug="p")


def stored(project):
    rows = project.decisions.order_by("unit__key", "dimension", "number")
    return list(rows.values_list("unit__key", "dimension", "number", "label", "is_latest"))


def killed_while_filling(dataset, file, monkeypatch, **options):
    monkeypatch.setattr(external_labels, "BATCH", 30)
    job = start(dataset, file, project="p", **options)
    with monkeypatch.context() as patch:
        after(patch, external_labels, "bulk_insert", 3, kill)
        with pytest.raises(Killed):
            lifecycle.run_here(job)
    return job


def test_until_all_labels_are_there_nothing_reads_them(live, dataset, file, monkeypatch, tmp_path, client):
    job = killed_while_filling(dataset, file, monkeypatch)
    live.refresh_from_db()
    assert (live.state, live.filled_by) == ("open", job)
    owner = live.created_by
    with pytest.raises(InPreparation, match="An import is storing labels in p"):
        project_with_labels_for(owner, "p")
    with pytest.raises(NotReady):
        DatabaseSource(live)
    with pytest.raises(NotReady):
        write_export(live, tmp_path / "export")
    for command in (
        ("report", "p", "prevalence"),
        ("export_dataset", "p", str(tmp_path / "e")),
        ("rule", "p", "majority"),
    ):
        with pytest.raises(CommandError, match="An import is storing labels"):
            call_command(*command)
    client.force_login(owner)
    assert client.get("/api/v1/projects/p/decisions/").status_code == 409
    assert client.get("/projects/p/exports/").status_code == 403
    page = client.get("/projects/p/").content.decode()
    assert "An import is storing labels" in page and "Preparing" in page
    lease_runs_out(job)
    assert lifecycle.run_here(job).state == "done"
    live.refresh_from_db()
    assert live.filled_by is None
    assert not job.batch.changes.exists()
    assert project_with_labels_for(owner, "p") == live
    assert {label for _, dimension, _, label, is_latest in stored(live) if dimension == "stance" and is_latest} == {
        "refutes"
    }


def test_the_command_run_again_goes_on_with_the_import_that_was_killed(live, dataset, file, monkeypatch):
    job = killed_while_filling(dataset, file, monkeypatch)
    with pytest.raises(ImportProblem, match="Another import"):
        start(dataset, write_druid(file.with_name("other.tsv"), druid_rows(3)), project="p")
    lease_runs_out(job)
    arguments = (str(file), "--format", "druid", "--dataset", dataset.slug, "--project", "p")
    Job.objects.filter(pk=job.pk).update(parameters=_of_command(arguments, dataset))
    call_command("import_dataset", *arguments)
    job.refresh_from_db()
    assert job.state == "done"
    assert Job.objects.filter(kind="import").count() == 2


def _of_command(arguments, dataset):
    from annotation.imports import importing

    request = importing.ImportRequest(
        "druid", importing.files_of_paths([Path(arguments[0])]), project=importing.ProjectWish("p", "p")
    )
    return request.as_json() | {"is_dry_run": False}


@pytest.mark.parametrize("how", ["cancelled", "failed"])
def test_labels_of_an_import_that_ends_early_are_taken_back(live, dataset, file, monkeypatch, how):
    before = stored(live)
    job = killed_while_filling(dataset, file, monkeypatch)
    assert stored(live) != before
    lease_runs_out(job)
    if how == "cancelled":
        lifecycle.request_cancel(Job.objects.get(pk=job.pk))
    else:
        monkeypatch.setattr(external_labels, "bring_in", lambda *args, **more: 1 / 0)
        monkeypatch.setattr(lifecycle, "MAX_ATTEMPTS", 1)
        lifecycle.run_here(job)
    job.refresh_from_db()
    assert job.state == how
    assert stored(live) == before
    live.refresh_from_db()
    assert (live.state, live.filled_by) == ("open", None)


def test_what_a_worker_that_died_while_taking_back_left_is_taken_back_by_the_next(live, dataset, file, monkeypatch):
    before = stored(live)
    job = killed_while_filling(dataset, file, monkeypatch)
    job.chunks.filter(state=Chunk.State.LEASED).update(state="failed", lease_token=None, lease_expires_at=None)
    Job.objects.filter(pk=job.pk).update(state=Job.State.FAILED)
    lifecycle.sweep()
    assert stored(live) == before
    live.refresh_from_db()
    assert live.filled_by is None
