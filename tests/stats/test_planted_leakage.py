"""Simulated studies of which the truth is known: intervals of the leakage and sufficiency measures cover it."""

import numpy as np
import pytest

from analysis.stats import mann_whitney, outcome_shares, repeated_difference, repeated_mean, selective_curve

pytestmark = pytest.mark.slow
RUNS, RESAMPLES, CLAIMS, REPETITIONS = 250, 300, 80, 3


def coverage(truth, simulate) -> float:
    """Share of simulated studies whose interval holds the truth."""
    hits = 0
    for seed in range(RUNS):
        interval = simulate(np.random.default_rng(seed))
        hits += interval.low <= truth <= interval.high
    return hits / RUNS


def recalls(rng):
    """Values of claims in repetitions: 0.6 for matched claims, 0.4 for others on average, alike within a claim."""
    matched = rng.random(CLAIMS) < 0.5
    own = rng.normal(np.where(matched, 0.6, 0.4), 0.15, CLAIMS)
    value = own[:, None] + rng.normal(0, 0.05, (CLAIMS, REPETITIONS))
    rows = np.repeat(np.arange(CLAIMS), REPETITIONS)
    return value.ravel(), matched[rows], rows, np.tile(np.arange(REPETITIONS), CLAIMS)


def mean_of(value, query, repetition):
    return repeated_mean(value, query.tolist(), repetition.tolist())


def test_means_and_differences_over_repetitions_cover():
    def mean(rng):
        value, _, query, repetition = recalls(rng)
        return mean_of(value, query, repetition).confidence_interval(RESAMPLES)

    def difference(rng):
        value, matched, query, repetition = recalls(rng)
        sides = [mean_of(value[mask], query[mask], repetition[mask]) for mask in (matched, ~matched)]
        return repeated_difference(*sides).confidence_interval(RESAMPLES)

    assert 0.915 <= coverage(0.5, mean) <= 0.985
    assert 0.915 <= coverage(0.2, difference) <= 0.985


def test_the_common_language_effect_covers():
    """P(x > y) of normals 0.2 apart with deviation sqrt(0.15^2 + 0.05^2 / 3) each."""
    from scipy import stats

    truth = stats.norm.cdf(0.2 / np.sqrt(2 * (0.15**2 + 0.05**2 / REPETITIONS)))

    def effect(rng):
        value, matched, query, _ = recalls(rng)
        return mann_whitney(value, matched.astype(int), query.tolist()).confidence_interval(RESAMPLES)

    assert 0.915 <= coverage(truth, effect) <= 0.985


def answers(rng):
    """Three models' answers to each question: right with 0.7 where the context suffices and 0.3 elsewhere, questions
    being easier or harder by up to 0.2 for all of them."""
    sufficient = rng.random(CLAIMS) < 0.5
    chance = np.where(sufficient, 0.7, 0.3) + rng.uniform(-0.2, 0.2, CLAIMS)
    right = rng.random((CLAIMS, 3)) < chance[:, None]
    question = np.repeat(np.arange(CLAIMS), 3)
    return right.ravel().astype(int), sufficient[question].astype(int), question


def test_shares_of_outcomes_and_their_difference_cover():
    def share(rng):
        right, sufficient, question = answers(rng)
        found = outcome_shares(right, ("wrong", "right"), sufficient, ("no", "yes"), question)
        return found.share("right", "yes").confidence_interval(RESAMPLES)

    def difference(rng):
        right, sufficient, question = answers(rng)
        found = outcome_shares(right, ("wrong", "right"), sufficient, ("no", "yes"), question)
        return found.difference("right", "yes", "no").confidence_interval(RESAMPLES)

    assert 0.915 <= coverage(0.7, share) <= 0.985
    assert 0.915 <= coverage(0.4, difference) <= 0.985


def test_what_withholding_gains_is_covered():
    """Score uniform on 0 to 1, right with that chance: accuracy at coverage c is 1 - c / 2, its mean 3 / 4."""

    def area(rng):
        score = rng.random(200)
        return selective_curve(score, (rng.random(200) < score).astype(int)).area.confidence_interval(RESAMPLES)

    def at_half(rng):
        score = rng.random(200)
        return selective_curve(score, (rng.random(200) < score).astype(int)).band([0.5], RESAMPLES)[0]

    assert 0.915 <= coverage(0.75, area) <= 0.985
    assert 0.9 <= coverage(0.75, at_half) <= 0.985
