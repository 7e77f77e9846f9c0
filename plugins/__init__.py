"""Tables of what Assay has of a kind, such as reports, which installed packages extend.

What Assay has itself is a literal table of dotted names; a package adds to it with an entry point of the table's group.
Both are loaded and checked alike. What a package adds is left out if it cannot be loaded, fails a check or has a name
that is taken: everything else works, the log says so when the table is read, and `manage.py check` fails.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

Entry = TypeVar("Entry")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, order=True)
class InstalledPackage:
    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class _Added(Generic[Entry]):
    """What the entry points of installed packages add, by name, and why the rest is left out."""

    entries: dict[str, Entry]
    packages: dict[str, InstalledPackage]
    problems: tuple[str, ...]


@dataclass(eq=False)
class EntryTable(Mapping[str, Entry]):
    """Entries by name, Assay's own first. Nothing is imported before the table is read.

    Attributes
    ----------
    group : the group of the entry points that add to it
    what : what an entry is called in messages
    own : Assay's entries, as entry points name objects: `package.module` or `package.module:attribute`
    name_of : an entry's name
    problem_of : what is wrong with a loaded object, as a clause; empty where it can be an entry
    """

    group: str
    what: str
    own: tuple[str, ...]
    name_of: Callable[[Entry], str]
    problem_of: Callable[[Any], str]

    def __getitem__(self, name: str) -> Entry:
        return self.entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    @cached_property
    def entries(self) -> dict[str, Entry]:
        return self.own_entries | self._added.entries

    @cached_property
    def own_entries(self) -> dict[str, Entry]:
        entries = [self.load(name) for name in self.own]
        return self._by_name(entries)

    def load(self, name: str) -> Entry:
        """The object of that dotted name. ValueError where it cannot be an entry, and what its import raises."""
        entry = EntryPoint(name, name, self.group).load()
        if problem := self.problem_of(entry):
            raise ValueError(problem)
        return entry

    def package_of(self, name: str) -> InstalledPackage | None:
        """The package that added the entry; None for Assay's own."""
        return self._added.packages.get(name)

    @property
    def problems(self) -> tuple[str, ...]:
        """Why entries of installed packages are left out, one sentence each."""
        return self._added.problems

    def forget(self) -> None:
        """Read the installed packages again when the table is next read."""
        for name in ("entries", "_added"):
            self.__dict__.pop(name, None)

    def _by_name(self, entries: list[Entry]) -> dict[str, Entry]:
        names = Counter(map(self.name_of, entries))
        if twins := [name for name, n in names.items() if n > 1]:
            raise ValueError(f"two {self.what}s are called {twins[0]!r}")
        return {self.name_of(entry): entry for entry in entries}

    @cached_property
    def _added(self) -> _Added[Entry]:
        found: list[tuple[str, InstalledPackage, Entry]] = []
        problems = []
        for package, point in sorted((_package_of(point), point) for point in entry_points(group=self.group)):
            try:
                entry = self.load(point.value)
            except (Exception, SystemExit) as error:  # whatever a module does when it is imported
                reason = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
                problems.append(f"{package}: the {self.what} {point.name} ({point.value}) is left out: {reason}")
            else:
                found.append((self.name_of(entry), package, entry))
        owners = [*((name, "Assay") for name in self.own_entries), *((name, package) for name, package, _ in found)]
        for name, n in Counter(name for name, _ in owners).items():
            if n > 1:
                listed = " and ".join(str(owner) for other, owner in owners if other == name)
                left = "Assay's is used" if name in self.own_entries else "neither is used"
                problems.append(f"{listed} both have a {self.what} {name!r}; {left}")
        once = {name for name, n in Counter(name for name, _ in owners).items() if n == 1}
        for problem in problems:
            logger.error(problem)
        return _Added(
            {name: entry for name, _, entry in found if name in once},
            {name: package for name, package, _ in found if name in once},
            tuple(problems),
        )


def _package_of(point: EntryPoint) -> InstalledPackage:
    return InstalledPackage(point.dist.name, point.dist.version) if point.dist else InstalledPackage("?", "?")
