"""How many of something, in words: one of it is no plural."""

from __future__ import annotations

IRREGULAR = {"people": "person", "queries": "query", "studies": "study"}
# What follows these words says which ones are meant, and stays as it is.
ENDS = {"of", "with", "without", "that", "which", "whose", "by", "in", "on", "to", "from", "each", "between", "among"}


def n_of(n: int, many: str) -> str:
    """`many` is what several are called.

    >>> n_of(1_200, "units"), n_of(1, "units"), n_of(1, "claims or questions"), n_of(1, "pieces with labels of people")
    ('1,200 units', '1 unit', '1 claim or question', '1 piece with labels of people')
    """
    return f"{n:,} {called(n, many)}"


def left_out(n: int, many: str) -> str:
    """A sentence on what does not count; empty where there is none of it.

    >>> left_out(2, "labels of units without a suggestion"), left_out(1, "answers without a time"), left_out(0, "units")
    ('2 labels of units without a suggestion are left out.', '1 answer without a time is left out.', '')
    """
    return f"{n_of(n, many)} {either(n, 'is', 'are')} left out." if n else ""


def p_words(p: float) -> str:
    """A p value in a sentence.

    >>> p_words(0.0142), p_words(0.0496), p_words(0.00001)
    ('p = 0.014', 'p = 0.0496', 'p < 0.001')
    """
    if p < 0.001:
        return "p < 0.001"
    return f"p = {p:.3f}" if abs(p - 0.05) > 0.0006 else f"p = {p:.4f}"


def called(n: int, many: str) -> str:
    """What so many are called."""
    if n != 1:
        return many
    words = many.split(" ")
    end = next((place for place, word in enumerate(words) if word in ENDS), len(words))
    return " ".join([*map(_one, words[:end]), *words[end:]])


def either(n: int, one: str, many: str) -> str:
    """The word that goes with so many, such as is or are."""
    return one if n == 1 else many


def _one(word: str) -> str:
    if word in IRREGULAR:
        return IRREGULAR[word]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
