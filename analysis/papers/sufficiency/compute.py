"""Does the context suffice to answer? Autoraters against people, and what models do with and without enough context.

Sufficiency is about questions, and grades about answers, so there are two projects on one data set; the report is made
of the first and takes the second by its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.figures.results import number
from analysis.papers.sufficiency.choices import (
    GROUPS,
    OUTCOMES,
    PEOPLE,
    grade_projects,
    grades_answers,
    sufficiency_dimension,
)
from analysis.papers.sufficiency.curves import curves, given_and_abstained, score_of
from analysis.papers.sufficiency.grades import (
    SYSTEM,
    Graded,
    cells_of,
    containing,
    graded,
    settings,
    shares,
    systems,
    with_ground_truth,
)
from analysis.papers.sufficiency.tables import (
    AccuracyCurve,
    AtThreshold,
    Autorater,
    Contains,
    Rated,
    Sufficiency,
    Sweep,
)
from analysis.reports.common import REFERENCES
from analysis.reports.detections import check_split, cross, detection_figures
from analysis.reports.estimates import share_figure, to_figure
from analysis.reports.labels.dimensions import SPLIT_BY
from analysis.reports.labels.judgements import add_judgements, new_items
from analysis.reports.labels.reference import codes_of, decisions_left_out, references
from analysis.sources.base import Source
from analysis.sources.outline import Run
from analysis.sources.touched import latest, untouched
from analysis.stats import areas, detection, threshold_sweep
from annotation.task_types import Dimension

NO_QUESTION = "no question is decided"
CONTEXTS = (*GROUPS, "undecided")
RATED = {  # in the order of `detections.CELLS`
    "hits": "sufficient by both",
    "false": "sufficient by the autorater only",
    "missed": "sufficient by people only",
    "rest": "insufficient by both",
}


def compute(
    source: Source,
    *,
    reference: str = "majority",
    run: str = "",
    touched: bool = False,
    by: str = PEOPLE,
    grades: str = "",
    judge: str = PEOPLE,
    withhold: str = "",
    quick: bool = False,
) -> tuple[Sufficiency, Items]:
    """The report on sufficient context.

    `by` says whose labels tell sufficient from insufficient context: people's, or those of the run `run`. `grades` is
    the project that grades the answers, `judge` whose grades count there: people's, or a run's UUID. `withhold` is a
    key of `choices.offered_scores`. Raises ValueError for wrong choices.
    """
    dimension = sufficiency_dimension(source.type)
    check_split(by, run)
    units = source.unit_frame(source.type.unit_kind)
    labels = source.label_frame(units, every_revision=True)
    last, runs = latest(labels), source.labelling_runs()
    counted = {} if touched else {one: untouched(source, labels, one) for one in runs}
    people = _people(source, dimension, reference, units, last)
    chosen = source.run(run) if run else None
    split = people if chosen is None or by == PEOPLE else _of_run(source, dimension, units, chosen)
    items = new_items(units, runs=[run], decisions="" if reference == "majority" else reference)
    add_judgements(items, source.type, last, last, of_runs=counted)
    items.add("context", "Context", np.where(split < 0, 2, 1 - split), CONTEXTS)
    autoraters = [
        _autorater(items, source, dimension, reference, units, counted.get(one, last), one, touched, quick)
        for one in runs
    ]
    other = source.sibling(grades) if grades else None
    graded = _graded(source, other, units, split, reference, judge) if other is not None else None
    contains: list[Contains] = []
    drawn: list[AccuracyCurve] = []
    score_title = ""
    if graded is not None:
        answers = with_ground_truth(graded)
        contains = containing(answers, quick=quick)
        sets = _sets_of_answers(answers)
        score, title = score_of(source, other, graded, withhold, sufficient_label(dimension), dimension.slug)
        if score is not None:
            drawn, score_title = curves(graded, score, quick=quick), title
            sets |= _sets_of_curves(given_and_abstained(graded, score), score_title)
        _add_answers(items, units, answers, sets)
    result = Sufficiency(
        dimension=dimension.slug,
        reference=reference,
        reference_title=REFERENCES[reference],
        run=run,
        checker=chosen.name if chosen else "",
        touched=touched,
        by=by,
        by_title=SPLIT_BY[by] if by == PEOPLE else chosen.name,
        grades=grades,
        judge=graded.judge if graded else "",
        n_questions=len(units),
        n_sufficient=int((split == 1).sum()),
        n_insufficient=int((split == 0).sum()),
        n_undecided=int((split < 0).sum()),
        share_sufficient=share_figure(split[split >= 0] == 1, quick=quick, undefined=NO_QUESTION),
        autoraters=autoraters,
        systems=shares(graded, quick=quick) if graded else [],
        settings=settings(graded, quick=quick) if graded else [],
        contains=contains,
        curves=drawn,
        score_title=score_title,
        notes=[],
    )
    return msgspec.structs.replace(result, notes=_notes(source, result, graded)), items


def _people(
    source: Source,
    dimension: Dimension,
    reference: str,
    units: pd.DataFrame,
    labels: pd.DataFrame,
    against: Sequence[Run] = (),
) -> np.ndarray:
    """1 sufficient, 0 insufficient, -1 undecided."""
    code = references(source.type, source, reference, units, labels, against)[dimension.slug].code
    return _as_sufficient(dimension, code)


def _of_run(source: Source, dimension: Dimension, units: pd.DataFrame, run: Run) -> np.ndarray:
    return _as_sufficient(dimension, codes_of(dimension, units, source.suggestion_frame(run)))


def _as_sufficient(dimension: Dimension, codes: np.ndarray) -> np.ndarray:
    place = dimension.values.index(sufficient_label(dimension))
    return np.where(codes < 0, -1, codes == place).astype(int)


def sufficient_label(dimension: Dimension) -> str:
    return max(dimension.labels, key=lambda label: label.polarity or 0).value


def _autorater(
    items: Items,
    source: Source,
    dimension: Dimension,
    reference: str,
    units: pd.DataFrame,
    labels: pd.DataFrame,
    run: Run,
    touched: bool,
    quick: bool,
) -> Autorater:
    """One run against people's labels that count for it, and thresholds of its probability."""
    against = () if touched else (run,)
    truth = _people(source, dimension, reference, units, labels, against)
    rated = _of_run(source, dimension, units, run)
    where = cross(truth, rated, RATED)
    items.add_parts(f"rated.{run.uuid}", f"People and {run.name}", where, RATED, run=run.uuid)
    left_out = decisions_left_out(source, reference, units, against)
    return Autorater(
        run=run.uuid,
        name=run.name,
        decisions_left_out=left_out,
        **detection_figures(detection(truth, rated), quick=quick),
        counts=Rated(**{name: int(one.sum()) for name, one in where.items()}),
        thresholds=_thresholds(items, source, dimension, units, run, truth, quick),
    )


