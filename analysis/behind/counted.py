"""Which of everybody's answers a figure counted: the rules of `analysis.sources.touched` and of selections, for the few
items of a page and without frames, since the web process loads none."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

from analysis.reports.behind_sets import parts_of
from analysis.sources.base import MEMBER
from analysis.sources.selection import Selection

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class Revision:
    """What one person said about one item at one time. `exposed` are the checkers whose suggestions they were shown
    there, None for one that is not known any more; `labels` by unit's key and dimension; `quotes` by unit's key."""

    annotation: Hashable
    number: int
    rater: str
    name: str
    kind: str
    arm: str | None
    suggestion_shown: bool | None
    exposed: tuple[str | None, ...]
    submitted_at: datetime | None
    guideline_version: int | None
    received_at: datetime | None = None
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    quotes: dict[str, list[str]] = field(default_factory=dict)
    labels_seen: bool | None = None

    def is_touched_by(self, checker: str) -> bool:
        is_lost = self.suggestion_shown is None and self.kind == MEMBER
        if not (self.suggestion_shown or is_lost):
            return False
        return not self.exposed or None in self.exposed or checker in self.exposed


def is_selected(said: Revision, selection: Selection) -> bool:
    """Whether the selection keeps labels of this revision; which units it keeps is known already."""
    if selection.arm and said.arm != selection.arm or selection.annotator and said.rater != selection.annotator:
        return False
    if selection.guidelines and said.guideline_version != int(selection.guidelines):
        return False
    if not (selection.since or selection.until):
        return True
    if said.submitted_at is None:
        return False
    day = said.submitted_at.astimezone(UTC).date()
    first = date.fromisoformat(selection.since) if selection.since else date.min
    last = date.fromisoformat(selection.until) if selection.until else date.max
    return first <= day <= last


def untouched_by_all(revisions: Iterable[Revision], checkers: Iterable[str]) -> Revision | None:
    """Of one person's revisions the last one before a suggestion of any of the checkers was shown."""
    left = [one for one in revisions if one.labels]
    for checker in checkers:
        newest = max((one.number for one in left if not one.is_touched_by(checker)), default=0)
        left = [one for one in left if one.number <= newest]
    return max(left, key=lambda one: one.number, default=None)


@dataclass(frozen=True)
class Counting:
    """What a figure was made from: labels untouched by all of the runs `untouched_by` (UUIDs), or what people last said
    where that is empty; decisions by `decisions` instead of people's labels; labels of this group alone, or given in
    this arm, or under this version of the guidelines."""

    untouched_by: tuple[str, ...] = ()
    decisions: str = ""
    group: str = "all"
    arm: str = ""
    guidelines: str = ""

    def takes(self, said: Revision) -> bool:
        return self.group == "all" or (said.kind == MEMBER) == (self.group == "members")


DECISIONS = ("imported", "adjudicated")
# Figures of agreement over some of the labels: by the second part of their keys, what the third part says of them.
OF_A_PART = {"arm": "arm", "version": "guidelines", "group": "group"}


def counting(name: str, parameters: dict, figure: str, result: dict) -> Counting:
    """What the report of that name counted in the figure."""
    parts, group = figure.split("/"), parameters.get("raters", "all")
    if name == "agreement" and len(parts) > 2 and parts[1] in OF_A_PART:
        return replace(Counting(group=group), **{OF_A_PART[parts[1]]: parts[2]})
    if name == "annotators" and len(parts) > 2 and parts[1] in ("known", "failed", "answered", "correct"):
        return Counting(decisions=parts[2], group=group)
    if (reference := parameters.get("reference", "")) in DECISIONS:
        return Counting(decisions=reference, group=group)
    return Counting(() if parameters.get("touched") else _untouched_by(name, parameters, parts, result), group=group)


def _untouched_by(name: str, parameters: dict, parts: list[str], result: dict) -> tuple[str, ...]:
    """Each report holds a checker against labels that this checker did not touch; some name it in the figure."""
    run = tuple(filter(None, [parameters.get("run", "")]))
    if name == "comparison":
        if parts[1:2] == ["only"] or parts[1:] in (["of", "versus"], ["of", "scores"]):
            return tuple(filter(None, (*run, parameters.get("other", ""))))
        return _labelling_runs(result) or run if parts[1:2] and parts[1] in BESIDE_EVERYBODY else run
    if name == "annotators":
        return tuple(one["uuid"] for one in result.get("runs", ())) if parameters.get("checkers") == "with" else ()
    if name == "sufficiency":
        return tuple(one["run"] for one in result.get("autoraters", ()) if one["figure"] == parts[0])
    if name == "refchecker":
        return tuple(parts[1:2]) if parts[0] == "checker" else ()
    if name in ("alternative-annotator", "icat"):
        is_cell = name == "alternative-annotator" or parts[0] in ("cell", "judged", "mean", "correlated")
        return tuple(UUID.findall("/".join(parts))) if is_cell else ()
    return run if name in ("prevalence", "planning", "matched", "leakage") else ()


# Figures of a comparison in which every checker's newest run stands beside every person.
BESIDE_EVERYBODY = ("said", "pair", "against", "rival")


def _labelling_runs(result: dict) -> tuple[str, ...]:
    found = next((one["labellers"] for one in result.get("dimensions", ()) if one.get("labellers")), None)
    return tuple(row["id"] for row in found["labellers"] if row["kind"] == "checker") if found else ()


def runs_of(parameters: dict, figure: str, untouched_by: Iterable[str]) -> list[str]:
    """UUIDs of the runs that a figure is about, as far as it or its report names them."""
    named = [str(value) for value in parameters.values() if UUID.fullmatch(str(value))]
    return list(dict.fromkeys([*named, *UUID.findall(figure), *untouched_by]))


def runs_measured(name: str, figure: str, result: dict) -> list[str]:
    """UUIDs of the runs whose scores a figure of DRUID is about: its key has models and characteristics by name."""
    if name != "druid":
        return []
    names = parts_of(figure)[1:]
    models = (result.get("usage") or {}).get("models", ())
    columns = (result.get("described") or {}).get("columns", ())
    found = [model["run"] for model in models if model["model"] in names]
    # Characteristics with the same pairs are named together.
    found += [one["run"] for one in columns if any(one["title"] in part for part in names)]
    return list(dict.fromkeys(found))
