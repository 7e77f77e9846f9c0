"""Answer probabilities and perplexity through a real vLLM: equal to brute force over the same weights, token by token,
and to what the same model gives when it is loaded here."""

from __future__ import annotations

import json
import math
import socket

import pytest

from models_runtime import CheckerInput, load
from models_runtime.llm.endpoints import VARIABLE
from models_runtime.scorers.probabilities.verdict_prompts import ANSWERS, read_prompts
from tests.models_runtime.test_answer_probabilities import brute_force
from tests.models_runtime.tiny import tiny_llama

from .vllm_server import MAX_TOKENS, VllmServer, python_of_vllm

pytestmark = [pytest.mark.slow, pytest.mark.services]

EVIDENCE = "In January 1963 the harbour froze from shore to shore."
CLAIMS = ("The harbour froze.", "Nettle tea helps against hay fever.", "It rained", "😀 and é are letters")


def pair(claim, evidence, number=0):
    return CheckerInput(str(number), {"claim": claim, "evidence": evidence})


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Random weights, with a tokenizer that has learned some spellings; the others are several tokens."""
    texts = ["Answer: True Answer: False Answer: None True False None"] * 50
    return tiny_llama(tmp_path_factory.mktemp("tiny-llama"), texts, seed=4, positions=MAX_TOKENS)


@pytest.fixture(scope="module")
def server(model, tmp_path_factory):
    python = python_of_vllm()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    found = VllmServer(python, model, port, tmp_path_factory.mktemp("vllm") / "vllm.log")
    found.start()
    yield found
    found.kill()


@pytest.fixture(autouse=True)
def endpoint(server, monkeypatch):
    monkeypatch.setenv(VARIABLE, json.dumps({"tiny": {"url": server.url, "model": "tiny", "max_in_flight": 8}}))


def served(**parameters):
    return load("answer-probabilities-server", parameters=parameters)


@pytest.mark.parametrize("reading", ["next-token", "prompt"])
@pytest.mark.parametrize("shots", [0, 3])
def test_probabilities_are_those_of_every_token_computed_alone(model, reading, shots):
    inputs = [pair(claim, EVIDENCE, number) for number, claim in enumerate(CLAIMS)]
    for claim, found in zip(CLAIMS[::3], served(reading=reading, shots=shots).predict(inputs)[::3], strict=True):
        assert found.error is None
        for mode, given in (("without", None), ("with", EVIDENCE)):
            expected = brute_force(model, read_prompts().text(claim, given, shots))
            for answer in ANSWERS:
                assert found.scores[f"p_{answer}_{mode}"] == pytest.approx(expected[answer], abs=1e-4)
                assert found.scores[f"p_{answer}_{mode}"] == pytest.approx(expected[answer], rel=1e-2)
    assert len({found.scores[f"p_{answer}_with"] for answer in ANSWERS}) == 3


def test_the_server_is_asked_for_tokens_of_our_choice_where_it_can_be(model):
    described = served().describe()
    assert described["reading"] == "next-token" and described["window"] == MAX_TOKENS
    local = load("answer-probabilities", parameters={"model": str(model), "device": "cpu"}).describe()
    assert described["answer_tokens"] == local["answer_tokens"] and described["prompts"] == local["prompts"]


@pytest.mark.parametrize("normalise", ["vocabulary", "answers"])
def test_a_model_gives_the_same_scores_on_the_server_as_here(model, normalise):
    """Forty at once; evidence too long for the limit is cut at the same place."""
    inputs = [pair(CLAIMS[n % 4], f"It froze. {EVIDENCE} " * (n % 5 * n + 1), n) for n in range(40)]
    parameters = {"normalise": normalise, "shots": 0, "max_tokens": 1024}
    local = load("answer-probabilities", parameters={"model": str(model), "device": "cpu", **parameters})
    found = served(**parameters).predict(inputs)
    assert [one.id for one in found] == [item.id for item in inputs]
    truncated = 0
    for here, there in zip(local.predict(inputs), found, strict=True):
        assert here.trace["prompt"] == there.trace["prompt"]
        assert there.scores == pytest.approx(here.scores, abs=1e-4)
        assert there.usage.prompt_tokens > 0 or there.usage.completion_tokens == 0
        truncated += there.scores["truncated"]
    assert 0 < truncated < 40


def test_a_claim_that_is_too_long_fails_alone():
    long, fits = served().predict([pair("ice " * 3000, EVIDENCE), pair("Ice", EVIDENCE, 1)])
    assert long.error.reason == "too-long" and fits.error is None


@pytest.mark.parametrize(("window", "stride"), [(2048, 512), (24, 8), (16, 1)])
def test_perplexity_is_the_same_on_the_server_as_here(model, window, stride):
    inputs = [
        CheckerInput(str(n), {"evidence": text}) for n, text in enumerate([EVIDENCE, "é😀 " * 9, f"{EVIDENCE} " * 4])
    ]
    parameters = {"window": window, "stride": stride}
    local = load("perplexity", parameters={"model": str(model), "device": "cpu", **parameters})
    there = load("perplexity-server", parameters=parameters).predict(inputs)
    for here, found in zip(local.predict(inputs), there, strict=True):
        assert found.error is None and math.isfinite(found.scores["perplexity"])
        assert found.scores == pytest.approx(here.scores, rel=1e-4)
