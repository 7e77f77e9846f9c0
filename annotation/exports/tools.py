"""Exports to the files of other tools: a text per unit with its last answers, and what such files cannot hold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from django.db.models import Count, Q

from annotation.decisions.moments import Moment
from annotation.exports import benchmarks
from annotation.exports.queries import ExportedItem, exported_items
from annotation.exports.tables import write_tables
from annotation.exports.texts import ItemTexts
from annotation.formats import FORMATS
from annotation.formats.info import Writer
from annotation.formats.names import OUTSIDE
from annotation.formats.records import OUTPUTS, SYSTEMS, AnnotationRecord, SpanRecord, span_of
from annotation.formats.studies import averitec, beir
from annotation.formats.tools import flat_tables
from annotation.formats.tools.tool_tasks import WrittenAnswers, WrittenQuestion, WrittenTask
from annotation.jobs.lifecycle import JobError
from annotation.models import Decision, Item, Judgement, Project, Revision, Score, Span, Suggestion
from annotation.task_types import Label, SpanRule, TaskType
from annotation.task_types.base import CANNOT_JUDGE, REST, Severity
from plugins.extras import why_missing

UNIT = "unit"
# What projects hold and most tools' files do not, in words.
DECISIONS = "Decisions"
SUGGESTIONS = "Suggestions of checkers"
WORDS = "Comments and free texts"
UNLABELLED = "Highlights without labels"
UNJUDGED = "Answers “Cannot judge”"


@dataclass(frozen=True, slots=True)
class Writing:
    """What is written, where, and how. Without `is_whole`, items with a unit without a label are left out where an
    export has a row for each unit."""

    project: Project
    moment: Moment
    folder: Path
    progress: Callable[[int], None]
    decisions: str = ""  # the set of decisions whose labels stand
    is_whole: bool = True

    def batches(self, decisions: str = "") -> Iterator[list[ExportedItem]]:
        done = 0
        for items in exported_items(self.project, self.moment, decisions):
            yield items
            done += len(items)
            self.progress(done)


class ToolExport(ABC):
    """The files of a tool, or of a published data set. `more` names what else of `held_in` they hold."""

    title: str
    loses: tuple[str, ...]
    needs = ""  # a library of `plugins.extras`
    has_suggestions, has_decisions = False, True
    more: tuple[str, ...] = ()

    def why_not(self, project: Project) -> str:
        """Why the tool's files have no room for the project; empty where they have."""
        return ""

    def refusal(self, project: Project) -> str:
        """`why_not` in a sentence, or which library is not installed here."""
        if self.needs and (missing := why_missing(self.needs)):
            return f"{self.title}: {missing}"
        why = self.why_not(project)
        return f"{self.title}: {why} of {project.title}" if why else ""

    def check(self, project: Project) -> None:
        if refusal := self.refusal(project):
            raise JobError(refusal)

    @abstractmethod
    def write(self, asked: Writing) -> None:
        """The files, at the place that `asked` names."""


class FormatExport(ToolExport):
    """What a format writes of texts with their answers."""

    has_decisions = False

    def __init__(self, writer: Writer):
        self.writer, self.title, self.loses = writer, writer.title, writer.loses
        self.has_suggestions, self.needs = writer.has_suggestions, writer.needs

    def why_not(self, project: Project) -> str:
        return "" if any(map(self.writer.holds, _questions(project))) else "its files can hold no question"

    def write(self, asked: Writing) -> None:
        self.writer.write(_tasks(asked, self.has_suggestions), _questions(asked.project), asked.folder)


@dataclass(frozen=True)
class BenchmarkExport(ToolExport):
    """The layout of a data set with one label per unit, made of content: `module` has `write(rows, folder)`."""

    title: str
    module: ModuleType
    rows: Callable[[Project, Iterator[list[ExportedItem]]], Iterator[tuple]]
    why: Callable[[Project], str]

    @property
    def loses(self) -> tuple[str, ...]:
        return self.module.LOSES

    def why_not(self, project: Project) -> str:
        return self.why(project)

    def write(self, asked: Writing) -> None:
        self.module.write(self.rows(asked.project, asked.batches(asked.decisions)), asked.folder)


@dataclass(frozen=True)
class TableExport(ToolExport):
    """Tables of labels: `labels` and `ratings`."""

    title: str
    kind: str
    loses = flat_tables.LOSES
    needs: str = ""
    more = (WORDS, UNLABELLED, UNJUDGED)

    def write(self, asked: Writing) -> None:
        def is_left_out(item: ExportedItem) -> bool:
            return not asked.is_whole and any(item.open_places(asked.project.type))

        how = (asked.progress, asked.decisions, is_left_out)
        write_tables(asked.project, asked.moment, asked.folder, self.kind, *how)


