"""Labellers on a scale: held to scikit-learn, SciPy, statsmodels, and sums written out."""

from itertools import permutations

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import cohen_kappa_score, mean_absolute_error

from analysis.stats import (
    Labels,
    cohen_kappa,
    distance_gap,
    errors_along,
    isotonic_calibration,
    regression_mean,
    scale_standing,
)
from analysis.stats.scale.calibration import FEWEST_VALUES, LEAST_ROWS, TOO_FEW, TOO_FEW_VALUES
from analysis.stats.scale.distances import NO_PAIR, SAMPLED_PEOPLE
from analysis.stats.scale.standing import AS_CLOSE, CLOSER, FARTHER, NOT_USABLE, UNDECIDED, UNKNOWN, USABLE

FIVE = np.arange(1.0, 6)


def study(n: int, people: int = 1, *, noise: float = 0.6, own: float = 0.6, bias: float = 0.0, seed: int = 0):
    """Values of people and of a labeller about the same truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, n)

    def near(spread: float, offset: float = 0.0) -> np.ndarray:
        return np.clip(np.round(truth + offset + rng.normal(0, spread, n)), 1, 5)

    return np.stack([near(noise) for _ in range(people)]), near(own, bias)


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_kappa_takes_values_that_are_not_equally_far_apart(weights):
    """scikit-learn's places are these values where labels that nobody gives fill the gaps."""
    rng = np.random.default_rng(0)
    a = rng.choice([0, 1, 4, 6], 80)
    b = np.where(rng.random(80) < 0.6, a, rng.choice([0, 1, 4, 6], 80))
    values = np.array([0.0, 1, 4, 6])
    labels = Labels.of_two(np.searchsorted(values, a), np.searchsorted(values, b), ("0", "1", "4", "6"))
    expected = cohen_kappa_score(a, b, labels=range(7), weights=weights)
    found = cohen_kappa(labels, 0, 1, weights, values)
    assert found.estimate == pytest.approx(expected)
    assert found.estimate != pytest.approx(cohen_kappa(labels, 0, 1, weights).estimate, abs=1e-3)
    assert cohen_kappa(labels, 0, 1, weights, 10 * values).standard_error == pytest.approx(found.standard_error)
    turned = cohen_kappa(Labels.of_two(*np.array([[0, 1] * 4, [1, 0] * 4]), ("0", "1")), 0, 1, weights)
    assert turned.estimate == -1 and turned.analytic_interval().undefined


def test_distances_are_means_over_persons_and_their_others():
    people, judge = study(60, 4)
    rng = np.random.default_rng(1)
    people = np.where(rng.random(people.shape) < 0.3, np.nan, people)
    judge[:5] = np.nan
    mine, theirs, n = 0.0, 0.0, 0
    for row in range(60):
        given = [one for one in people[:, row] if not np.isnan(one)]
        if len(given) < 2 or np.isnan(judge[row]):
            continue
        n += len(given)
        mine += sum(abs(one - judge[row]) for one in given)
        theirs += sum(abs(a - b) for a, b in permutations(given, 2)) / (len(given) - 1)
    found = distance_gap(people, judge, 4)
    assert (found.labeller, found.people) == pytest.approx((mine / n, theirs / n))
    assert found.estimate == pytest.approx(found.labeller - found.people)
    assert found.low < found.estimate < found.high and not found.is_of_people
    for value, (low, high) in ((found.labeller, found.labeller_ends), (found.people, found.people_ends)):
        assert 0 <= low < value < high


def test_many_independent_rows_have_the_interval_of_a_mean():
    """Added rows no longer matter: that of statsmodels' mean of the rows' differences."""
    people, judge = study(20_000, 2)
    difference = np.abs(people - judge).mean(axis=0) - np.abs(people[0] - people[1])
    low, high = sm.stats.DescrStatsW(difference).tconfint_mean()
    found = distance_gap(people, judge, 4)
    assert (found.low, found.high) == pytest.approx((low, high), abs=2e-4)
    among = sm.stats.DescrStatsW(np.abs(people[0] - people[1])).tconfint_mean()
    assert found.people_ends == pytest.approx(among, abs=2e-4)


