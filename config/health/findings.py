"""What a check of the installation finds, and running checks: for `doctor`, its page and `/readyz`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import IntEnum
from itertools import groupby

from django.db import DatabaseError, InterfaceError


class State(IntEnum):
    """In order of urgency, so that the state of several findings is their maximum."""

    OK = 0
    WARNING = 1
    ERROR = 2

    @property
    def word(self) -> str:
        return self.name.lower()

    @property
    def badge(self) -> str:
        """The class of its mark on a page."""
        return {State.OK: "ok", State.WARNING: "warn", State.ERROR: "bad"}[self]


@dataclass(frozen=True)
class Finding:
    state: State
    message: str
    todo: str = ""  # what to do; empty where nothing is


def ok(message: str, todo: str = "") -> Finding:
    return Finding(State.OK, message, todo)


def warning(message: str, todo: str) -> Finding:
    return Finding(State.WARNING, message, todo)


def error(message: str, todo: str) -> Finding:
    return Finding(State.ERROR, message, todo)


@dataclass(frozen=True)
class Check:
    title: str
    find: Callable[[], Iterable[Finding]]
    needs: str = ""  # another check before it, without whose success it is not run
    is_for_readiness: bool = False  # part of `/readyz`


@dataclass(frozen=True)
class Row:
    check: str
    title: str
    finding: Finding

    def as_dict(self) -> dict[str, str]:
        """For JSON."""
        named = {"check": self.check, "title": self.title}
        return named | asdict(self.finding) | {"state": self.finding.state.word}


def run(checks: dict[str, Check]) -> Iterator[Row]:
    """The findings of each check, in order."""
    failed = set()
    for slug, check in checks.items():
        if check.needs in failed:
            needed = checks[check.needs].title
            found = [error(f"Not checked, because of the problem under {needed}", f"Solve the problem of {needed}.")]
        else:
            try:
                found = list(check.find())
            except (DatabaseError, InterfaceError) as problem:  # it went away meanwhile
                found = [error(f"Not checked: {' '.join(str(problem).split())}", "Try again.")]
        if any(finding.state is State.ERROR for finding in found):
            failed.add(slug)
        yield from (Row(slug, check.title, finding) for finding in found)


@dataclass(frozen=True)
class Folded:
    """The findings of one check as a page shows them: those that need action, and the others folded behind the first
    of them."""

    title: str
    shown: list[Finding]
    more: list[Finding]


def folded(rows: Iterable[Row]) -> list[Folded]:
    found = []
    for _, of_check in groupby(rows, lambda row: row.check):
        of_check = list(of_check)
        urgent = [row.finding for row in of_check if row.finding.state is not State.OK]
        calm = [row.finding for row in of_check if row.finding.state is State.OK]
        found.append(Folded(of_check[0].title, urgent or calm[:1], calm if urgent else calm[1:]))
    return found


def state_of(rows: Iterable[Row]) -> State:
    return max((row.finding.state for row in rows), default=State.OK)