TABLES = {
    f"table-{kind}": TableExport(f"Tables of labels ({title})", kind, needs)
    for kind, title, needs in (("tsv", "TSV", ""), ("csv", "CSV", ""), ("parquet", "Parquet", "pyarrow"))
}
BENCHMARKS = {
    "averitec": BenchmarkExport("AVeriTeC JSON", averitec, benchmarks.averitec_rows, benchmarks.why_not_averitec),
    "beir": BenchmarkExport("BEIR (zip)", beir, benchmarks.beir_rows, benchmarks.why_not_beir),
}


def tool_exports() -> dict[str, ToolExport]:
    """Every export to files of others, by its kind."""
    written = {kind: FormatExport(one) for known in FORMATS.values() for kind, one in known.writers.items()}
    return TABLES | written | BENCHMARKS


def tools_for(project: Project) -> dict[str, ToolExport]:
    """Those whose files have room for the project and can be written here."""
    return {name: tool for name, tool in tool_exports().items() if not tool.refusal(project)}


def held_in(project: Project) -> dict[str, int]:
    """What tools' files may not hold, in words, and how many of it the project has."""
    revisions = Revision.objects.filter(annotation__item__project=project)
    revisions = revisions.exclude(annotation__item__state=Item.State.APART)
    highlights = Span.objects.filter(judgement__revision__in=revisions.filter(is_latest=True))
    has_words = Q(is_latest=True) & ~Q(comment="", metadata={})
    counts = revisions.aggregate(earlier=Count("pk", filter=Q(is_latest=False)), words=Count("pk", filter=has_words))
    unjudged = [one.slug for one in project.type.dimensions if one.has_cannot_judge]
    labelled = [one.slug for one in project.type.dimensions if one.spans and one.spans.own_labels]
    suggestions = Suggestion.objects.filter(run__project=project)
    is_marked = ~Q(spans=[]) & ~Q(dimension__in=labelled)
    suggested = suggestions.aggregate(n=Count("pk"), marked=Count("pk", filter=is_marked))
    return {
        "Earlier revisions of annotations": counts["earlier"],
        WORDS: counts["words"],
        UNJUDGED: Judgement.objects.filter(
            revision__in=revisions.filter(is_latest=True), label=CANNOT_JUDGE, dimension__in=unjudged
        ).count(),
        UNLABELLED: highlights.filter(label="", severity="").count(),
        DECISIONS: Decision.objects.filter(project=project).in_force().count(),
        "Scores of checkers": Score.objects.filter(run__project=project).count(),
        SUGGESTIONS: suggested["n"],
        "Suggestions with highlights without labels, which come without them": suggested["marked"],
    }


def count_held(projects: Iterable[Project]) -> dict[int, dict[str, int]]:
    return {project.pk: held_in(project) for project in projects}


def lost_in(project: Project, tool: str, held: Mapping[str, int] | None = None) -> list[tuple[str, int | None]]:
    """What the tool's files do not hold of this project (`held_in`): in words, and how many there are, where that
    counts."""
    export, held = tool_exports()[tool], held_in(project) if held is None else held
    has = {SUGGESTIONS: export.has_suggestions, DECISIONS: export.has_decisions, **dict.fromkeys(export.more, True)}
    lost = [(what, n) for what, n in held.items() if n and not has.get(what)]
    what_people_saw = "What annotators saw and when: guidelines, suggestions, others' labels, surplus"
    return [*lost, (what_people_saw, None), *((what, None) for what in export.loses)]


def _questions(project: Project) -> list[WrittenQuestion]:
    return [
        WrittenQuestion(
            each.slug,
            each.title,
            {label.value: label.title for label in each.labels},
            each.takes_several,
            each.takes_number,
            each.takes_text,
            {one.value: one.title for one in _highlight_labels(each.spans)} if each.spans else {},
            each.spans.title if each.spans else "",
            bool(each.spans and each.spans.severities),
            {label.title: label.ranks for label in each.labels if label.ranks and REST not in label.ranks},
        )
        for each in project.type.dimensions
    ]


def _highlight_labels(rule: SpanRule) -> tuple[Label, ...] | tuple[Severity, ...]:
    """What tools' files call highlights: their labels, or else their severities."""
    return rule.own_labels or rule.severities


