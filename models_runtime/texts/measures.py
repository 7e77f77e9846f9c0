"""Measures of a claim and its evidence that need no model (DRUID, section 4.1).

Words are those of `splitting.words`. A measure that is undefined for its arguments is None.
"""

from __future__ import annotations

from collections.abc import Iterable

from .splitting import sentence_offsets, syllables, words


def jaccard(claim_words: set[str], evidence_words: set[str]) -> float | None:
    """Shared words / words of either; None if neither has any."""
    union = claim_words | evidence_words
    return len(claim_words & evidence_words) / len(union) if union else None


def claim_overlap(claim_words: set[str], evidence_words: set[str]) -> float | None:
    """Shared words / words of the claim, in distinct words; None if the claim has none."""
    return len(claim_words & evidence_words) / len(claim_words) if claim_words else None


def repeats_claim(claim: str, evidence: str) -> bool:
    """Whether the evidence holds the claim verbatim (case counts; white space around the claim does not)."""
    return claim.strip() in evidence


def mentions(text: str, needle: str) -> bool:
    """Case-insensitive substring, as the public code looks for 'true' and 'false' ('untrue' holds 'true')."""
    return needle in text.lower()


def flesch_reading_ease(text: str) -> float | None:
    """206.835 - 1.015 words/sentences - 84.6 syllables/words (Flesch 1948); None without words.

    Words with a letter only; syllables by rule (`splitting.syllables`), so values differ a little from dictionary-based
    tools.
    """
    return flesch(words(text[start:end]) for start, end in sentence_offsets(text))


def flesch(sentences: Iterable[list[str]]) -> float | None:
    """The same from the words of each sentence."""
    parts = list(sentences)
    spelled = [word for sentence in parts for word in sentence if any(map(str.isalpha, word))]
    if not spelled:
        return None
    return 206.835 - 1.015 * len(spelled) / len(parts) - 84.6 * sum(map(syllables, spelled)) / len(spelled)
