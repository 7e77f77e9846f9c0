"""Whether a text is no answer at all (Sufficient Context, appendix): empty, or "I don't know".

Texts are compared in lower case, without punctuation and stop words. A text that has words but only such as are left
out ("No.", "It is.") is an answer.
"""

from __future__ import annotations

from .splitting import content_words, words


def normalised(text: str) -> str:
    """`text` in lower case without punctuation and English stop words, its words joined by single spaces.

    >>> normalised("I don't know!")
    'know'
    """
    return " ".join(content_words(text))


# What people and models write instead of an answer.
PHRASES = ("I don't know", "I do not know the answer")


def is_abstention(text: str) -> bool:
    """Whether `text` declines to answer.

    >>> [is_abstention(text) for text in ("", " - ", "I do not know.", "No.", "I know: in 1963.")]
    [True, True, True, False, False]
    """
    return not words(text) or normalised(text) in {normalised(phrase) for phrase in PHRASES}