def _tasks(asked: Writing, has_suggestions: bool) -> Iterator[WrittenTask]:
    for items in asked.batches():
        yield from _Batch(asked.project, items, has_suggestions).tasks()


class _Batch:
    def __init__(self, project: Project, items: list[ExportedItem], has_suggestions: bool):
        self.kind, self.items = project.type, items
        self.questions = {each.slug: each for each in self.kind.dimensions}
        self.titles = {each.slug: {one.value: one.title for one in each.labels} for each in self.kind.dimensions}
        self.systems = _systems(self.kind)
        self.content = ItemTexts(self.kind, items, self.systems)
        units = [unit for item in items for unit in item.unit_keys]
        self.suggestions = _suggestions(project, units) if has_suggestions else {}

    def tasks(self) -> Iterator[WrittenTask]:
        for item in self.items:
            latest = {annotation.rater: annotation for annotation in item.annotations}
            for unit, key in item.unit_keys.items():
                more = {UNIT: self.content.unit_texts[unit]} if unit in self.content.unit_texts else {}
                yield WrittenTask(
                    key,
                    self.content.texts[item.anchor] | more,
                    self.content.metadata[item.anchor],
                    [answer for one in latest.values() if (answer := self._answers(one, key)).labels],
                    [
                        WrittenAnswers(
                            model,
                            self._titles({slug: label for slug, (label, *_) in labels.items()}),
                            {slug: self._titled(slug, spans) for slug, (*_, spans) in labels.items()},
                            probability=sure,
                            explanations={slug: explanation for slug, (_, explanation, _) in labels.items()},
                        )
                        for (model, sure), labels in self.suggestions.get(unit, {}).items()
                    ],
                    self._systems_of(item.anchor),
                )

    def _systems_of(self, anchor: int) -> dict[str, str]:
        texts, found = self.content.texts[anchor], self.content.columns[anchor]
        return {text: found[column] for column, text in self.systems.items() if text in texts}

    def _answers(self, annotation: AnnotationRecord, unit: str) -> WrittenAnswers:
        labels = {one.dimension: one.label for one in annotation.judgements if one.unit == unit}
        who = "" if annotation.rater_kind == "slot" else annotation.rater
        spans = {
            one.dimension: self._titled(one.dimension, one.spans) for one in annotation.judgements if one.unit == unit
        }
        return WrittenAnswers(who, self._titles(labels), spans, None, annotation.active_ms, annotation.submitted_at)

    def _titled(self, question: str, spans: Iterable[SpanRecord]) -> list[SpanRecord]:
        """Those that have labels, in their titles."""
        rule = self.questions[question].spans if question in self.questions else None
        known = {one.value: one.title for one in _highlight_labels(rule)} if rule else {}
        named = ((span, span.label or span.severity) for span in spans)
        return [replace(span, label=known.get(name, name)) for span, name in named if rule and name]

    def _titles(self, labels: dict[str, str]) -> dict[str, list[str]]:
        return {
            slug: [self.titles[slug].get(label, label) for label in self.questions[slug].chosen(answer)]
            for slug, answer in labels.items()
            if slug in self.questions and answer != CANNOT_JUDGE
        }


def _systems(kind: TaskType) -> dict[str, str]:
    """Column of a system, as seen from the anchor -> the text that it made, where texts are compared."""
    if kind.shuffled is None:
        return {}
    return {f"{kind.anchor_kind}__{system}": text for system, text in zip(SYSTEMS, OUTPUTS, strict=True)}


def _suggestions(
    project: Project, units: list[int]
) -> dict[int, dict[tuple[str, float | None], dict[str, tuple[str, str, list[SpanRecord]]]]]:
    """Unit -> (run's name, probability) -> question -> label, explanation and spans."""
    by_unit: dict[int, dict] = defaultdict(lambda: defaultdict(dict))
    rows = Suggestion.objects.filter(run__project=project, unit__in=units).order_by("run_id", "dimension")
    columns = ("unit_id", "run__checker", "run__version", "dimension", "probability", "label", "explanation", "spans")
    for unit, checker, version, dimension, sure, label, explanation, spans in rows.values_list(*columns):
        outside = checker.removeprefix(OUTSIDE)
        name = outside if outside != checker and version == "1" else f"{outside} {version}".strip()
        marked = [span_of(one) for one in spans]
        by_unit[unit][name, sure][dimension] = label, explanation, marked
    return by_unit