def _thresholds(
    items: Items,
    source: Source,
    dimension: Dimension,
    units: pd.DataFrame,
    run: Run,
    truth: np.ndarray,
    quick: bool,
) -> list[Sweep]:
    """The sweep over the probability of sufficient, and over the greatest entailment where the run gives it. Questions
    with a score have a column that says which thresholds they reach."""
    label = sufficient_label(dimension)
    columns = {"probability of sufficient": source.probability_frame(run, dimension.slug, (label,))[label]}
    if "max_entailment" in run.scores:
        columns["max_entailment"] = source.score_frame(run, "max_entailment").set_index("unit")["value"]
    result = []
    for name, values in columns.items():
        score = units["unit"].map(values).to_numpy(dtype=float)
        if not (score == score).any():
            continue
        sweep = threshold_sweep(score, truth)
        at = np.array([row.threshold for row in sweep.rows])
        reached = np.where(np.isfinite(score) & (truth >= 0), (score[:, None] >= at).sum(axis=1), -1)
        titles = ["below every threshold", *(f"{one:g}" for one in at)]
        title = f"Labelled by people, greatest threshold that {name} reaches ({run.name})"
        items.add(f"reached.{run.uuid}.{name}", title, reached, list(map(str, range(len(titles)))), titles, run.uuid)
        result.append(
            Sweep(
                score=name,
                roc_auc=to_figure(areas(score, truth).roc_auc, quick=quick),
                f1=to_figure(sweep.f1, quick=quick),
                accuracy=to_figure(sweep.accuracy, quick=quick),
                chosen=list(sweep.chosen),
                rows=[
                    AtThreshold(
                        threshold=row.threshold,
                        n_taken=row.n_taken,
                        **{one: number(getattr(row, one)) for one in ("precision", "recall", "f1", "accuracy")},
                    )
                    for row in sweep.rows
                ],
            )
        )
    return result


