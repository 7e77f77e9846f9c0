"""Answer probabilities: against every token's softmax computed alone, and with models whose answer is known."""

from __future__ import annotations

import itertools
import math

import pytest

from models_runtime import CheckerInput, load
from models_runtime.contracts import ModelError, SpaceError
from models_runtime.scorers.probabilities.continuations import continuation_tokens
from models_runtime.scorers.probabilities.verdict_prompts import ANSWERS, read_prompts

from .tiny import byte_tokenizer, tiny_llama
from .tiny_causal import plain_tokenizer, unigram_llama, voting_llama

VOTES = {"confirmed": "True", "refuted": "False", "murky": "None"}
CLAIMS = (
    "The harbour froze.",
    "Nettle tea helps against hay fever, and has done so for hundreds of years.",
    "It rained",
)


def pair(claim, evidence, number=0):
    return CheckerInput(str(number), {"claim": claim, "evidence": evidence})


def scorer(folder, **parameters):
    return load("answer-probabilities", parameters={"model": str(folder), "device": "cpu"} | parameters)


@pytest.fixture(scope="module")
def byte_llama(tmp_path_factory):
    """Random weights, and a tokenizer in which no answer is a single token."""
    return tiny_llama(tmp_path_factory.mktemp("bytes"), seed=3, positions=4096)


@pytest.fixture(scope="module")
def word_llama(tmp_path_factory):
    """The same with a tokenizer that has learned some of the answers' spellings."""
    texts = ["Answer: True Answer: False Answer: None True False None"] * 50
    return tiny_llama(tmp_path_factory.mktemp("words"), texts, seed=4, positions=4096)


def brute_force(folder, prompt: str) -> dict[str, float]:
    """Token by token, each spelling in a pass of its own without padding or stored keys, and a softmax written out."""
    import numpy as np
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder)
    before = tokenizer(prompt)["input_ids"]
    found = {}
    for answer, word in (("true", "True"), ("false", "False"), ("none", "None")):
        total = 0.0
        for spelling in {space + form for space in ("", " ") for form in (word, word.lower(), word.upper())}:
            ids = tokenizer(prompt + spelling)["input_ids"]
            assert ids[: len(before)] == before
            joint = 1.0
            with torch.no_grad():
                all_logits = model(torch.tensor([ids])).logits[0].double().numpy()
            for place in range(len(before), len(ids)):
                logits = all_logits[place - 1]
                shares = np.exp(logits - logits.max())
                joint *= shares[ids[place]] / shares.sum()
            total += joint
        found[answer] = total
    return found


@pytest.mark.parametrize(("model", "shots"), [("byte_llama", 0), ("word_llama", 3)])
def test_probabilities_are_those_of_every_token_computed_alone(model, shots, request):
    folder = request.getfixturevalue(model)
    claim, evidence = CLAIMS[0], "In January 1963 the harbour froze from shore to shore."
    others = [pair(other, "x " * number, number) for number, other in enumerate(CLAIMS[1:], start=3)]
    found = scorer(folder, shots=shots).predict([*others, pair(claim, evidence)])[-1].scores
    for mode, given in (("without", None), ("with", evidence)):
        expected = brute_force(folder, read_prompts().text(claim, given, shots))
        assert found[f"answers_{mode}"] == pytest.approx(sum(expected.values()), rel=1e-3)
        for answer in ANSWERS:
            assert found[f"p_{answer}_{mode}"] == pytest.approx(expected[answer], rel=1e-3)
            assert found[f"p_{answer}_{mode}"] == pytest.approx(expected[answer], abs=1e-4)
    assert len({found[f"p_{answer}_with"] for answer in ANSWERS}) == 3


