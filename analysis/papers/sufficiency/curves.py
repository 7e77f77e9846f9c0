"""Scores that answers can be withheld by, and what withholding them gains."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.figures.results import number
from analysis.papers.sufficiency.choices import COMBINED, CONFIDENCE, OUTCOMES, PROBABILITY
from analysis.papers.sufficiency.grades import SYSTEM, Graded, correctness, question_codes, systems
from analysis.papers.sufficiency.tables import AccuracyCurve, AtCoverage
from analysis.reports.estimates import to_figure
from analysis.sources.base import Source
from analysis.stats import selective_curve
from plugins.extras import check_library

COVERAGES = tuple(round(0.1 * step, 1) for step in range(1, 11))
FOLDS = 5
MOST_POINTS = 200  # of a drawn curve


def score_of(source: Source, grades: Source, graded: Graded, chosen: str, label: str, dimension: str) -> tuple:
    """(values by row of `found`, its title); ValueError for a score that there is not. Values are nan where undefined.

    A score of a question is that of all its answers.
    """
    if chosen == CONFIDENCE:
        return graded.rows["confidence"].to_numpy(), "the answers' own confidence"
    if chosen == COMBINED:
        return combined(graded), "confidence and sufficiency together, by logistic regression out of fold"
    if not chosen:
        runs = [run for run in source.runs() if run.gives == "labels"]
        if not runs:
            return None, ""
        chosen = f"{runs[0].uuid}/{PROBABILITY}"
    slug, _, rest = chosen.rpartition(":")
    uuid, _, name = rest.partition("/")
    if slug and slug != grades.slug:
        raise ValueError(f"The score {chosen!r} is of the project {slug}, but the answers are graded in {grades.slug}")
    owner = grades if slug else source
    run = owner.run(uuid)
    units = owner.unit_frame(owner.type.unit_kind)
    if name == PROBABILITY:
        values = owner.probability_frame(run, dimension, (label,))[label]
    elif name in run.scores:
        values = owner.score_frame(run, name).set_index("unit")["value"]
    else:
        raise ValueError(f"{run.name} gives no score {name!r}; it gives {', '.join(run.scores) or 'none'}")
    key = "response" if slug else "question"
    by_key = dict(zip(units[key], units["unit"].map(values), strict=True))
    title = f"{run.name}'s {'probability of ' + label if name == PROBABILITY else name}"
    return graded.rows[key].map(by_key).to_numpy(dtype=float), title


def combined(graded: Graded) -> np.ndarray:
    """How probable a right answer is by its confidence and the sufficiency of its question's context.

    The study's selective generation (Joren et al. 2025): a logistic regression for each system, here fitted
    in five folds of questions and applied to the fold left out. nan where either is missing, and for a fold without
    right and wrong answers outside it.
    """
    check_library("sklearn")
    from sklearn.linear_model import LogisticRegression

    rows = graded.rows
    values = np.full(len(rows), np.nan)
    questions = sorted(rows["question"].unique())
    drawn = np.random.default_rng(0).permutation(len(questions)) % FOLDS
    fold = rows["question"].map(dict(zip(questions, drawn.tolist(), strict=True))).to_numpy()
    features = rows[["confidence", "sufficient"]].to_numpy(dtype=float)
    known = np.isfinite(features[:, 0]) & (rows["sufficient"] >= 0).to_numpy()
    right = (rows["outcome"] == OUTCOMES.index("correct")).to_numpy()
    answered = known & rows["outcome"].isin([OUTCOMES.index("correct"), OUTCOMES.index("hallucinate")]).to_numpy()
    for _, mine in rows.groupby(SYSTEM, sort=True):
        member = np.zeros(len(rows), dtype=bool)
        member[mine.index] = True
        for place in range(FOLDS):
            learned, left_out = member & answered & (fold != place), member & known & (fold == place)
            if len(set(right[learned])) == 2 and left_out.any():
                model = LogisticRegression().fit(features[learned], right[learned])
                values[left_out] = model.predict_proba(features[left_out])[:, 1]
    return values


def curves(graded: Graded, score: np.ndarray, *, quick: bool) -> list[AccuracyCurve]:
    """Per system: accuracy against coverage."""
    return [_curve(name, mine, quick) for name, mine in systems(graded.rows.assign(score=score))]


def given_and_abstained(graded: Graded, score: np.ndarray) -> dict[str, np.ndarray]:
    """By row of `found`: answers that are given, with a score; and abstentions."""
    outcome = graded.rows["outcome"].to_numpy()
    abstains = outcome == OUTCOMES.index("abstain")
    return {"given": ~abstains & (outcome >= 0) & np.isfinite(score.astype(float)), "abstained": abstains}


def _curve(name: dict[str, str], rows: pd.DataFrame, quick: bool) -> AccuracyCurve:
    abstains = (rows["outcome"] == OUTCOMES.index("abstain")).to_numpy()
    curve = selective_curve(rows["score"].to_numpy(dtype=float), correctness(rows), abstains, question_codes(rows))
    accuracy = curve.at(COVERAGES)
    band = [None] * len(COVERAGES) if quick else curve.band(COVERAGES)
    kept = np.unique(np.linspace(0, len(curve.coverage) - 1, MOST_POINTS).astype(int)) if len(curve.coverage) else []
    return AccuracyCurve(
        **name,
        area=to_figure(curve.area, quick=quick),
        overall=to_figure(curve.overall, quick=quick),
        gain=to_figure(curve.gain, quick=quick),
        best=number(curve.best),
        n_abstained=curve.n_abstained,
        most=number(float(curve.coverage[-1])) if len(curve.coverage) else None,
        points=[
            AtCoverage(
                coverage=coverage,
                accuracy=number(float(value)),
                low=number(one.low) if one else None,
                high=number(one.high) if one else None,
            )
            for coverage, value, one in zip(COVERAGES, accuracy, band, strict=True)
        ],
        line=[(float(curve.coverage[one]), float(curve.accuracy[one])) for one in kept],
    )
