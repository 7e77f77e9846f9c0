"""Rows that are neither right nor wrong, by kind, and what can be done with each.

Two people may agree, so that rows which are the same are merged only where one rater is named or no label stands there;
else the user has to say what they are. Values that the question does not have need an answer, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from zoneinfo import available_timezones

from annotation.formats.files.encodings import ENCODINGS
from annotation.formats.records import FormatError, OddRecord

IDENTICAL, REVISIONS, PLACES, SPELLINGS, UNMAPPED = "identical", "revisions", "places", "spellings", "unmapped"
MERGED, UNNAMED, OFFSETS = "merged", "unnamed", "offsets"
ENCODING, CHARACTERS, DATES, ZONE = "encoding", "characters", "dates", "zone"
BASE, NO_HIGHLIGHT = "base", "nothing"
TITLED, UNTITLED = "titled", "untitled"
DAY_FIRST, MONTH_FIRST = "day-first", "month-first"
LEAVE_OUT, AS_GUESSED, REPLACE = "leave-out", "guess", "replace"
TITLE, FILE_NAME = "title", "file-name"
APART, FOLD = "apart", "fold"


@dataclass(frozen=True, slots=True)
class Oddity:
    title: str
    choices: Mapping[str, str]  # what can be done -> in words
    default: str = ""  # empty: has to be chosen
    suggested: str = ""  # what a form proposes in its place
    others: Callable[[], Mapping[str, str]] = dict  # further choices, too many to be listed in a sentence
    example: str = ""  # of these
    is_of_labels: bool = False  # the rows found, and how many there are, tell which labels were given

    @property
    def is_asked(self) -> bool:
        return len(self.choices) > 1 or bool(self.example)

    @property
    def named(self) -> list[str]:
        """The choices as a sentence lists them."""
        return [*self.choices, *filter(None, [self.example])]

    @property
    def answers(self) -> dict[str, str]:
        """The choices where the default leaves open what the rows mean."""
        return {choice: title for choice, title in self.all_choices().items() if choice != self.default}

    def all_choices(self) -> dict[str, str]:
        return {**self.choices, **self.others()}


def _zones() -> dict[str, str]:
    """Those that are named by a continent and a city."""
    names = sorted(available_timezones())
    return {name: name.replace("_", " ") for name in names if "/" in name and not name.startswith(("Etc/", "US/"))}


ODDITIES: dict[str, Oddity] = {
    ENCODING: Oddity(
        "Text that is not UTF-8",
        {AS_GUESSED: "As guessed", **{slug: one.title for slug, one in ENCODINGS.items()}},
        suggested=AS_GUESSED,
    ),
    CHARACTERS: Oddity(
        "Rows with a NUL or half of a surrogate pair",
        {REPLACE: "Replace each such character with \ufffd (U+FFFD)", LEAVE_OUT: "Leave these rows out"},
        LEAVE_OUT,
    ),
    IDENTICAL: Oddity(
        "Identical rows with labels and no named rater",
        {
            "places": "They are by different people who agree",
            LEAVE_OUT: "They are repeats of one row: leave the repeats out",
        },
        is_of_labels=True,
    ),
    UNNAMED: Oddity(
        "Labels without a rater, where other rows name one",
        {
            "places": "They are by people without a name",
            "decisions": "They are final labels, by none of the raters",
            LEAVE_OUT: "Leave these rows out",
        },
        is_of_labels=True,
    ),
    UNMAPPED: Oddity(
        "Values that are not labels of the question",
        {LEAVE_OUT: "Leave these rows out"},
        is_of_labels=True,
    ),
    REVISIONS: Oddity(
        "Different labels by the same rater for the same text",
        {"revisions": "They are revisions: the last one counts", LEAVE_OUT: "Leave the later rows out"},
        "revisions",
        is_of_labels=True,
    ),
    PLACES: Oddity(
        "Different labels for the same text, without a named rater",
        {"places": "They are by different people", LEAVE_OUT: "Leave the later rows out"},
        "places",
        is_of_labels=True,
    ),
    SPELLINGS: Oddity(
        "Labels that differ only in case, spaces or hyphens, or in how a number is written",
        {
            APART: "They are different labels, as they are written",
            FOLD: "They are one label, written as it is written first",
            LEAVE_OUT: "Leave out rows whose spelling differs from the first one's",
        },
        APART,
        is_of_labels=True,
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
    BASE: Oddity(
        "Highlights by their places, which may count from 0 or 1",
        {
            "words": "As the highlighted words show",
            "zero": "From 0, to before the end",
            "one": "From 1, to before the end",
            "one-last": "From 1, to the last character",
            "zero-last": "From 0, to the last character",
        },
        "words",
    ),
    NO_HIGHLIGHT: Oddity(
        "Words in place of a highlight",
        {"none": "Nothing is marked there", LEAVE_OUT: "Leave these rows out"},
        suggested="none",
        is_of_labels=True,
    ),
    DATES: Oddity(
        "Dates such as 03/04/2026",
        {
            "rows": "As other dates of the file show, such as 25/04/2026",
            DAY_FIRST: "The day comes first",
            MONTH_FIRST: "The month comes first",
        },
        "rows",
    ),
    ZONE: Oddity(
        "Times without a time zone", {"UTC": "UTC"}, "UTC", others=_zones, example="a zone such as Europe/Berlin"
    ),
    TITLED: Oddity(
        "Titles of PDF files, as guessed from headings and properties",
        {TITLE: "Show the title that is listed", FILE_NAME: "Show the name of the file"},
        TITLE,
    ),
    UNTITLED: Oddity(
        "PDF files in which no title was found",
        {FILE_NAME: "Show the name of the file", LEAVE_OUT: "Leave these files out"},
    ),
    MERGED: Oddity("Identical rows of the same rater, or without labels", {"merge": "They are one row"}, "merge"),
}


def check_treatment(treat: Mapping[str, str]) -> None:
    """FormatError for a kind of odd rows that there is not, or for what cannot be done with them."""
    for kind, choice in treat.items():
        if kind not in ODDITIES:
            raise FormatError(f"There are no odd rows of the kind {kind!r}; kinds are {', '.join(ODDITIES)}")
        if choice not in ODDITIES[kind].all_choices():
            raise FormatError(f"{kind}: there is no choice {choice!r}; choices are {', '.join(ODDITIES[kind].named)}")


@dataclass(slots=True)
class ReadingNotes:
    """What readers of files meet before rows are rows, such as an encoding: gathered by kind and what."""

    found: dict[tuple[str, str], list] = field(default_factory=dict)

    def add(self, kind: str, what: str, first: str, *, is_open: bool = False) -> None:
        self.found.setdefault((kind, what), [0, first, is_open])[0] += 1

    def odd(self) -> Iterator[OddRecord]:
        for (kind, what), (number, first, is_open) in self.found.items():
            yield OddRecord(kind, what, number, first, is_open)
