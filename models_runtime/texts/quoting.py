"""Where a text has a quotation."""

from __future__ import annotations

import re

# Marks that copies change, by the ones that they are compared as.
_ALIKE = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "\u00a0": " "})
_AROUND = " \t\r\n\"'…."


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Start and end of the first place, in code points; None where there is none. White space, case and the form of
    quotation marks and dashes may differ, and marks around the quote may be missing from the text.

    >>> find_quote("It  froze “over” in 1963.", 'froze "over"')
    (4, 16)
    """
    folded, quote = text.translate(_ALIKE), quote.translate(_ALIKE)
    for words in (quote.split(), quote.strip(_AROUND).split()):
        pattern = r"\s+".join(re.escape(word) for word in words)
        if pattern and (found := re.search(pattern, folded) or re.search(pattern, folded, re.IGNORECASE)):
            return found.span()
    return None
