"""The study of leakage's matching, sentence against evidence, judged by embeddings that are set by hand."""

from __future__ import annotations

import math

import pytest

from models_runtime import ENTAILMENT, CheckerInput, load
from models_runtime.checkers.embedding import Embedded, Encoder
from models_runtime.texts.matching import matching_pairs

CLAIM = "The harbour of Lindau froze over in 1963."
# Where each text lies, in degrees: the nearer, the more alike.
DEGREES = {
    "Ships lay still in January.": 0,
    "Nobody could sail that winter.": 40,
    "The bakery sold bread.": 90,
    "Rye was cheap.": 100,
    "Ferries did not sail that winter.": 10,
    "Ice lay on the lake.": 20,
}
GOLD = ("Ships lay still in January.", "The bakery sold bread.")


@pytest.fixture
def judge(monkeypatch):
    import numpy as np

    def embed(self, texts):
        turned = {text: math.radians(DEGREES[text]) for text in texts}
        vectors = {text: np.array([math.cos(angle), math.sin(angle)]) for text, angle in turned.items()}
        return Embedded(vectors, set(), {})

    monkeypatch.setattr(Encoder, "embed", embed)
    checker = load("embedding", ENTAILMENT, {"support_threshold": 0.9, "softness": 0.01})

    def labels(document: str) -> dict[tuple[int, str], str]:
        """By (gold evidence, sentence): the evidence is the premise, the sentence the hypothesis."""
        pairs = list(matching_pairs(CLAIM, GOLD, document))
        found = checker.predict(
            [
                CheckerInput(str(number), {"claim": sentence.text, "evidence": GOLD[place]})
                for number, (place, sentence) in enumerate(pairs)
            ]
        )
        return {
            (place, sentence.text): one.labels["entailment"].label
            for (place, sentence), one in zip(pairs, found, strict=True)
        }

    return labels


def test_a_claim_is_matched_by_one_sentence_near_one_piece_of_evidence(judge):
    document = f"{CLAIM} Rye was cheap. Ice lay on the lake. Nobody could sail that winter."
    found = judge(document)
    # cos 20 = 0.94 is above 0.9, cos 40 = 0.77 below; Rye is 10 degrees from the bakery (0.98), 100 from the ships.
    assert found == {
        (0, "Rye was cheap."): "neutral",
        (0, "Ice lay on the lake."): "entailment",
        (0, "Nobody could sail that winter."): "neutral",
        (1, "Rye was cheap."): "entailment",
        (1, "Ice lay on the lake."): "neutral",
        (1, "Nobody could sail that winter."): "neutral",
    }


def test_a_sentence_that_denies_the_evidence_matches_nothing(judge):
    found = judge("Ferries did not sail that winter.")
    assert found[0, "Ferries did not sail that winter."] == "contradiction"
    assert "entailment" not in found.values()


def test_a_document_that_only_repeats_the_claim_has_no_pair(judge):
    assert judge(CLAIM) == {}
