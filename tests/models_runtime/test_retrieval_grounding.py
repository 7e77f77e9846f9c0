"""Grounding: which claims are supported, from where, and what the scorer makes of a unit's own texts."""

from __future__ import annotations

import doctest
import json

import pytest

from models_runtime import CheckerInput, load, load_retriever
from models_runtime.contracts import LabelPrediction, ParameterError, Prediction, PredictionError, Usage
from models_runtime.retrieval import grounding
from models_runtime.retrieval.contracts import Document, Passage, PassageHit, Query, Ranking
from models_runtime.retrieval.grounding import ground, judge

from .tiny import voting_bert


def test_examples_in_docstrings_hold():
    results = doctest.testmod(grounding)
    assert results.attempted > 0 and results.failed == 0


class Scripted:
    """Entailment probabilities by passage; a text that it has none for cannot be judged."""

    def __init__(self, **probabilities: float) -> None:
        self.probabilities = probabilities
        self.asked: list[tuple[str, str]] = []

    def predict(self, inputs):
        self.asked += [(item.fields["claim"], item.fields["evidence"]) for item in inputs]
        return [self._answer(item) for item in inputs]

    def _answer(self, item):
        value = self.probabilities.get(item.fields["evidence"])
        if value is None:
            return Prediction(item.id, error=PredictionError("model-failed", "bad tensor", False))
        shares = {"entailed": value, "not_entailed": 1 - value}
        label = LabelPrediction(max(shares, key=shares.get), max(shares.values()), shares)
        return Prediction(item.id, {"grounded": label}, usage=Usage(prompt_tokens=3))


def ranking(key: str, *texts: str) -> Ranking:
    hits = (PassageHit(Passage(text, 0, len(text), text), rank, 1 / rank) for rank, text in enumerate(texts, 1))
    return Ranking(key, tuple(hits))


@pytest.mark.parametrize(
    ("probabilities", "threshold", "grounded", "source", "greatest"),
    [
        # The first above the threshold in the order of the ranking, not the greatest; at the threshold is not above.
        ((0.1, 0.6, 0.9), 0.5, True, 2, 0.9),
        ((0.5, 0.2, 0.5), 0.5, False, None, 0.5),
        ((0.06, 0.9, 0.0), 0.05, True, 1, 0.9),
        ((0.3, 0.2, 0.1), 0.5, False, None, 0.3),
    ],
)
def test_the_first_passage_above_the_threshold_is_the_source(probabilities, threshold, grounded, source, greatest):
    checker = Scripted(**dict(zip("abc", probabilities, strict=True)))
    (found,) = judge([Query("1", "claim")], [ranking("1", "a", "b", "c")], checker, threshold)
    assert (found.is_grounded, found.source and found.source.rank) == (grounded, source)
    assert found.probabilities == probabilities and found.greatest == greatest
    assert found.usage == Usage(prompt_tokens=9)


def test_a_claim_fails_alone_and_one_without_passages_is_not_grounded():
    lost = PredictionError("empty-query", "the query is empty", True)
    rankings = [ranking("1", "a", "unreadable"), Ranking("2", error=lost), ranking("3"), ranking("4", "a")]
    claims = [Query(str(number), f"claim {number}") for number in range(1, 5)]
    checker = Scripted(a=0.8)
    found = judge(claims, rankings, checker)
    assert [one.id for one in found] == ["1", "2", "3", "4"]
    assert [one.is_grounded for one in found] == [None, None, False, True]
    assert [one.error and one.error.reason for one in found] == ["model-failed", "empty-query", None, None]
    assert found[2].greatest is None and found[2].source is None
    assert checker.asked == [("claim 1", "a"), ("claim 1", "unreadable"), ("claim 4", "a")]


def test_only_the_first_so_many_passages_are_judged():
    retriever = load_retriever("bm25", {"chunker": "whole"})
    retriever.index([Document(str(place), "ice " * (place + 1) + "melts") for place in range(20)])
    checker = Scripted(**{"ice " * count + "melts": 0.1 for count in range(1, 21)})
    (found,) = ground([Query("1", "ice")], retriever, checker, top=4)
    assert len(found.hits) == len(found.probabilities) == len(checker.asked) == 4


@pytest.fixture(scope="module")
def nli(tmp_path_factory):
    """Entails whatever it is asked where the premise says "sure", contradicts where it says "never"."""
    folder = tmp_path_factory.mktemp("nli")
    words = ["ice", "melts", "the", "filler"]
    return str(voting_bert(folder, words, {"sure": "entailment", "never": "contradiction"}))


def score(nli: str, *items: CheckerInput, **parameters):
    given = {"checker": "nli", "model": nli, "device": "cpu", "chunk_words": 4, "chunk_overlap": 1} | parameters
    return load("grounding", parameters=given).predict(items)


