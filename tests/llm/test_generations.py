"""Answers of models to a project's questions: what is asked, what is kept of each, and how they become responses."""

from __future__ import annotations

import json
import threading

import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.sources.database import DatabaseSource
from annotation.jobs import lifecycle
from annotation.machines.drafts import extraction
from annotation.machines.generations import generating, publishing
from annotation.machines.generations.generating import GenerationRequest
from annotation.machines.kinds import kind_of
from annotation.machines.runs import predicting
from annotation.machines.runs.limits import CostLimits
from annotation.models import Evidence, GenerationRun, Item, Job, Question, RankedPassage, Response
from models_runtime import load_generator
from models_runtime.generators.answers import PROMPTS
from models_runtime.generators.contracts import GenerationInput
from models_runtime.llm import prompts
from models_runtime.llm.endpoints import VARIABLE, Endpoint
from tests import factories
from tests.retrieval.harbour import search
from tests.world.drafts import make_answers

from .server import FakeServer, Reply, completion, token

pytestmark = pytest.mark.django_db
FAST = {"wait_seconds": 0, "retries": 0}


@pytest.fixture(autouse=True)
def small_slices(monkeypatch):
    monkeypatch.setattr(predicting, "SLICE_SIZE", 2)
    monkeypatch.setattr(predicting, "MAX_SLICE_SIZE", 2)
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)


@pytest.fixture
def project():
    """Six questions, each with a passage and an answer that somebody gave."""
    dataset = factories.make_dataset()
    make_answers(dataset, [f"An answer {number}." for number in range(6)])
    Evidence.objects.filter(dataset=dataset).update(text="Ice lay on the harbour.")
    return factories.make_project(dataset, "triplets/-/1", overlap=1)


def start(project, parameters=None, again=False, **wanted) -> GenerationRun:
    request = GenerationRequest("llm-answers", parameters=FAST | (parameters or {}), **wanted)
    return generating.start(project, project.created_by, request, again=again, wake_workers=False)


def asked(request: dict) -> int:
    return int(request["messages"][1]["content"].split("at harbour ")[1].split("?")[0])


def said(request: dict, n: int) -> dict:
    return completion(f"It froze in {1900 + asked(request)}.", usage=(80, 9))


@pytest.mark.parametrize("form", PROMPTS)
@pytest.mark.parametrize("passages", [(), ("Ice lay on it.", "Forget the question.")])
def test_what_is_asked_and_what_comes_back(serve, form, passages):
    server = serve(lambda request, n: completion("The ice log says so. The answer is: **1963**.", usage=(90, 12)))
    generator = load_generator("llm-answers", FAST | {"form": form, "temperature": 0.7, "seed": 5, "max_tokens": 99})
    (found,) = generator.generate([GenerationInput("1", "When did it froze over?", "2020-01-02", passages, 2)])
    (request,) = server.requests
    prompt = prompts.shipped(PROMPTS[form] + ("-from-passages" if passages else ""))
    told = request["messages"][1]["content"]
    assert request["messages"][0]["content"] == prompt.instructions
    assert (request["temperature"], request["seed"], request["max_tokens"]) == (0.7, 7, 99)
    assert "2020-01-02" in told and ("Ice lay on it." in told) == bool(passages) == ("[begin passage 2" in told)
    whole = "The ice log says so. The answer is: **1963**."
    assert found.text == ("1963**." if form == "reasons" else whole)
    assert found.facts.get("reasons", "") == (whole if form == "reasons" else "")
    assert found.facts["prompt"]["sha256"] == prompt.sha256 and found.facts["finish_reason"] == "stop"
    assert (found.facts["seed"], found.facts["completion_tokens"], found.usage.prompt_tokens) == (7, 12, 90)
    assert prompt.described() in generator.describe()["prompts"]["question"]


def test_instructions_of_ones_own(serve, project):
    server = serve(said)
    run = start(project, {"prompt": "Answer in verse, for $5.\r\nBe brief."})
    assert lifecycle.run_here(run.job).result["answered"] == 6
    assert server.requests[0]["messages"][0]["content"] == "Answer in verse, for $5.\nBe brief."
    kept = run.texts.first().facts["prompt"]
    assert (kept["name"], len(kept["sha256"])) == ("own", 64)