def _graded(
    source: Source, other: Source, units: pd.DataFrame, split: np.ndarray, reference: str, judge: str
) -> Graded:
    if not grades_answers(other.type):
        raise ValueError(f"project {other.slug} grades no answers: {other.type.title!r}")
    run = None if judge == PEOPLE else other.run(judge)
    return graded(other, pd.Series(split, index=units["question"]), source, reference, run)


Sets = dict[str, tuple[str, np.ndarray]]


def _sets_of_answers(answers: pd.DataFrame) -> Sets:
    """Sets of answers that figures count, by name: what they are, and which rows are in them."""
    outcome, has_truth = answers["outcome"].to_numpy(), answers["contains"].to_numpy() >= 0
    cells = cells_of(answers)
    return {
        "graded": ("graded", outcome >= 0),
        **{name: (f"graded as {name}", outcome == place) for place, name in enumerate(OUTCOMES)},
        "both": ("with a ground truth in them and judged correct", cells["both"]),
        "contains": ("with a ground truth in them and not judged correct", cells["contains"]),
        "judge": ("judged correct without a ground truth in them", cells["judge"]),
        "neither": ("neither judged correct nor with a ground truth in them", cells["neither"]),
        "containing": ("graded, with a ground truth in them", cells["both"] | cells["contains"]),
        "right": ("judged correct, to questions with ground truth", cells["both"] | cells["judge"]),
        "compared": ("graded, to questions with ground truth", np.logical_or.reduce(list(cells.values()))),
        "without": ("to questions without ground truth", ~has_truth),
    }


def _sets_of_curves(masks: Mapping[str, np.ndarray], score_title: str) -> Sets:
    either = masks["given"] | masks["abstained"]
    return {
        "abstained": ("that abstain", masks["abstained"]),
        "answered": (f"that abstain, or are given and have {score_title}", either),
    }


def _add_answers(items: Items, units: pd.DataFrame, answers: pd.DataFrame, sets: Sets) -> None:
    """Per system, as `systems` numbers them, a column for each set of answers: the questions that have any. And the
    questions with graded answers in either of the settings that are compared."""
    question = answers["question"].to_numpy()

    def asked(where: np.ndarray) -> np.ndarray:
        return units["question"].isin(question[where]).to_numpy()

    place = answers.groupby(SYSTEM, sort=True).ngroup().to_numpy() + 1
    for at, (name, _) in enumerate(systems(answers)):
        mine = (place == at) | (at == 0)
        title = "Any answers" if at == 0 else f"Answers of {name['title']}"
        of_system = {one: (words, asked(mine & where)) for one, (words, where) in sets.items()}
        items.add_sets(f"system{at}", title, of_system)
    is_graded = answers["outcome"].to_numpy() >= 0
    place = 0
    for (dataset, model), mine in answers.groupby(["dataset", "model"], sort=True):
        names = sorted(mine["setting"].unique())
        of_model = ((answers["dataset"] == dataset) & (answers["model"] == model)).to_numpy() & is_graded
        for other in names[1:]:
            where = asked(of_model & answers["setting"].isin([other, names[0]]).to_numpy())
            words = f"Graded answers of {' / '.join(filter(None, (dataset, model)))} in {other} or {names[0]}"
            items.add_flag(f"setting{place}", words, where)
            place += 1


def _notes(source: Source, result: Sufficiency, graded: Graded | None) -> list[str]:
    notes = []
    if not result.n_sufficient + result.n_insufficient:
        notes.append(
            f"No question is decided by {result.by_title}: label questions, or choose a run and split by its labels "
            "(“Split by”)."
        )
    if not result.autoraters:
        notes.append(
            "No autorater: run a checker on this project (llm, or nli with the rule max-entailment and a threshold of "
            "0.05)."
        )
    notes += [one.decisions_left_out.words for one in result.autoraters if one.decisions_left_out]
    if graded is None:
        notes.append(
            "No answers: make a project on the same data set that grades answers, and choose it here."
            if len(grade_projects(source)) == 1
            else "No answers: choose the project that grades them."
        )
        return notes
    if not (graded.rows["outcome"] >= 0).any():
        notes.append(
            f"No answer in {result.grades} is graded by {graded.judge}: grade some, or run a checker there and choose "
            "it as the judge."
        )
    if not result.curves:
        notes.append("No curve: it needs a score to withhold answers by, from a run or in the answers' metadata.")
    elif all(not row.area.is_defined for row in result.curves):
        notes.append(f"No graded answer has a value of {result.score_title}, so there is no curve.")
    if result.contains and not result.contains[0].n:
        notes.append("Contains-answer is undefined: no question with graded answers has ground-truth answers.")
    return notes
