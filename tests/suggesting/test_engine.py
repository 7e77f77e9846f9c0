"""The job engine: leases, cancelling, failing and resuming, with checker runs as the work."""

import threading
import time
from datetime import timedelta

import pytest
from django.db import connection, connections
from django.utils import timezone

from annotation.jobs import leases, lifecycle
from annotation.machines.runs import predicting, suggesting
from annotation.models import Chunk, Job, RunFailure, Score, Suggestion
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(suggesting, "CHUNK_SIZE", 10)
    monkeypatch.setattr(predicting, "SLICE_SIZE", 2)
    monkeypatch.setattr(predicting, "SLICE_SECONDS", (0.0, 9.0))


@pytest.fixture
def sent(monkeypatch):
    """What would have gone to the broker for checkers: (job, queue, seconds it is good for)."""
    messages = []

    class Broker:
        def send_task(self, name, args, queue, expires, **options):
            if queue == "cpu":
                messages.append((args[0], queue, expires))

    monkeypatch.setattr(lifecycle, "current_app", Broker())
    return messages


def start(n=30, **parameters):
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, n)
    project = factories.make_project(dataset, overlap=1)
    return suggesting.start_run(project, project.created_by, "fake", parameters, wake_workers=False)


def state(run) -> str:
    return Job.objects.get(pk=run.job_id).state


def rows(run) -> list:
    return [
        list(Suggestion.objects.filter(run=run).order_by("pk").values_list("pk", "unit_id", "dimension", "label")),
        list(Score.objects.filter(run=run).order_by("pk").values_list("pk", "unit_id", "value")),
        list(RunFailure.objects.filter(run=run).order_by("pk").values_list("pk", "unit_id")),
    ]


def test_a_second_message_for_a_finished_job_changes_nothing():
    run = start()
    lifecycle.run_here(run.job)
    before = rows(run)
    assert lifecycle.work_on(run.job_id) is False
    assert rows(run) == before and len(before[1]) == 30


def test_a_chunk_whose_worker_died_is_taken_again_only_when_its_lease_ran_out():
    run = start()
    dead = lifecycle.claim_chunk(run.job_id)
    assert lifecycle.run_here(run.job).state == Job.State.RUNNING  # two of three chunks; the end waits for the third
    assert run.job.chunks.filter(state=Chunk.State.DONE).count() == 2
    others = {chunk.pk: chunk.started_at for chunk in run.job.chunks.filter(state=Chunk.State.DONE)}
    Chunk.objects.filter(pk=dead.chunk.pk).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    assert Suggestion.objects.filter(run=run, dimension="relevance").count() == 30
    assert run.job.chunks.get(pk=dead.chunk.pk).attempts == 2
    assert {chunk.pk: chunk.started_at for chunk in run.job.chunks.filter(pk__in=others)} == others


def test_who_lost_the_lease_writes_nothing_at_all():
    run = start(10)
    late = lifecycle.claim_chunk(run.job_id)
    Chunk.objects.filter(pk=late.chunk.pk).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    other = lifecycle.claim_chunk(run.job_id)
    assert other.chunk.pk == late.chunk.pk
    with pytest.raises(lifecycle.LeaseLost):
        suggesting.HANDLER.run_chunk(late.chunk, late)
    assert rows(run) == [[], [], []]
    suggesting.HANDLER.run_chunk(other.chunk, other)
    assert Score.objects.filter(run=run).count() == 10
    with pytest.raises(lifecycle.LeaseLost):
        suggesting.HANDLER.run_chunk(late.chunk, late)
    assert Score.objects.filter(run=run).count() == 10


def test_an_error_of_who_lost_the_lease_does_not_fail_the_job(monkeypatch):
    run = start(10)
    late = lifecycle.claim_chunk(run.job_id)
    Chunk.objects.filter(pk=late.chunk.pk).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    lifecycle.claim_chunk(run.job_id)
    monkeypatch.setattr(suggesting.HANDLER, "run_chunk", lambda chunk, lease: 1 / 0)
    late.chunk.attempts = lifecycle.MAX_ATTEMPTS
    lifecycle.work_on_chunk(run.job, late)
    assert state(run) == Job.State.RUNNING
    assert run.job.chunks.get(pk=late.chunk.pk).state == Chunk.State.LEASED


def test_results_and_the_chunks_state_are_stored_together_or_not_at_all(monkeypatch):
    run = start(10)

    def broken(*args):
        raise RuntimeError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Score.objects, "bulk_create", broken)
        assert lifecycle.run_here(run.job).state == Job.State.FAILED
    assert run.job.message == "RuntimeError: the disk is full"
    chunk = run.job.chunks.get(index=0)
    assert (chunk.attempts, chunk.state, chunk.error) == (lifecycle.MAX_ATTEMPTS, Chunk.State.FAILED, run.job.message)
    assert rows(run) == [[], [], []] and run.job.progress_done == 0
    lifecycle.resume(run.job)
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    assert run.job.progress_done == 10 and run.job.chunks.get(index=0).attempts == 1


def test_a_chunk_that_kills_every_worker_fails_the_job():
    run = start(10)
    for _ in range(lifecycle.MAX_LEASES):
        assert lifecycle.claim_chunk(run.job_id) is not None
        run.job.chunks.filter(state=Chunk.State.LEASED).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert lifecycle.run_here(run.job).state == Job.State.FAILED
    assert run.job.message == f"Workers died or hung {lifecycle.MAX_LEASES} times on part 1"
    assert rows(run) == [[], [], []]


def in_a_thread(function, *args) -> threading.Thread:
    def body():
        try:
            function(*args)
        finally:
            connections.close_all()

    thread = threading.Thread(target=body)
    thread.start()
    return thread