def test_rows_of_one_cluster_count_as_one():
    people, judge = study(100, 2)
    once, thrice = (
        distance_gap(people, judge, 4),
        distance_gap(*(np.tile(one, 3) for one in (people, judge)), 4, np.tile(np.arange(100), 3)),
    )
    assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high))
    assert "fewer than 20 clusters" in distance_gap(people, judge, 4, np.arange(100) % 10).undefined


def test_with_several_people_their_differences_widen_the_interval():
    people, judge = study(400, SAMPLED_PEOPLE, seed=4)
    offset = np.linspace(-1, 1, SAMPLED_PEOPLE)[:, None]
    one, other = distance_gap(people, judge, 4), distance_gap(people + offset, judge, 6)
    assert one.is_of_people and other.is_of_people
    # The jackknife over people, written out.
    left_out = [
        distance_gap(np.delete(people + offset, place, axis=0), judge, 6).estimate for place in range(len(people))
    ]
    by_people = (len(people) - 1) / len(people) * np.sum((left_out - np.mean(left_out)) ** 2)
    four = distance_gap(people[:4], judge, 4)
    assert not four.is_of_people
    assert other.high - other.low > 2 * 1.96 * np.sqrt(by_people)


@pytest.mark.parametrize(
    ("people", "own", "bias", "verdict", "closeness"),
    [
        (1, 0.4, 0.0, USABLE, UNKNOWN),
        (1, 2.5, 0.0, NOT_USABLE, UNKNOWN),
        (2, 0.0, 0.0, USABLE, CLOSER),
        (2, 0.6, 0.0, USABLE, AS_CLOSE),
        (2, 0.6, 1.0, NOT_USABLE, FARTHER),
    ],
)
def test_the_verdict(people, own, bias, verdict, closeness):
    found = scale_standing(*study(800, people, own=own, bias=bias, seed=3), FIVE)
    assert (found.verdict, found.closeness) == (verdict, closeness)
    if people == 1:
        theirs, judge = study(800, own=own, bias=bias, seed=3)
        assert found.kappa.estimate == pytest.approx(cohen_kappa_score(theirs[0], judge, weights="quadratic"))
        assert found.kappa_low < found.kappa.estimate < found.kappa_high


def test_few_rows_do_not_decide_and_as_many_more_would():
    found = scale_standing(*study(60, 2, seed=5), FIVE)
    assert (found.verdict, found.closeness) == (UNDECIDED, UNKNOWN)
    assert 20 < found.n_more < 2000
    many = scale_standing(*study(60 + found.n_more, 2, seed=5), FIVE, bound=0.15)
    assert many.gap.high - many.gap.low < found.gap.high - found.gap.low
    assert scale_standing(*study(10), FIVE).verdict == UNDECIDED


def test_the_interval_of_kappa_keeps_to_its_range_and_holds_the_truth():
    """A labeller that turns the scale around, but for one row in twenty."""
    n, turned, rng = 20, 0.95, np.random.default_rng(0)
    many = rng.integers(1, 6, 400_000).astype(float)
    truth = cohen_kappa_score(many, np.where(rng.random(len(many)) < turned, 6 - many, many), weights="quadratic")
    found = []
    for _ in range(100):
        people = rng.integers(1, 6, n).astype(float)
        one = scale_standing(people[None, :], np.where(rng.random(n) < turned, 6 - people, people), FIVE)
        found.append((one.kappa_low, one.kappa_high))
    low, high = np.transpose(found)
    assert low.min() == -1 and high.max() <= 1
    assert truth == pytest.approx(1 - 2 * turned, abs=0.01) and ((low <= truth) & (truth <= high)).mean() >= 0.95


def test_a_step_of_a_fine_scale_is_a_tenth_of_it():
    people, judge = study(300, 2)
    coarse, fine = (
        scale_standing(people, judge, FIVE),
        scale_standing(25 * (people - 1), 25 * (judge - 1), np.arange(0.0, 101)),
    )
    assert (coarse.step, coarse.margin, fine.step, fine.margin) == (1, 0.1, 10, 1)
    assert fine.gap.estimate == pytest.approx(25 * coarse.gap.estimate)


