"""Answer probabilities and perplexity from a server whose probabilities are set by hand."""

from __future__ import annotations

import math

import pytest

from models_runtime import CheckerInput, load
from models_runtime.contracts import ModelError, ParameterError, UnavailableError
from models_runtime.llm import client
from models_runtime.scorers.probabilities.verdict_prompts import ANSWERS

from .scripted_vllm import ScriptedVllm
from .server import Reply

# "False" and "FALSE" are two tokens each to the scripted tokenizer.
FIRST = {"True": 0.2, "true": 0.05, "TRUE": 0.01, "Fals": 0.3, "fals": 0.02, "FALS": 0.0, "None": 0.1, "none": 0.04}
NEXT = {("Fals", "e"): 0.5, ("fals", "e"): 0.25, ("FALS", "E"): 0.9}
# By hand: 0.2 + 0.05 + 0.01; 0.3 x 0.5 + 0.02 x 0.25 + 0; 0.1 + 0.04 + 0.
EXPECTED = {"true": 0.26, "false": 0.155, "none": 0.14}


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.02)
    monkeypatch.setattr(client, "POLL_SECONDS", 0.05)


def table(before, word):
    """As FIRST after a colon; evidence that says "murky" makes every answer half as probable."""
    if (before[-1], word) in NEXT:
        return NEXT[before[-1], word]
    return (before[-1] == ":") * FIRST.get(word, 0.0) * (0.5 if "murk" in before else 1)


def is_read(request) -> bool:
    """Whether probabilities are asked for, and not tokens or their text."""
    return isinstance(request.get("prompt"), list)


def pair(claim, evidence, number=0):
    return CheckerInput(str(number), {"claim": claim, "evidence": evidence})


def scorer(**parameters):
    return load("answer-probabilities-server", parameters={"shots": 0, "wait_seconds": 0, **parameters})


@pytest.mark.parametrize("reading", ["next-token", "prompt"])
def test_answers_of_several_tokens_have_their_joint_probability(serve, reading):
    serve(ScriptedVllm(table))
    found, murky = scorer(reading=reading).predict([pair("Ice", "Ice is."), pair("Ice", "It is murky", 1)])
    for answer in ANSWERS:
        assert found.scores[f"p_{answer}_with"] == pytest.approx(EXPECTED[answer])
        assert murky.scores[f"p_{answer}_without"] == pytest.approx(EXPECTED[answer])
    assert murky.scores["p_true_with"] == pytest.approx(EXPECTED["true"] / 2)
    assert murky.scores["p_false_with"] == pytest.approx(0.15 * 0.5 + 0.005 * 0.5)
    assert found.scores["answers_with"] == pytest.approx(0.555) and found.scores["truncated"] == 0
    assert "Ice is." in found.trace["prompt"] and found.usage.prompt_tokens > murky.usage.prompt_tokens > 0


def test_shares_of_the_three_answers(serve):
    serve(ScriptedVllm(table))
    (found,) = scorer(normalise="answers").predict([pair("Ice", "Ice is.")])
    assert found.scores["p_true_with"] == pytest.approx(0.26 / 0.555)
    assert found.scores["answers_with"] == pytest.approx(0.555)


@pytest.mark.parametrize(("is_raw", "reading"), [(True, "next-token"), (False, "prompt")])
def test_how_the_server_can_be_read_is_found_out(serve, is_raw, reading):
    """One that counts what may be written alone would say that every answer is certain."""
    serve(ScriptedVllm(table, is_raw=is_raw))
    described = scorer().describe()
    assert described["reading"] == reading and described["window"] == 4096 and described["model"] == "m"
    assert described["answer_tokens"] == {"true": 3, "false": 3, "none": 3}
    (found,) = scorer().predict([pair("Ice", "Ice is.")])
    assert found.scores["p_false_with"] == pytest.approx(0.155)


def test_a_claim_is_asked_once_without_evidence_and_no_more_at_a_time_than_is_set(serve):
    scripted = ScriptedVllm(table)
    server = serve(lambda request, n: Reply(scripted(request, n), delay=0.01), max_in_flight=3)
    inputs = [pair("Ice", f"Number {number}", number) for number in range(20)]
    found = scorer().predict(inputs)
    assert [one.id for one in found] == [item.id for item in inputs] and not any(one.error for one in found)
    read = [request for request in server.requests if is_read(request)]
    tokens = len(FIRST) + len(NEXT) + 1  # and NONE
    assert len(read) == 2 + tokens * (1 + 20)  # what the server can do; then the claim alone, and each pair
    assert 1 < server.most_in_flight <= 3


