"""The lexical checker against numbers worked out by hand, and its rule to a label."""

from __future__ import annotations

import math

import pytest

from models_runtime import ENTAILMENT, RELEVANCE, STANCE, load

from .samples import SIX, TRIPLETS, UNREADABLE, pair, triplet


def judge(item, spaces, **parameters):
    (prediction,) = load("lexical", spaces, parameters).predict([item])
    return prediction


def test_overlap_and_jaccard_by_hand():
    # claim: the sea is rising (4); evidence: the sea was rising fast (5); shared: the, sea, rising
    found = judge(pair("The sea is rising", "The sea was rising fast."), STANCE).scores
    assert found["overlap"] == pytest.approx(3 / 4)
    assert found["jaccard"] == pytest.approx(3 / 6)
    assert found["repeats_claim"] == 0.0
    assert (found["claim_length"], found["evidence_length"]) == (17, 24)
    assert judge(pair("sea is", "The sea is rising"), STANCE).scores["repeats_claim"] == 1.0
    assert judge(pair("Sea is", "The sea is rising, untrue"), STANCE).scores["contains_true"] == 1.0


def test_probabilities_by_hand():
    # overlap 3/4, so support = logistic((0.75 - 0.3) / 0.1) = 0.98901
    found = judge(pair("The sea is rising", "The sea was rising fast."), STANCE)
    support = 1 / (1 + math.exp(-4.5))
    weights = [math.exp(-((support - at) ** 2) / (2 * 0.42**2)) for at in (-1, 0, 1)]
    assert found.scores["support"] == pytest.approx(support)
    assert list(found.labels["stance"].probabilities.values()) == pytest.approx([w / sum(weights) for w in weights])


@pytest.mark.parametrize(
    ("space", "evidence", "label"),
    [
        (STANCE, "The sea is rising.", "supports"),
        (STANCE, "The sea is not rising.", "refutes"),
        (STANCE, "It is a myth that the sea is rising.", "refutes"),
        (STANCE, "Bread is baked in ovens.", "not_enough_info"),
        (ENTAILMENT, "The sea is rising.", "entailment"),
        (ENTAILMENT, "The sea isn't rising.", "contradiction"),
        (TRIPLETS, "Bread.", "neutral"),
    ],
)
def test_label_by_overlap_and_cues(space, evidence, label):
    found = judge(pair("The sea is rising", evidence), space).labels[space.dimension]
    assert found.label == label
    assert sum(found.probabilities.values()) == pytest.approx(1)
    assert tuple(found.probabilities) == space.values


@pytest.mark.parametrize(
    ("evidence", "label"),
    [
        ("bread", None),
        ("sea bread", "insufficient-neutral"),  # overlap 1/4
        ("the sea bread", "insufficient-supports"),  # 2/4: support 0.5
        ("the sea is bread", "supports"),  # 3/4
        ("the sea never bread", "insufficient-refutes"),
        ("the sea is never bread", "refutes"),
    ],
)
def test_six_way_stance_is_graded_and_asked_only_of_relevant_evidence(evidence, label):
    found = judge(
        pair("the sea is rising", evidence),
        (SIX, RELEVANCE),
        relevance_threshold=0.2,
        support_threshold=0.5,
        softness=0.15,
    )
    assert found.labels["relevance"].label == ("not_relevant" if label is None else "relevant")
    assert (found.labels["stance"].label if "stance" in found.labels else None) == label
    assert bool(found.spans) == (label is not None)


def test_evidence_exactly_at_the_threshold_is_not_relevant_whatever_the_order_of_labels():
    item = pair("the sea is rising", "sea bread")
    backwards = type(RELEVANCE)("relevance", "relevance", RELEVANCE.labels[::-1])
    for space in (RELEVANCE, backwards):
        assert judge(item, space, relevance_threshold=0.25).labels["relevance"].label == "not_relevant"


def test_evidence_exactly_at_the_threshold_takes_no_side():
    item = pair("the sea is rising", "the sea bread")
    assert judge(item, STANCE, support_threshold=0.5).labels["stance"].label == "not_enough_info"
    assert judge(item, STANCE, support_threshold=0.49).labels["stance"].label == "supports"


def test_a_label_without_polarity_is_never_predicted():
    found = judge(triplet("sea is rising", "The sea is rising."), TRIPLETS).labels["entailment"]
    assert found.probabilities["bad_triplet"] == 0.0


def test_the_rationale_is_the_sentence_that_shares_most_with_the_claim():
    evidence = "  👩‍🔬 Bread is good. The sea, scientists say, is rising 🌊! Ovens are hot."
    (span,) = judge(pair("The sea is rising", evidence), STANCE).spans
    assert span.quote == "The sea, scientists say, is rising 🌊!" == evidence[span.start : span.end]
    assert span.field == "evidence" and span.score == 1.0


@pytest.mark.parametrize(
    ("passages", "label", "decided"),
    [
        (("Bread.", "The sea is not rising.", "The sea is rising."), "entailment", "passages[2]"),
        (("Bread.", "", "The sea is not rising."), "contradiction", "passages[2]"),
        (("Ovens.", "A sea."), "neutral", "passages[1]"),
    ],
)
def test_passages_merge_as_entailment_then_contradiction_then_neutral(passages, label, decided):
    found = judge(triplet("the sea is rising", *passages), ENTAILMENT)
    assert found.labels["entailment"].label == label
    (span,) = found.spans
    index = int(span.field[len("passages[") : -1])
    assert span.field == decided and span.quote == passages[index][span.start : span.end]


# The fake checker wants some text, but not evidence.
@pytest.mark.parametrize(
    ("slug", "name"),
    [
        (slug, name)
        for slug in ("lexical", "embedding", "fake")
        for name, (_, reason) in UNREADABLE.items()
        if (slug, reason) != ("fake", "empty-evidence")
    ],
)
def test_one_bad_input_fails_alone_with_its_reason(slug, name):
    text, reason = UNREADABLE[name]
    good = [pair("Ice melts", f"Ice melts {i} times.", f"g{i}") for i in range(3)]
    found = load(slug, STANCE).predict([good[0], pair("Ice melts", text, "bad"), *good[1:]])
    assert [prediction.id for prediction in found] == ["g0", "bad", "g1", "g2"]
    assert [prediction.error and prediction.error.reason for prediction in found] == [None, reason, None, None]
    assert found[1].error.permanent and found[1].error.message and not found[1].labels


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (pair(" ", "Ice."), "empty-claim"),
        (pair("?!", "Ice."), "no-words"),
        (triplet("Ice"), "empty-evidence"),
        (triplet("Ice", " ", ""), "empty-evidence"),
        (type(pair("", ""))("1", {"claim": "Ice"}), "missing-field"),
        (type(pair("", ""))("1", {"claim": "Ice", "passages": "Ice"}), "not-text"),
    ],
)
def test_reasons_for_inputs_that_cannot_be_judged(item, reason):
    assert judge(item, STANCE).error.reason == reason
