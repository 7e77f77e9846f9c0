"""Rankings: agreement against scipy, strengths against Plackett and Luce's model in choix, and what is claimed of equal
systems."""

from itertools import combinations

import choix
import numpy as np
import pytest
from scipy.stats import friedmanchisquare, kendalltau

from analysis.stats import (
    Choices,
    best_worst_scores,
    fit_strengths,
    rank_agreement,
    rank_concordance,
    rank_systems,
)


def planted(strengths, *, prompts: int, people: int, differ: float = 0.0, seed: int = 0) -> np.ndarray:
    """Places from 0 of all systems by Plackett and Luce's model, (prompts, people, systems). Prompts and people like
    systems by chance more or less."""
    draw = np.random.default_rng(seed)
    n = len(strengths)
    likes = np.asarray(strengths, float) + draw.normal(0, differ, (prompts, 1, n)) + draw.normal(0, differ, (people, n))
    return np.argsort(np.argsort(-(likes + draw.gumbel(size=(prompts, people, n))), axis=2), axis=2)


def choices_of(places: np.ndarray, *, ends: bool = False) -> Choices:
    """Of all pairs, or with `ends` of those with the best or the worst."""
    prompts, people, n = places.shape
    flat = places.reshape(-1, n)
    prompt, person = np.repeat(np.arange(prompts), people), np.tile(np.arange(people), prompts)
    parts = []
    for one, other in combinations(range(n), 2):
        named = np.isin(flat[:, one], (0, n - 1)) | np.isin(flat[:, other], (0, n - 1))
        rows = np.flatnonzero(named) if ends else np.arange(len(flat))
        outcome = np.where(flat[rows, one] < flat[rows, other], 1, -1)
        parts.append([rows * 0 + one, rows * 0 + other, outcome, prompt[rows], person[rows]])
    return Choices(*np.concatenate(parts, axis=1), n)


def order_of(ranks: np.ndarray) -> np.ndarray:
    return np.sign(ranks[:, None, :] - ranks[:, :, None])


@pytest.mark.parametrize("levels", [2, 3, 50])  # the fewer, the more ties
def test_agreement_is_that_of_scipy(levels):
    draw = np.random.default_rng(levels)
    sets = [draw.integers(0, levels, (people, items)) for people, items in ((2, 4), (3, 5), (5, 5), (3, 3))]
    sets = [np.where(np.eye(*ranks.shape), levels, ranks) for ranks in sets]  # nobody puts all in one place
    taus, ws, orders, unit = [], [], [], []
    for place, ranks in enumerate(sets):
        taus.append(np.mean([kendalltau(one, other).statistic for one, other in combinations(ranks, 2)]))
        people, items = ranks.shape
        ws.append(friedmanchisquare(*ranks.T).statistic / (people * (items - 1)))
        order = np.zeros((people, 5, 5))
        order[:, :items, :items] = order_of(ranks)
        orders.append(order)
        unit += [place] * people
    found = rank_concordance(np.concatenate(orders), np.array(unit), np.array(unit))
    assert found.tau.estimate == pytest.approx(np.mean(taus))
    assert found.w.estimate == pytest.approx(np.mean(ws))
    assert found.tau.n == len(sets)


def test_tau_of_one_ranking_with_people_is_that_of_scipy():
    draw = np.random.default_rng(3)
    own, people = draw.integers(0, 4, (20, 5)), draw.integers(0, 4, (60, 5))
    unit = np.repeat(np.arange(20), 3)
    own[0] = 1  # no ranking
    taus = [[kendalltau(own[place], one).statistic for one in people[unit == place]] for place in range(1, 20)]
    found = rank_agreement(order_of(own), order_of(people), unit, np.arange(20))
    assert found.n == 19 and found.estimate == pytest.approx(np.mean([np.mean(one) for one in taus]))
    assert found.low < found.estimate < found.high


def test_agreement_of_one_person_is_undefined_and_of_a_unit_by_one_left_out():
    order = order_of(np.array([[1, 2, 3], [1, 2, 3], [3, 2, 1]]))
    assert rank_concordance(order[:1], np.array([0]), np.array([0])).w.undefined
    found = rank_concordance(order, np.array([0, 0, 1]), np.array([0, 0, 1]))
    assert (found.tau.estimate, found.w.estimate) == pytest.approx((1.0, 1.0)) and found.tau.n == 1


def test_pairs_of_rankings_estimate_the_strengths_of_plackett_and_luce():
    planted_ones = np.array([1.2, 0.5, 0.0, -0.6, -1.1])
    places = planted(planted_ones, prompts=6000, people=1, seed=1)
    expected = choix.ilsr_rankings(5, np.argsort(places[:, 0], axis=1).tolist())
    wins, ties = choices_of(places).counted
    found = fit_strengths(wins[None], ties[None]).strengths[0]
    assert found == pytest.approx(expected - expected.mean(), abs=0.02)
    assert found == pytest.approx(planted_ones, abs=0.05)


def test_best_worst_scores_are_counts():
    places = planted((1.0, 0.0, 0.0, -1.0), prompts=50, people=2, seed=2)
    found = best_worst_scores(*shown_in(places), 4)
    assert found.scores == pytest.approx(((places == 0).sum(axis=(0, 1)) - (places == 3).sum(axis=(0, 1))) / 100)
    assert found.low[0] > 0 > found.high[3] and found.n.tolist() == [100] * 4


def shown_in(places: np.ndarray) -> tuple[np.ndarray, ...]:
    """Choices, systems, prompts and people, for each time that a system was shown."""
    prompts, people, n = places.shape
    choice = (places == 0).astype(int) - (places == n - 1)
    prompt, person, system = (index.ravel() for index in np.indices(places.shape))
    return choice.ravel(), system, prompt, person


@pytest.mark.slow
@pytest.mark.parametrize("ends", [False, True], ids=["rankings", "best and worst"])
@pytest.mark.parametrize(("n", "prompts", "people", "differ"), [(3, 40, 1, 0.0), (5, 60, 3, 0.4), (4, 40, 2, 0.3)])
def test_equal_systems_are_rarely_distinguished(n, prompts, people, differ, ends):
    wrong, times = 0, 120
    for seed in range(times):
        places = planted(np.zeros(n), prompts=prompts, people=people, differ=differ, seed=seed)
        wrong += rank_systems(choices_of(places, ends=ends), n_resamples=300, seed=seed).is_apart.any()
    assert wrong / times <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize(("prompts", "people", "differ"), [(30, 1, 0.0), (40, 3, 0.0), (40, 8, 0.3)])
def test_intervals_of_scores_and_concordance_hold(prompts, people, differ):
    """Of equal systems a score is 0, and so is tau where people rank at random."""
    covered, of_tau, times = 0.0, 0.0, 300
    prompt = np.repeat(np.arange(prompts), people)
    for seed in range(times):
        places = planted(np.zeros(4), prompts=prompts, people=people, differ=differ, seed=seed)
        scores = best_worst_scores(*shown_in(places), 4)
        covered += ((scores.low <= 0) & (scores.high >= 0)).mean()
        if people > 1 and not differ:
            tau = rank_concordance(order_of(places.reshape(-1, 4)), prompt, prompt).tau
            of_tau += tau.low <= 0 <= tau.high
    assert covered / times >= 0.94
    assert differ or people == 1 or of_tau / times >= 0.93