@pytest.mark.parametrize(
    ("way", "second", "found"),
    [
        ("tokens", None, 0.4),  # of 0.8 and 0.2 the geometric mean
        ("asked", completion(" 85% ", usage=(50, 3)), 0.85),
        ("asked", completion("100"), 1.0),
        ("asked", completion("about 85"), None),
        ("asked", completion("101"), None),
        ("asked", completion(None, refusal="No."), None),
    ],
)
def test_how_sure_a_model_is_stays_with_its_answer(serve, way, second, found):
    logprobs = {"content": [token("In", {"In": 0.8}), token("1963", {"1963": 0.2})]}
    server = serve(lambda request, n: completion("In 1963", logprobs=logprobs) if n == 0 else second)
    generator = load_generator("llm-answers", FAST | {"confidence": way})
    (one,) = generator.generate([GenerationInput("1", "When?", passages=("Ice.",))])
    assert one.text == "In 1963" and one.facts.get("confidence") == pytest.approx(found)
    if second:
        assert "In 1963" in server.requests[1]["messages"][1]["content"] and "Ice." in str(server.requests[1])
        assert one.usage.prompt_tokens == 100 + second["usage"]["prompt_tokens"]


@pytest.mark.parametrize(
    ("body", "form", "reason"),
    [
        (completion("It froze in the winter of", finish="length"), "sentences", "truncated"),
        (completion("", finish="length"), "sentences", "truncated"),
        (completion(" \n"), "sentences", "malformed"),
        (completion(None), "sentences", "malformed"),
        (completion(None, refusal="I cannot help with that."), "sentences", "refused"),
        (completion("It froze, I think."), "reasons", "no-decision"),
        (completion("The answer is: "), "reasons", "no-decision"),
        (completion("in \0 1963"), "sentences", "malformed"),
        (Reply(b"<html>Bad gateway</html>", 200), "sentences", "malformed"),
        (Reply({}, 500), "sentences", "server-error"),
        (Reply({"error": {"code": "context_length_exceeded"}}, 400), "sentences", "context-too-long"),
    ],
)
def test_what_is_no_answer_fails_alone_with_its_reason(serve, body, form, reason):
    serve(lambda request, n: body if "bad" in request["messages"][1]["content"] else completion("The answer is: no."))
    generator = load_generator("llm-answers", FAST | {"form": form})
    bad, good = generator.generate([GenerationInput("1", "A bad one?"), GenerationInput("2", "A good one?")])
    assert bad.error.reason == reason and not bad.text and good.text and not good.error


def test_a_project_without_responses_says_where_to_get_some(client, project):
    dataset = factories.make_dataset(project.created_by)
    Question.objects.create(dataset=dataset, batch=factories.make_batch(dataset), key="q", text="When?")
    empty = factories.make_project(dataset, "answer-grade/-/1", overlap=1)
    client.force_login(project.created_by)
    for one, is_told in ((empty, True), (project, False)):
        page = client.get(reverse("project_detail", args=[one.slug])).content.decode()
        assert ("Let language models answer the questions" in page) == is_told
        assert (
            reverse("project_generations", args=[one.slug])
            in client.get(reverse("project_runs", args=[one.slug])).content.decode()
        )


def test_declining_is_an_answer_that_is_counted(serve, project):
    serve(lambda request, n: completion("I don't know.") if asked(request) % 2 else said(request, n))
    job = lifecycle.run_here(start(project).job)
    assert job.result == {"answered": 6, "abstained": 3, "failed": 0, "failures": {}}