@pytest.mark.parametrize("padding_side", ["left", "right"])
def test_a_model_that_reads_the_evidence_says_what_the_evidence_says(tmp_path, padding_side):
    """Swapping two answers, or the modes, or looking at padding would show."""
    folder = voting_llama(tmp_path, VOTES, padding_side=padding_side)
    words = [*VOTES, "harbour"]
    inputs = [
        pair("The harbour froze" + " over" * number, f"{'long ' * 7 * number}{word} {word}", number)
        for number, word in enumerate(words)
    ]
    for predictions in (
        scorer(folder, shots=3).predict(inputs),
        [scorer(folder, shots=0, token_budget=256).predict([item])[0] for item in inputs],
    ):
        for answer, prediction in zip(ANSWERS, predictions, strict=False):
            assert prediction.scores[f"p_{answer}_with"] > 0.9
            assert all(prediction.scores[f"p_{other}_with"] < 0.01 for other in ANSWERS if other != answer)
            assert all(prediction.scores[f"p_{other}_without"] < 0.1 for other in ANSWERS)
        assert predictions[3].scores["answers_with"] < 0.2


def test_the_claim_alone_is_what_decides_without_evidence(tmp_path):
    (found,) = scorer(voting_llama(tmp_path, VOTES)).predict([pair("It is refuted", "confirmed confirmed confirmed")])
    assert found.scores["p_false_without"] > 0.9 and found.scores["p_true_with"] > 0.9


GIVEN = {"True": 0.2, "true": 0.05, "TRUE": 0.05, "False": 0.1, "false": 0.05, "FALSE": 0.05, "None": 0.05, "none": 0.1}


def test_spellings_add_up_and_may_be_shares_of_the_three_answers(tmp_path):
    folder = unigram_llama(tmp_path, GIVEN | {"NONE": 0.05}, ["Answer", ":"])
    (found,) = scorer(folder).predict([pair("a", "b")])
    assert [found.scores[f"p_{answer}_with"] for answer in ANSWERS] == pytest.approx([0.3, 0.2, 0.2], abs=1e-5)
    assert found.scores["answers_without"] == pytest.approx(0.7, abs=1e-5)
    (found,) = scorer(folder, normalise="answers").predict([pair("a", "b")])
    assert [found.scores[f"p_{answer}_without"] for answer in ANSWERS] == pytest.approx([3 / 7, 2 / 7, 2 / 7], abs=1e-5)
    assert found.scores["answers_without"] == pytest.approx(0.7, abs=1e-5)


def test_batches_and_what_was_asked_before_change_nothing(byte_llama):
    inputs = [pair(claim, "It " * (7 * number + 1), number) for number, claim in enumerate(CLAIMS)]
    alone = [scorer(byte_llama, shots=0, token_budget=256).predict([item])[0] for item in inputs]
    fresh = scorer(byte_llama, shots=0, token_budget=65536)
    together = fresh.predict(inputs)
    again = fresh.predict(inputs[::-1])[::-1]
    assert together == again
    for one, other in zip(alone, together, strict=True):
        for name, value in one.scores.items():
            assert other.scores[name] == pytest.approx(value, rel=1e-4, abs=1e-9)


def test_a_claim_with_several_evidences_is_asked_once_without(byte_llama, monkeypatch):
    fresh = scorer(byte_llama, shots=1)
    passed = []
    compute = fresh.continuations._compute
    monkeypatch.setattr(
        fresh.continuations,
        "_compute",
        lambda batch, shared: passed.append((len(batch), shared)) or compute(batch, shared),
    )
    fresh.predict([pair("Quite another claim", f"evidence {number}", number) for number in range(4)])
    fresh.predict([pair("Quite another claim", "one more")])
    assert sum(size for size, _ in passed) == 1 + 4 + 1
    # The instruction and the example went through on their own.
    assert max(shared for _, shared in passed) > 100


