"""The rules behind the page, held by outside implementations and by simulated people of known skill."""

import random
from datetime import date, timedelta

import numpy as np
import pytest
from scipy.stats import fisher_exact, norm
from statsmodels.stats.contingency_tables import Table2x2
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from analysis.progress.counting import PersonFigures
from analysis.progress.pace import days_to_go, pace_of
from analysis.progress.people import PersonShare
from analysis.progress.standouts import standouts
from analysis.stats.exact import fisher_less, interaction, step_down
from annotation.work.hours import seconds_worked


def test_exact_tests_are_those_of_scipy():
    draw = random.Random(3)
    for _ in range(500):
        n, m = draw.randint(1, 150), draw.randint(1, 2000)
        a, b = draw.randint(0, n), draw.randint(0, m)
        table = [[a, n - a], [b, m - b]]
        assert fisher_less(a, n, b, m) == pytest.approx(fisher_exact(table, alternative="less").pvalue, abs=1e-9)
    ps = [draw.random() ** 3 for _ in range(40)]
    assert step_down(ps) == pytest.approx(multipletests(ps, method="holm")[1])


def test_changes_are_compared_as_by_statsmodels():
    own, rest = (45, 50, 30, 50), (450, 500, 440, 500)
    tables = [[[b + 0.5, n - b + 0.5], [a + 0.5, m - a + 0.5]] for b, n, a, m in (own, rest)]
    one, other = (Table2x2(np.array(table)) for table in tables)
    z = (one.log_oddsratio - other.log_oddsratio) / np.hypot(one.log_oddsratio_se, other.log_oddsratio_se)
    assert interaction(own, rest) == pytest.approx(2 * norm.sf(abs(z)))


def test_the_interval_of_a_share_is_that_of_statsmodels():
    low, high = proportion_confint(41, 57, method="wilson")
    assert PersonShare(41, 57, 20).ends == f"{round(100 * low)}–{round(100 * high)} %"


def simulated(skills, n_items, draw, *, overlap=2, later=None, checks=0) -> dict[str, PersonFigures]:
    """People who give the right of two labels as often as their skill says, on items that are drawn at random for
    `overlap` of them; `later` are their skills in the second half of the items."""
    drawn = [(draw.choice(len(skills), overlap, replace=False), draw.random(overlap)) for _ in range(n_items)]
    who, chance = map(np.array, zip(*drawn, strict=True))
    in_second = np.arange(n_items)[:, None] >= n_items // 2
    right = chance < np.where(in_second, np.asarray(later or skills)[who], np.asarray(skills)[who])
    n_right = right.sum(axis=1, keepdims=True)
    same_as_others = (np.where(right, n_right, overlap - n_right) - 1) / (overlap - 1)
    people = {}
    for place in range(len(skills)):
        own = same_as_others[who == place].tolist()
        half = len(own) // 2
        figures = PersonFigures(others=(sum(own), len(own)), first=(sum(own[:half]), half))
        figures.second = (sum(own[half:]), len(own) - half)
        figures.checks = (int(draw.binomial(checks, skills[place])), checks)
        people[str(place)] = figures
    return people


STUDIES = 400
# Studies in which nobody differs: at most 5 % may name a person, with room for the chance of so many studies.
MOST = 0.05 + 2.3 * (0.05 * 0.95 / STUDIES) ** 0.5
EQUAL = [([0.9] * 12, 600, 2, 20), ([0.7] * 40, 1200, 2, 6), ([0.95] * 5, 100, 3, 0), ([0.8] * 3, 120, 3, 10)]


@pytest.mark.parametrize("skills, n_items, overlap, checks", EQUAL)
def test_without_a_difference_or_a_change_the_sentence_is_false_in_at_most_5_percent(skills, n_items, overlap, checks):
    draw = np.random.default_rng(11)
    named = sum(
        bool(standouts(simulated(skills, n_items, draw, overlap=overlap, checks=checks))) for _ in range(STUDIES)
    )
    assert named / STUDIES <= MOST


def test_who_is_as_good_as_the_rest_is_not_named_for_others_who_are_worse():
    draw, false, found = np.random.default_rng(12), 0, 0
    for _ in range(200):
        named = standouts(simulated([0.95] * 10 + [0.6, 0.6], 900, draw, checks=10))
        false += bool(set(named) - {"10", "11"})
        found += {"10", "11"} <= set(named)
    assert false / 200 <= 0.05 + 2.3 * (0.05 * 0.95 / 200) ** 0.5
    assert found / 200 > 0.9


@pytest.mark.parametrize("changed", [[0.55], [0.55, 0.6]])
def test_who_changes_is_found_and_the_others_are_not_named_for_it(changed):
    draw, found, false = np.random.default_rng(13), 0, 0
    who = {str(place) for place in range(len(changed))}
    for _ in range(200):
        named = standouts(simulated([0.92] * 10, 2000, draw, later=[*changed, *[0.92] * (10 - len(changed))]))
        reasons = " ".join(named.get("0", []))
        found += who <= {*named} and ("second half" in reasons or len(who) > 1)
        false += bool(set(named) - who)
    assert found / 200 > 0.9
    assert false / 200 <= 0.05 + 2.3 * (0.05 * 0.95 / 200) ** 0.5


def test_the_expected_end_is_in_its_interval_as_often_as_it_says():
    draw, inside, n = np.random.default_rng(14), 0, 1000
    for _ in range(n):
        days = draw.negative_binomial(5, 0.05, 400)
        first, _, last = days_to_go([int(one) for one in days[:14]], 2500)
        took = int(np.searchsorted(np.cumsum(days[14:]), 2500) + 1)
        inside += first <= took and (last is None or took <= last)
    assert inside / n > 0.93


def test_pace_says_why_there_is_no_end():
    today = date(2026, 11, 29)
    days = {(today - timedelta(days=back)).isoformat(): 100 + back for back in range(1, 15)}
    known = pace_of(days | {today.isoformat(): 3}, 1000, today)
    assert (known.per_day, known.n_days, known.end) == (107.5, 14, today + timedelta(days=10))
    assert known.first <= known.end <= known.last
    assert pace_of({}, 10, today).why_not == "there was no answer in the last four weeks"
    assert pace_of(days, 0, today).why_not == "no answer is missing"
    early = {(today - timedelta(days=2)).isoformat(): 5}
    assert "fewer than 5 whole days" in pace_of(early, 10, today).why_not
    irregular = {(today - timedelta(days=back)).isoformat(): n for back, n in ((1, 0), (5, 3000), (9, 1))}
    assert pace_of(irregular, 10**6, today).last is None


def test_time_longer_than_the_pause_is_not_worked():
    assert seconds_worked([3600, 0, 600, 1201, 1300], 600) == 600 + 99
    assert seconds_worked([], 600) == 0
