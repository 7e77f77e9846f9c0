"""The raters that a report is about: people by pseudonym and name, and checkers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Protocol

from analysis.figures.results import Record
from analysis.figures.tables import Column
from analysis.figures.tabular import Person
from analysis.sources.outline import SLOT

if TYPE_CHECKING:
    from analysis.sources.base import Source

NO_PEOPLE = "no label is by a named person (there are none yet, or the file does not say who voted)"
PERSON, CHECKER = "person", "checker"


@dataclass(frozen=True)
class NamedRater:
    """Someone whose labels count: `id` is the pseudonym, or a run's UUID; `kind` is person or checker."""

    id: str
    name: str
    kind: str = PERSON


class _Row(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...


def people_of(source: Source) -> dict[str, NamedRater]:
    """Pseudonym -> person; people of the same name are distinguished by their pseudonyms."""
    raters = source.rater_frame()
    raters = raters[raters["kind"] != SLOT]
    alike = raters["name"].duplicated(keep=False)
    names = raters["name"].where(~alike, raters["name"] + " (" + raters["rater"] + ")")
    rows = zip(raters["rater"].tolist(), names.tolist(), strict=True)
    return {pseudonym: NamedRater(pseudonym, name) for pseudonym, name in rows}


def public_name(row: _Row) -> str:
    """What a rater is called in pictures, files and copies: people by pseudonym, checkers by name."""
    return row.name if getattr(row, "kind", PERSON) == CHECKER else row.id


def rater_cell(row: _Row) -> Person | str:
    """A rater in a table: on pages by name. Without an id, all of them."""
    return Person(row.name, public_name(row)) if row.id else row.name


class RaterRow(Record):
    """What a table says of a rater, with the rater in its first column."""

    id: Annotated[str, Column("Annotator", rater_cell)]
    name: str