def test_long_evidence_is_cut_to_the_window_and_long_claims_fail_alone(tmp_path):
    folder = voting_llama(tmp_path, VOTES, window=256)
    sure = "confirmed " * 20
    found = scorer(folder, shots=0).predict(
        [
            pair("short", sure + "filler " * 100_000, 1),
            pair("short", sure, 2),
            pair("long " * 300, sure, 3),
            pair("short", "filler " * 300 + sure, 4),
        ]
    )
    assert [prediction.scores.get("truncated") for prediction in found] == [1.0, 0.0, None, 1.0]
    assert found[0].scores["p_true_with"] > 0.9 and found[3].scores["p_true_with"] < 0.1
    assert (found[2].error.reason, found[2].error.permanent) == ("too-long", True)
    assert found[0].usage.prompt_tokens <= 2 * 256
    # Examples fill more than this model reads.
    (found,) = scorer(voting_llama(tmp_path / "small", VOTES, window=64)).predict([pair("short", sure)])
    assert found.error.reason == "too-long"


def test_what_cannot_be_asked_fails_alone(byte_llama):
    texts = ["", " \n", "\0", "\ud800", "😀" * 50, "👩‍🔬", "$claim {evidence} %s"]
    inputs = [pair("Ice melts", text, number) for number, text in enumerate(texts)]
    inputs += [pair(text, "Ice melts", 10 + number) for number, text in enumerate(texts)]
    inputs.append(CheckerInput("20", {"claim": "a", "passages": ("b", "c")}))
    found = scorer(byte_llama, shots=0).predict(inputs)
    assert [prediction.id for prediction in found] == [item.id for item in inputs]
    reasons = [prediction.error.reason if prediction.error else "" for prediction in found]
    bad = ["nul-character", "lone-surrogate", "", "", ""]
    assert reasons == ["empty-evidence"] * 2 + bad + ["empty-claim"] * 2 + bad + ["several-passages"]
    for prediction in found:
        assert all(0 <= value <= 1 for value in prediction.scores.values())


def test_tokenizers_that_cannot_tell_the_answers_apart_are_refused():
    spellings = read_prompts().spellings
    with pytest.raises(ModelError, match="begins like the answer"):
        continuation_tokens(plain_tokenizer(["Answer", ":", "True"]), spellings, "\nAnswer:")
    found = continuation_tokens(byte_tokenizer(), spellings, "\nAnswer:")
    assert {answer: len(sequences) for answer, sequences in found.items()} == dict.fromkeys(ANSWERS, 6)
    assert all(len(sequence) > 1 for sequences in found.values() for sequence in sequences)
    # "yes" is part of "yes, sir", whose probability it has already.
    merged = continuation_tokens(byte_tokenizer(), {"yes": ("yes", "yes, sir"), "no": ("no",)}, "?")
    assert [len(found) for found in merged.values()] == [2, 2]


def test_it_takes_no_questions_and_says_how_to_get_a_model(byte_llama, monkeypatch, tmp_path):
    from models_runtime import STANCE

    with pytest.raises(SpaceError, match="takes no label spaces"):
        load("answer-probabilities", STANCE)
    with pytest.raises(ModelError, match="there is no folder /nowhere"):
        scorer("/nowhere")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="hf download EleutherAI/pythia-410m"):
        load("answer-probabilities")
    described = scorer(byte_llama).describe()
    assert described["prompts"].startswith("verdict 1, sha256:") and described["revision"].startswith("sha256:")


def test_prompts_hold_what_is_asked_and_no_more_examples_than_wanted():
    prompts = read_prompts()
    for evidence, shots in itertools.product((None, "It $froze."), range(4)):
        text = prompts.text("Ice {melts} $claim", evidence, shots)
        assert text.count("Claim: ") == text.count("\nAnswer:") == shots + 1
        assert text.count("Evidence: ") == (0 if evidence is None else shots + 1)
        assert text.endswith(prompts.ending) and "Ice {melts} $claim\n" in text
        assert evidence is None or f"Evidence: {evidence}\n" in text
    answers = [example["answer"] for example in prompts._parts["examples"]]
    assert sorted(answers) == ["False", "None", "True"]
    assert math.isclose(sum(GIVEN.values()), 0.65)
