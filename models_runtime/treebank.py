"""Words as DRUID's public code counts them: NLTK's `word_tokenize`, lower-cased, minus punctuation marks.

The rules are those of the Penn Treebank in NLTK's version, written anew, so that NLTK is not needed. What differs is
where sentences end, which only decides whether a full stop inside the text stays with the word before it: NLTK asks its
Punkt model, this module `text.sentence_offsets`.
"""

from __future__ import annotations

import re
import string

from .text import sentence_offsets

_CLOSING = "])}>\"' \u00bb\u201d\u2019"
_RULES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # Quotes that open; runs of back-ticks stay together.
        ("[\u00ab\u201c\u2018\u201e]|`+", r" \g<0> "),
        (r'^"', "``"),
        (r"``", r" \g<0> "),
        (r"(?<=[ (\[{<])(?:\"|'')", " `` "),
        # An apostrophe before a word, unless a contraction begins with it.
        (r"(?i)(?<!\w)'(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)", r"\g<0> "),
        # The full stop of the sentence; commas and colons that stand in no number; marks that always stand alone.
        (rf"(?<=[^.])\.(?=[{re.escape(_CLOSING)}]*\s*$)", r" \g<0> "),
        (r"[:,](?=\D|$)", r" \g<0> "),
        (r"\.{2,}|[;@#$%&?!*\u2012-\u2015]", r" \g<0> "),
        (r"(?<=[^'])'(?= )", r" \g<0>"),
        (r"[\][(){}<>]|--", r" \g<0> "),
        # Quotes that close, and what contractions end in.
        ("[\u00bb\u201d\u2019]", r" \g<0> "),
        (r"''|\"", " '' "),
        (r"\s+|$", " "),
        (r"(?<=[^' ])(?:'[sSmMdD]|')(?= )", r" \g<0>"),
        (r"(?<=[^' ])(?:'(?:ll|LL|re|RE|ve|VE)|n't|N'T)(?= )", r" \g<0>"),
        # Two words that are written as one.
        (
            r"(?i)\b(can(?=not\b)|d(?='ye\b)|lem(?=me\b)|gim(?=me\b)|gon(?=na\b)|got(?=ta\b)|more(?='n\b)|wan(?=na\s))"
            r"(not|'ye|me|na|ta|'n)",
            r" \1 \2 ",
        ),
        (r"(?i)(?<= )('t)(is|was)\b", r" \1 \2 "),
    )
)
_MARKS = frozenset(string.punctuation)


def treebank_words(text: str) -> list[str]:
    """Lower-cased words in order; single ASCII punctuation marks are left out, and runs of them (`...`, `''`) stay.

    >>> treebank_words("It isn't well-known: 3.5 % of 1,000 cannot wait... (U.S. too).")
    ['it', 'is', "n't", 'well-known', '3.5', 'of', '1,000', 'can', 'not', 'wait', '...', 'u.s.', 'too']
    """
    sentences = (text[start:end] for start, end in sentence_offsets(text))
    return [token.lower() for sentence in sentences for token in tokens(sentence) if token not in _MARKS]


def tokens(sentence: str) -> list[str]:
    """The tokens of one sentence, punctuation included, as they are written (straight double quotes become ``, '')."""
    for pattern, replacement in _RULES:
        sentence = pattern.sub(replacement, sentence)
    return sentence.split()
