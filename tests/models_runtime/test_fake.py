"""The fake checker is repeatable and fails as told."""

from __future__ import annotations

import time

from models_runtime import RELEVANCE, STANCE, load

from .samples import SIX, TRIPLETS, pair, triplet

ITEMS = [pair(f"Claim {i}", f"Evidence {i} is here.", str(i)) for i in range(400)]


def test_answers_depend_on_text_and_seed_and_on_nothing_else():
    first = load("fake", STANCE).predict(ITEMS)
    again = load("fake", STANCE).predict(ITEMS[::-1])[::-1]
    assert first == again
    other = load("fake", STANCE, {"seed": 1}).predict(ITEMS)
    assert [p.labels["stance"].label for p in first] != [p.labels["stance"].label for p in other]
    assert {p.labels["stance"].label for p in first} == set(STANCE.values)
    renamed = load("fake", STANCE).predict([pair("Claim 0", "Evidence 0 is here.", "another id")])[0]
    assert renamed.labels == first[0].labels


def test_failures_come_in_the_shares_asked_for():
    found = load("fake", STANCE, {"failure_share": 0.2, "permanent_failure_share": 0.1}).predict(ITEMS)
    reasons = [prediction.error.reason for prediction in found if prediction.error]
    assert 0.15 < reasons.count("fake-transient") / 400 < 0.25
    assert 0.06 < reasons.count("fake-permanent") / 400 < 0.14
    assert all(p.error.permanent == (p.error.reason == "fake-permanent") for p in found if p.error)


def test_a_fixed_label_is_given_wherever_it_belongs():
    found = load("fake", [RELEVANCE, SIX], {"label": "not_relevant"}).predict(ITEMS[:5])
    assert all(set(p.labels) == {"relevance"} and p.labels["relevance"].probability == 0.9 for p in found)
    assert all(not p.spans for p in found)
    triplets = load("fake", TRIPLETS, {"label": "bad_triplet"}).predict([triplet("a b c", "one", "two")])
    assert triplets[0].labels["entailment"].label == "bad_triplet"


def test_the_delay_is_kept():
    started = time.monotonic()
    load("fake", STANCE, {"delay_ms": 20}).predict(ITEMS[:5])
    assert time.monotonic() - started >= 0.1