def test_the_source_is_found_in_the_unit_s_own_texts(nli):
    passages = ("filler filler", "", "the ice the ice the ice", "filler filler filler sure ice melts")
    (found,) = score(nli, CheckerInput("1", {"claim": "ice melts", "passages": passages}))
    # Passages of four words; the last text has two, of which only "sure ice melts" holds the words asked for.
    # It has both words and so comes first.
    assert found.scores == {
        "grounded": 1.0,
        "max_entailment": found.scores["max_entailment"],
        "source_rank": 1.0,
        "source_passage": 4.0,
    }
    assert found.scores["max_entailment"] > 0.9
    assert found.trace["prompt"] == "Premise: sure ice melts\n\nHypothesis: ice melts"


def test_top_decides_whether_a_supporting_passage_is_read(nli):
    item = CheckerInput("1", {"claim": "ice melts", "evidence": "ice melts ice melts ice never sure sure ice"})
    # In passages of three words: "ice melts ice", "melts ice never", "sure sure ice".
    deep, shallow = (score(nli, item, chunk_words=3, chunk_overlap=0, top=top)[0].scores for top in (3, 1))
    assert (deep["grounded"], deep["source_rank"], deep["source_passage"]) == (1.0, 3.0, 1.0)
    assert (shallow["grounded"], shallow["source_rank"]) == (0.0, None)
    assert shallow["max_entailment"] < 0.5 < deep["max_entailment"]


def test_scores_do_not_hang_on_what_else_is_asked(nli):
    items = [
        CheckerInput("1", {"claim": "ice melts", "passages": ("the ice", "sure melts")}),
        CheckerInput("2", {"claim": "melts", "passages": ("the ice", "sure melts")}),
        CheckerInput("3", {"claim": "ice", "evidence": "filler"}),
        CheckerInput("4", {"claim": "", "evidence": "ice"}),
        CheckerInput("5", {"claim": "...", "evidence": "ice"}),
        CheckerInput("6", {"claim": "ice", "evidence": "ice \ud83d"}),
        CheckerInput("7", {"claim": "ice melts", "passages": ("the ice", "sure melts")}),
    ]
    together = score(nli, *items)
    alone = [score(nli, item)[0] for item in items]
    for one, other in zip(together, alone, strict=True):
        assert one.scores == pytest.approx(other.scores, abs=1e-6) and one.error == other.error
    assert [one.error and one.error.reason for one in together[2:]] == [
        None, "empty-claim", "no-words", "lone-surrogate", None
    ]  # fmt: skip
    assert together[2].scores == {
        "grounded": 0.0, "max_entailment": None, "source_rank": None, "source_passage": None
    }  # fmt: skip


def test_by_embeddings_every_passage_is_ranked(nli):
    item = CheckerInput(
        "1", {"claim": "The ocean gets higher", "passages": ("Bread is baked.", "sure, the sea rises.")}
    )
    lexical, dense = (score(nli, item, retriever=name)[0].scores for name in ("bm25", "dense"))
    assert lexical["source_rank"] == 1.0  # it shares "the"
    assert dense["source_rank"] == 1.0 and dense["source_passage"] == 2.0


def test_without_a_model_shared_words_judge():
    scorer = load("grounding", parameters={"checker": "lexical"})
    long = "Bread is baked in ovens. " * 60 + "The ice melts in spring."
    found = scorer.predict(
        [
            CheckerInput("1", {"claim": "The ice melts in spring", "evidence": long}),
            CheckerInput("2", {"claim": "The ice never melts in spring", "evidence": long}),
            CheckerInput("3", {"claim": "Quartz is a mineral", "evidence": long}),
        ]
    )
    assert [one.scores["grounded"] for one in found] == [1.0, 0.0, 0.0]
    described = scorer.describe()
    assert json.loads(json.dumps(described)) == described
    assert described["ranked_by"]["chunker"] == "words-128-32" and described["judged_by"]["checker"] == "lexical"


def test_passages_that_would_not_move_on_are_refused():
    with pytest.raises(ParameterError, match="chunk_overlap"):
        load("grounding", parameters={"checker": "lexical", "chunk_words": 5, "chunk_overlap": 5})


@pytest.mark.parametrize("text", ["", "\0", "\udc00", "😀" * 100, "a" * 100_000, "Ice melts. " * 9_091, "\u0301" * 9])
def test_whatever_the_text_there_are_scores_or_a_reason(text):
    scorer = load("grounding", parameters={"checker": "lexical"})
    items = [
        CheckerInput("1", {"claim": text, "evidence": "ice"}),
        CheckerInput("2", {"claim": "ice", "evidence": text}),
    ]
    for found in scorer.predict(items):
        assert found.scores or found.error.reason not in ("unexpected", "")
