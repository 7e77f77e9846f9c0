"""Words that turn a sentence round. English, as the data are; other languages simply have no cue."""

from __future__ import annotations

from collections.abc import Collection


def _cues(words: str) -> frozenset[str]:
    return frozenset(words.split())


NEGATIONS = _cues("n't not no never none nothing nobody nowhere neither nor without cannot hardly barely unlikely")
# About a claim rather than within it.
CONTRADICTIONS = _cues(
    "false falsely untrue incorrect incorrectly wrong wrongly misleading myth hoax fake fabricated debunked disproved "
    "disproven refuted refutes rebutted contradicts contradicted denied denies deny baseless unfounded unsupported "
    "misinformation disinformation inaccurate contrary"
)


def kinds(words: Collection[str]) -> frozenset[str]:
    """Which of 'negation' and 'contradiction' occur."""
    present = set(words)
    by_kind = {"negation": present & NEGATIONS, "contradiction": present & CONTRADICTIONS}
    return frozenset(kind for kind, cues in by_kind.items() if cues)


def mismatch(claim_words: Collection[str], sentence_words: Collection[str]) -> bool:
    """Whether one of the two denies what the other states: a kind of cue occurs in one only."""
    return kinds(claim_words) != kinds(sentence_words)