def test_evidence_too_long_for_the_window_is_cut_at_its_end_and_a_claim_fails(serve):
    serve(ScriptedVllm(table, window=110))
    long, fits, claim = scorer().predict(
        [pair("Ice", "warm " * 60 + "murky"), pair("Ice", "Ice is.", 1), pair("ice " * 90, "Ice.", 2)]
    )
    assert long.scores["truncated"] == 1 and fits.scores["truncated"] == 0
    assert long.scores["p_true_with"] == pytest.approx(0.26)  # what was cut off is not read
    assert 10 < long.trace["prompt"].count("warm") < 60
    assert claim.error.reason == "too-long" and claim.error.permanent


def test_failures_are_counted_one_by_one(serve):
    scripted = ScriptedVllm(table)

    def answer(request, n):
        words = {scripted.vocabulary[token] for token in request["prompt"][0]} if is_read(request) else set()
        if "bad" in words:  # no logarithm of a probability
            told = {"tokens": [f"token_id:{token}" for token in request["allowed_token_ids"]], "token_logprobs": [3.0]}
            choice = {"logprobs": told}
            return {"choices": [choice | {"index": at} for at in range(len(request["prompt"]))]}
        if "long" in words:
            return Reply({"error": {"message": "This model's maximum context length is 9 tokens."}}, 400)
        return scripted(request, n)

    serve(answer)
    found = scorer().predict([pair("Ice", text, n) for n, text in enumerate(["fine", "bad", "long", "  "])])
    reasons = [one.error and one.error.reason for one in found]
    assert reasons == [None, "malformed", "context-too-long", "empty-evidence"]
    assert not found[1].error.permanent and found[2].error.permanent
    assert found[0].scores["p_true_with"] == pytest.approx(0.26)


def test_a_server_that_goes_away_is_waited_for_and_one_that_stays_away_is_no_inputs_failure(serve):
    scripted, state = ScriptedVllm(table), {"away": 0}

    def answer(request, n):
        if state["away"] > 0 and is_read(request):
            state["away"] -= 1
            return Reply({}, 503)
        return scripted(request, n)

    server = serve(answer)
    checker = scorer(retries=1, wait_seconds=2)
    checker.describe()
    state["away"] = 4  # more often than is tried again
    found = checker.predict([pair("Ice", "Ice is."), pair("Fire", "Ice is.", 1)])
    assert [one.error for one in found] == [None, None] and found[0].scores["p_true_with"] == pytest.approx(0.26)
    server.stop()
    with pytest.raises(UnavailableError):
        scorer(retries=0, wait_seconds=0).predict([pair("Snow", "Ice is.")])


def test_other_servers_than_vllm_are_told_from_it(serve):
    server = serve(ScriptedVllm(table))
    server.card["owned_by"] = "somebody"
    with pytest.raises(ModelError, match="is no vLLM"):
        scorer().predict([pair("Ice", "Ice is.")])


# ---- perplexity ----


def served_perplexity(**parameters):
    return load("perplexity-server", parameters={"wait_seconds": 0, **parameters})


def by_place(before, word):
    """1 / 2 for the first word after <s>, 1 / 3 for the second, and so on."""
    return 1 / (1 + len(before))


def test_perplexity_is_that_of_the_words(serve):
    serve(ScriptedVllm(by_place))
    (found,) = served_perplexity().predict([CheckerInput("1", {"evidence": "a b c d"})])
    assert found.scores["tokens"] == 4
    assert found.scores["perplexity"] == pytest.approx((2 * 3 * 4 * 5) ** (1 / 4))
    assert found.scores["perplexity_window_mean"] == pytest.approx(found.scores["perplexity"])


def test_windows_move_on_and_each_token_is_predicted_once(serve):
    serve(ScriptedVllm(by_place))
    (found,) = served_perplexity(window=3, stride=1).predict([CheckerInput("1", {"evidence": "a b c d"})])
    # Windows <s> a b, a b c, b c d: 2 and 3, then 3 in each.
    assert found.scores["tokens"] == 4
    assert found.scores["perplexity"] == pytest.approx((2 * 3 * 3 * 3) ** (1 / 4))
    mean = (math.log(6) / 2 + math.log(3) + math.log(3)) / 3
    assert found.scores["perplexity_window_mean"] == pytest.approx(math.exp(mean))


def test_windows_of_the_server_are_kept_to(serve):
    serve(ScriptedVllm(by_place, window=4))
    (found,) = served_perplexity(stride=1).predict([CheckerInput("1", {"evidence": "a b c d"})])
    assert found.scores["perplexity"] == pytest.approx((2 * 3 * 3 * 3) ** (1 / 4))
    (found,) = served_perplexity(stride=3, window=9).predict([CheckerInput("1", {"evidence": "a b"})])
    assert found.error.reason == "window-too-small"
    with pytest.raises(ParameterError, match="stride"):
        served_perplexity(stride=9, window=9)


def test_one_bad_text_fails_alone(serve):
    serve(ScriptedVllm(by_place))
    found = served_perplexity().predict([CheckerInput(str(n), {"evidence": text}) for n, text in enumerate(["a", ""])])
    assert found[0].scores["perplexity"] == pytest.approx(2) and found[1].error.reason == "empty-evidence"
