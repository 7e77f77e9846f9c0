"""Does the context suffice to answer? Autoraters against people, and what models do with and without enough context.

Sufficiency is said of questions, and grades of answers, so there are two projects on one data set; the report is made
of the first and takes the second by its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.reports import sufficiency_behind, sufficiency_body
from analysis.reports.behind_sets import either
from analysis.reports.figures import figure, number
from analysis.reports.matched import SPLIT_BY
from analysis.reports.opened import UNITS, Behind
from analysis.reports.reference import REFERENCES, codes_of, decisions_left_out, references
from analysis.reports.shares import share_of
from analysis.reports.sufficiency_behind import QUESTIONS, reaching
from analysis.reports.sufficiency_curves import curves, score_of
from analysis.reports.sufficiency_grades import (
    OUTCOMES,
    Graded,
    containing,
    graded,
    grades_answers,
    settings,
    shares,
)
from analysis.sources import Run, Source
from analysis.sources.touched import latest, untouched
from annotation.models import UnitKind
from annotation.task_types import Dimension, TaskType

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

PEOPLE = "people"
NO_QUESTION = "no question is decided"


def sufficiency_dimension(kind: TaskType) -> Dimension | None:
    """The dimension of two labels that says of a question whether its passages suffice."""
    if kind.unit_kind != UnitKind.QUESTION:
        return None
    found = [one for one in kind.dimensions if one.role == "coverage" and len(one.labels) == 2]
    return found[0] if len(found) == 1 else None


def fits(kind: TaskType) -> str:
    if sufficiency_dimension(kind) is not None:
        return ""
    if grades_answers(kind):
        return (
            "It is made of the project in which people judge whether the context of each question suffices, on the "
            "same data set; name this project there for the grades."
        )
    return "It needs questions of which is judged whether their passages suffice to answer."


def grade_projects(source: Source) -> dict[str, str]:
    """Projects on the same data set in which answers are graded."""
    return {"": "none"} | {
        slug: title for slug, title in source.siblings().items() if grades_answers(source.sibling(slug).type)
    }


def judges(source: Source) -> dict[str, str]:
    """Who can say whether an answer is correct: people, or a run of a project that grades answers."""
    found = {PEOPLE: "people"}
    for slug in source.siblings():
        other = source.sibling(slug)
        if grades_answers(other.type):
            found |= {run.uuid: f"{slug}: {run.name}" for run in other.labelling_runs()}
    return found


def compute(
    source: Source,
    reference: str = "majority",
    run: str = "",
    touched: bool = False,
    by: str = PEOPLE,
    grades: str = "",
    judge: str = PEOPLE,
    withhold: str = "",
) -> dict:
    """The report on sufficient context.

    `by` says whose labels tell sufficient from insufficient context: people's, or those of the run `run`. `grades` is
    the project that grades the answers, `judge` whose grades count there: people's, or a run's UUID. `withhold` is a
    key of `sufficiency_curves.offered_scores`. Raises ValueError for wrong choices.
    """
    dimension = sufficiency_dimension(source.type)
    if dimension is None:
        raise ValueError(fits(source.type))
    if reference not in REFERENCES:
        raise ValueError(f"reference is one of {', '.join(REFERENCES)}, not {reference!r}")
    if by not in SPLIT_BY:
        raise ValueError(f"by is one of {', '.join(SPLIT_BY)}, not {by!r}")
    if by == "checker" and not run:
        raise ValueError("Name a run where its labels shall tell sufficient from insufficient context")
    units = source.unit_frame(source.type.unit_kind)
    labels = source.label_frame(units, every_revision=True)
    people = _people(source, dimension, reference, units, latest(labels))
    autoraters = [
        _autorater(place, source, dimension, reference, units, labels, one, touched)
        for place, one in enumerate(source.labelling_runs())
    ]
    chosen = source.run(run) if run else None
    split = people if chosen is None or by == PEOPLE else _of_run(source, dimension, units, chosen)
    other = source.sibling(grades) if grades else None
    found = _graded(source, other, units, split, reference, judge) if other is not None else None
    result = {
        "report": "sufficiency",
        "project": source.slug,
        "task_type": source.task_type,
        "dimension": dimension.slug,
        "reference": reference,
        "reference_title": REFERENCES[reference],
        "run": run,
        "checker": chosen.name if chosen else "",
        "touched": touched,
        "by": by,
        "by_title": SPLIT_BY[by] if by == PEOPLE else chosen.name,
        "grades": grades,
        "judge": found.judge if found else "",
        "n_questions": len(units),
        "n_sufficient": int((split == 1).sum()),
        "n_insufficient": int((split == 0).sum()),
        "n_undecided": int((split < 0).sum()),
        "share_sufficient": share_of(split[split >= 0] == 1, undefined=NO_QUESTION),
        "autoraters": autoraters,
        "systems": shares(found) if found else [],
        "settings": settings(found) if found else [],
        "contains": [],
        "curves": [],
        "score_title": "",
        "behind": _behind_questions(units, split),
    }
    for one in autoraters:
        result["behind"] |= one.pop("behind")
    if found is not None:
        _add_answers(result, source, other, found, units, dimension, withhold)
    result["notes"] = _notes(source, result, found)
    return result


def _people(
    source: Source,
    dimension: Dimension,
    reference: str,
    units: pd.DataFrame,
    labels: pd.DataFrame,
    against: Sequence[Run] = (),
) -> np.ndarray:
    """1 sufficient, 0 insufficient, -1 undecided."""
    found = references(source.type, source, reference, units, labels, against)[dimension.slug].code
    return _as_sufficient(dimension, found)


def _of_run(source: Source, dimension: Dimension, units: pd.DataFrame, run: Run) -> np.ndarray:
    return _as_sufficient(dimension, codes_of(dimension, units, source.suggestion_frame(run)))


def _as_sufficient(dimension: Dimension, codes: np.ndarray) -> np.ndarray:
    import numpy as np

    place = dimension.values.index(sufficient_label(dimension))
    return np.where(codes < 0, -1, codes == place).astype(int)


def sufficient_label(dimension: Dimension) -> str:
    return max(dimension.labels, key=lambda label: label.polarity or 0).value


def _autorater(
    place: int,
    source: Source,
    dimension: Dimension,
    reference: str,
    units: pd.DataFrame,
    labels: pd.DataFrame,
    run: Run,
    touched: bool,
) -> dict:
    """One run against people, and thresholds of its probability."""
    import numpy as np

    from analysis.stats import detection

    mine = latest(labels) if touched else untouched(source, labels, run)
    against = () if touched else (run,)
    truth = _people(source, dimension, reference, units, mine, against)
    says = _of_run(source, dimension, units, run)
    found = detection(truth, says)
    ids = units["unit"].to_numpy()
    cells = {"hits": (1, 1), "false": (0, 1), "missed": (1, 0), "rest": (0, 0)}
    counts = {name: np.flatnonzero((truth == wanted) & (says == said)) for name, (wanted, said) in cells.items()}
    thresholds, by_score = _thresholds(source, dimension, units, run, truth, f"autorater{place}")
    return {
        "run": run.uuid,
        "name": run.name,
        "figure": f"autorater{place}",
        "decisions_left_out": decisions_left_out(source, reference, units, against),
        "f1": figure(found.f1),
        "precision": figure(found.precision),
        "recall": figure(found.recall),
        "accuracy": figure(found.accuracy),
        "counts": {name: len(rows) for name, rows in counts.items()},
        "thresholds": thresholds,
        "behind": {f"autorater{place}/{name}": ids[rows].tolist() for name, rows in counts.items()} | by_score,
    }


def _thresholds(
    source: Source, dimension: Dimension, units: pd.DataFrame, run: Run, truth: np.ndarray, prefix: str
) -> tuple[list[dict], Behind]:
    """The sweep over the probability of sufficient, and over the greatest entailment where the run gives it; and the
    questions that have a score, by the thresholds that they reach."""
    import numpy as np

    from analysis.stats import areas, threshold_sweep

    label = sufficient_label(dimension)
    columns = {"probability of sufficient": source.probability_frame(run, dimension.slug, (label,))[label]}
    if "max_entailment" in run.scores:
        columns["max_entailment"] = source.score_frame(run, "max_entailment").set_index("unit")["value"]
    result, behind = [], {}
    for name, values in columns.items():
        score = units["unit"].map(values).to_numpy(dtype=float)
        if not (score == score).any():
            continue
        sweep = threshold_sweep(score, truth)
        at = np.array([row.threshold for row in sweep.rows])
        reached = np.where(np.isfinite(score) & (truth >= 0), (score[:, None] >= at).sum(axis=1), -1)
        for n in range(len(at) + 1):
            behind[f"{prefix}/{name}/{reaching(at, n)}"] = units["unit"][reached == n].tolist()
        result.append(
            {
                "score": name,
                "roc_auc": figure(areas(score, truth).roc_auc),
                "f1": figure(sweep.f1),
                "accuracy": figure(sweep.accuracy),
                "chosen": list(sweep.chosen),
                "rows": [
                    {
                        "threshold": row.threshold,
                        "n_taken": row.n_taken,
                        "figure": f"{prefix}/{name}/{either(*(reaching(at, n) for n in range(place, len(at) + 1)))}",
                    }
                    | {one: number(getattr(row, one)) for one in ("precision", "recall", "f1", "accuracy")}
                    for place, row in enumerate(sweep.rows, 1)
                ],
                "figure": f"{prefix}/{name}/{either(*(reaching(at, n) for n in range(len(at) + 1)))}",
            }
        )
    return result, behind


def _graded(
    source: Source,
    other: Source,
    units: pd.DataFrame,
    split: np.ndarray,
    reference: str,
    judge: str,
) -> Graded:
    import pandas as pd

    if not grades_answers(other.type):
        raise ValueError(f"project {other.slug} grades no answers: {other.type.title!r}")
    return graded(
        other,
        pd.Series(split, index=units["question"]),
        source,
        reference,
        None if judge == PEOPLE else other.run(judge),
    )


def _add_answers(
    result: dict, source: Source, other: Source, found: Graded, units: pd.DataFrame, dimension: Dimension, withhold: str
) -> None:
    """Contains-answer, curves, and the questions behind the shares."""
    of_question = {key: unit for key, unit in zip(units["question"], units["unit"], strict=True)}
    result["contains"], behind = containing(found)
    for place, row in enumerate(result["systems"]):
        mine = found.rows
        for name in ("dataset", "model", "setting") if place else ():
            mine = mine[mine[name] == row[name]]
        for group, code in QUESTIONS.items():
            for at, outcome in enumerate(OUTCOMES):
                where = (mine["sufficient"] == code) & (mine["outcome"] == at)
                behind[f"{row['figure']}/{group}/{outcome}"] = mine["question"][where].tolist()
    values, title = score_of(source, other, found, withhold, sufficient_label(dimension), dimension.slug)
    if values is not None:
        result["curves"], more = curves(found, values)
        result["score_title"] = title
        behind |= more
    for key, questions in behind.items():
        result["behind"][key] = [of_question[one] for one in dict.fromkeys(questions) if one in of_question]


def _behind_questions(units: pd.DataFrame, split: np.ndarray) -> dict[str, list[int]]:
    ids = units["unit"].to_numpy()
    by_context = {f"questions/{name}": ids[split == code].tolist() for name, code in QUESTIONS.items()}
    return by_context | {UNITS: ids.tolist()}


def _notes(source: Source, result: dict, found: Graded | None) -> list[str]:
    notes = []
    if not result["n_sufficient"] + result["n_insufficient"]:
        notes.append(
            f"No question is decided by {result['by_title']}: label questions, or choose a run and let it split them "
            "(“Split by”)."
        )
    if not result["autoraters"]:
        notes.append("No autorater: run a checker on this project (llm, or nli with max-entailment and 0.05).")
    notes += [one["decisions_left_out"]["words"] for one in result["autoraters"] if one["decisions_left_out"]]
    if found is None:
        notes.append(
            "No answers: make a project on the same data set that grades them (the task type for grades of answers), "
            "and choose it here."
            if len(grade_projects(source)) == 1
            else "No answers: choose the project that grades them."
        )
        return notes
    if not (found.rows["outcome"] >= 0).any():
        notes.append(
            f"No answer in {result['grades']} is graded by {found.judge}: grade some, or run a checker there and "
            "choose it as the judge."
        )
    if not result["curves"]:
        notes.append("No curve: it needs a score to withhold answers by, from a run or in the answers' metadata.")
    elif all(row["area"]["estimate"] is None for row in result["curves"]):
        notes.append(f"No graded answer has a value of {result['score_title']}, so there is no curve.")
    if result["contains"] and not result["contains"][0]["n"]:
        notes.append("Contains-answer is undefined: no graded answer is to a question with ground-truth answers.")
    return notes


HAS_QUICK_PASS = True
body = sufficiency_body.body
methods = sufficiency_body.methods
in_words, opened = sufficiency_behind.in_words, sufficiency_behind.opened
