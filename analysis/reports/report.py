"""What a report is: a question that a researcher asks, its options, what computes the answer and what shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from analysis.figures.items import Filter, Items
from analysis.figures.page import Page
from analysis.figures.pictures import Picture
from analysis.figures.results import Result, from_json, to_json
from analysis.figures.tables import Table as Declaration
from analysis.figures.tabular import Grid, with_note
from analysis.reports.options import AND, Option
from analysis.reports.words.changes import notes_on_changes
from analysis.reports.words.decisions import DECISIONS_ALONE, decisions_alone
from analysis.reports.words.numbers import left_out
from analysis.reports.words.sentences import note_on_labels_seen
from analysis.sources.outline import MAJORITY, Outline
from annotation import __version__
from annotation.models import Project
from annotation.task_types import Dimension, TaskType
from plugins import packages_of

if TYPE_CHECKING:
    from analysis.sources.base import Source


@dataclass(frozen=True)
class Report:
    """A question that a researcher asks, as its folder declares it: `compute.py` has `compute(source, *, quick,
    **options)`, which gives a result and the items behind its figures and runs in a worker; everything else shows, and
    loads no frames.

    Attributes
    ----------
    module : the name of what has `compute`, imported when it is asked for
    kind : the result's class
    declares : what the page shows of a result: `analysis.figures.page.Page`
    paragraph : the methods paragraph for a paper
    refuses : why the report cannot be made of a task type; empty where it can
    needs_run : whether there must be a finished run that gives labels, though none is named
    needs_raters : the labels by raters that its figures need, where decisions cannot take their place
    quick : whether the numbers are computed, and shown, before intervals and tests are
    tab : the tab of the project that the page belongs to
    resolve_options : makes the values in a URL a set that the page can show together; impossible ones raise
        WrongChoice
    offers : what the page lets choose, value -> title, of options that hang on others; options without any are not
        shown
    more : what there is under More statistics, of a report with the option `all`
    leads_to : the report that is next where there are finished runs, and what its link says; else a release is next
    on_overview : the link and the words on the project's overview, of the newest result or of None; without it the
        report is not there
    """

    name: str
    title: str
    module: str
    options: tuple[Option, ...] = ()
    intro: str = ""
    own_page: str = ""  # name of an address of its own
    reads_people: bool = True  # False: it shows what machines say, and nothing of people's labels or decisions
    _: KW_ONLY
    kind: type[Result]
    declares: Callable[[Any], Page]
    paragraph: Callable[[Any], str]
    refuses: Callable[[TaskType], str] = lambda kind: ""
    needs_run: bool = False
    needs_raters: str = ""
    quick: bool = False
    takes_numbers: bool = False  # questions that are answered by a number
    tab: str = "project_reports"
    resolve_options: Callable[[Outline, dict], dict] = lambda source, values: values
    offers: Callable[[Outline, dict], dict[str, dict[str, str]]] = lambda source, values: {}
    on_overview: Callable[[Any], tuple[str, str]] | None = None
    more: str = ""
    leads_to: tuple[str, str] | None = None

    @property
    def page(self) -> str:
        return self.own_page or "project_report"

    def address(self, slug: str) -> list[str]:
        """What the page's address needs."""
        return [slug] if self.own_page else [slug, self.name]

    @property
    def takes_run(self) -> bool:
        """Whether it cannot be computed without a finished checker run."""
        return self.needs_run or any(option.needs_run for option in self.options)

    def load(self) -> ModuleType:
        return import_module(self.module)

    def check(self, options: dict) -> None:
        """Unknown options, and choices that there never are, raise ValueError."""
        known = {option.name: option for option in self.options}
        if unknown := sorted(set(options) - set(known)):
            raise ValueError(
                f"report {self.name} has no parameter {', '.join(unknown)}; it has {', '.join(known) or 'none'}"
            )
        for name, value in options.items():
            known[name].check(value)

    def values(self, source: Outline, values: dict) -> dict:
        """The value of every option, of what an address or a command gave for some."""
        return {option.name: option.value(source, values.get(option.name)) for option in self.options}

    def sibling_slugs(self, values: dict) -> list[str]:
        """Slugs of the other projects whose labels the report reads where it has these options."""
        named = (values.get(option.name) for option in self.options if option.names_projects)
        return sorted({slug for value in named if value for slug in str(value).split(AND)})

    def compute(self, source: Source | Project, *, quick: bool = False, **options) -> dict:
        """The report as plain data, with its items as they are stored under `behind`; of a project, from the database.
        Unknown options and wrong values raise ValueError. With `quick`, without intervals and what is drawn at random.
        """
        from analysis.reports.labels.changed import changes_in
        from analysis.sources.scoped import as_source

        source = as_source(source)
        self.check(options)
        if reason := self.fits(source.asked):
            raise ValueError(reason)
        if reason := self.missing_run(source):
            raise ValueError(reason)
        result, items = self.load().compute(source, quick=quick, **options)
        result = replace(
            result,
            report=self.name,
            project=source.slug,
            task_type=source.task_type,
            made_from={"assay": __version__}
            | source.described()
            | self._packages(source, options)
            | self._left_out(source)
            | self._unjudged(source)
            | self._decisions_alone(source, options)
            | ({} if quick or not self.reads_people else changes_in(source)),
        )
        return to_json(result) | {"behind": items.to_json()}

    def _packages(self, source: Source, options: dict) -> dict:
        """The installed packages that have the report, the task type and the checkers of the runs that were chosen."""
        found = packages_of({"assay.reports": self.name, "assay.task_types": source.task_type})
        chosen = set(map(str, options.values()))
        found += [
            run.provenance["package"] for run in source.runs() if run.uuid in chosen and "package" in run.provenance
        ]
        return {"packages": sorted(set(found))} if found else {}

    def missing_run(self, source: Outline) -> str:
        """Why there is no run to compute the report of; empty where there is one, or none is needed."""
        if not self.needs_run or source.labelling_runs():
            return ""
        return source.how_to_have_runs() or (
            f"No checker that gives labels has finished a run in project {source.slug}: start one first"
        )

    def read(self, result: dict) -> Result:
        return from_json({name: value for name, value in result.items() if name != "behind"}, self.kind)

    def page_of(self, result: dict) -> Page:
        page = self.declares(self.read(result))
        left = result.get("made_from", {}).get("questions_left_out", ())
        note = f"Not counted here: {', '.join(left)}, answered by numbers or in words." if left else ""
        name = result.get("made_from", {}).get("piece_set")
        pieces = f"The pieces are those of the set {name}." if name else ""
        levels = result.get("made_from", {}).get("assumed_levels", {})
        assumed = " ".join(f"{title}: {words}." for title, words in levels.items())
        rows = left_out(result.get("made_from", {}).get("rows_left_out", 0), "bad rows of the file")
        unjudged = result.get("made_from", {}).get("cannot_judge", {})
        by_question = ", ".join(f"{title} {n:,}" for title, n in unjudged.items())
        cannot = f"Answers “Cannot judge” are left out: {by_question}." if unjudged else ""
        notes = assumed, pieces, rows, note, cannot, note_on_labels_seen(result), *notes_on_changes(result)
        page = page.with_note(" ".join(filter(None, notes)))
        if alone := decisions_alone(result):
            begins = alone.begins(self.title, self.needs_raters)
            page = page.beginning_with(begins, is_all=bool(self.needs_raters))
        return page

    def fits(self, kind: TaskType) -> str:
        if all(map(self._is_left_out, kind.dimensions)):
            what = "labels or numbers" if self.takes_numbers else "labels"
            return f"It counts {what}; '{kind.title}' asks for other answers"
        return self.refuses(kind)

    def _is_left_out(self, dimension: Dimension) -> bool:
        return dimension.takes_text or (dimension.takes_number and not self.takes_numbers)

    def _left_out(self, source: Source) -> dict:
        """Questions that the project asks and the report does not take."""
        left = [one.title for one in source.asked.dimensions if self._is_left_out(one)]
        return {"questions_left_out": left} if left else {}

    def _unjudged(self, source: Source) -> dict:
        """Answers that say that a person cannot judge, by question."""
        titles = {one.slug: one.title for one in source.asked.dimensions if one.has_cannot_judge}
        if not titles or not self.reads_people:
            return {}
        found = source.unjudged_frame(source.unit_frame(source.type.unit_kind))["dimension"].value_counts()
        n = {title: int(found[slug]) for slug, title in titles.items() if slug in found}
        return {"cannot_judge": n} if n else {}

    def _decisions_alone(self, source: Source, options: dict) -> dict:
        """The decisions where there are no labels by raters, and whether they are the reference."""
        name = source.references()[0]
        if name == MAJORITY or not self.reads_people:
            return {}
        kinds = (source.type, source.asked) if self.takes_numbers else (source.type,)
        titles = {one.slug: one.title for kind in kinds for one in kind.dimensions}
        decided = source.decision_frame(name)
        decided = decided[decided["dimension"].isin(list(titles))]
        if decided.empty:
            return {}
        slugs = set(decided["dimension"])
        questions = [title for slug, title in titles.items() if slug in slugs]
        are_used = not self.needs_raters and options.get("reference") == name
        return {DECISIONS_ALONE: {"set": name, "n": len(decided), "questions": questions, "are_used": are_used}}

    def body(self, result: dict) -> list[Grid | Picture]:
        """What files have, in order: tables (counts too) and pictures."""
        page = self.page_of(result)
        parts = [part.grid() if isinstance(part, Declaration) else part for part in page.in_files()]
        return with_note(parts, " ".join(page.notes))

    def tables(self, result: dict) -> list[Grid]:
        return [part for part in self.body(result) if isinstance(part, Grid)]

    def pictures(self, result: dict) -> list[Picture]:
        return self.page_of(result).pictures()

    def methods(self, result: dict) -> str:
        return self.paragraph(self.read(result))

    def stored_behind(self, source: Source, behind: dict) -> dict:
        return Items.renumbered(behind, source.unit_numbers)

    def units_behind(self, behind: dict, figure: str) -> list[int] | None:
        try:
            return Items.from_json(behind).units_of(Filter.decoded(figure))
        except (KeyError, ValueError):
            return None