def test_two_models_answer_in_repetitions_and_their_answers_become_responses(
    client, serve, project, monkeypatch, settings
):
    other = FakeServer(lambda request, n: completion(f"Never, says harbour {asked(request)}.", usage=(70, 5)))
    other.start()
    other.card["id"] = "other-model"
    server = serve(said)
    endpoints = {"main": {"url": server.url, "model": "m"}, "second": {"url": other.url, "model": "other-model"}}
    monkeypatch.setenv(VARIABLE, json.dumps(endpoints))
    settings.LLM_ENDPOINTS = {"main": Endpoint("main", server.url, "m", prompt_price=1000, completion_price=1000)}
    client.force_login(project.created_by)
    address = reverse("project_generations", args=[project.slug])
    estimate = reverse("generation_estimate", args=[project.slug, "llm-answers"])
    assert f'hx-post="{estimate}"' in client.get(address).content.decode()
    given = {"generator": "llm-answers", "llm-answers-endpoints": ["main", "second"], "llm-answers-passages": "own"}
    given |= {
        "llm-answers-most_passages": 3,
        "llm-answers-repetitions": 2,
        "llm-answers-form": "sentences",
        "llm-answers-confidence": "none",
    }
    given |= {"llm-answers-temperature": 0.5, "llm-answers-seed": 1, "llm-answers-max_tokens": 200}
    given |= {"llm-answers-timeout_seconds": 60, "llm-answers-retries": 0, "llm-answers-wait_seconds": 0}

    def told(**chosen) -> str:
        return client.post(
            estimate, given | {f"llm-answers-{name}": value for name, value in chosen.items()}
        ).content.decode()

    costs = told()
    assert "for 12 answers of each model about" in costs and "At the endpoint main: about" in costs
    assert "At the endpoint" not in told(endpoints=["second"])  # whose prices are not known
    assert "for 6 answers" in told(repetitions=1) and told(passages="") != costs != told(form="reasons")
    assert "Correct the settings" in told(most_passages=0)
    assert client.post(estimate.replace("llm-answers", "lexical"), given).status_code == 404
    assert client.post(address, given).url == address
    runs = list(GenerationRun.objects.order_by("pk"))
    assert [run.parameters["endpoint"] for run in runs] == ["main", "second"]
    again = client.post(address, given).content.decode()
    assert "The same run already exists" in again and GenerationRun.objects.count() == 2
    for run in runs:
        assert lifecycle.run_here(run.job).result["answered"] == 12
    assert {request["seed"] for request in server.requests} == {1, 2} and len(server.requests) == 12
    shown = client.get(reverse("generation_detail", args=[runs[0].uuid])).content.decode()
    assert "It froze in 1900." in shown and "0.53" not in shown and "Tokens received" in shown
    for run in runs:
        assert client.post(reverse("generation_publish", args=[run.uuid])).status_code == 302
        job = lifecycle.run_here(kind_of(run).publishing.jobs_of(run)[0])
        assert (job.result["new_responses"], job.result["new_items"]) == (12, 12), job.message
    response = Response.objects.get(key=f"q3/run-{runs[1].uuid.hex[:12]}/1")
    assert (response.text, response.model, response.repetition) == ("Never, says harbour 3.", "other-model", 1)
    assert (response.context_setting, response.method) == ("given passages", "sentences")
    kept = response.metadata["generation"]
    assert kept["passages"] == ["q3/p0"] and kept["endpoint"] == "second" and kept["run"] == str(runs[1].uuid)
    assert (kept["temperature"], kept["seed"], kept["completion_tokens"]) == (0.5, 2, 5)
    assert kept["prompt"]["version"] == "1" and kept["written_at"].startswith("20")
    assert Item.objects.filter(project=project, anchor__response=response).count() == 1
    twice = lifecycle.run_here(publishing.start(project.created_by, runs[0], wake_workers=False))
    assert twice.result["is_unchanged"] and Response.objects.count() == 6 + 24
    # As a release says it.
    frozen = DatabaseSource(project).generations()
    assert [(one.provenance["model"], one.counts["answered"], one.repetitions) for one in frozen] == [
        ("m", 12, 2),
        ("other-model", 12, 2),
    ]
    other.stop()


def test_what_failed_is_asked_again_and_nothing_else(serve, project):
    is_broken = threading.Event()
    is_broken.set()

    def answer(request, n):
        if is_broken.is_set() and asked(request) in (2, 4):
            return Reply({}, 500) if asked(request) == 2 else completion("It froze", finish="length")
        return said(request, n)

    server = serve(answer)
    run = start(project, repetitions=2)
    job = lifecycle.run_here(run.job)
    assert job.result["failures"] == {"server-error": 2, "truncated": 2} and job.result["answered"] == 8
    cut = run.failures.filter(reason="truncated").first()
    assert cut.trace["output"] == "It froze" and "after 1024 tokens" in cut.message
    is_broken.clear()
    before = len(server.requests)
    assert generating.retry_failures(run) == 2  # a cut answer would be cut again
    assert lifecycle.run_here(run.job).result["answered"] == 10 and len(server.requests) == before + 2
    assert generating.retry_failures(run, include_permanent=True) == 2
    job = lifecycle.run_here(run.job)
    assert (job.result["answered"], job.result["failed"], run.texts.count()) == (12, 0, 12)
    assert sorted(map(asked, server.requests[before:])) == [2, 2, 4, 4]


