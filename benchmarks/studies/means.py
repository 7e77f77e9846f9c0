"""Studies of means: of groups, of systems, of settings, and shares of known answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from analysis import stats
from benchmarks.studies import planted
from benchmarks.studies.study import RESAMPLES, Figures, Study, bootstrapped

KNOWN = 0.9


@dataclass(frozen=True)
class Grouped:
    values: np.ndarray
    groups: np.ndarray
    claim: np.ndarray


def grouped(rng: np.random.Generator, n_claims: int) -> Grouped:
    """One to eight pieces of evidence per claim. A skewed characteristic, the use of context between -1 and 1, both
    alike within a claim, and a conflict in an eighth of the pieces; two stances, the rarer with a quarter; a
    tenth is missing."""
    claim = np.repeat(np.arange(n_claims), rng.integers(1, 9, n_claims))
    n = len(claim)
    is_common = rng.random(n) < 0.75
    skewed = np.exp(0.5 * rng.normal(size=n_claims)[claim] + 0.7 * rng.normal(size=n) + 0.3 * is_common)
    usage = np.tanh(0.4 * rng.normal(size=n_claims)[claim] + 0.6 * rng.normal(size=n) + 0.3)
    conflict = (rng.random(n) < rng.beta(0.5, 3.5, n_claims)[claim]).astype(float)
    values = np.column_stack([skewed, usage, conflict])
    values[rng.random(values.shape) < 0.1] = np.nan
    return Grouped(values, np.column_stack([is_common, ~is_common]), claim)


def of_groups(data: Grouped) -> Figures:
    found = stats.grouped_means(data.values, data.groups, data.claim)

    @cache
    def intervals() -> tuple:
        return found.confidence_intervals(RESAMPLES)

    def ends(row: int, column: int) -> tuple[float, float]:
        one = intervals()[row][column]
        return one.low, one.high

    return {
        f"{name}, {which} stance": (
            found.mean[row, column],
            lambda row=row, column=column: ends(row, column),
        )
        for row, which in enumerate(("common", "rarer"))
        for column, name in enumerate(("skewed characteristic", "context usage", "conflict"))
    }


@dataclass(frozen=True)
class Answered:
    """What three models make of the same questions in two settings, which have their own questions."""

    value: np.ndarray
    model: np.ndarray
    question: np.ndarray
    setting: np.ndarray


def answered(rng: np.random.Generator, n_questions: int) -> Answered:
    """Shares of bad pieces, more in hard questions, for all models alike; half of the answers have none."""
    model, question = (index.ravel() for index in np.indices((3, n_questions)))
    hard = rng.beta(1, 3, n_questions)[question]
    value = np.where(rng.random(len(model)) < 0.5, 0, np.clip(hard + rng.normal(0.1, 0.1, len(model)), 0, 1))
    value[rng.random(len(model)) < 0.1] = np.nan
    return Answered(value, model, question, (question >= n_questions // 2).astype(int))


def of_systems(data: Answered) -> Figures:
    every = stats.system_means(data.value, data.model.tolist(), data.question.tolist())
    parts = [data.setting == code for code in (0, 1)]
    of_setting = [
        stats.system_means(data.value[part], data.model[part].tolist(), data.question[part].tolist()).means[0]
        for part in parts
    ]
    return bootstrapped(
        mean_of_a_model=every.means[0], mean_of_models=every.mean, mean_of_settings=stats.mean_of(of_setting, "setting")
    )


def rated(rng: np.random.Generator, n_questions: int, n_models: int = 3) -> planted.Extracted:
    """Responses by three models to the same questions, of one to six triplets or, in a tenth, of none; their labels are
    alike within a response and, more so, within a question."""
    size = rng.integers(1, 7, (n_models, n_questions)) * (rng.random((n_models, n_questions)) >= 0.1)
    of = np.repeat(np.arange(n_models * n_questions), size.ravel())
    model, question = np.divmod(of, n_questions)
    good = (rng.beta(2, 2, n_questions)[question] * 2 + rng.beta(2, 2, n_models * n_questions)[of]) / 3
    label = np.where(rng.random(len(of)) < good, 0, rng.integers(1, 3, len(of)))
    return planted.Extracted(label, question, model, dict.fromkeys(range(n_models), n_questions))


def by_question(data: planted.Extracted) -> Figures:
    names, n_questions = ("right", "neutral", "wrong"), data.n_responses[0]
    questions = {(model, question): question for model in data.n_responses for question in range(n_questions)}
    rates = stats.label_rates(
        data.label, data.response.tolist(), data.model.tolist(), data.n_responses, names, cluster=questions
    )
    return bootstrapped(
        label_rate_of_a_model=rates.models[0].shares["wrong"],
        label_rate_mean_of_models=rates.shares["wrong"],
        abstained_mean_of_models=rates.abstained,
    )


def known_answers(rng: np.random.Generator, n_checks: int) -> tuple[int, int]:
    """Right answers of a person who is right in 90 % of the attention checks, and how many there were."""
    return int(rng.binomial(n_checks, KNOWN)), n_checks


def share_right(data: tuple[int, int]) -> Figures:
    found = stats.wilson_interval(*data)
    return {"share right": (data[0] / data[1], lambda: (found.low, found.high))}


def one_label(labels: stats.Labels) -> Figures:
    """Agreement about a label that nearly half of the units have, and about one that a tenth has."""

    def against_the_rest(code: int) -> stats.Labels:
        is_label = (labels.value == code).astype(int)
        return stats.Labels(labels.unit, labels.rater, is_label, labels.n_units, ("no", "yes"), cluster=labels.cluster)

    common, rare = against_the_rest(0), against_the_rest(3)
    return bootstrapped(
        alpha_of_a_common_label=stats.krippendorff_alpha(common),
        alpha_of_a_rare_label=stats.krippendorff_alpha(rare),
        ac1_of_a_rare_label=stats.gwet_ac(rare),
        percent_of_a_rare_label=stats.percent_agreement(rare),
    )


STUDIES = {
    "means of groups": Study(grouped, of_groups, (80, 20)),
    "means of models": Study(answered, of_systems, (80, 20), 20_000),
    "label rates by question": Study(rated, by_question, (80, 20), 20_000),
    "known answers": Study(known_answers, share_right, (40, 15), 1, {"share right": np.array(KNOWN)}),
    "one label against the rest": Study(planted.labels, one_label),
}
