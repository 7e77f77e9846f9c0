"""Strengths against choix, statsmodels and published figures, and what a ranking claims under planted truth."""

import choix
import numpy as np
import pytest
import statsmodels.api as sm

from analysis.stats import Choices, fit_strengths, rank_systems

# American League 1987 (Agresti 2002, table 10.10): wins of the row's team against the column's.
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
WINS = np.array(
    [
        [0, 7, 9, 7, 7, 9, 11],
        [6, 0, 7, 5, 11, 9, 9],
        [4, 6, 0, 7, 7, 8, 12],
        [6, 8, 6, 0, 6, 7, 10],
        [6, 2, 6, 7, 0, 7, 12],
        [4, 4, 5, 6, 6, 0, 6],
        [2, 4, 1, 3, 1, 7, 0],
    ],
    float,
)
# By BradleyTerry2 (Turner and Firth 2012, section 2), with Baltimore at 0.
ABILITIES = (1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0.0)


def planted(strengths, *, prompts: int, people: int, of_prompt=0.0, of_person=0.0, tie=0.4, seed=0) -> Choices:
    """Choices by Davidson's model, where prompts and people like systems by chance more or less."""
    draw = np.random.default_rng(seed)
    n = len(strengths)
    prompt, person = np.repeat(np.arange(prompts), people), np.tile(np.arange(people), prompts)
    pairs = np.array(np.triu_indices(n, 1)).T[draw.integers(0, n * (n - 1) // 2, prompts)]
    first, second = np.repeat(pairs, people, axis=0).T
    likes = np.asarray(strengths) + draw.normal(0, of_prompt, (prompts, n))[prompt]
    likes = likes + draw.normal(0, of_person, (people, n))[person]
    rows = np.arange(len(first))
    half = (likes[rows, first] - likes[rows, second]) / 2
    win, lose = np.exp(half), np.exp(-half)
    drawn = draw.random(len(first)) * (win + lose + tie)
    outcome = np.where(drawn < win, 1, np.where(drawn < win + lose, -1, 0))
    return Choices(first, second, outcome, prompt, person, n)


def test_strengths_are_the_published_ones():
    found = fit_strengths(WINS[None], np.zeros_like(WINS)[None])
    assert found.strengths[0] - found.strengths[0][-1] == pytest.approx(ABILITIES, abs=5e-5)
    assert found.ties.tolist() == [-np.inf]


def test_strengths_are_those_of_choix():
    choices = planted(np.linspace(-1, 1.5, 6), prompts=300, people=2, tie=0.0, seed=3)
    winners = np.where(choices.outcome > 0, choices.first, choices.second)
    losers = np.where(choices.outcome > 0, choices.second, choices.first)
    expected = choix.opt_pairwise(6, list(zip(winners.tolist(), losers.tolist(), strict=True)), tol=1e-12)
    wins, ties = choices.counted
    assert fit_strengths(wins[None], ties[None]).strengths[0] == pytest.approx(expected - expected.mean(), abs=1e-6)


def test_ties_are_davidsons_which_are_a_log_linear_model():
    """Davidson's likelihood is that of Poisson counts with a level for each pair (Sinclair 1982)."""
    choices = planted((0.0, 0.6, 1.1, -0.7), prompts=400, people=1, tie=0.7, seed=5)
    wins, ties = choices.counted
    rows, counts = [], []
    pairs = list(zip(*np.triu_indices(4, 1), strict=True))
    for place, (one, other) in enumerate(pairs):
        for outcome, count in ((1, wins[one, other]), (-1, wins[other, one]), (0, ties[one, other])):
            row = np.zeros(4 + len(pairs))
            row[one], row[other] = outcome / 2, -outcome / 2
            row[0], row[4 + place] = outcome == 0, 1  # system 0 is at 0, and its column is the ties'
            rows.append(row)
            counts.append(count)
    fitted = sm.GLM(counts, np.array(rows), family=sm.families.Poisson()).fit(tol=1e-12)
    strengths = np.concatenate([[0.0], fitted.params[1:4]])
    # Of pairs with system 0 its column holds half the outcome, which is left out as its strength is 0.
    found = fit_strengths(wins[None], ties[None])
    assert found.strengths[0] == pytest.approx(strengths - strengths.mean(), abs=1e-6)
    assert found.ties[0] == pytest.approx(fitted.params[0], abs=1e-6)


def test_many_tables_at_once_are_each_table_by_itself():
    tables = [planted((0, 1, -1), prompts=60, people=2, seed=seed).counted for seed in range(5)]
    together = fit_strengths(np.array([wins for wins, _ in tables]), np.array([ties for _, ties in tables]))
    for place, (wins, ties) in enumerate(tables):
        alone = fit_strengths(wins[None], ties[None])
        assert together.strengths[place] == pytest.approx(alone.strengths[0], abs=1e-8)


def test_what_has_no_finite_strength_says_why():
    prompt = np.arange(6)
    always = Choices(np.array([0, 0, 0, 1, 1, 1]), np.array([1, 1, 1, 2, 2, 2]), np.ones(6), prompt, prompt * 0, 3)
    assert "no bound" in rank_systems(always).undefined
    apart = Choices(np.array([0, 1, 2, 3]), np.array([1, 0, 3, 2]), np.ones(4), prompt[:4], prompt[:4] * 0, 4)
    assert "never compared" in rank_systems(apart).undefined
    assert rank_systems(always).rates.tolist() == [1.0, 0.5, 0.0]


def test_systems_far_apart_are_in_groups_of_their_own_and_equal_ones_share_one():
    found = rank_systems(planted((2.0, 0.0, 0.0, -2.0), prompts=400, people=3, seed=2))
    assert [set(group) for group in found.groups()] == [{0}, {1, 2}, {3}]
    assert found.low[0] < 2.0 < found.high[0] and found.low[3] < -2.0 < found.high[3]


def test_one_person_gives_intervals_over_prompts_and_many_people_wider_ones():
    alone = rank_systems(planted((0.5, 0.0, -0.5), prompts=200, people=1, seed=4))
    assert np.isfinite(alone.low).all() and alone.n_people == 1
    differing = planted((0.5, 0.0, -0.5), prompts=200, people=3, of_person=1.0, seed=4)
    over_both = rank_systems(differing)
    as_one = rank_systems(Choices(**{**vars_of(differing), "person": differing.person * 0}))
    assert ((over_both.high - over_both.low) > (as_one.high - as_one.low)).all()


def vars_of(choices: Choices) -> dict:
    return {name: getattr(choices, name) for name in ("first", "second", "outcome", "prompt", "person", "n_systems")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "prompts", "people", "of_prompt", "of_person"),
    [(3, 40, 1, 0.0, 0.0), (5, 200, 3, 0.5, 0.0), (5, 200, 3, 0.5, 0.3), (4, 100, 2, 0.3, 0.3), (6, 100, 6, 0.5, 0.5)],
)
def test_equal_systems_are_rarely_distinguished_and_intervals_hold(n, prompts, people, of_prompt, of_person):
    wrong, covered, times = 0, 0.0, 120
    for seed in range(times):
        choices = planted(
            np.zeros(n), prompts=prompts, people=people, of_prompt=of_prompt, of_person=of_person, seed=seed
        )
        found = rank_systems(choices, n_resamples=300, seed=seed)
        wrong += found.is_apart.any()
        covered += ((found.low <= 0) & (found.high >= 0)).mean()
    assert wrong / times <= 0.05
    assert covered / times >= 0.95