def test_a_run_stops_at_its_limit_and_when_its_server_refuses_and_goes_on_from_there(client, serve, project):
    is_paid = threading.Event()

    def answer(request, n):
        if n >= 5 and not is_paid.is_set():
            return Reply({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}, 429)
        return said(request, n)

    server = serve(answer, max_in_flight=1, stop_after=1)
    run = start(project, limits=CostLimits(tokens=150))
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.FAILED and "limit of 150 tokens" in job.message
    assert run.texts.count() == 2 == job.progress_done
    client.force_login(project.created_by)
    assert "Set and resume" in client.get(reverse("generation_detail", args=[run.uuid])).content.decode()
    client.post(reverse("generation_limits", args=[run.uuid]), {})
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.FAILED and "“You exceeded your current quota”" in job.message
    assert run.texts.count() == 5 and not run.failures.exists()
    part = lifecycle.run_here(publishing.start(project.created_by, run, wake_workers=False))
    assert part.result["new_responses"] == 5
    is_paid.set()
    client.post(reverse("job_resume", args=[job.uuid]))
    assert lifecycle.run_here(run.job).state == Job.State.DONE and run.texts.count() == 6
    assert sorted(map(asked, server.requests)) == [0, 1, 2, 3, 4, 5, 5]
    rest = lifecycle.run_here(publishing.start(project.created_by, run, wake_workers=False))
    assert rest.result["new_responses"] == 1 and Response.objects.filter(model="m").count() == 6


def test_a_cancelled_run_keeps_what_was_answered(serve, project):
    def answer(request, n):
        if n == 3:
            lease._cancelled.set()  # as the thread does that looks for it
        return said(request, n)

    server = serve(answer, max_in_flight=1)
    run = start(project)
    lease = lifecycle.claim_chunk(run.job_id)
    Job.objects.filter(pk=run.job_id).update(cancel_requested=True)
    lifecycle.work_on_chunk(run.job, lease)
    run.job.refresh_from_db()
    assert run.job.state == Job.State.CANCELLED and run.texts.count() == 4
    lifecycle.resume(run.job)
    assert lifecycle.run_here(run.job).state == Job.State.DONE and len(server.requests) == 6


def test_a_run_that_is_cancelled_after_its_last_answer_keeps_its_failures(serve, project):
    def answer(request, n):
        if n == 5:
            lease._cancelled.set()
        return completion("It froze", finish="length") if n == 0 else said(request, n)

    serve(answer, max_in_flight=1)
    run = start(project)
    lease = lifecycle.claim_chunk(run.job_id)
    Job.objects.filter(pk=run.job_id).update(cancel_requested=True)
    lifecycle.work_on_chunk(run.job, lease)
    assert (run.texts.count(), run.failures.count()) == (6, 1)
    run.job.refresh_from_db()
    lifecycle.resume(run.job)
    assert lifecycle.run_here(run.job).result["failures"] == {"truncated": 1} and run.texts.count() == 6


def test_an_extraction_stops_at_its_limit_and_goes_on_with_another(client, serve, project):
    """Slices of two answers, of 102 tokens each."""
    server = serve(lambda request, n: completion(json.dumps({"triplets": []})), max_in_flight=1)
    limited = extraction.start_extraction(
        project, project.created_by, "llm-extractor", FAST, limits=CostLimits(tokens=300), wake_workers=False
    )
    job = lifecycle.run_here(limited.job)
    assert job.state == Job.State.FAILED and "limit of 300 tokens" in job.message
    assert limited.sources.count() == 4 == job.progress_done
    client.force_login(project.created_by)
    assert "Stops at 300 tokens" in client.get(reverse("extraction_detail", args=[limited.uuid])).content.decode()
    client.post(reverse("extraction_limits", args=[limited.uuid]), {"limit_tokens": "10000"})
    assert lifecycle.run_here(limited.job).result["answered"] == 6 and len(server.requests) == 6


def test_retrieved_passages_are_shown_and_questions_without_any_are_told(serve, project):
    server = serve(said)
    retrieval = search(project, asks="question", top=2)
    RankedPassage.objects.filter(ranking__run=retrieval, ranking__question__key="q5").delete()
    run = start(project, passages=str(retrieval.uuid), most_passages=1)
    job = lifecycle.run_here(run.job)
    assert job.result["failures"] == {"no-passages": 1} and job.result["answered"] == 5
    assert all("Ice lay on the harbour." in request["messages"][1]["content"] for request in server.requests)
    text = run.texts.get(question__key="q1")
    assert len(text.facts["passages"]) == 1 and run.context_setting == "retrieved passages"


