"""A run beside another, a score beside another, and a run beside everybody who labels: against the same people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.adjusted import adjust_by_kind
from analysis.reports.associations import OF_MODELS, WITHIN
from analysis.reports.labellers import codes_of_runs, labellers, on_same_units
from analysis.reports.opened import Behind
from analysis.reports.reference import Reference, references
from analysis.reports.versus import several, versus
from analysis.sources import Run, Source
from annotation.task_types import TaskType

if TYPE_CHECKING:
    import pandas as pd

    from analysis.reports.comparison import Sides


def score_of(run: Run, score: str) -> str:
    if score and score not in run.scores:
        raise ValueError(f"the run has no score {score!r}; it has {', '.join(run.scores) or 'none'}")
    return score or next(iter(run.scores), "")


def other_of(source: Source, run: Run, uuid: str) -> Run | None:
    """The run that this one is set against; None where none is named."""
    if not uuid:
        return None
    found = source.run(uuid)
    if found == run:
        raise ValueError("a run does not differ from itself; name another as the other one")
    if "scores" in (found.gives, run.gives) and not (found.scores and run.scores):
        raise ValueError("two runs are set against people by their labels, or by their scores: these two share neither")
    return found


def other_score_of(run: Run, score: str, against: Run | None, name: str) -> str:
    """The score that `score` is set against; "" where there is none to be compared."""
    theirs = run.scores if against is None else against.scores
    if name and name not in theirs:
        raise ValueError(f"the run has no score {name!r}; it has {', '.join(theirs) or 'none'}")
    if against is None and name == score and name:
        raise ValueError(f"score {name!r} does not differ from itself; name another as the other one")
    if not name and against is not None and score:
        return score if score in theirs else next(iter(theirs), "")
    return name if score else ""


# What is found of each dimension beside the figures of the run itself; None where it was not asked or has to wait.
PARTS = ("probabilities", "versus", "several", "rivals", "labellers", "scores", "associations")


def beside_another(
    source: Source,
    kind: TaskType,
    units: pd.DataFrame,
    sides: list[Sides],
    people: dict[str, Reference],
    against: Run,
    margin: float,
    found: dict[str, dict],
) -> dict[str, list[int]]:
    """The run and the other one against the same people; the units behind."""
    behind = {}
    theirs = codes_of_runs(source, kind, units, [against])[against]
    for side in sides if against.gives == "labels" else []:
        slug = side.dimension.slug
        found[slug]["versus"], ids = versus(
            side.dimension, people[slug].code, side.checker, theirs[slug], units, margin
        )
        behind |= ids
    return behind


def beside_everybody(
    source: Source,
    kind: TaskType,
    units: pd.DataFrame,
    sides: list[Sides],
    counted: pd.DataFrame,
    reference: str,
    runs: list[Run],
    margin: float,
    own_units: bool,
    found: dict[str, dict],
    touched: bool,
) -> Behind:
    """The run, the first of `runs`, beside the newest run of every other checker and beside every person; the units
    behind."""
    codes = codes_of_runs(source, kind, units, runs)
    people = references(kind, source, reference, units, counted, () if touched else runs)
    dimensions = [side.dimension for side in sides]
    compared = codes if own_units else on_same_units(codes, dimensions)
    all_found = labellers(source, kind, units, counted, reference, people, compared, dimensions)
    behind: Behind = {}
    for side in sides:
        slug = side.dimension.slug
        found[slug]["labellers"], ids = all_found[slug]
        behind |= ids
        found[slug]["rivals"] = []
        for other in runs[1:]:
            row, ids = versus(side.dimension, people[slug].code, side.checker, codes[other][slug], units, margin)
            key = f"{slug}/rival/{other.uuid}"
            behind[key] = ids[f"{slug}/of/versus"]
            found[slug]["rivals"].append({"run": other.uuid, "name": other.name, "figure": key} | row)
        if len(runs) > 2:
            key = f"{slug}/rival/{ALL}"
            every = {run: codes[run][slug] for run in runs}
            found[slug]["several"], behind[key] = several(side.dimension, people[slug].code, every, units)
            found[slug]["several"]["figure"] = key
    return behind


# In keys of units, beside the runs: those that all of them label.
ALL = "all"


def adjust(found: list[dict]) -> dict[str, int]:
    """Adjust tests of one kind for all of that kind, over every dimension and checker; how many those are."""
    levels = [row["test"] for one in found if one["associations"] for row in one["associations"]["levels"]]
    groups = {
        "versus": [test for one in found if one["versus"] for test in one["versus"]["tests"]],
        "several": [test for one in found if one["several"] for test in one["several"]["tests"]],
        "rivals": [test for one in found for other in one["rivals"] or [] for test in other["tests"]],
        "scores": [test for one in found for row in one["scores"] or [] for test in row["tests"]],
        "associations": [test for one in found if one["associations"] for test in one["associations"]["tests"]],
        "within": [test for test in levels if test and test["name"] == WITHIN],
        "systems": [test for test in levels if test and test["name"] == OF_MODELS],
    }
    return {name: adjust_by_kind(tests) for name, tests in groups.items()}
