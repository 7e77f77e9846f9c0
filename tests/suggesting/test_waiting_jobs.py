"""A job that no live worker is at says so, and why, wherever it is shown."""

import io
import re
from datetime import timedelta

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db.models import F
from django.urls import reverse
from django.utils import timezone

from annotation.jobs import lifecycle
from annotation.jobs.queues import PATIENCE, long_wait
from annotation.machines.runs import suggesting
from annotation.models import Chunk, Job, WorkerBeat
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]
COMMAND = "celery -A config worker -n cpu@%h -Q cpu"


@pytest.fixture
def run():
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 4)
    project = factories.make_project(dataset, overlap=1)
    return suggesting.start_run(project, project.created_by, "fake", {}, wake_workers=False)


def pass_time(job: Job, by: timedelta = PATIENCE * 2) -> None:
    """As if all that happened to the job had happened earlier."""
    Job.objects.filter(pk=job.pk).update(created_at=F("created_at") - by, started_at=F("started_at") - by)
    for name in ("started_at", "done_at", "lease_expires_at"):
        job.chunks.filter(**{f"{name}__isnull": False}).update(**{name: F(name) - by})
    job.refresh_from_db()


def texts_of(client, run) -> dict[str, str]:
    """What each place says of the job."""
    said = io.StringIO()
    call_command("jobs", stdout=said)
    addresses = {
        "job page": reverse("run_progress", args=[run.uuid]),
        "list": reverse("project_runs", args=[run.project.slug]),
        "API": reverse("api_jobs"),
        "API, one": reverse("api_job", args=[run.job.uuid]),
    }
    return {name: client.get(address).content.decode() for name, address in addresses.items()} | {
        "command": said.getvalue()
    }


def test_a_job_that_no_worker_asked_for_says_so_everywhere(client, run):
    client.force_login(run.created_by)
    assert not any("No worker serves" in text for text in texts_of(client, run).values())
    pass_time(run.job)
    for place, text in texts_of(client, run).items():
        assert "No worker serves the queue cpu." in text, place


def test_a_job_whose_worker_died_is_shown_as_waiting_since_then(client, run):
    client.force_login(run.created_by)
    assert lifecycle.claim_chunk(run.job_id)
    assert not any("No worker serves" in text for text in texts_of(client, run).values())
    pass_time(run.job, timedelta(seconds=settings.CHUNK_LEASE_SECONDS) + PATIENCE * 2)
    begun = Chunk.objects.get(job=run.job, state=Chunk.State.LEASED).started_at
    for place, text in texts_of(client, run).items():
        pattern = rf"No worker serves the queue cpu\. The last job was started at [^.]*{begun:%H:%M} UTC\."
        assert re.search(pattern, text), place
        assert ">running<" not in text, place
    assert texts_of(client, run)["command"].startswith(f"Checker run {run.job.uuid}, queue cpu: waiting.")


def test_busy_workers_are_named_as_the_reason(client, run):
    client.force_login(run.created_by)
    other = suggesting.start_run(run.project, run.created_by, "fake", {"seed": 1}, wake_workers=False)
    assert lifecycle.claim_chunk(other.job_id)
    pass_time(run.job)
    for place, text in texts_of(client, run).items():
        assert "The workers of the queue cpu are busy with 1 other job." in text, place
    assert long_wait(other.job) is None


def test_a_queue_that_a_living_worker_serves_needs_none(client, run):
    client.force_login(run.created_by)
    pass_time(run.job)
    beat = WorkerBeat.objects.create(name="cpu@here", queues=["cpu", "gpu"], version="1", beat_at=timezone.now())
    for place, text in texts_of(client, run).items():
        assert "1 worker serves the queue cpu, but the job was not started yet." in text, place
    assert long_wait(run.job).command == ""
    WorkerBeat.objects.filter(pk=beat.pk).update(problem="has other migrations")
    assert long_wait(run.job).command == COMMAND


@pytest.mark.parametrize("is_superuser", [True, False])
def test_only_administrators_read_the_command_that_starts_a_worker(client, run, is_superuser):
    run.created_by.is_superuser = is_superuser
    run.created_by.save()
    client.force_login(run.created_by)
    pass_time(run.job)
    page = client.get(reverse("run_progress", args=[run.uuid])).content.decode()
    assert (COMMAND in page) == is_superuser and ("ask your administrator" in page) != is_superuser


def test_the_default_queue_is_started_with_its_clock(run):
    Job.objects.filter(pk=run.job_id).update(queue="default")
    pass_time(run.job)
    said = io.StringIO()
    call_command("jobs", stdout=said)
    assert said.getvalue().endswith("Start workers with:\n  celery -A config worker -B -n default@%h -Q default\n")


def test_a_job_that_waits_for_its_next_attempt_or_is_over_waits_for_no_worker(run):
    run.job.chunks.update(not_before=timezone.now() + timedelta(minutes=1))
    pass_time(run.job)
    assert long_wait(run.job) is None
    run.job.chunks.update(not_before=None)
    assert long_wait(run.job).command == COMMAND
    lifecycle.request_cancel(run.job)
    assert long_wait(run.job) is None


def test_a_report_that_no_worker_computes_says_so(client, run):
    client.force_login(run.created_by)
    address = reverse("project_agreement", args=[run.project.slug])
    assert "No worker" not in client.get(address).content.decode()
    pass_time(Job.objects.get(kind=Job.Kind.REPORT))
    assert "No worker serves the queue default" in client.get(address).content.decode()
