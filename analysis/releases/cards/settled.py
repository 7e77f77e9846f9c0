"""The one label of every unit in a release, by the rules that exports have, and what made it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from analysis.sources.base import ADJUDICATED
from analysis.sources.release import ReleaseSource
from annotation.decisions.moments import DECISION_ORDER
from annotation.exports.queries import MAJORITY, RULES, ExportedItem


@dataclass(frozen=True, slots=True)
class Settled:
    """`label` is None where nobody said anything, people are divided, or the question was not asked of the unit."""

    label: str | None
    method: str  # adjudicated, imported, rule:NAME or majority; empty without a label
    votes: dict[str, int]


def settled(source: ReleaseSource) -> dict[tuple[int, str], Settled]:
    """By unit and dimension, of every unit under judgement and dimension that is asked or answered."""
    units = source.unit_frame(source.type.unit_kind)
    labels = source.label_frame(units)
    votes: dict[int, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for unit, dimension, label in zip(labels["unit"], labels["dimension"], labels["label"], strict=True):
        counts = votes[unit][dimension]
        counts[label] = counts.get(label, 0) + 1
    decided: dict[int, dict[str, tuple[str, str]]] = defaultdict(dict)
    # Of rules with names, the first by name stands, as in an export.
    place = {str(method): index for index, method in enumerate(DECISION_ORDER)}
    sets = sorted(source.decision_methods(), key=lambda name: (place[name.partition(":")[0]], name))
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
    found = {}
    for unit, key in zip(units["unit"].tolist(), units["unit_key"].tolist(), strict=True):
        item = ExportedItem(key, 0, only_decided=only)
        item.votes = {(key, name): dict(sorted(counts.items())) for name, counts in votes[unit].items()}
        item.decisions = {(key, name): one for name, one in decided[unit].items()}
        for dimension in source.type.dimensions:
            label = item.label(source.type, key, dimension)
            method = item.method(key, dimension) if label is not None else ""
            found[unit, dimension.slug] = Settled(label, method, item.votes.get((key, dimension.slug), {}))
    return found


def _dimensions_of(source: ReleaseSource, chosen: str) -> frozenset[str]:
    """The questions that a set of decisions is about: on these, what is not in it has no label."""
    if chosen in ("", MAJORITY):
        return frozenset()
    history = source.decision_history()
    return frozenset(history.loc[history["method"] == chosen, "dimension"])
