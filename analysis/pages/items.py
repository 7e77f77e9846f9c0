"""What is shown with the items behind a figure: people's judgements as the figure counted them, their answers since,
checkers' answers and decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.figures.items import COUNTED, DIMENSION, LABEL, RATER, Filter, Items
from analysis.models import Release, StoredReport
from analysis.pages.answers import AnswerRevision, Frozen, current_answers, current_decisions, runs_named
from analysis.queries import UnitRow
from annotation.formats.names import run_name
from annotation.formats.records import SpanRecord
from annotation.models import CheckerRun, Score, Suggestion
from annotation.task_types import Dimension, TaskType

SINCE = "since the figure was computed"
NOT_ASKED = "no label"
AFTER_LABELS = "does not count: given or changed after they had been served others' labels"


@dataclass(frozen=True)
class AnswerLine:
    """One line next to a text. `aside` has the person's answer at another time, or why their answer does not count."""

    name: str
    words: str
    aside: str = ""
    counts: bool = True
    spans: tuple[SpanRecord, ...] = ()


@dataclass(frozen=True)
class ShownAnswers:
    """By unit (its row number): people's answers, runs' answers, decisions."""

    people: dict[int, list[AnswerLine]]
    runs: dict[int, list[AnswerLine]]
    decisions: dict[int, list[AnswerLine]]
    release: Release | None = None
    shown_runs: tuple[CheckerRun, ...] = ()  # whose answers are among them
    figure: str = ""  # what the units are, in words
    by_decisions: str = ""  # the method of the decisions that the figure was made from

    def spans_of(self, unit: int) -> list[SpanRecord]:
        """What people highlighted, as far as their answers count."""
        return [span for line in self.people.get(unit, ()) for span in line.spans if line.counts]


def answers_on(report: StoredReport, items: Items, wanted: Filter, rows: list[UnitRow]) -> ShownAnswers:
    """What is shown with the units of one page of a figure; of a release, ReleaseError where its files are gone."""
    project, runs, decisions = report.project, runs_named(items.runs_of(wanted)), items.decisions_of(wanted)
    uuid, decided = report.scope.get("release"), {}
    release = Release.objects.select_related("project", "job").get(project=project, uuid=uuid) if uuid else None
    units = {row.unit.key: row.unit.pk for row in rows}
    if release is not None:
        frozen = Frozen(release)
        revisions = frozen.revisions_of({row.item.key for row in rows if row.item})
        decided = frozen.decided(decisions, set(units)) if decisions else {}
    else:
        revisions = current_answers(project, [row.item.pk for row in rows if row.item], with_spans=items.quotes)
        decided = current_decisions(project, decisions, units.values()) if decisions else {}
    names = {one.rater: one.name for one in revisions}
    people = _People(report, items, wanted, revisions, names)
    return ShownAnswers(
        figure=items.words(wanted, names),
        people={row.unit.pk: people.about(row.unit.pk, row.unit.key) for row in rows},
        runs=answers_of_runs(project.type, runs, list(units.values()), list(items.scores) or None),
        decisions={
            units[key]: [AnswerLine(f"Decision, {decisions}", describe_labels(project.type, labels))]
            for key, labels in decided.items()
        },
        release=release,
        shown_runs=tuple(runs),
        by_decisions=decisions,
    )


