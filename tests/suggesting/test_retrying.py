"""Chunks that meet an error are tried again after a wait that grows, by whoever the sweep sends."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.jobs import lifecycle
from annotation.machines.runs import suggesting
from annotation.models import Chunk, Job
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(monkeypatch, settings):
    settings.CHUNK_RETRY_SECONDS = 8
    monkeypatch.setattr(suggesting, "CHUNK_SIZE", 10)
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 20)
    project = factories.make_project(dataset)
    return suggesting.start_run(project, project.created_by, "fake", wake_workers=False)


@pytest.fixture
def outage(monkeypatch):
    """Every chunk fails while it lasts."""
    with monkeypatch.context() as patch:

        def away(chunk, lease):
            raise ConnectionError("the server is away")

        patch.setattr(suggesting.HANDLER, "run_chunk", away)
        yield patch


def pass_time(job) -> None:
    """As if the waits of all chunks were over."""
    job.chunks.exclude(not_before=None).update(not_before=timezone.now() - timedelta(seconds=1))


def test_a_chunk_that_met_an_error_is_left_alone_until_its_time_and_the_others_go_on(run, outage, monkeypatch):
    before = timezone.now()
    assert lifecycle.work_on(run.job_id) is False
    chunks = list(run.job.chunks.exclude(index=lifecycle.FINISH_INDEX).order_by("index"))
    assert [(chunk.state, chunk.attempts) for chunk in chunks] == [(Chunk.State.OPEN, 1)] * 2
    for chunk in chunks:
        assert chunk.error == "ConnectionError: the server is away"
        assert timedelta(seconds=4) <= chunk.not_before - before and chunk.not_before - timezone.now() <= timedelta(
            seconds=8
        )
    assert lifecycle.claim_chunk(run.job_id) is None and lifecycle.sweep() == 0
    assert lifecycle.most_urgent(run.job_id) == run.job_id

    outage.undo()
    Chunk.objects.filter(pk=chunks[1].pk).update(not_before=before)
    assert lifecycle.sweep() == 1
    assert lifecycle.work_on(run.job_id) is False
    assert run.job.chunks.get(index=1).state == Chunk.State.DONE
    assert run.job.chunks.get(index=0).state == Chunk.State.OPEN
    pass_time(run.job)
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    assert not run.job.chunks.exclude(not_before=None).exists()


def test_the_waits_double_and_then_the_job_fails(run, outage):
    waits = []
    for _ in range(lifecycle.MAX_ATTEMPTS - 1):
        begun = timezone.now()
        lifecycle.work_on(run.job_id)
        waits.append((run.job.chunks.get(index=0).not_before - begun).total_seconds())
        pass_time(run.job)
    for number, wait in enumerate(waits):
        assert 4 * 2**number <= wait
        assert lifecycle.retry_seconds(number + 1) <= 8 * 2**number
    lifecycle.work_on(run.job_id)
    run.job.refresh_from_db()
    assert (run.job.state, run.job.message) == (Job.State.FAILED, "ConnectionError: the server is away")
    lifecycle.resume(run.job)
    outage.undo()
    assert lifecycle.run_here(run.job).state == Job.State.DONE


def test_waits_have_an_end_and_differ_by_chance(settings):
    settings.CHUNK_RETRY_SECONDS = 8
    drawn = {lifecycle.retry_seconds(40) for _ in range(20)}
    assert len(drawn) > 1 and all(
        lifecycle.MAX_RETRY_SECONDS / 2 <= wait <= lifecycle.MAX_RETRY_SECONDS for wait in drawn
    )


def test_cancelling_does_not_wait_and_resuming_starts_at_once(run, outage):
    lifecycle.work_on(run.job_id)
    lifecycle.request_cancel(run.job)
    assert run.job.state == Job.State.CANCELLED
    outage.undo()
    lifecycle.resume(run.job)
    assert not run.job.chunks.exclude(not_before=None).exists()
    assert lifecycle.run_here(run.job).state == Job.State.DONE


def test_who_works_a_job_off_alone_waits_for_the_next_attempt(run, outage, monkeypatch):
    waited = []

    def sleep(seconds):
        if seconds:  # the checker's own pauses have none
            waited.append(seconds)
            outage.undo()
            pass_time(run.job)

    monkeypatch.setattr(lifecycle.time, "sleep", sleep)
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    assert len(waited) == 1 and 0 < waited[0] <= 8
