"""Merging of segments and labels from probabilities, against results worked out by hand; and reading label orders."""

from __future__ import annotations

import doctest

import pytest

from models_runtime import ENTAILMENT, STANCE, LabelSpace
from models_runtime.contracts import ModelError
from models_runtime.labels import entailment as nli_rules
from models_runtime.labels.entailment import (
    LabelOrder,
    NLIOutput,
    decide,
    knows_contradiction,
    label_of,
    read_label_order,
)

from .samples import SIX, TRIPLETS

# Entailment, neutral, contradiction.
E, N, C = NLIOutput(0.7, 0.2, 0.1), NLIOutput(0.2, 0.7, 0.1), NLIOutput(0.1, 0.3, 0.6)
WEAK_E, STRONG_C, NEARLY_C = NLIOutput(0.4, 0.3, 0.3), NLIOutput(0.01, 0.02, 0.97), NLIOutput(0.1, 0.46, 0.44)
TWO_WAY = LabelSpace("entailment", "entailment", (("entailment", 1.0), ("non-entailment", 0.0)))
COVERED = LabelSpace("coverage", "coverage", (("covered", 1.0), ("not_covered", 0.0)))
GRADE = LabelSpace(
    "grade", "correctness", (("perfect", 1.0), ("acceptable", 0.6), ("incorrect", -1.0), ("missing", None))
)


def test_the_example_in_the_docstring_holds():
    results = doctest.testmod(nli_rules)
    assert results.attempted > 0 and results.failed == 0


@pytest.mark.parametrize(
    ("rule", "threshold", "segments", "verdict", "place"),
    [
        # Entailment if any, whatever contradicts.
        ("refchecker", 0.5, [N, STRONG_C, WEAK_E], "entailment", 2),
        ("refchecker", 0.5, [WEAK_E, N, E], "entailment", 2),
        ("refchecker", 0.5, [N, C, STRONG_C], "contradiction", 2),
        ("refchecker", 0.5, [N, C, N], "contradiction", 1),
        # Neutral: the segment that is least so.
        ("refchecker", 0.5, [N, NEARLY_C], "neutral", 1),
        ("refchecker", 0.5, [N], "neutral", 0),
        # By threshold; at it is not above it.
        ("max-entailment", 0.5, [N, STRONG_C, WEAK_E], "contradiction", 1),
        ("max-entailment", 0.5, [N, E, STRONG_C], "entailment", 1),
        ("max-entailment", 0.05, [STRONG_C, C], "entailment", 1),
        ("max-entailment", 0.2, [N], "neutral", 0),
        ("max-entailment", 0.9, [E, N], "neutral", 0),
    ],
)
def test_segments_merge(rule, threshold, segments, verdict, place):
    found = decide(rule, threshold, segments, knows_contradiction=True)
    assert (found.verdict, found.place) == (verdict, place)
    assert found.max_entailment == max(one.entailment for one in segments)


@pytest.mark.parametrize(
    ("rule", "segments", "verdict", "place"),
    [
        ("refchecker", [C, N, STRONG_C], "neutral", 1),
        # Its own verdict is contradiction, though it has more of entailment.
        ("refchecker", [NLIOutput(0.45, 0.0, 0.55), WEAK_E], "entailment", 1),
        ("max-entailment", [WEAK_E, STRONG_C, N], "neutral", 0),
        ("refchecker", [NLIOutput(0.4), NLIOutput(0.6), NLIOutput(0.55)], "entailment", 1),
        ("refchecker", [NLIOutput(0.5), NLIOutput(0.3)], "neutral", 0),
    ],
)
def test_where_there_is_no_contradiction_the_greatest_entailment_decides(rule, segments, verdict, place):
    found = decide(rule, 0.5, segments, knows_contradiction=False)
    assert (found.verdict, found.place) == (verdict, place)


def test_equals_are_neutral_before_contradiction_before_entailment():
    third = 1 / 3
    assert NLIOutput(third, third, third).verdict == "neutral"
    assert NLIOutput(0.4, 0.2, 0.4).verdict == "contradiction"
    assert NLIOutput(0.5).verdict == "neutral"


