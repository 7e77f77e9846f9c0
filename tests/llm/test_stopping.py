"""A run that is stopped in the middle, by its server, its limit or a person, keeps what was paid for and goes on from
there; what a judge says of its reasons is stored with its label, and shown and released with it."""

from __future__ import annotations

import json
import re
import threading
from types import SimpleNamespace
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.jobs import lifecycle
from annotation.machines.runs import predicting, suggesting
from annotation.machines.runs.limits import CostLimits
from annotation.models import Chunk, Job, RunFailure, Suggestion
from models_runtime import registry
from models_runtime.contracts import Prediction
from models_runtime.llm.endpoints import Endpoint
from tests import factories

from .server import Reply, completion, picked

pytestmark = pytest.mark.django_db
FAST = {"wait_seconds": 0, "retries": 0}


@pytest.fixture(autouse=True)
def small_slices(monkeypatch):
    monkeypatch.setattr(predicting, "SLICE_SIZE", 2)
    monkeypatch.setattr(predicting, "MAX_SLICE_SIZE", 2)
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)


@pytest.fixture
def project():
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 12)
    return factories.make_project(dataset, overlap=1)


def start(project, limits=None, **parameters):
    return suggesting.start_run(
        project, project.created_by, "llm", FAST | parameters, limits=limits, wake_workers=False
    )


def judged(run) -> set[int]:
    return set(Suggestion.objects.filter(run=run).values_list("unit_id", flat=True))


def test_a_run_that_is_refused_stops_with_the_servers_words_and_goes_on_when_it_is_paid(client, project, serve):
    broke = threading.Event()

    def answer(request, n):
        if n >= 7 and not broke.is_set():
            return Reply({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}, 429)
        return picked("B")

    server = serve(answer, max_in_flight=1, stop_after=3)
    run = start(project)
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.FAILED and job.progress_done == 7 == len(judged(run)), job.message
    assert "after 3 equal failures in a row" in job.message and "“You exceeded your current quota”" in job.message
    assert not RunFailure.objects.exists() and len(server.requests) == 10
    client.force_login(project.created_by)
    assert "You exceeded your current quota" in client.get(reverse("run_detail", args=[run.uuid])).content.decode()
    broke.set()
    client.post(reverse("job_resume", args=[job.uuid]))
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.DONE and job.progress_done == 12 == len(judged(run))
    assert len(server.requests) == 10 + 5  # nothing was asked twice but what was refused


def test_a_pause_that_a_server_wants_keeps_what_it_has_answered(project, serve):
    serve(lambda request, n: picked("B") if n < 5 else Reply({}, 429, {"Retry-After": "900"}), max_in_flight=1)
    run = start(project)
    lifecycle.work_on(run.job_id)
    run.job.refresh_from_db()
    chunk = run.job.chunks.exclude(index=lifecycle.FINISH_INDEX).get()
    assert len(judged(run)) == 5 == run.job.progress_done and (chunk.state, chunk.size) == (Chunk.State.OPEN, 7)
    assert (
        run.job.waits_until - run.job.waits_since
    ).total_seconds() > 600 and "takes no requests" in run.job.waits_for


def test_a_run_stops_at_its_limit_and_goes_on_with_another(client, project, serve, settings):
    """Slices of two units, and so one slice beyond the limit at most."""
    server = serve(lambda request, n: picked("B"), max_in_flight=1)  # 102 tokens each, a tenth of a unit of money
    settings.LLM_ENDPOINTS = {"main": Endpoint("main", server.url, "m")}
    with pytest.raises(suggesting.RunError, match="needs the endpoint's prices"):
        start(project, CostLimits(money=1))
    settings.LLM_ENDPOINTS = {"main": Endpoint("main", server.url, "m", prompt_price=1000, completion_price=0)}
    run = start(project, CostLimits(money=0.45))
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.FAILED and len(judged(run)) == 6, job.message
    assert job.message.startswith("Stopped at its limit of 0.45") and "0.60 were spent" in job.message
    client.force_login(project.created_by)
    page = client.get(reverse("run_detail", args=[run.uuid])).content.decode()
    assert "Stops at 0.45" in page and "Set and resume" in page
    refused = client.post(reverse("run_limits", args=[run.uuid]), {"limit_tokens": "-4"}, follow=True)
    assert "Stop at this many tokens: " in refused.content.decode()
    client.post(reverse("run_limits", args=[run.uuid]), {"limit_tokens": "1000"})
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.FAILED and len(judged(run)) == 10 and "limit of 1,000 tokens" in job.message
    client.post(reverse("run_limits", args=[run.uuid]), {})
    assert lifecycle.run_here(run.job).state == Job.State.DONE and len(judged(run)) == 12
    assert len(server.requests) == 12


