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
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

Entry = TypeVar("Entry")
GROUPS = ("assay.task_types", "assay.formats", "assay.checkers", "assay.reports")
logger = logging.getLogger(__name__)
# Every table whose module was imported, by its group.
TABLES: dict[str, EntryTable] = {}


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
    family_of : what only entries of one package may have in common; the name, where nothing is given
    problem_of : what is wrong with a loaded object, as a clause; empty where it can be an entry
    """

    group: str
    what: str
    own: tuple[str, ...]
    name_of: Callable[[Entry], str]
    problem_of: Callable[[Any], str]
    family_of: Callable[[Entry], str] | None = None

    def __post_init__(self) -> None:
        TABLES[self.group] = self

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
        entries = {self.name_of(entry): entry for entry in map(self.load, self.own)}
        if len(entries) < len(self.own):
            raise ValueError(f"two {self.what}s of Assay have one name")
        return entries

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

    def family(self, entry: Entry) -> str:
        return (self.family_of or self.name_of)(entry)

    @cached_property
    def _added(self) -> _Added[Entry]:
        found: list[tuple[InstalledPackage, Entry]] = []
        problems = []
        for package, point in sorted((_package_of(point), point) for point in entry_points(group=self.group)):
            try:
                found.append((package, self.load(point.value)))
            except (Exception, SystemExit) as error:  # whatever a module does when it is imported
                reason = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
                problems.append(f"{package}: the {self.what} {point.name} ({point.value}) is left out: {reason}")
        conflicts = self._conflicts(found)
        problems += conflicts.values()
        kept = {self.name_of(one): (one, package) for package, one in found if self.family(one) not in conflicts}
        for problem in problems:
            logger.error(problem)
        entries = {name: entry for name, (entry, _) in kept.items()}
        return _Added(entries, {name: package for name, (_, package) in kept.items()}, tuple(problems))

    def _conflicts(self, found: list[tuple[InstalledPackage, Entry]]) -> dict[str, str]:
        """What several packages, or entries, are called, and who they are."""
        owners: dict[str, list[str]] = {self.family(entry): ["Assay"] for entry in self.own_entries.values()}
        names = Counter(self.name_of(entry) for _, entry in found)
        for package, entry in found:
            others = owners.setdefault(self.family(entry), [])
            if str(package) not in others or names[self.name_of(entry)] > 1:
                others.append(str(package))
        return {
            family: f"{' and '.join(packages)} both have the {self.what} {family!r}; "
            + ("that of Assay is used" if packages[0] == "Assay" else "none of them is used")
            for family, packages in owners.items()
            if len(packages) > 1
        }


def packages_of(named: Mapping[str, str]) -> list[str]:
    """The packages, with versions, that added the entries `named` by their tables' groups; Assay's own are in none."""
    found = (TABLES[group].package_of(name) for group, name in named.items() if group in TABLES)
    return sorted({str(package) for package in found if package})


def template_folders() -> list[Path]:
    """The folders `templates` of the packages that add anything. Imports none of them."""
    tops = {point.module.partition(".")[0] for group in GROUPS for point in entry_points(group=group)}
    specs = filter(None, map(find_spec, sorted(tops)))
    folders = [Path(place) / "templates" for spec in specs for place in spec.submodule_search_locations or ()]
    return [folder for folder in folders if folder.is_dir()]


def _package_of(point: EntryPoint) -> InstalledPackage:
    return InstalledPackage(point.dist.name, point.dist.version) if point.dist else InstalledPackage("?", "?")