@pytest.mark.parametrize(
    ("space", "verdict", "judged", "label", "probabilities"),
    [
        (ENTAILMENT, "entailment", WEAK_E, "entailment", {"entailment": 0.4, "neutral": 0.3, "contradiction": 0.3}),
        (TRIPLETS, "contradiction", C, "contradiction", {"entailment": 0.1, "contradiction": 0.6, "bad_triplet": 0.0}),
        (STANCE, "neutral", N, "not_enough_info", {"supports": 0.2, "not_enough_info": 0.7, "refutes": 0.1}),
        (TWO_WAY, "entailment", E, "entailment", {"entailment": 0.7, "non-entailment": 0.3}),
        # The rule's verdict is the label, even where the other is more probable.
        (TWO_WAY, "entailment", C, "entailment", {"entailment": 0.1, "non-entailment": 0.9}),
        (COVERED, "entailment", E, "covered", {"covered": 0.7, "not_covered": 0.3}),
        (COVERED, "neutral", STRONG_C, "not_covered", {"covered": 0.01, "not_covered": 0.99}),
    ],
)
def test_labels_take_the_models_probabilities(space, verdict, judged, label, probabilities):
    found = label_of(space, verdict, judged)
    assert found.label == label and found.probability == found.probabilities[label]
    assert {name: found.probabilities[name] for name in probabilities} == pytest.approx(probabilities)
    assert sum(found.probabilities.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("judged", "stance"),
    [
        (NLIOutput(0.95, 0.03, 0.02), "supports"),  # support 0.93
        (NLIOutput(0.6, 0.3, 0.1), "insufficient-supports"),  # 0.5
        (NLIOutput(0.1, 0.85, 0.05), "insufficient-neutral"),  # 0.05
        (NLIOutput(0.05, 0.8, 0.15), "insufficient-contradictory"),  # -0.1
        (NLIOutput(0.1, 0.3, 0.6), "insufficient-refutes"),  # -0.5
        (NLIOutput(0.01, 0.04, 0.95), "refutes"),  # -0.94
    ],
)
def test_six_stances_follow_from_support(judged, stance):
    assert label_of(SIX, judged.verdict, judged).label == stance


@pytest.mark.parametrize(
    ("entailment", "grade"),
    [(0.95, "perfect"), (0.8, "acceptable"), (0.3, "incorrect"), (0.0, "incorrect")],
)
def test_grades_follow_from_entailment_alone(entailment, grade):
    # Support 2 p - 1: 0.9, 0.6, -0.4, -1 on a scale with marks at 1, 0.6 and -1.
    assert label_of(GRADE, "neutral", NLIOutput(entailment, 0.0, 1 - entailment)).label == grade


def test_which_questions_know_contradiction():
    assert [knows_contradiction(space) for space in (ENTAILMENT, STANCE, SIX, TWO_WAY, COVERED, GRADE)] == [
        True, True, True, False, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (("entailment", "neutral", "contradiction"), LabelOrder(0, 1, 2)),
        (("contradiction", "entailment", "neutral"), LabelOrder(1, 2, 0)),
        (("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), LabelOrder(2, 1, 0)),
        (("not_entailment", "entailment"), LabelOrder(1)),
        (("entailment", "not-entailment"), LabelOrder(0)),
        (("Entailed", "Non-Entailed"), LabelOrder(0)),
    ],
)
def test_the_order_of_labels_is_read_from_their_names(names, order):
    assert read_label_order(dict(enumerate(names))) == order


@pytest.mark.parametrize(
    "names",
    [
        ("LABEL_0", "LABEL_1", "LABEL_2"),
        ("positive", "negative"),
        ("entailment", "neutral"),
        ("entailment", "neutral", "contradiction", "not_entailment"),
        ("entailment", "entailed", "contradiction"),
        ("neutral", "contradiction"),
        ("entailment_0", "neutral_1", "contradiction_2"),
    ],
)
def test_labels_that_are_not_understood_are_named(names):
    with pytest.raises(ModelError) as refusal:
        read_label_order(dict(enumerate(names)))
    assert all(repr(name) in str(refusal.value) for name in names) and "id2label" in str(refusal.value)
