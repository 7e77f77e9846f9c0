"""Questions about what a text contains: coverage, correctness, alternatives, windows of long texts, and no answer."""

from __future__ import annotations

import math

import pytest

from models_runtime import CheckerInput, LabelSpace, load
from models_runtime.contracts import SpaceError
from models_runtime.labels.labelling import label
from models_runtime.texts.abstention import is_abstention, normalised

COVERAGE = LabelSpace(
    "coverage", "coverage", (("covered", 1.0), ("not_covered", 0.0)), span_field="evidence", span_labels=("covered",)
)
GRADE = LabelSpace(
    "grade",
    "correctness",
    (("perfect", 1.0), ("acceptable", 0.6), ("incorrect", -1.0), ("missing", None)),
    no_answer="missing",
)
FILLER = "Bread is baked at dawn in the old town. "


def judge(space, fields, slug="lexical", **parameters):
    (prediction,) = load(slug, space, parameters).predict([CheckerInput("1", fields)])
    assert prediction.error is None, prediction.error
    return prediction


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        (" \n", True),
        ("...", True),
        ("I don't know", True),
        ("I DON’T KNOW!!", True),
        ("I do not know.", True),
        ("I do not know the answer.", True),
        # Stop words alone are words, and numbers that spaCy counts among its stop words are answers.
        ("No.", False),
        ("Five", False),
        ("I don't know Lindau", False),
        ("in 1963", False),
    ],
)
def test_what_is_no_answer(text, expected):
    assert is_abstention(text) is expected


def test_normalised_is_lower_case_without_punctuation_and_stop_words():
    assert normalised("The Harbour, in January of 1963!") == "harbour january 1963"
    assert normalised("five") == "five"


@pytest.mark.parametrize(
    ("support", "expected"),
    # Stretched to -1 .. 1 that is 0.9, 0.6, -0.2 (half-way between acceptable and incorrect), -0.21, -1 and -1 again.
    [
        (0.95, "perfect"),
        (0.8, "acceptable"),
        (0.41, "acceptable"),
        (0.39, "incorrect"),
        (0.0, "incorrect"),
        (-1.0, "incorrect"),
    ],
)
def test_correctness_stretches_support_over_the_scale(support, expected):
    found = label(GRADE, 0.5, support)
    assert found.label == expected
    at = 2 * max(support, 0) - 1
    weights = [math.exp(-((at - polarity) ** 2) / (2 * 0.42**2)) for polarity in (1.0, 0.6, -1.0)]
    assert list(found.probabilities.values()) == pytest.approx([*(w / sum(weights) for w in weights), 0.0])


def test_coverage_is_the_size_of_support_whatever_its_sign():
    for support in (0.7, -0.7):
        assert label(COVERAGE, 0.1, support).probabilities == pytest.approx({"covered": 0.7, "not_covered": 0.3})
    assert label(COVERAGE, 1.0, 0.5).label == "not_covered"


@pytest.mark.parametrize("slug", ["lexical", "embedding"])
def test_the_best_of_several_claims_counts_in_any_order(slug):
    text = "The harbour of Lindau froze in January 1963."
    for claims in (("Napoleon Bonaparte", "January 1963"), ("January 1963", "", "Napoleon Bonaparte")):
        found = judge(GRADE, {"claims": claims, "evidence": text}, slug, support_threshold=0.25)
        alone = judge(GRADE, {"claim": "January 1963", "evidence": text}, slug, support_threshold=0.25)
        assert found.labels == alone.labels and found.scores == alone.scores
    assert found.labels["grade"].label in ("perfect", "acceptable")


@pytest.mark.parametrize("slug", ["lexical", "embedding"])
def test_no_answer_is_no_failure_and_has_undefined_scores(slug):
    found = judge(GRADE, {"claims": (), "evidence": "I don't know."}, slug)
    assert (found.labels["grade"].label, found.labels["grade"].probability) == ("missing", 1.0)
    assert found.spans == () and set(found.scores.values()) == {None}
    # A question without such a label reads the text as it is.
    assert (
        judge(COVERAGE, {"claim": "Lindau", "evidence": "I don't know."}, slug).labels["coverage"].label
        == "not_covered"
    )


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"claims": (), "evidence": "Ice."}, "empty-claim"),
        ({"claims": (" ", ""), "evidence": "Ice."}, "empty-claim"),
        ({"claims": "Ice", "evidence": "Ice."}, "not-text"),
        ({"claims": ("Ice", 7), "evidence": "Ice."}, "not-text"),
        ({"claims": ("?!",), "evidence": "Ice."}, "no-words"),
    ],
)
def test_claims_that_cannot_be_looked_for_fail_alone(fields, reason):
    (prediction,) = load("lexical", GRADE).predict([CheckerInput("1", fields)])
    assert prediction.error.reason == reason


def test_a_long_text_is_read_in_windows_and_the_best_one_decides():
    sentence = "The ferry costs nine euros."
    scattered = "The ferry is late. " + FILLER * 30 + "It costs a lot. " + FILLER * 30 + "Nine euros are coins."
    together = FILLER * 40 + sentence + " " + FILLER * 40
    claim = "price: ferry costs nine euros"  # five words that count, four of them in the text
    parameters = {"support_threshold": 0.7, "window_words": 50}
    assert (
        judge(COVERAGE, {"claim": claim, "evidence": scattered}, **parameters).labels["coverage"].label == "not_covered"
    )
    found = judge(COVERAGE, {"claim": claim, "evidence": together}, **parameters)
    assert found.labels["coverage"].label == "covered"
    (span,) = found.spans
    assert span.quote == sentence == together[span.start : span.end]
    assert found.scores["overlap"] == found.scores["window_overlap"] == pytest.approx(4 / 5)
    # The scores of the whole text stay those of the whole text.
    whole = judge(COVERAGE, {"claim": claim, "evidence": scattered}, support_threshold=0.7, window_words=100_000)
    assert whole.labels["coverage"].label == "covered"
    narrow = judge(COVERAGE, {"claim": claim, "evidence": scattered}, **parameters)
    assert narrow.scores["overlap"] == whole.scores["overlap"] == pytest.approx(4 / 5)
    assert narrow.scores["window_overlap"] == pytest.approx(2 / 5)


def test_stop_words_do_not_count_for_coverage_unless_there_is_nothing_else():
    text = "The history of the ferry."
    assert judge(COVERAGE, {"claim": "the size of the moon", "evidence": text}).scores["overlap"] == 0.0
    assert judge(COVERAGE, {"claim": "of the", "evidence": text}).scores["overlap"] == 1.0


def test_a_label_that_carries_no_spans_gets_none():
    assert judge(COVERAGE, {"claim": "ferry prices", "evidence": "A ferry."}, support_threshold=0.9).spans == ()
    assert judge(COVERAGE, {"claim": "ferry", "evidence": "A ferry."}).spans[0].quote == "A ferry."


def test_labels_named_by_a_space_must_be_its_own():
    for wrong in ({"no_answer": "absent"}, {"span_labels": ("absent",)}):
        with pytest.raises(SpaceError, match="absent"):
            LabelSpace("grade", "correctness", GRADE.labels, **wrong)
