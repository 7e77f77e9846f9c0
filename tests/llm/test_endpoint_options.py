"""What an endpoint is set to take is what is sent, servers of one model share the work, and one that refuses the same
again and again is asked no more."""

from __future__ import annotations

import json
import time

import pytest

from models_runtime import RELEVANCE, load, load_extractor
from models_runtime.contracts import ModelError, UnavailableError
from models_runtime.extractors.contracts import ExtractionInput
from models_runtime.llm.endpoints import VARIABLE, parse_endpoints
from tests.models_runtime.samples import pair

from .server import FakeServer, Reply, completion, picked

KEY = "sk-proj-4242424242"


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)


def judge(*texts, **parameters):
    checker = load("llm", RELEVANCE, {"wait_seconds": 0, "retries": 0, **parameters})
    return checker.predict([pair("claim", text, text) for text in texts])


def test_a_request_says_what_the_endpoint_is_set_to_say(serve):
    server = serve(
        lambda request, n: completion('{"answer": "A"}'),
        preset="openai",
        thinking_tokens=500,
        temperature=None,
        top_p=0.9,
        seed=7,
        reasoning_effort="low",
        extra_body={"service_tier": "flex"},
        headers={"X-Project": "assay"},
        logprobs=False,
    )
    server.card = {"id": "m", "owned_by": "openai"}
    (found,) = judge("text")
    assert found.labels["relevance"].label == "relevant"
    (request,) = server.requests
    assert request["max_completion_tokens"] == 564 and request["seed"] == 7 and request["reasoning_effort"] == "low"
    assert request["top_p"] == 0.9
    assert request["service_tier"] == "flex" and server.headers[0]["x-project"] == "assay"
    assert not {"temperature", "max_tokens", "logprobs", "top_logprobs"} & set(request)
    described = load("llm", RELEVANCE).describe()["options"]
    assert described == {"top_p": 0.9, "seed": 7, "reasoning_effort": "low"} | {"extra_body": {"service_tier": "flex"}}


@pytest.mark.parametrize("preset", ["llama.cpp", "ollama"])
def test_servers_of_ones_own_are_asked_for_one_of_the_letters(serve, preset):
    server = serve(lambda request, n: completion('{"answer": "B"}'), preset=preset, temperature=0.3)
    server.card = {"id": "m", "owned_by": preset}
    (found,) = judge("text")
    (request,) = server.requests
    assert found.labels["relevance"].label == "not_relevant" and request["temperature"] == 0.3
    assert request["response_format"]["json_schema"]["schema"]["properties"]["answer"]["enum"] == ["A", "B"]
    assert ("logprobs" in request) == (preset != "ollama") and "max_tokens" in request


def test_a_slow_endpoint_gets_more_time_than_a_run_gives_it(serve):
    serve(lambda request, n: Reply(picked("A"), delay=1.4), timeout_seconds=20)
    assert judge("text", timeout_seconds=1)[0].labels


def test_a_server_that_is_held_to_no_form_is_read_as_it_writes(serve):
    """Anthropic's compatible endpoint ignores forms and lists its models for another header only."""

    def answer(request, n):
        assert not {"response_format", "structured_outputs", "logprobs"} & set(request)
        if "aspects" in str(request["messages"][0]):
            return completion('Here they are:\n```json\n{"aspects": [{"text": "the year"}]}\n```\nAnything else?')
        return completion("The passage names the lake.\n\n**Answer: A**")

    server = serve(answer, preset="anthropic")
    (found,) = judge("text")
    assert (found.labels["relevance"].label, found.labels["relevance"].probability) == ("relevant", None)
    assert "/v1/models" not in server.paths
    extractor = load_extractor("llm-extractor", "aspect")
    (made,) = extractor.extract([ExtractionInput("1", "When did it freeze?")])
    assert [piece.parts for piece in made.pieces] == [{"text": "the year"}], made


