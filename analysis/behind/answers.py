"""What stands beside the items behind a figure: everybody's answers as the figure counted them, and what its checkers
and decisions say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby

from analysis.behind.counted import Counting, Revision, counting, is_selected, runs_measured, runs_of, untouched_by_all
from analysis.behind.said import Frozen, decided_now, runs_named, said_now
from analysis.models import Release, StoredReport
from analysis.queries import UnitRow
from analysis.sources.selection import Selection
from annotation.models import CheckerRun, Score, Suggestion
from annotation.task_types import Dimension, TaskType

NOT_ASKED = "no label"
AFTER_LABELS = "does not count: given or changed after they had been served others' labels"


@dataclass(frozen=True)
class Answer:
    """One line beside a text. `aside` says what somebody said at another time, or why their answer does not count."""

    name: str
    words: str
    aside: str = ""
    counts: bool = True
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Beside:
    """By unit (its row number): people's answers, runs' answers, decisions."""

    people: dict[int, list[Answer]]
    runs: dict[int, list[Answer]]
    decisions: dict[int, list[Answer]]
    release: Release | None = None
    shown_runs: tuple[CheckerRun, ...] = ()  # of which answers are among them
    by_decisions: str = ""  # the method of the decisions that the figure was made from


def answers_beside(report: StoredReport, figure: str, rows: list[UnitRow]) -> Beside:
    """What belongs beside the units of one page of a figure; of a release, ReleaseError where its files are gone."""
    project, keys = report.project, {row.unit.key for row in rows}
    counted = counting(report.name, report.parameters, figure, report.result)
    with_quotes = report.name == "spans"
    uuid, decided = report.scope.get("release"), {}
    release = Release.objects.select_related("project", "job").get(project=project, uuid=uuid) if uuid else None
    if release is not None:
        frozen = Frozen(release)
        said = frozen.said({row.item.key for row in rows if row.item})
        decided = frozen.decided(counted.decisions, keys) if counted.decisions else {}
    else:
        said = said_now(project, [row.item.pk for row in rows if row.item], with_quotes=with_quotes)
        if counted.decisions:
            decided = decided_now(project, counted.decisions, [row.unit.pk for row in rows])
    people = People(report, counted, runs_named(counted.untouched_by), said, with_quotes=with_quotes)
    measured = runs_measured(report.name, figure, report.result)
    runs = runs_named(runs_of(report.parameters, figure, (*counted.untouched_by, *measured)))
    units = {row.unit.key: row.unit.pk for row in rows}
    return Beside(
        people={row.unit.pk: people.about(row.unit.key) for row in rows},
        runs=_of_runs(report, runs, list(units.values())),
        decisions={
            units[key]: [Answer(f"Decision, {counted.decisions}", in_words(project.type, labels))]
            for key, labels in decided.items()
        },
        release=release,
        shown_runs=tuple(runs),
        by_decisions=counted.decisions,
    )


class People:
    """Everybody's answers as a figure counted them."""

    def __init__(
        self,
        report: StoredReport,
        counted: Counting,
        runs: list[CheckerRun],
        said: list[Revision],
        *,
        with_quotes: bool = False,
    ):
        self.kind, self.with_quotes = report.project.type, with_quotes
        part = {name: value for name in ("arm", "guidelines") if (value := getattr(counted, name))}
        self.selection = replace(Selection.of(report.scope.get("selection", {})), **part)
        self.as_of, self.checkers = report.computed_at, [run.checker for run in runs]
        self.tells_first = report.name == "prefill-trial"  # which sets first answers beside the last ones
        ordered = sorted(filter(counted.takes, said), key=lambda one: (one.name, one.rater, str(one.annotation)))
        self.annotations = [
            sorted(group, key=lambda one: one.number) for _, group in groupby(ordered, lambda one: one.annotation)
        ]

    def about(self, unit: str) -> list[Answer]:
        """By name; people whom the selection leaves out, and those who said nothing of the unit, are not there."""
        found = (self._of_one(unit, revisions) for revisions in self.annotations if _judges(revisions, unit))
        return [answer for answer in found if answer is not None]

    def _of_one(self, unit: str, revisions: list[Revision]) -> Answer | None:
        # What came in after the figure was computed is told, and did not count.
        then = [one for one in revisions if one.received_at is None or one.received_at <= self.as_of]
        since = revisions[len(then) :]
        if not self.selection.labels_seen and any(one.labels_seen for one in then):
            return Answer(then[-1].name, self._words(then[-1], unit), AFTER_LABELS, False)
        # An answer counts where its latest revision fits the selection.
        fits = bool(then) and is_selected(then[-1], self.selection)
        kept = [one for one in then if is_selected(one, self.selection)] if fits else []
        if not then:
            return Answer(revisions[0].name, self._words(since[-1], unit), "since the figure was computed", False)
        last = kept[-1] if kept and kept[-1] is then[-1] else None
        counted = untouched_by_all(kept, self.checkers) if self.checkers else last
        if counted is None and (not kept or not self.checkers):
            return None
        shown = counted or kept[-1]
        words, asides = self._words(shown, unit), []
        if counted is None:
            asides.append("does not count: " + _why_touched(shown))
        elif self.tells_first and (first := self._words(then[0], unit)) != words:
            asides.append(f"at first {first}")
        elif (later := self._words(kept[-1], unit)) != words:
            asides.append(f"before the suggestion; later {later}")
        if since and (now := self._words(since[-1], unit)) not in (words, *asides):
            asides.append(f"since then {now}")
        quotes = tuple(shown.quotes.get(unit, ())) if self.with_quotes else ()
        return Answer(shown.name, words, "; ".join(asides), counted is not None, quotes)

    def _words(self, said: Revision, unit: str) -> str:
        return in_words(self.kind, said.labels.get(unit, {}))


