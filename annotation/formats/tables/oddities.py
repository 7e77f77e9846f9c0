"""Rows that are neither right nor wrong, by kind, and what can be done with each.

Two people may agree, so that rows which are the same are merged only where one rater is named or no label stands there;
else somebody has to say what they are. Values that the question does not have need an answer, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from annotation.formats.records import FormatError

IDENTICAL, REVISIONS, PLACES, SPELLINGS, UNMAPPED = "identical", "revisions", "places", "spellings", "unmapped"
MERGED, UNNAMED, OFFSETS = "merged", "unnamed", "offsets"
LEAVE_OUT = "leave-out"


@dataclass(frozen=True, slots=True)
class Oddity:
    title: str
    choices: Mapping[str, str]  # what can be done -> in words
    default: str = ""  # empty: has to be said


ODDITIES: dict[str, Oddity] = {
    IDENTICAL: Oddity(
        "Identical rows with labels and no named rater",
        {
            "places": "They are by different people who agree",
            LEAVE_OUT: "They are repeats of one row: leave the repeats out",
        },
    ),
    UNNAMED: Oddity(
        "Labels without a rater, where other rows name one",
        {
            "places": "They are by people without a name",
            "decisions": "They are final labels, by none of the raters",
            LEAVE_OUT: "Leave these rows out",
        },
    ),
    UNMAPPED: Oddity(
        "Values that are not labels of the question",
        {LEAVE_OUT: "Leave these rows out"},
    ),
    REVISIONS: Oddity(
        "Different labels by the same rater for the same text",
        {"revisions": "They are revisions: the last one counts", LEAVE_OUT: "Leave the later rows out"},
        "revisions",
    ),
    PLACES: Oddity(
        "Different labels for the same text, without a named rater",
        {"places": "They are by different people", LEAVE_OUT: "Leave the later rows out"},
        "places",
    ),
    SPELLINGS: Oddity(
        "Labels that differ only in case, spaces or hyphens",
        {"fold": "They are one label", LEAVE_OUT: "Leave out rows whose spelling differs from the first one's"},
        "fold",
    ),
    OFFSETS: Oddity(
        "Highlights after emoji or accents, which tools count differently",
        {
            "words": "As the highlighted words show",
            "utf-16": "UTF-16 code units, as browsers count",
            "code-points": "Code points, as Python counts",
            "bytes": "Bytes of UTF-8",
        },
        "words",
    ),
    MERGED: Oddity("Identical rows of the same rater, or without labels", {"merge": "They are one row"}, "merge"),
}


def check_treatment(treat: Mapping[str, str]) -> None:
    """FormatError for a kind of odd rows that there is not, or for what cannot be done with them."""
    for kind, choice in treat.items():
        if kind not in ODDITIES:
            raise FormatError(f"There are no odd rows of the kind {kind!r}; kinds are {', '.join(ODDITIES)}")
        if choice not in ODDITIES[kind].choices:
            raise FormatError(f"{kind}: there is no choice {choice!r}; choices are {', '.join(ODDITIES[kind].choices)}")
