"""What the steps of the pipeline take and give.

Every step is a function of one `Work`, which it changes and in whose log it says what it took in, gave and dropped.
Nothing here imports anything but the standard library.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..retrieval.contracts import Query

# Of what a step dropped, as many are kept in words; all are counted.
KEPT_DROPS = 30
SHOWN_CHARS = 200


@dataclass(slots=True)
class FoundPage:
    """A page or document that was found. `source` as `Document.source` has it; `ranks` by what found it, from 1."""

    id: str
    url: str = ""
    text: str = ""
    source: dict[str, Any] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        return self.url or self.id

    @property
    def date(self) -> str:
        """ISO 8601, empty where it is not known."""
        found = self.source.get("date")
        return found if isinstance(found, str) else ""


@dataclass(slots=True)
class Stretch:
    """A stretch of a page. `text` is what is left of it where sentences were taken out."""

    page: FoundPage
    start: int
    end: int
    text: str
    score: float = 0.0
    scores: dict[str, float] = field(default_factory=dict)
    is_cut: bool = False


@dataclass(slots=True)
class StepLog:
    """`took` and `gave` count what the step is about: pages, passages, pieces of evidence."""

    name: str
    took: int = 0
    gave: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    first: list[dict[str, str]] = field(default_factory=list)

    def drop(self, what: str, why: str, detail: str = "") -> None:
        """`why` is counted, `detail` shown."""
        self.dropped[why] += 1
        if len(self.first) < KEPT_DROPS:
            shown = what if len(what) <= SHOWN_CHARS else f"{what[:SHOWN_CHARS]}…"
            self.first.append({"what": shown, "why": why} | ({"detail": detail[:300]} if detail else {}))

    def as_json(self) -> dict[str, Any]:
        found = {"step": self.name, "took": self.took, "gave": self.gave}
        return found | ({"dropped": dict(self.dropped), "first": self.first} if self.dropped else {})


@dataclass(slots=True)
class JoinedEvidence:
    """Pieces of one page that are shown as one text."""

    page: FoundPage
    pieces: list[Stretch]
    text: str
    score: float
    scores: dict[str, float]


@dataclass(slots=True)
class QueryWork:
    """One query on its way. `sought` is what is searched for; or `expanded`, where that is something else, with the
    documents that were `made` up for it."""

    query: Query
    sought: str
    expanded: str = ""
    made: tuple[str, ...] = ()
    pages: list[FoundPage] = field(default_factory=list)
    pieces: list[Stretch] = field(default_factory=list)
    evidence: list[JoinedEvidence] = field(default_factory=list)
    steps: list[StepLog] = field(default_factory=list)

    def begin(self, name: str, took: int) -> StepLog:
        self.steps.append(StepLog(name, took))
        return self.steps[-1]


StepFunction = Callable[[QueryWork, Mapping[str, Any]], None]


class Memory(Protocol):
    """What was asked of the web, and of a model that writes queries for it, and answered. Bodies are JSON; an answer
    with a `problem` has none."""

    def get(self, kind: str, asked: str) -> tuple[dict[str, Any], str] | None:
        """(body, problem) of what was answered before; None where it was not asked."""

    def put(self, kind: str, asked: str, body: dict[str, Any], problem: str = "") -> None: ...

    def only_remembers(self) -> bool:
        """Whether nothing may be asked any more: answers are replayed."""


class Forgetful:
    """The memory of a notebook: as long as the process."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[dict[str, Any], str]] = {}

    def get(self, kind: str, asked: str) -> tuple[dict[str, Any], str] | None:
        return self._known.get((kind, asked))

    def put(self, kind: str, asked: str, body: dict[str, Any], problem: str = "") -> None:
        self._known[kind, asked] = (body, problem)

    def only_remembers(self) -> bool:
        return False
