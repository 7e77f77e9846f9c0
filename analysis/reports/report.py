"""What a report is: a question that a researcher asks, its options, and the module that answers it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from analysis.reports.options import Option
from analysis.sources import Source
from analysis.sources.blind import blind
from analysis.sources.database import DatabaseSource
from annotation.models import Project

if TYPE_CHECKING:
    from analysis.pictures import Picture
    from analysis.reports.tabular import Table
    from annotation.task_types import TaskType


@dataclass(frozen=True)
class Report:
    """A question that a researcher asks, and the module that answers it.

    The module has `compute(source, **options) -> dict` of plain data (wrong values raise ValueError), and may have

    - ``fits(kind) -> str``: why the report cannot be made of a task type; empty where it can;
    - ``body(result) -> list[Table | Picture]``: what its page shows, in order;
    - ``pictures(result) -> list[Picture]``, where its page has a template of its own;
    - ``methods(result) -> str``: what was done, in sentences for a paper;
    - ``in_words(kind, figure) -> str``: what the items behind a figure are;
    - ``opened(behind, figure)``: units of a figure whose list is not stored as it is (`analysis.reports.opened`), None
      where there is no such figure.
    """

    name: str
    title: str
    module: str
    options: tuple[Option, ...] = ()
    intro: str = ""
    own_page: str = ""  # name of the address of a page with a template of its own
    reads_people: bool = True  # False: it shows what machines say, and nothing of people's labels or decisions

    @property
    def page(self) -> str:
        return self.own_page or "project_report"

    def address(self, slug: str) -> list[str]:
        """What the page's address needs."""
        return [slug] if self.own_page else [slug, self.name]

    def load(self) -> ModuleType:
        return import_module(self.module)

    def compute(self, source: Source | Project, **options) -> dict:
        """The report as plain data; of a project, from the database. Unknown options and wrong values raise
        ValueError."""
        source = blind(source if isinstance(source, Source) else DatabaseSource(source))
        known = [option.name for option in self.options]
        unknown = sorted(set(options) - set(known))
        if unknown:
            raise ValueError(
                f"report {self.name} has no parameter {', '.join(unknown)}; it has {', '.join(known) or 'none'}"
            )
        return self.load().compute(source, **options) | {"made_from": source.described()}

    def values(self, source: Source, given: dict) -> dict:
        """The value of every option, of what an address or a command gave for some."""
        return {option.name: option.value(source, given.get(option.name)) for option in self.options}

    def beside(self, values: dict) -> list[str]:
        """Slugs of the other projects whose labels the report reads where it has these options."""
        named = (values.get(option.name) for option in self.options if option.kind == "project")
        return sorted({str(slug) for slug in named if slug})

    def fits(self, kind: TaskType) -> str:
        fits = getattr(self.load(), "fits", None)
        return fits(kind) if fits else ""

    def body(self, result: dict) -> list[Table | Picture]:
        from analysis.reports.methods_words import said_of_labels_seen
        from analysis.reports.tables import tables_of
        from analysis.reports.tabular import with_note

        body = getattr(self.load(), "body", None)
        parts = body(result) if body else [*tables_of(result), *self.pictures(result)]
        return with_note(parts, said_of_labels_seen(result))

    def tables(self, result: dict) -> list[Table]:
        from analysis.reports.tabular import Table

        return [part for part in self.body(result) if isinstance(part, Table)]

    def pictures(self, result: dict) -> list[Picture]:
        from analysis.reports.tabular import Table

        module = self.load()
        if hasattr(module, "pictures"):
            return module.pictures(result)
        return [part for part in module.body(result) if not isinstance(part, Table)] if hasattr(module, "body") else []

    def methods(self, result: dict) -> str:
        methods = getattr(self.load(), "methods", None)
        return methods(result) if methods else ""

    def in_words(self, kind: TaskType, figure: str) -> str:
        in_words = getattr(self.load(), "in_words", None)
        return in_words(kind, figure) if in_words else figure

    def units_behind(self, behind: dict[str, list[int]], figure: str) -> list[int] | None:
        """The units behind a figure, of what is stored beside the result; None where there is no such figure."""
        if figure in behind:
            return behind[figure]
        opened = getattr(self.load(), "opened", None)
        return opened(behind, figure) if opened else None