def _judges(revisions: list[Revision], unit: str) -> bool:
    return any(unit in one.labels for one in revisions)


def _why_touched(said: Revision) -> str:
    return "given after the suggestion" if said.suggestion_shown else "nobody knows whether a suggestion was seen"


def _of_runs(report: StoredReport, runs: list[CheckerRun], units: list[int]) -> dict[int, list[Answer]]:
    """What finished runs said, which nothing changes: two queries. A comparison shows the scores that it is about."""
    if not runs:
        return {}
    kind = report.project.type
    labels: dict[tuple[int, int], list[Suggestion]] = {}
    for one in Suggestion.objects.filter(run__in=runs, unit__in=units).only(
        "run_id", "unit_id", "dimension", "label", "probability"
    ):
        labels.setdefault((one.unit_id, one.run_id), []).append(one)
    rows = Score.objects.filter(run__in=runs, unit__in=units).order_by("name")
    if report.name == "comparison":
        rows = rows.filter(name__in=[report.result.get("score", ""), report.result.get("other_score", "")])
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


def _of_run(kind: TaskType, run: CheckerRun, labels: list[Suggestion], scores: str) -> Answer:
    """A run that gives scores alone has no label to miss."""
    name = f"{run.checker} {run.version}".strip()
    return Answer(name, _suggested(kind, labels), scores) if labels or not scores else Answer(name, scores)


def _suggested(kind: TaskType, rows: list[Suggestion]) -> str:
    labels = {row.dimension: row.label for row in rows}
    numbers = {row.dimension: row.probability for row in rows if row.probability is not None}
    return in_words(kind, labels, numbers)


def in_words(kind: TaskType, labels: dict[str, str], numbers: dict[str, float] | None = None) -> str:
    """Labels by dimension as titles, in the order in which they are asked, each with its probability where it has
    one."""
    found = []
    for dimension in kind.dimensions:
        if dimension.slug in labels:
            number = (numbers or {}).get(dimension.slug)
            found.append(_title(dimension, labels[dimension.slug]) + ("" if number is None else f" ({number:.2f})"))
    return ", ".join(found) or NOT_ASKED


def _title(dimension: Dimension, label: str) -> str:
    """With what follows from the label; one of an older version as it is stored."""
    if label not in dimension.values:
        return label
    titles = [dimension.label(label).title]
    for derived in dimension.derived:
        coarser = dict(derived.of).get(label)
        titles += [one.title for one in derived.labels if one.value == coarser]
    return " → ".join(titles)