@pytest.mark.parametrize(
    ("people", "judge"),
    [
        ([[1, 2, 3]], [3, 3, 3]),
        ([[2] * 40], [2] * 40),
        ([[np.nan] * 3], [1, 2, 3]),
        ([[1, 2], [np.nan, np.nan]], [1, 2]),
        ([[3] * 30, [3] * 30], [3] * 30),
        (np.ones((2, 0)), []),
    ],
)
def test_undefined_cases_give_a_reason_and_no_verdict(people, judge):
    people, judge = np.array(people, dtype=float), np.array(judge, dtype=float)
    found = scale_standing(people, judge, FIVE)
    assert found.verdict in (UNDECIDED, NOT_USABLE) and found.kappa_undefined
    assert errors_along(judge, people[0] if len(people) else judge, FIVE).all.n == np.isfinite(people[0] + judge).sum()
    calibrated = isotonic_calibration(judge, people[0])
    assert calibrated.undefined == TOO_FEW and np.isnan(calibrated.calibrated).all()
    if len(people) > 1 and not (np.isfinite(people).sum(axis=0) > 1).any():
        assert found.gap.undefined == NO_PAIR


def test_errors_at_each_value_are_those_of_the_rows():
    [theirs], judge = study(500, bias=0.4)
    found = errors_along(judge, theirs, FIVE)
    assert found.all.absolute == pytest.approx(mean_absolute_error(theirs, judge))
    assert [one.value for one in found.at] == FIVE.tolist()
    for one in found.at:
        errors = (judge - theirs)[theirs == one.value]
        assert (one.n, one.mean) == (len(errors), pytest.approx(errors.mean()))
        assert one.low < one.mean < one.high and one.absolute_low < one.absolute < one.absolute_high
    low, high = sm.stats.DescrStatsW(judge - theirs).tconfint_mean()
    assert (found.all.low, found.all.high) == pytest.approx((low, high), abs=0.01)


def test_calibration_is_that_of_scikit_learn_and_each_row_is_left_out_of_its_own():
    [theirs], judge = study(300, own=1.0, bias=0.8)
    found = isotonic_calibration(judge, theirs)
    every = IsotonicRegression(out_of_bounds="clip").fit(judge, theirs)
    assert found.points == tuple((value, pytest.approx(every.predict([value])[0])) for value in np.unique(judge))
    before, after, less = found.means.mean[0]
    assert before == pytest.approx(((judge - theirs) ** 2).mean()) and less == pytest.approx(after - before)
    assert after < before
    assert after > ((every.predict(judge) - theirs) ** 2).mean()
    constant = isotonic_calibration(np.full(LEAST_ROWS, 2.0), np.resize(FIVE, LEAST_ROWS))
    assert constant.undefined == TOO_FEW_VALUES and FEWEST_VALUES == 3
    unlabelled = isotonic_calibration(np.append(judge, 4.0), np.append(theirs, np.nan))
    assert unlabelled.calibrated[-1] == pytest.approx(every.predict([4.0])[0])


def test_the_regression_mean_is_the_prediction_at_the_mean_of_all():
    rng = np.random.default_rng(2)
    machine = rng.normal(3, 1, 400)
    human = (1 + 1.7 * machine + rng.normal(0, 0.5, 400))[:100]
    found = regression_mean(human, machine[:100], machine[100:])
    fit = sm.OLS(human, sm.add_constant(machine[:100])).fit()
    assert found.estimate == pytest.approx(fit.predict([[1, machine.mean()]])[0])
    assert found.power == pytest.approx(fit.params[1])
    assert "one value" in regression_mean(human, np.ones(100), machine[100:]).undefined
    clustered = regression_mean(human, machine[:100], machine[100:], np.arange(100), np.arange(100, 400))
    assert (clustered.low, clustered.high) == pytest.approx((found.low, found.high))


def test_the_regression_mean_covers_what_people_would_say_of_all():
    rng, hits = np.random.default_rng(3), 0
    for _ in range(400):
        machine = rng.normal(3, 1, 240)
        found = regression_mean(2 * machine[:40] + rng.normal(0, 1, 40), machine[:40], machine[40:])
        hits += found.low < 6 < found.high
    assert 0.92 < hits / 400 < 0.98
