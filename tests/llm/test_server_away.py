"""A run whose server is away gives its worker back, says what it waits for, and goes on when the server is back."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.jobs import lifecycle
from annotation.machines.runs import suggesting
from annotation.models import Chunk, Job, RunFailure
from tests import factories

from .server import picked

pytestmark = pytest.mark.django_db(transaction=True)

QUICK = {"wait_seconds": 0, "retries": 0}


@pytest.fixture
def project(monkeypatch):
    monkeypatch.setattr(suggesting, "CHUNK_SIZE", 2)
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 8)
    return factories.make_project(dataset)


@pytest.fixture
def away(project, serve, settings):
    """A run with one of four chunks done whose server has gone away since."""
    settings.CHUNK_RETRY_SECONDS = 8
    server = serve(lambda request, n: picked("A"))
    run = suggesting.start_run(project, project.created_by, "llm", QUICK, wake_workers=False)
    lifecycle.work_on_chunk(run.job, lifecycle.claim_chunk(run.job_id))
    server.stop()
    return run, server


def pass_time(run, seconds: float = 0) -> None:
    """As if its waits were over, and the server had been away for so much longer."""
    run.job.chunks.exclude(not_before=None).update(not_before=timezone.now() - timedelta(seconds=1))
    job = Job.objects.get(pk=run.job_id)
    if job.waits_since:
        Job.objects.filter(pk=job.pk).update(waits_since=job.waits_since - timedelta(seconds=seconds))


def test_the_worker_is_given_back_at_once_and_nothing_is_counted_as_an_attempt(away):
    run, _ = away
    begun = time.monotonic()
    for _ in range(3 * lifecycle.MAX_ATTEMPTS):
        assert lifecycle.work_on(run.job_id) is False
        assert lifecycle.claim_chunk(run.job_id) is None and lifecycle.sweep() == 0
        pass_time(run)
    assert time.monotonic() - begun < 20
    run.job.refresh_from_db()
    assert run.job.state == Job.State.RUNNING and not RunFailure.objects.exists()
    waiting = run.job.chunks.filter(state=Chunk.State.OPEN).exclude(index=lifecycle.FINISH_INDEX)
    assert list(waiting.values_list("attempts", flat=True)) == [0, 0, 0]


def test_one_chunk_looks_for_the_server_for_all(away):
    run, server = away
    lifecycle.work_on(run.job_id)
    first, *others = (
        run.job.chunks.filter(state=Chunk.State.OPEN).exclude(index=lifecycle.FINISH_INDEX).order_by("index")
    )
    assert timedelta(seconds=5) < first.not_before - timezone.now() <= timedelta(seconds=8)
    assert all(one.not_before - first.not_before >= timedelta(seconds=20) for one in others)
    server.start()
    Chunk.objects.filter(pk=first.pk).update(not_before=timezone.now())
    asked = len(server.requests)
    assert lifecycle.sweep() == 1
    lifecycle.work_on(run.job_id)
    run.job.refresh_from_db()
    assert run.job.state == Job.State.DONE and run.job.result["failed"] == 0
    assert (run.job.waits_for, run.job.waits_since, run.job.waits_until) == ("", None, None)
    assert len(server.requests) - asked >= 6  # and no unit of the first chunk again


@pytest.mark.parametrize("page", ["run_detail", "run_progress"])
def test_the_page_says_what_it_waits_for_since_when_and_when_it_looks_again(client, away, page):
    run, server = away
    client.force_login(run.created_by)
    lifecycle.work_on(run.job_id)
    pass_time(run, 3600)
    lifecycle.work_on(run.job_id)
    job = Job.objects.get(pk=run.job_id)
    assert timedelta(minutes=59) < timezone.now() - job.waits_since < timedelta(minutes=61)
    assert timedelta(seconds=50) < job.waits_until - timezone.now() <= timedelta(seconds=60)
    text = client.get(reverse(page, args=[run.uuid])).content.decode()
    assert f"Waiting since {job.waits_since:%-d %b %Y, %H:%M} UTC" in text
    assert f"the server main at 127.0.0.1:{server.port} cannot be reached" in text
    assert f"Next try at {job.waits_until:%H:%M:%S} UTC" in text and "After an error" not in text
    lifecycle.request_cancel(job)
    assert "Waiting since" not in client.get(reverse(page, args=[run.uuid])).content.decode()


def test_after_a_day_the_job_fails_and_says_so_and_can_go_on(away):
    run, server = away
    lifecycle.work_on(run.job_id)
    pass_time(run, 24 * 3600)
    lifecycle.work_on(run.job_id)
    run.job.refresh_from_db()
    assert run.job.state == Job.State.FAILED
    assert run.job.message.endswith("cannot be reached, and has been unavailable for 24.0 hours")
    server.start()
    lifecycle.resume(run.job)
    assert lifecycle.run_here(run.job).state == Job.State.DONE


def test_other_work_of_the_queue_is_done_meanwhile(away, project):
    run, _ = away
    lifecycle.work_on(run.job_id)
    other = suggesting.start_run(project, project.created_by, "lexical", wake_workers=False)
    Job.objects.filter(pk=other.job_id).update(queue="llm")
    assert lifecycle.most_urgent(other.job_id) == other.job_id
    assert lifecycle.run_here(other.job).state == Job.State.DONE
    assert Job.objects.get(pk=run.job_id).state == Job.State.RUNNING


def test_the_next_part_is_asked_about_while_the_last_answers_come_in(project, serve, monkeypatch):
    monkeypatch.setattr(suggesting, "CHUNK_SIZE", 1)

    def answer(request, n):
        time.sleep(0.1)
        return picked("B")

    server = serve(answer, max_in_flight=2)
    run = suggesting.start_run(project, project.created_by, "llm", QUICK, wake_workers=False)
    lifecycle.work_on_beside(run.job_id)
    lifecycle.run_here(run.job)
    run.job.refresh_from_db()
    assert run.job.state == Job.State.DONE and run.job.result["failed"] == 0
    assert server.most_in_flight == 2
    assert len(server.requests) == 8, len(server.requests)  # each unit once
