"""How much of a piece of text is copied from its context: the share of its n-grams that occur there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

NO_CONTEXT = "there is no context"
NO_WORD = "it has no word"
REASONS = (NO_CONTEXT, NO_WORD)


@dataclass(frozen=True, eq=False)
class CopyRates:
    """Copy rates of pieces.

    Attributes
    ----------
    by_length : (n_pieces, longest) float array
        Share of the piece's n-grams that the context has, for n from 1; nan where the piece has no n-gram of that
        length, or no context.
    rate : (n_pieces,) float array
        Mean over the lengths that are defined; nan where none is.
    reason : (n_pieces,) int array
        Position in REASONS of why the rate is undefined, -1 where it is defined.
    """

    by_length: np.ndarray
    rate: np.ndarray
    reason: np.ndarray


def copy_rates(
    pieces: Sequence[Sequence[str]],
    contexts: Sequence[Sequence[Sequence[str]]],
    context: Sequence[int] | np.ndarray,
    longest: int = 4,
) -> CopyRates:
    """Share of each piece's 1- to 4-grams that its context has, averaged over the lengths.

    An n-gram that the piece has twice counts twice. No n-gram of a context reaches over the border of two passages. A
    piece of fewer than n words has no n-gram of that length, and its mean is over those that it has.

    Parameters
    ----------
    pieces : sequence of word sequences
        Such as the words of a claim-triplet: subject, relation and object one after the other.
    contexts : sequence of contexts, each a sequence of passages, each a sequence of words
        Compare words as they are: lower-case both sides before.
    context : (n_pieces,) int array
        Which context each piece belongs to, -1 for none.
    longest : int
        Greatest n, at least 1.

    Returns
    -------
    CopyRates

    References
    ----------
    Hu et al. (2024), RefChecker, arXiv:2405.14486, appendix A.4 (copy rate, 1 to 4 grams).

    Examples
    --------
    All four words are in the passage, and one of the three pairs of neighbours; no longer n-gram is.

    >>> result = copy_rates([["ice", "melts", "in", "spring"]], [[["in", "spring", "melts", "ice"]]], [0])
    >>> result.by_length.round(4).tolist(), result.rate.round(4).tolist()
    ([[1.0, 0.3333, 0.0, 0.0]], [0.3333])
    """
    if longest < 1:
        raise ValueError(f"longest must be at least 1, not {longest}")
    context = np.asarray(context, dtype=np.int64)
    if len(context) != len(pieces):
        raise ValueError("pieces and context differ in length")
    if len(context) and (context.min() < -1 or context.max() >= len(contexts)):
        raise ValueError(f"context has numbers outside -1 to {len(contexts) - 1}")
    known: dict[int, list[set[tuple[str, ...]]]] = {}
    by_length = np.full((len(pieces), longest), np.nan)
    has_context = np.zeros(len(pieces), dtype=bool)
    for place, (words, number) in enumerate(zip(pieces, context.tolist(), strict=True)):
        if number < 0 or not any(len(passage) for passage in contexts[number]):
            continue
        has_context[place] = True
        if number not in known:
            known[number] = [
                {gram for passage in contexts[number] for gram in _grams(passage, n)} for n in range(1, longest + 1)
            ]
        for n in range(1, min(longest, len(words)) + 1):
            copied = [gram in known[number][n - 1] for gram in _grams(words, n)]
            by_length[place, n - 1] = sum(copied) / len(copied)
    defined = ~np.isnan(by_length)
    n_defined = defined.sum(axis=1)
    total = np.where(defined, by_length, 0).sum(axis=1)
    rate = np.divide(total, n_defined, out=np.full(len(pieces), np.nan), where=n_defined > 0)
    reason = np.where(n_defined > 0, -1, np.where(has_context, REASONS.index(NO_WORD), REASONS.index(NO_CONTEXT)))
    return CopyRates(by_length, rate, reason)


def _grams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return list(zip(*(words[start:] for start in range(n)), strict=False))
