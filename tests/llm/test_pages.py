"""A judge on the runs page and through the job engine, with a scripted server behind it."""

from __future__ import annotations

import json
import time

import pytest
from django.urls import reverse

from annotation.jobs import lifecycle
from annotation.machines.runs import predicting, suggesting
from annotation.machines.runs.checker_inputs import why_not
from annotation.models import CheckerRun, Job, RunFailure, Suggestion
from annotation.task_types import every_task_type
from models_runtime.llm.endpoints import VARIABLE
from tests import factories
from tests.kinds import make_kind_project

from .server import Reply, completion, picked

pytestmark = pytest.mark.django_db

SUGGESTED = tuple(one.identifier for one in every_task_type() if one.checkers and not why_not(one))
FAST = {"wait_seconds": 0, "retries": 0}


@pytest.fixture
def project():
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 12)
    return factories.make_project(dataset, overlap=1)


def run_here(project, **parameters) -> tuple[CheckerRun, Job]:
    run = suggesting.start_run(project, project.created_by, "llm", FAST | parameters, wake_workers=False)
    job = lifecycle.run_here(run.job)
    run.refresh_from_db()
    return run, job


def by_letters(request, n):
    """Relevant, and then the last of the answers offered."""
    letters = request["structured_outputs"]["choice"]
    letter = "A" if len(letters) == 2 else letters[-1]
    share = 0.4 / (len(letters) - 1)
    return picked(letter, {one: 0.6 if one == letter else share for one in letters})