def test_a_cancelled_run_keeps_what_was_answered(project, serve):
    def answer(request, n):
        if n == 5:
            lease._cancelled.set()  # as the thread does that looks for it
        return picked("B")

    serve(answer, max_in_flight=1)
    run = start(project)
    lease = lifecycle.claim_chunk(run.job_id)
    Job.objects.filter(pk=run.job_id).update(cancel_requested=True)
    lifecycle.work_on_chunk(run.job, lease)
    run.job.refresh_from_db()
    assert run.job.state == Job.State.CANCELLED and len(judged(run)) == 6 == run.job.progress_done
    lifecycle.resume(run.job)
    assert lifecycle.run_here(run.job).state == Job.State.DONE and len(judged(run)) == 12


def test_slices_begin_small_in_a_job_whose_number_another_one_had(monkeypatch):
    """Numbers of jobs come again in another database, such as that of the next test."""
    monkeypatch.setattr(predicting, "MAX_SLICE_SIZE", 8)
    sizes = []

    def ask(part):
        sizes.append(len(part))
        return [Prediction(item.id) for item in part]

    for _ in range(2):
        lease = SimpleNamespace(chunk=SimpleNamespace(job_id=1, job=SimpleNamespace(uuid=uuid4())), beat=lambda: None)
        list(predicting.predict(None, [SimpleNamespace(id=str(n)) for n in range(14)], lease, ask=ask))
    assert sizes == [2, 4, 8] * 2


def test_estimates_are_told_by_name_before_anything_starts(project, serve, settings, capsys):
    server = serve(lambda request, n: picked("B"))
    settings.LLM_ENDPOINTS = {"main": Endpoint("main", server.url, "m", prompt_price=1000, completion_price=0)}
    call_command("run_checker", project.slug, "llm", "--limit-tokens", "300", "--param", "retries=0")
    said = capsys.readouterr().out
    assert said.startswith("Language model as judge: 12 units, about") and " at main\n" in said
    assert CostLimits.of(Job.objects.get(kind=Job.Kind.CHECKER_RUN)).tokens == 300
    call_command("run_checker", project.slug, "--every")
    before, after = capsys.readouterr().out.split("lexical: ", 1)
    titles = {
        registry.get_info(slug).title for slug in project.type.checkers if registry.get_info(slug).needs == "server"
    }
    told = re.findall(
        r"^(.+): 12 units, about [\d,]+ tokens sent and [\d,]+ received, [\d.]+ USD at main$", before, re.M
    )
    assert set(told) == titles and len(told) == len(titles) > 3 and "tokens sent" not in after
    assert not server.requests


def test_reasons_are_stored_and_shown_with_their_label(client, project, serve):
    reasons = "It says <so>.\nTwice."

    def answer(request, n):
        letter = "A" if "B" in request["messages"][1]["content"] else "B"
        return completion(json.dumps({"explanation": reasons, "quotes": [], "answer": letter}))

    serve(answer)
    run = start(project, reasoning="json")
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    said = Suggestion.objects.filter(run=run)
    assert set(said.values_list("explanation", flat=True)) == {reasons}
    client.force_login(project.created_by)
    page = client.get(reverse("run_detail", args=[run.uuid])).content.decode()
    assert "It says &lt;so&gt;." in page
    rows = client.get(f"/api/v1/projects/{project.slug}/suggestions/?run={run.uuid}").json()["results"]
    assert {row["explanation"] for row in rows} == {reasons}