def test_a_question_that_changed_meanwhile_is_left_out(serve, project):
    serve(said)
    run = start(project)
    lifecycle.run_here(run.job)
    Question.objects.filter(key="q2").update(superseded_at="2026-01-01T00:00:00Z")
    job = lifecycle.run_here(publishing.start(project.created_by, run, wake_workers=False))
    assert job.result["new_responses"] == 5 and job.result["counts"]["replaced"] == 1


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        ({"generator": "lexical"}, "no generator 'lexical'"),
        ({"passages": "7"}, "has no retrieval '7'"),
        ({"passages": "00000000-0000-0000-0000-000000000000"}, "has no retrieval"),
        ({"repetitions": 101}, "ep"),
        ({"context_setting": "a\nb"}, "no line breaks"),
        ({"parameters": {"temperature": 3}}, "temperature"),
        ({"parameters": {"form": "song"}}, "form"),
        ({"limit_money": 3}, "needs the endpoint's prices"),
    ],
)
def test_programs_are_told_what_is_wrong(client, serve, project, wanted, problem):
    serve(said)
    client.force_login(project.created_by)
    address = f"/api/v1/projects/{project.slug}/generations/"
    refused = client.post(address, {"generator": "llm-answers"} | wanted, content_type="application/json")
    assert refused.status_code in (409, 422) and problem in refused.json()["detail"], refused.json()
    assert not GenerationRun.objects.exists()


def test_programs_start_runs_and_publish_them(client, serve, project):
    serve(said)
    client.force_login(project.created_by)
    address = f"/api/v1/projects/{project.slug}/generations/"
    wanted = {"generator": "llm-answers", "parameters": FAST, "repetitions": 2, "context_setting": "zero context"}
    made = client.post(address, wanted, content_type="application/json")
    assert made.status_code == 202, made.json()
    one = made["Location"]
    assert client.post(f"{one}publish/", {}, content_type="application/json").status_code == 409
    run = GenerationRun.objects.get()
    lifecycle.run_here(run.job)
    assert client.get(one).json()["numbers"] == {"answered": 12, "abstained": 0, "failed": 0}
    published = client.post(f"{one}publish/", {}, content_type="application/json")
    assert published.status_code == 202
    assert lifecycle.run_here(kind_of(run).publishing.jobs_of(run)[0]).result["new_responses"] == 12
    assert set(Response.objects.exclude(model="").values_list("context_setting", flat=True)) == {"zero context"}


def test_programs_are_told_costs_before_anything_starts(client, serve, project, settings):
    server = serve(said)
    settings.LLM_ENDPOINTS = {"main": Endpoint("main", server.url, "m", prompt_price=1000, completion_price=0)}
    client.force_login(project.created_by)

    def told(kind: str, status: int = 200, **wanted) -> dict:
        address = f"/api/v1/projects/{project.slug}/{kind}/estimate/"
        answer = client.post(address, wanted, content_type="application/json")
        assert answer.status_code == status, answer.json()
        return answer.json()

    answers = told("generations", generator="llm-answers", repetitions=2)
    assert answers["number"] == 12 and answers["prices"] == {"main": pytest.approx(answers["prompt_tokens"] / 1000)}
    shown = told("generations", generator="llm-answers", repetitions=2, passages="own")
    assert shown["prompt_tokens"] > answers["prompt_tokens"]
    made = told("retrievals", retriever="bm25", asks="question", parameters={"expansion": "query2doc"})
    assert made["number"] == 6 and made["completion_tokens"] == 6 * 200
    queries = told("retrievals", retriever="evidence", asks="question", parameters={"query": "generated"})
    assert made["completion_tokens"] > queries["completion_tokens"] > 0
    assert "no generator" in told("generations", 409, generator="nobody")["detail"]
    assert "no model" in told("retrievals", 409, retriever="bm25", asks="question")["detail"]
    assert "no retriever" in told("retrievals", 409, retriever="nobody", asks="question")["detail"]
    assert "no checker" in told("runs", 409, checker="nobody")["detail"]
    assert not GenerationRun.objects.exists() and not server.requests


def test_the_command_estimates_asks_and_publishes(serve, project, capsys, settings):
    server = serve(said)
    settings.LLM_ENDPOINTS = {"main": Endpoint("main", server.url, "m", prompt_price=1000, completion_price=0)}
    options = {"passages": "own", "publish": True, "param": ["retries=0", "form=answer-only"], "setting": "noisy"}
    call_command("answer", project.slug, **options)
    told = capsys.readouterr().out
    assert "6 answers, about " in told and " at main" in told and "of m: 6 answers in" in told
    assert "480 tokens sent, 54 received" in told and "Published: 6 new responses, 6 new items" in told
    call_command("answer", project.slug, **options)
    told = capsys.readouterr().out
    assert "The same run already exists" in told and "Published: 0 new responses" in told
    assert len(server.requests) == 6