def test_without_an_endpoint_the_page_says_which_setting_to_set_and_starts_nothing(client, project, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    address = reverse("project_runs", args=[project.slug])
    client.force_login(factories.make_user("admin", is_superuser=True))
    assert f"No endpoint of a language model is configured; set {VARIABLE}" in client.get(address).content.decode()
    client.force_login(project.created_by)
    page = client.get(address).content.decode()
    assert "not set up here" in page and VARIABLE not in page and 'value="llm"' not in page
    client.post(address, {"checker": "llm", "llm-passages": "joint"})
    assert not CheckerRun.objects.exists()
    with pytest.raises(suggesting.RunError, match=f"set {VARIABLE}"):
        suggesting.start_run(project, project.created_by, "llm", {}, wake_workers=False)


def test_a_run_is_started_from_the_page_with_an_endpoint_by_its_name(client, project, serve, monkeypatch):
    server = serve(by_letters)
    one = {"url": server.url, "model": "m"}
    monkeypatch.setenv(VARIABLE, json.dumps({"main": one, "lab": one}))
    client.force_login(project.created_by)
    address = reverse("project_runs", args=[project.slug])
    page = client.get(address).content.decode()
    assert '<option value="lab">lab</option>' in page and "<textarea" in page and server.url not in page
    posted = {"checker": "llm", "llm-endpoint": "lab", "llm-passages": "joint", "llm-prompt_for": "all"}
    posted |= {"llm-pieces": "each", "llm-reasoning": "none", "llm-reasoning_tokens": "100", "llm-pieces_at_once": "25"}
    posted |= {"llm-answers": "auto", "llm-timeout_seconds": "5", "llm-retries": "0", "llm-wait_seconds": "0"}
    posted["llm-prompt"] = "Choose one:\r\n$options"
    refused = client.post(address, posted | {"llm-endpoint": server.url})
    assert refused.status_code == 200 and not CheckerRun.objects.exists()
    refused = client.post(address, posted | {"llm-prompt": "Choose well."})
    assert "it must hold $options" in refused.content.decode() and not CheckerRun.objects.exists()
    assert client.post(address, posted).status_code == 302
    run = CheckerRun.objects.get()
    assert run.parameters["endpoint"] == "lab" and run.job.queue == "llm"
    assert lifecycle.run_here(run.job).state == Job.State.DONE, run.job.message
    run.refresh_from_db()
    assert run.provenance["endpoint"] == "lab" and run.provenance["prompts"]["stance"][0]["name"] == "own"
    page = client.get(reverse("run_detail", args=[run.uuid])).content.decode()
    assert server.url not in page and "vLLM 0.32.0" in page


@pytest.mark.parametrize("identifier", SUGGESTED)
def test_every_kind_of_unit_is_judged_in_the_words_of_its_page(identifier, serve):
    server = serve(by_letters)
    project = make_kind_project(identifier)
    run, job = run_here(project)
    assert job.state == Job.State.DONE, job.message
    assert Suggestion.objects.filter(run=run).exists()
    asked = {dimension.question or dimension.title for dimension in project.type.asked_dimensions if dimension.role}
    instructions = "\n".join(request["messages"][0]["content"] for request in server.requests)
    assert any(question in instructions for question in asked)
    for suggestion in Suggestion.objects.filter(run=run):
        dimension = project.type.dimension(suggestion.dimension)
        assert suggestion.label in dimension.values
        assert (
            f": {dimension.label(suggestion.label).title}" in instructions
            or dimension.label(suggestion.label).means_no_answer
        )
        assert sum(suggestion.probabilities.values()) == pytest.approx(1)


def test_failures_are_counted_by_their_reason_and_no_label_is_made_up(project, serve):
    def answer(request, n):
        wrong = [completion("Perhaps"), completion("A", finish="length"), Reply({}, 500)]
        return [*wrong, by_letters(request, n)][n % 4]

    serve(answer, max_in_flight=1)
    run, job = run_here(project)
    assert job.state == Job.State.DONE
    reasons = set(RunFailure.objects.filter(run=run).values_list("reason", "is_permanent"))
    assert reasons == {("malformed", True), ("truncated", True), ("server-error", False)}
    failed = set(RunFailure.objects.filter(run=run).values_list("unit_id", flat=True))
    answered = set(Suggestion.objects.filter(run=run).values_list("unit_id", flat=True))
    assert not failed & answered and len(failed | answered) == 12


def test_a_slow_server_is_still_asked_for_several_at_a_time(project, serve, monkeypatch):
    """Slices shrink where answers are slow, and would leave a server with one request at a time."""
    monkeypatch.setattr(predicting, "SLICE_SIZE", 1)
    monkeypatch.setattr(predicting, "SLICE_SECONDS", (0.0, 0.0))

    def answer(request, n):
        time.sleep(0.05)
        return by_letters(request, n)

    server = serve(answer, max_in_flight=3)
    run, job = run_here(project)
    assert job.state == Job.State.DONE and server.most_in_flight == 3


def test_without_logprobs_suggestions_have_no_probability(project, serve):
    serve(lambda request, n: picked(request["structured_outputs"]["choice"][0]))
    run, job = run_here(project)
    assert job.state == Job.State.DONE
    assert set(Suggestion.objects.filter(run=run).values_list("probability", flat=True)) == {None}


def test_a_run_whose_model_changes_fails_instead_of_mixing_two_models(project, serve, monkeypatch):
    monkeypatch.setattr(suggesting, "CHUNK_SIZE", 4)

    def answer(request, n):
        if len(server.requests) > 10:
            server.card = server.card | {"root": "org/another"}
        return by_letters(request, n)

    server = serve(answer)
    run, job = run_here(project)
    assert job.state == Job.State.FAILED and "revision" in job.message and "org/another" in job.message
    stored = Suggestion.objects.filter(run=run).values_list("unit_id", flat=True).distinct().count()
    assert stored + RunFailure.objects.filter(run=run, reason="model-changed").count() in (4, 8)


def test_a_server_that_stays_away_fails_the_job_and_it_goes_on_from_there(project, serve, monkeypatch, settings):
    monkeypatch.setattr(suggesting, "CHUNK_SIZE", 4)
    settings.SERVER_WAIT_SECONDS = 1

    server = serve(by_letters)
    run = suggesting.start_run(project, project.created_by, "llm", FAST, wake_workers=False)
    lease = lifecycle.claim_chunk(run.job_id)
    lifecycle.work_on_chunk(run.job, lease)
    before = list(Suggestion.objects.filter(run=run).order_by("pk").values_list("pk", "unit_id", "dimension"))
    assert len({unit for _, unit, _ in before}) == 4
    server.stop()
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.FAILED and "cannot be reached, and has been unavailable for" in job.message
    assert not RunFailure.objects.filter(run=run).exists()
    server.start()
    lifecycle.resume(run.job)
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    after = list(Suggestion.objects.filter(run=run).order_by("pk").values_list("pk", "unit_id", "dimension"))
    assert after[: len(before)] == before and len({unit for _, unit, _ in after}) == 12
