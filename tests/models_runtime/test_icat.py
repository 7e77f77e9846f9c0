"""ICAT's scorer: supported claims, aspects that they deal with, what is missing, and answers that stay apart."""

from __future__ import annotations

import json

import pytest

from models_runtime import CheckerInput, load, registry
from models_runtime.llm.endpoints import VARIABLE
from tests.llm.server import FakeServer, completion

from .tiny import voting_bert

SOURCES = ("Coffee wakes people, sure.", "sure: coffee raises blood pressure.")
WAKES, PRESSURE, CURES = "coffee wakes people", "coffee raises blood pressure", "gin cures gout"
COFFEE_CURES = "coffee cures gout"
ASPECTS = ("wakes people", "blood pressure", "gout")


@pytest.fixture(scope="module")
def nli(tmp_path_factory):
    """Entails whatever it is asked where the premise says "sure", and nothing else."""
    words = " ".join([*SOURCES, WAKES, PRESSURE, CURES]).lower().split()
    return str(voting_bert(tmp_path_factory.mktemp("nli"), words, {"sure": "entailment"}))


def item(aspect: str, claims=(WAKES, PRESSURE, CURES), sources=SOURCES, answer: str = "About coffee.", **more):
    fields = {"claim": aspect, "evidence": answer, "question": "What does coffee do?", "aspects": ASPECTS}
    return CheckerInput(aspect, fields | {"atomic_claims": claims, "sources": sources} | more)


def scored(nli: str, *items: CheckerInput, **parameters):
    given = {"model": nli, "device": "cpu", "alignment": "lexical", "top": 1} | parameters
    return load("icat", parameters=given).predict(items)


def test_only_supported_claims_cover_aspects():
    # By shared words: the last claim has none in common with any passage.
    found = load("icat", parameters={"checker": "lexical", "alignment": "lexical"}).predict([item(a) for a in ASPECTS])
    wakes, pressure, gout = (one.scores for one in found)
    assert set(wakes) == {score.name for score in registry.get_info("icat").scores}
    assert (wakes["claims"], wakes["claims_supported"], wakes["factuality"]) == (3, 2, pytest.approx(2 / 3))
    assert (wakes["covered"], wakes["claims_covering"]) == (1, 1)
    assert pressure["covered"] == 1
    assert (gout["covered"], gout["claims_covering"], gout["factuality"]) == (0, 0, wakes["factuality"])
    assert found[2].trace["output"].splitlines() == [
        "1. [supported] coffee wakes people",
        "2. [supported] coffee raises blood pressure",
        "3. [not supported] gin cures gout",
    ]


def test_a_claim_is_looked_up_in_evidence_of_its_own_before_the_questions_passages():
    """The second one's evidence supports the first alone, and the third has none."""
    own = (("Gin is a drink.",), (WAKES,), ())
    icat = load("icat", parameters={"checker": "lexical", "alignment": "lexical"})
    (found,) = icat.predict([item("gout", claims=(WAKES, PRESSURE, CURES), sources=(CURES,), claim_sources=own)])
    assert [line.partition("]")[0] for line in found.trace["output"].splitlines()] == [
        "1. [not supported", "2. [not supported", "3. [covers it"
    ]  # fmt: skip
    (right,) = icat.predict([item("gout", sources=(), claim_sources=((WAKES,), (PRESSURE,), ()))])
    assert (right.scores["claims_supported"], right.scores["factuality"]) == (2, pytest.approx(2 / 3))


def test_by_inference_every_claim_is_looked_up_in_the_passages(nli):
    (all_of_them,) = scored(nli, item("gout", claims=(WAKES, PRESSURE, COFFEE_CURES)))
    assert (all_of_them.scores["claims_supported"], all_of_them.scores["covered"]) == (3, 1)
    (none,) = scored(nli, item("gout", sources=(CURES, COFFEE_CURES)))
    assert (none.scores["claims_supported"], none.scores["factuality"], none.scores["covered"]) == (0, 0, 0)


def test_answers_stay_apart_and_in_order(nli):
    items = [
        item("gout", claims=(COFFEE_CURES,)),
        item("gout", claims=(WAKES,)),
        item("wakes people", claims=(COFFEE_CURES,)),
        item("gout", claims=(COFFEE_CURES,), sources=("coffee",)),
    ]
    found = scored(nli, *items)
    assert [(one.scores["claims_supported"], one.scores["covered"]) for one in found] == [
        (1, 1),
        (1, 0),
        (1, 0),
        (0, 0),
    ]
    for one, alone in zip(found, items, strict=True):
        assert scored(nli, alone)[0].scores == one.scores


def test_what_is_missing_is_a_failure_that_may_pass(nli):
    without_claims, without_sources, blank, good = scored(
        nli, item("gout", claims=()), item("gout", sources=(" ",)), item("gout", claims=(" ",)), item("gout")
    )
    assert without_claims.error.reason == blank.error.reason == "no-atomic-claims"
    assert without_sources.error.reason == "no-passages" and not without_sources.error.permanent
    assert good.error is None


def test_a_claim_that_cannot_be_judged_leaves_its_answer_without_scores_and_no_other(nli):
    long = " ".join(["coffee"] * 600)
    bad, same, other = scored(nli, item("gout", claims=(WAKES, long)), item("wakes people", claims=(WAKES, long)),
                              item("gout"))  # fmt: skip
    assert bad.error.reason == same.error.reason == "claim-too-long" and not bad.scores
    assert other.scores["claims"] == 3


def test_provenance_names_what_ranked_judged_and_aligned(nli):
    described = load("icat", parameters={"model": nli, "device": "cpu", "alignment": "lexical"}).describe()
    assert json.loads(json.dumps(described)) == described
    assert described["revision"].startswith("sha256:")
    assert (described["ranked_by"]["retriever"], described["judged_by"]["checker"]) == ("bm25", "nli")
    assert described["aligned_by"]["checker"] == "lexical"


def test_a_language_model_is_shown_the_supported_claims_and_all_aspects_once_per_answer(monkeypatch):
    asked = []

    def aligned(request: dict, n: int) -> dict:
        asked.append(json.dumps(request["messages"]))
        return completion('{"1": [1], "2": [2, 1]}')

    server = FakeServer(aligned)
    server.start()
    monkeypatch.setenv(VARIABLE, json.dumps({"main": {"url": server.url, "model": "m"}}))
    registry._cache.clear()
    try:
        scorer = load("icat-server", parameters={"checker": "lexical", "wait_seconds": 0, "retries": 0})
        wakes, pressure, gout = scorer.predict([item(aspect) for aspect in ASPECTS])
        described = scorer.describe()
    finally:
        server.stop()
        registry._cache.clear()
    assert len(asked) == 1 and WAKES in asked[0] and PRESSURE in asked[0] and CURES not in asked[0]
    assert all(aspect in asked[0] for aspect in ASPECTS)
    assert [one.scores["claims_covering"] for one in (wakes, pressure, gout)] == [2, 1, 0]
    assert (wakes.scores["claims_supported"], wakes.scores["claims"]) == (2, 3)
    sent = [one.usage.prompt_tokens for one in (wakes, pressure, gout)]
    assert sum(sent) > 0 and max(sent) - min(sent) <= 1
    assert described["aligned_by"]["checker"] == "aspect-alignment" and described["endpoint"] == "main"
