"""Workers say that they live, and take no work while the database has other migrations than their code."""

import logging
from datetime import timedelta

import pytest
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from annotation import __version__, tasks
from annotation.jobs import versions, workers
from annotation.models import Job, WorkerBeat
from tests.factories import make_dataset
from tests.suggesting.workers import running_worker, wait_for, worker_environment

LATEST = max(name for app, name in versions.code_migrations()[0] if app == "annotation")


@pytest.fixture(autouse=True)
def asked_anew(monkeypatch):
    monkeypatch.setattr(versions, "_asked", (0.0, ""))


@pytest.mark.django_db
def test_signs_of_life_are_one_row_each_and_grow_old(monkeypatch):
    monkeypatch.setattr(workers, "BEAT_SECONDS", 0.0)
    sign = workers.SignOfLife("cpu@somewhere", "1.2", ("cpu", "gpu"))
    sign.give()
    sign.give()
    workers.SignOfLife("clock@somewhere", "1.2").give()
    assert [(one.name, one.queues) for one in workers.alive()] == [
        ("clock@somewhere", []),
        ("cpu@somewhere", ["cpu", "gpu"]),
    ]
    WorkerBeat.objects.filter(name="cpu@somewhere").update(beat_at=timezone.now() - timedelta(minutes=2))
    assert [one.name for one in workers.alive()] == ["clock@somewhere"]
    WorkerBeat.objects.filter(name="cpu@somewhere").update(beat_at=timezone.now() - timedelta(days=2))
    workers.SignOfLife("clock@somewhere", "1.2").give()
    assert WorkerBeat.objects.count() == 1


@pytest.mark.django_db
def test_migrations_that_differ_are_named():
    assert versions.why_they_differ() == ""
    recorder = MigrationRecorder(versions.connection)
    recorder.record_unapplied("annotation", LATEST)
    assert versions.why_they_differ() == (
        f"The database lacks 1 migration, the last being annotation.{LATEST}. Run `manage.py migrate`."
    )
    recorder.record_applied("annotation", "9999_from_tomorrow")
    assert "has the migration annotation.9999_from_tomorrow, which" in versions.why_they_differ()


@pytest.mark.django_db
def test_the_migrations_that_a_squashed_one_replaces_are_known():
    replaced = versions.code_migrations()[1]
    assert ("annotation", "0038_improbable_cases") in replaced
    MigrationRecorder(versions.connection).record_applied("annotation", "0038_improbable_cases")
    assert versions.why_they_differ() == ""


@pytest.mark.django_db
def test_a_worker_of_another_version_takes_no_work(caplog):
    owner = make_dataset(slug="d").owner
    job = Job.objects.create(kind=Job.Kind.ITEMS, created_by=owner)
    recorder = MigrationRecorder(versions.connection)
    recorder.record_applied("annotation", "9999_from_tomorrow")
    with caplog.at_level(logging.WARNING):
        tasks.work_on(job.pk)
        tasks.sweep()
    assert caplog.text.count("This worker takes no work: The database has the migration annotation.9999") == 2
    recorder.record_unapplied("annotation", "9999_from_tomorrow")
    tasks.work_on(job.pk)
    assert caplog.text.count("This worker takes no work") == 3, "it asks again only after a while"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_and_its_clock_say_what_they_serve(tmp_path):
    with running_worker(tmp_path / "logs", worker_environment(tmp_path, "filesystem://"), "default,cpu") as worker:
        wait_for(lambda: len(workers.alive()) == 2, "worker and clock have given signs", worker)
        clock, one = sorted(workers.alive(), key=lambda row: len(row.queues))
        assert clock.name.startswith("clock-") and clock.queues == []
        assert one.queues == ["cpu", "default"] and one.version == __version__ and one.problem == ""
        worker.stop()
        assert not WorkerBeat.objects.filter(name=one.name).exists(), worker.said()