def test_cancelling_stops_within_a_chunk_and_resuming_repeats_nothing(monkeypatch):
    monkeypatch.setattr(leases, "CANCEL_SECONDS", 0.05)
    run = start(30, delay_ms=100)  # a second for each chunk of ten
    worker = in_a_thread(lifecycle.run_here, Job.objects.get(pk=run.job_id))
    while run.job.chunks.filter(state=Chunk.State.DONE).count() < 1:
        time.sleep(0.02)
    while not run.job.chunks.filter(index=1, state=Chunk.State.LEASED).exists():
        time.sleep(0.02)
    lifecycle.request_cancel(run.job)
    worker.join()
    assert state(run) == Job.State.CANCELLED
    assert Score.objects.filter(run=run).count() == 10
    assert not run.job.chunks.filter(state=Chunk.State.LEASED).exists()
    first = rows(run)[1]
    lifecycle.resume(run.job)
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    assert rows(run)[1][:10] == first and Score.objects.filter(run=run).count() == 30
    assert run.job.progress_done == 30


def test_nothing_is_taken_from_a_job_that_is_being_cancelled():
    run = start()
    Job.objects.filter(pk=run.job_id).update(cancel_requested=True)
    assert lifecycle.claim_chunk(run.job_id) is None
    assert not run.job.chunks.exclude(state=Chunk.State.OPEN).exists()
    assert lifecycle.sweep() == 1
    assert state(run) == Job.State.CANCELLED


def test_a_cancelled_job_whose_worker_died_is_closed_by_the_sweep(sent):
    run = start()
    lifecycle.claim_chunk(run.job_id)
    lifecycle.request_cancel(run.job)
    assert state(run) == Job.State.RUNNING
    run.job.chunks.filter(state=Chunk.State.LEASED).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    lifecycle.sweep()
    assert state(run) == Job.State.CANCELLED and not sent


def test_a_lease_is_kept_while_the_work_goes_on(monkeypatch, settings):
    settings.CHUNK_LEASE_SECONDS = 1
    run = start(10, delay_ms=250)  # 2.5 seconds in one chunk
    worker = in_a_thread(lifecycle.run_here, Job.objects.get(pk=run.job_id))
    while not run.job.chunks.filter(state=Chunk.State.LEASED).exists():
        time.sleep(0.02)
    time.sleep(1.5)
    assert lifecycle.claim_chunk(run.job_id) is None
    worker.join()
    assert state(run) == Job.State.DONE and run.job.chunks.get(index=0).attempts == 1


def test_two_workers_share_a_job_and_answer_every_input_once():
    run = start(60, delay_ms=5)
    workers = [in_a_thread(lifecycle.run_here, Job.objects.get(pk=run.job_id)) for _ in range(3)]
    for worker in workers:
        worker.join()
    assert state(run) == Job.State.DONE
    assert Score.objects.filter(run=run).count() == 60
    assert set(run.job.chunks.values_list("attempts", flat=True)) == {1}
    assert Job.objects.get(pk=run.job_id).progress_done == 60


def test_who_goes_on_later_sends_one_message_so_that_messages_do_not_multiply(sent):
    from annotation import tasks

    run = start(300)
    lifecycle.wake(run.job)
    assert len(sent) == lifecycle.MAX_WAKE_MESSAGES
    sent.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lifecycle, "work_on", lambda job_id: True)
        tasks.work_on(run.job_id)
    assert sent == [(run.job_id, "cpu", 300.0)]


def test_a_message_for_a_job_in_work_is_spent_on_one_of_its_queue_that_has_nobody():
    long, other, elsewhere = start(60), start(10), start(10)
    Job.objects.filter(pk=elsewhere.job_id).update(queue="gpu")
    assert lifecycle.most_urgent(long.job_id) == long.job_id
    lifecycle.claim_chunk(long.job_id)
    assert lifecycle.most_urgent(long.job_id) == other.job_id
    assert lifecycle.most_urgent(elsewhere.job_id) == elsewhere.job_id
    lifecycle.claim_chunk(other.job_id)
    assert lifecycle.most_urgent(long.job_id) == long.job_id


def test_the_sweep_sends_short_lived_messages_also_for_jobs_in_work(sent, settings):
    run = start(60)
    lifecycle.claim_chunk(run.job_id)
    done = start(5)
    lifecycle.run_here(done.job)
    assert lifecycle.sweep() == 1
    assert sent == [(run.job_id, "cpu", 2.0 * settings.SWEEP_SECONDS)]


def test_a_broker_that_is_away_undoes_nothing(monkeypatch):
    from celery import Celery

    monkeypatch.setattr(lifecycle, "current_app", Celery("away", broker="redis://127.0.0.1:1/0", set_as_current=False))
    project = start(10).project
    run = suggesting.start_run(project, project.created_by, "fake", {"seed": 1})
    assert state(run) == Job.State.QUEUED
    assert lifecycle.run_here(run.job).state == Job.State.DONE


def test_the_lease_outlives_a_database_that_stumbles(monkeypatch, settings):
    settings.CHUNK_LEASE_SECONDS = 1
    run = start(10, delay_ms=200)
    lease = lifecycle.claim_chunk(run.job_id)
    from django.db import OperationalError

    failures = iter([True, True])
    real = Job.objects.filter

    def stumbling(*args, **kwargs):
        if kwargs.get("cancel_requested") and next(failures, False):
            raise OperationalError("gone for a moment")
        return real(*args, **kwargs)

    monkeypatch.setattr(Job.objects, "filter", stumbling)
    expires = lease.chunk.lease_expires_at
    with lifecycle.kept_alive(lease):
        time.sleep(1.6)
    assert Chunk.objects.get(pk=lease.chunk.pk).lease_expires_at > expires + timedelta(seconds=0.7)
    assert connection.is_usable()
