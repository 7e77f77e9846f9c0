"""Reads of the pages of figures."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import (
    Annotation,
    CheckerRun,
    Decision,
    Item,
    ItemUnit,
    Job,
    Judgement,
    Project,
    Score,
    Suggestion,
    Unit,
)
from annotation.queries import unit_words
from annotation.queries.suggestions import scorers
from annotation.task_types import Dimension, task_type


def runs_with_suggestions(project: Project) -> list[CheckerRun]:
    """Runs that are done, newest first; after those that suggest labels, those that give scores only."""
    runs = CheckerRun.objects.filter(project=project, job__state=Job.State.DONE).select_related("job")
    return sorted(runs.order_by("-created_at"), key=lambda run: run.checker in scorers())


def newest_labelling_runs(project: Project) -> list[CheckerRun]:
    """Of each checker that gives labels, its newest run that is done; the newest first."""
    found: dict[str, CheckerRun] = {}
    for run in labelling_runs(runs_with_suggestions(project)):
        found.setdefault(run.checker, run)
    return list(found.values())


def labelling_runs(runs: list[CheckerRun]) -> list[CheckerRun]:
    """Those of the runs whose checkers give labels."""
    without = scorers()
    return [run for run in runs if run.checker not in without]


def has_labelling_run(project: Project) -> bool:
    """Whether a checker that gives labels has finished a run here."""
    done = CheckerRun.objects.filter(project=project, job__state=Job.State.DONE)
    return done.exclude(checker__in=scorers()).exists()


@dataclass(frozen=True)
class Change:
    """A unit whose label differs between two runs, with the probabilities of the labels (None where not given)."""

    unit: UnitRow
    before: Suggestion
    now: Suggestion
    before_title: str
    now_title: str


def changes_of(project: Project, before: str, now: str, dimension: Dimension, unit_ids: list[int]) -> list[Change]:
    """What the runs (by UUID) say of the units, in the order of `unit_ids`: three queries. A unit that one of them has
    no label for any more is left out."""
    said = {}
    rows = Suggestion.objects.filter(
        run__project=project, run__uuid__in=[before, now], unit_id__in=unit_ids, dimension=dimension.slug
    )
    for row in rows.select_related("run"):
        said[str(row.run.uuid), row.unit_id] = row
    return [
        Change(row, first, second, dimension.label(first.label).title, dimension.label(second.label).title)
        for row in items_of_units(project, unit_ids)
        if (first := said.get((before, row.unit.pk))) and (second := said.get((now, row.unit.pk)))
    ]


def score_names(run: CheckerRun) -> list[str]:
    """Names of the scores that the run gave, `support` first: of all it is the one that says for or against.

    A finished run's job knows them; otherwise all of its scores are read.
    """
    known = run.job.result.get("scores")
    if known is None:
        known = Score.objects.filter(run=run).values_list("name", flat=True).distinct()
    return sorted(known, key=lambda name: (name != "support", name))


def references_of(project: Project) -> list[str]:
    """What can stand as the reference here: the majority always, decisions of each method that there are."""
    methods = set(
        Decision.objects.filter(project=project).order_by("method").values_list("method", flat=True).distinct()
    )
    return ["majority", *(m for m in (Decision.Method.IMPORTED, Decision.Method.ADJUDICATED) if m in methods)]


def has_labels(project: Project) -> bool:
    """Whether anybody has labelled anything here, or a file brought labels of raters."""
    return Annotation.objects.filter(item__project=project).exclude(item__state=Item.State.RETIRED).exists()


def items_without_units(project: Project) -> int:
    """Items in which there is nothing to judge, such as abstained answers."""
    return Item.objects.filter(project=project, unit_count=0).exclude(state=Item.State.RETIRED).count()


def items_by_key(project: Project, keys: list[str]) -> dict[str, str]:
    """Key -> UUID of the project's items of these keys that are not retired."""
    rows = Item.objects.filter(project=project, key__in=keys).exclude(state=Item.State.RETIRED)
    return {key: str(uuid) for key, uuid in rows.values_list("key", "uuid")}


def answers_about(project: Project, unit_ids: list[int]) -> dict[int, list[tuple[str, str]]]:
    """Unit -> what everybody last said of it, as (name, labels in words), by name: one query. Surplus answers count
    in no figure and are left out."""
    rows = Judgement.objects.filter(
        unit_id__in=unit_ids,
        revision__is_latest=True,
        revision__annotation__item__project=project,
        revision__annotation__is_surplus=False,
    ).values_list(
        "unit_id", "revision__annotation__rater__name", "revision__annotation__rater_id", "dimension", "label"
    )
    kind = task_type(project.task_type)
    said: dict[tuple[int, str, int], dict[str, str]] = {}
    for unit, name, rater, slug, label in rows:
        said.setdefault((unit, name, rater), {})[slug] = kind.dimension(slug).label(label).title
    order = [dimension.slug for dimension in kind.dimensions]
    found: dict[int, list[tuple[str, str]]] = {}
    for (unit, name, _), labels in sorted(said.items()):
        words = ", ".join(labels[slug] for slug in order if slug in labels)
        found.setdefault(unit, []).append((name, words))
    return found


@dataclass(frozen=True)
class UnitRow:
    """A unit with its item, and its words: what it is about, and the text that it is found in or looked for in."""

    item: Item
    unit: Unit
    title: str
    text: str


def items_of_units(project: Project, unit_ids: list[int]) -> list[UnitRow]:
    """The units with their items and words, in the order of `unit_ids`: two queries."""
    rows = (
        ItemUnit.objects.filter(item__project=project, unit_id__in=unit_ids)
        .exclude(item__state=Item.State.RETIRED)
        .select_related("item", "unit")
    )
    words = unit_words.words_of(project.type.unit_kind, unit_ids)
    by_unit = {row.unit_id: UnitRow(row.item, row.unit, *words[row.unit_id]) for row in rows}
    return [by_unit[unit_id] for unit_id in unit_ids if unit_id in by_unit]