class _People:
    """All judgements of a unit, by name: as they were counted, with the present answer."""

    def __init__(
        self,
        report: StoredReport,
        items: Items,
        wanted: Filter,
        revisions: list[AnswerRevision],
        names: Mapping[str, str],
    ):
        self.kind: TaskType = report.project.type
        self.items, self.wanted, self.names = items, wanted, names
        self.counting = items.counting(wanted)
        self.counts_labels_seen = bool(report.scope.get("selection", {}).get("labels_seen"))
        self.then: dict[str, list[AnswerRevision]] = {}
        self.since: dict[str, list[AnswerRevision]] = {}
        for one in sorted(revisions, key=lambda one: one.number):
            is_known = one.received_at is None or one.received_at <= report.computed_at
            (self.then if is_known else self.since).setdefault(one.rater, []).append(one)

    def about(self, unit: int, key: str) -> list[AnswerLine]:
        labels: dict[str, dict[str, str]] = {}
        why: dict[str, str] = {}
        for judgement in self.items.judgements_on(unit, self.wanted):
            if (counts := judgement.get(self.counting)) is None:
                continue  # counted by other figures alone
            labels.setdefault(judgement[RATER], {})[judgement[DIMENSION]] = judgement[LABEL]
            if counts != COUNTED:
                why[judgement[RATER]] = counts
        answers = {
            rater: self._counted(rater, key, by_dimension, why.get(rater, "")) for rater, by_dimension in labels.items()
        }
        for rater, revisions in self.then.items():
            after_labels = not self.counts_labels_seen and any(one.labels_seen for one in revisions)
            if after_labels and rater not in answers and (words := self._last(revisions, key)):
                answers[rater] = AnswerLine(revisions[-1].name, words, AFTER_LABELS, counts=False)
        for rater, revisions in self.since.items():
            if rater not in answers and rater not in self.then and (words := self._last(revisions, key)):
                answers[rater] = AnswerLine(revisions[-1].name, words, SINCE, counts=False)
        return sorted(answers.values(), key=lambda one: one.name)

    def _counted(self, rater: str, key: str, by_dimension: dict[str, str], why: str) -> AnswerLine:
        words = describe_labels(self.kind, by_dimension)
        then, since = self._of(self.then, rater, key), self._of(self.since, rater, key)
        asides = [f"does not count: {why}"] if why else []
        if not why and then and (later := self._words(then[-1], key)) != words:
            asides.append(f"{'' if self.items.first else 'before the suggestion; '}later {later}")
        if since and (now := self._words(since[-1], key)) != words:
            asides.append(f"since then {now}")
        spans = tuple(then[-1].spans.get(key, ())) if self.items.quotes and then else ()
        name = self.names.get(rater, rater)
        return AnswerLine(name, words, "; ".join(asides), not why, spans)

    def _of(self, revisions: Mapping[str, list[AnswerRevision]], rater: str, key: str) -> list[AnswerRevision]:
        return [one for one in revisions.get(rater, ()) if key in one.labels]

    def _last(self, revisions: list[AnswerRevision], key: str) -> str:
        judged = [one for one in revisions if key in one.labels]
        return self._words(judged[-1], key) if judged else ""

    def _words(self, revision: AnswerRevision, key: str) -> str:
        return describe_labels(self.kind, revision.labels.get(key, {}))


def answers_of_runs(
    kind: TaskType, runs: list[CheckerRun], units: list[int], names: list[str] | None = None
) -> dict[int, list[AnswerLine]]:
    """The results of finished runs, which never change: two queries. With `names`, only scores called so."""
    if not runs:
        return {}
    labels: dict[tuple[int, int], list[Suggestion]] = {}
    for one in Suggestion.objects.filter(run__in=runs, unit__in=units).only(
        "run_id", "unit_id", "dimension", "label", "probability"
    ):
        labels.setdefault((one.unit_id, one.run_id), []).append(one)
    rows = Score.objects.filter(run__in=runs, unit__in=units).order_by("name")
    if names is not None:
        rows = rows.filter(name__in=names)
    scores: dict[tuple[int, int], list[str]] = {}
    for unit, run, name, value in rows.values_list("unit_id", "run_id", "name", "value"):
        number = "undefined" if value is None else f"{value:.3g}"
        scores.setdefault((unit, run), []).append(f"{name} {number}")
    return {
        unit: [
            _of_run(kind, run, labels.get((unit, run.pk), []), ", ".join(scores.get((unit, run.pk), ())))
            for run in runs
        ]
        for unit in units
    }


def _of_run(kind: TaskType, run: CheckerRun, labels: list[Suggestion], scores: str) -> AnswerLine:
    """A run that gives scores alone has no label to miss."""
    name = run_name(run.checker, run.version)
    return AnswerLine(name, _suggested(kind, labels), scores) if labels or not scores else AnswerLine(name, scores)


def _suggested(kind: TaskType, rows: list[Suggestion]) -> str:
    labels = {row.dimension: row.label for row in rows}
    numbers = {row.dimension: row.probability for row in rows if row.probability is not None}
    return describe_labels(kind, labels, numbers)


def describe_labels(kind: TaskType, labels: dict[str, str], numbers: dict[str, float] | None = None) -> str:
    """Labels by dimension as titles, in the order in which they are asked, each with its probability where it has
    one."""
    parts = []
    for dimension in kind.dimensions:
        if dimension.slug in labels:
            number = (numbers or {}).get(dimension.slug)
            parts.append(_title(dimension, labels[dimension.slug]) + ("" if number is None else f" ({number:.2f})"))
    return ", ".join(parts) or NOT_ASKED


def _title(dimension: Dimension, label: str) -> str:
    """With what follows from the label; one of an older version as it is stored."""
    titles = [dimension.title_of(label)]
    for derived in dimension.derived:
        coarser = dict(derived.of).get(label)
        titles += [one.title for one in derived.labels if one.value == coarser]
    return " → ".join(titles)