def test_servers_of_one_model_share_the_work_and_stand_in_for_each_other(serve, monkeypatch):
    def slow(request, n):
        time.sleep(0.03)
        return picked("A")

    first, second = FakeServer(slow), FakeServer(slow)
    first.start()
    second.start()
    setting = {"main": {"url": first.url, "replicas": [second.url], "model": "m", "max_in_flight": 2}}
    monkeypatch.setenv(VARIABLE, json.dumps(setting))
    texts = [f"text {n}" for n in range(12)]
    assert all(one.labels for one in judge(*texts))
    assert len(first.requests) >= 3 and len(second.requests) >= 3
    assert max(first.most_in_flight, second.most_in_flight) <= 2
    first.stop()
    assert all(one.labels for one in judge(*texts)) and len(second.requests) >= 15
    first.start()
    second.card = second.card | {"root": "org/another"}
    with pytest.raises(ModelError, match="serve different things: m org/m, 4096.*; m org/another"):
        load("llm", RELEVANCE).describe()
    first.stop()
    second.stop()


@pytest.mark.parametrize(
    ("status", "why"),
    [(402, "Your credit balance is too low"), (401, "Incorrect API key"), (404, "The model m does not exist")],
)
def test_who_refuses_the_same_again_and_again_is_asked_no_more_and_what_is_done_is_kept(
    serve, monkeypatch, status, why
):
    monkeypatch.setenv("JUDGE_KEY", KEY)

    def answer(request, n):
        return picked("A") if n < 4 else Reply({"error": {"message": f"{why} ({KEY}, request 31{n})"}}, status)

    server = serve(answer, stop_after=3, max_in_flight=1, api_key_env="JUDGE_KEY")
    with pytest.raises(ModelError, match="after 3 equal failures in a row at the endpoint main") as stopped:
        judge(*(f"text {n}" for n in range(20)))
    assert len(server.requests) == 7
    assert f"“{why} ([key], request 31" in str(stopped.value) and KEY not in str(stopped.value)
    assert [one.id for one in stopped.value.predictions] == [f"text {n}" for n in range(4)]
    assert all(one.labels for one in stopped.value.predictions)


def test_a_server_that_wants_a_long_pause_gets_it_without_a_worker_waiting(serve):
    server = serve(
        lambda request, n: picked("A") if n < 2 else Reply({"error": "slow down"}, 429, {"Retry-After": "40"}),
        max_in_flight=1,
    )
    begun = time.monotonic()
    with pytest.raises(UnavailableError, match="takes no requests for another [34]. s") as pause:
        judge("one", "two", "three", "four")
    assert 30 < pause.value.seconds <= 40 and len(server.requests) == 3
    assert [one.id for one in pause.value.predictions] == ["one", "two"] and time.monotonic() - begun < 30


def test_requests_keep_their_distance_where_the_endpoint_has_a_rate(serve):
    times = []

    def answer(request, n):
        times.append(time.monotonic())
        return picked("A")

    serve(answer, requests_per_minute=600)
    assert all(one.labels for one in judge(*"abcd"))
    assert times[-1] - times[0] >= 0.25  # four tenths but for what sending takes


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ({"preset": "clippy"}, "the preset 'clippy'"),
        ({"replicas": ["http://gpu1/v1"]}, "an address twice"),
        ({"replicas": "http://gpu2/v1"}, "replicas of main as a list"),
        ({"max_tokens_name": "n_predict"}, "max_tokens or max_completion_tokens"),
        ({"temperature": 3}, "a number from 0 to 2, or null"),
        ({"temperature": float("nan")}, "a number from 0 to 2, or null"),
        ({"logprobs": 1}, "true or false"),
        ({"headers": {"X-Key": "a\nb"}}, "names and printable texts"),
        ({"headers": {"X Key": "a"}}, "names and printable texts"),
        ({"extra_body": []}, "extra_body of main as an object"),
        ({"reasoning_effort": "utmost"}, "none, minimal, low"),
    ],
)
def test_a_slip_in_an_option_is_told(option, problem):
    with pytest.raises(ValueError, match=problem):
        parse_endpoints(json.dumps({"main": {"url": "http://gpu1/v1", "model": "m", **option}}))
