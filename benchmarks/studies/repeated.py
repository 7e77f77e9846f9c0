"""Studies of repeated generations and of answers that may be withheld."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from analysis import stats
from analysis.stats.generation.matching import matched_share
from benchmarks.studies.study import RESAMPLES, Figures, Study, bootstrapped

REPETITIONS, VERDICTS = 3, ("false", "none", "true")


@dataclass(frozen=True)
class Generated:
    """Rows are claims in repetitions: a value, whether the document is matched, and verdicts (-1 for none)."""

    value: np.ndarray
    matched: np.ndarray
    verdict: np.ndarray
    predicted: np.ndarray
    claim: np.ndarray
    repetition: np.ndarray


def generated(rng: np.random.Generator, n_claims: int) -> Generated:
    """Values that are 0.6 for matched claims and 0.4 for others on average, alike within a claim. A claim is matched in
    all repetitions or in none, a fifth of them in each anew; one row in ten is missing."""
    often = rng.random(n_claims) < 0.5
    anew = rng.random((n_claims, REPETITIONS)) < 0.5
    matched = np.where((rng.random(n_claims) < 0.2)[:, None], anew, often[:, None])
    value = np.where(matched, 0.6, 0.4) + rng.normal(0, 0.15, n_claims)[:, None]
    value = value + rng.normal(0, 0.05, value.shape)
    verdict = rng.choice(3, n_claims, p=[0.5, 0.2, 0.3])
    hard = rng.beta(2, 2, n_claims)
    is_right = rng.random(value.shape) < np.clip(hard[:, None] + np.where(matched, 0.2, 0.0), 0, 1)
    predicted = np.where(is_right, verdict[:, None], rng.integers(0, 3, value.shape))
    kept = rng.random(value.shape) >= 0.1
    claim, repetition = np.indices(value.shape)
    return Generated(value[kept], matched[kept], verdict[claim[kept]], predicted[kept], claim[kept], repetition[kept])


def generations(data: Generated) -> Figures:
    claim, repetition = data.claim.tolist(), data.repetition.tolist()

    def mean(rows: np.ndarray) -> stats.RepeatedEstimate:
        return stats.repeated_mean(data.value[rows], data.claim[rows].tolist(), data.repetition[rows].tolist())

    f1 = stats.repeated_macro_f1(data.verdict, data.predicted, VERDICTS, claim, repetition)
    return bootstrapped(
        mean_of_repetitions=mean(np.ones(len(data.value), dtype=bool)),
        difference_of_matched=stats.repeated_difference(mean(data.matched), mean(~data.matched)),
        macro_f1_of_repetitions=f1,
        common_language_effect=stats.mann_whitney(data.value, data.matched.astype(int), claim),
    )


def matches(data: Generated) -> Figures:
    """The share that is matched, and how well that is found by taking whatever has a value above 0.5, which errs alike
    on a claim's repetitions."""
    rows, matched = np.arange(len(data.value)), data.matched.astype(int)
    found = stats.detection(matched, (data.value > 0.5).astype(int), data.claim)
    return bootstrapped(
        matched_share=matched_share(matched, rows, len(rows), data.claim),
        precision=found.precision,
        recall=found.recall,
        f1=found.f1,
        accuracy=found.accuracy,
    )


@dataclass(frozen=True)
class Answered:
    """Answers to questions: 0 hallucinated, 1 right, 2 abstained, and a rare fault; a score that says a little."""

    outcome: np.ndarray
    fault: np.ndarray
    sufficient: np.ndarray
    score: np.ndarray
    question: np.ndarray


def answered(rng: np.random.Generator, n_questions: int) -> Answered:
    """Three models' answers to each question: right with 0.7 where the context suffices and 0.3 elsewhere, questions
    being easier or harder by up to 0.2 for all of them; a tenth abstains, a fortieth has a fault."""
    sufficient = rng.random(n_questions) < 0.5
    chance = np.where(sufficient, 0.7, 0.3) + rng.uniform(-0.2, 0.2, n_questions)
    is_right = rng.random((n_questions, 3)) < chance[:, None]
    outcome = np.where(rng.random(is_right.shape) < 0.1, 2, is_right.astype(int))
    score = chance[:, None] + rng.normal(0, 0.2, is_right.shape)
    question = np.repeat(np.arange(n_questions), 3)
    fault = (rng.random(len(question)) < 0.025).astype(int)
    return Answered(outcome.ravel(), fault, sufficient[question].astype(int), score.ravel(), question)


def outcomes(data: Answered) -> Figures:
    names = ("hallucinated", "right", "abstained")
    found = stats.outcome_shares(data.outcome, names, data.sufficient, ("no", "yes"), data.question)
    faults = stats.outcome_shares(data.fault, ("none", "fault"), data.fault * 0, ("all",), data.question)
    return bootstrapped(
        share_right_where_sufficient=found.share("right", "yes"),
        share_abstained_where_sufficient=found.share("abstained", "yes"),
        difference_of_shares_right=found.difference("right", "yes", "no"),
        share_of_a_rare_outcome=faults.share("fault", "all"),
    )


def withheld(data: Answered) -> Figures:
    curve = stats.selective_curve(data.score, (data.outcome == 1).astype(int), data.outcome == 2, data.question)
    figures = bootstrapped(area=curve.area, accuracy=curve.overall, gain=curve.gain)

    @cache
    def band() -> tuple:
        return tuple(curve.band([0.25, 0.5], RESAMPLES))

    for place, name in enumerate(("quarter", "half")):
        figures[f"accuracy_at_a_{name}"] = (
            curve.at([0.25, 0.5])[place],
            lambda place=place: (band()[place].low, band()[place].high),
        )
    return figures


STUDIES = {
    "repeated generations": Study(generated, generations, (80, 20)),
    "matched generations": Study(generated, matches, (80, 20)),
    "outcomes of answers": Study(answered, outcomes, (80, 20)),
    "answers withheld": Study(answered, withheld, (80, 20), 20_000),
}
