"""The one label of every unit in a release, by the rules that exports have, and what made it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from analysis.releases.writing import rows_of
from analysis.sources.base import ADJUDICATED
from analysis.sources.releases.frames import ReleaseSource
from annotation.decisions.moments import sets_in_order
from annotation.exports.queries import MAJORITY, RULES, ExportedItem
from annotation.task_types import TaskType


@dataclass(frozen=True, slots=True)
class FinalLabel:
    """`label` is None if there are no labels, people are divided, or the question was not asked of the unit."""

    label: str | None
    method: str  # adjudicated, imported, rule:NAME or majority; empty without a label
    votes: dict[str, int]


def final_labels(source: ReleaseSource) -> dict[tuple[int, str], FinalLabel]:
    """By unit and dimension, of every unit under judgement and dimension that is asked or answered."""
    units = source.unit_frame(source.type.unit_kind)
    labels = source.label_frame(units)
    rows = rows_of(labels, ("unit", "dimension", "label"))
    of_units = groupby(rows, key=itemgetter(0))  # they stand in the order of units
    next_unit, decisions = next(of_units, (None, ()))
    decided: dict[int, dict[str, tuple[str, str]]] = defaultdict(dict)
    # Of rules with names, the first by name stands, as in an export.
    sets = sets_in_order(source.decision_methods())
    chosen, only = source.decisions, _dimensions_of(source, source.decisions)
    wanted = {chosen} | ({ADJUDICATED} if chosen.startswith(RULES) else set())
    for method in reversed([] if chosen == MAJORITY else sets):  # the first of the order comes last and stays
        frame = source.decision_frame(method)
        for unit, dimension, label in zip(frame["unit"], frame["dimension"], frame["label"], strict=True):
            if dimension not in only or method in wanted:
                decided[unit][dimension] = label, str(method)
        frame = source.unanswered_frame(method)
        for unit, dimension in zip(frame["unit"], frame["dimension"], strict=True):
            if dimension not in only or method in wanted:
                decided[unit][dimension] = "", str(method)
    found: dict[tuple[int, str], FinalLabel] = {}
    alike: dict[tuple, list[FinalLabel]] = {}  # units with the same labels and decisions, which are most
    for unit in units["unit"].tolist():
        votes: Counter[tuple[str, str]] = Counter()
        if unit == next_unit:
            votes.update((dimension, label) for _, dimension, label in decisions)
            next_unit, decisions = next(of_units, (None, ()))
        by = decided.pop(unit, {})
        pattern = tuple(sorted(votes.items())), tuple(sorted(by.items()))
        if pattern not in alike:
            alike[pattern] = list(_of_unit(source.type, pattern[0], by, only))
        for dimension, one in zip(source.type.dimensions, alike[pattern], strict=True):
            found[unit, dimension.slug] = one
    return found


def _of_unit(kind: TaskType, votes: tuple, decided: dict, only: frozenset[str]) -> Iterator[FinalLabel]:
    """Of a unit, by dimension; `votes` has (dimension, label) and how often it was given."""
    item = ExportedItem("", 0, only_decided=only)
    for (name, label), n in votes:
        item.votes.setdefault(("", name), {})[label] = n
    item.decisions = {("", name): one for name, one in decided.items()}
    for dimension in kind.dimensions:
        label = item.label(kind, "", dimension)
        method = item.method("", dimension) if label is not None else ""
        yield FinalLabel(label, method, item.votes.get(("", dimension.slug), {}))


def _dimensions_of(source: ReleaseSource, chosen: str) -> frozenset[str]:
    """The questions that a set of decisions is about: on these, what is not in it has no label."""
    if chosen in ("", MAJORITY):
        return frozenset()
    history = source.decision_history()
    return frozenset(history.loc[history["method"] == chosen, "dimension"])
