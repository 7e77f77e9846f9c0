"""Planning: textbook variances from outside, pilots with planted truth, and widths that real intervals then have."""

from functools import cache

import numpy as np
import pytest

from analysis.stats import Labels, krippendorff_alpha, prediction_powered_mean
from analysis.stats.planning.pilot import Pilot, pilot_of, simulated, variance_of_cluster
from analysis.stats.planning.sample_size import judgements_needed, planned_alpha, planned_rate, units_needed

Z = 1.959964


def people(*right: float, prevalence: float = 0.5, **fields) -> Pilot:
    """People who find the truth of a yes-no question with these chances."""
    confusion = np.array([[[p, 1 - p], [1 - p, p]] for p in right])
    return Pilot(
        confusion=confusion, prevalence=np.array([1 - prevalence, prevalence]), categories=("no", "yes"), **fields
    )


def donner_eliasziw(kappa: float, prevalence: float, n: int) -> float:
    """Large-sample variance of the intraclass kappa of two ratings with two labels: Donner and Eliasziw (1992),
    Statistics in Medicine 11, 1511-1519, eq. 4."""
    spread = prevalence * (1 - prevalence)
    return (1 - kappa) / n * ((1 - kappa) * (1 - 2 * kappa) + kappa * (2 - kappa) / (2 * spread))


@pytest.mark.parametrize("right", [0.9, 0.75])
def test_alphas_half_width_is_that_of_donner_and_eliasziw(right):
    """Two equally good people and two labels: alpha is the intraclass kappa, (2 p - 1)^2 at a prevalence of a half."""
    kappa = (2 * right - 1) ** 2
    for seed in range(3):
        plan = planned_alpha(people(right, right), 1000, 2, n_studies=500, seed=seed)
        assert plan.estimate == pytest.approx(kappa, abs=0.02)
        assert plan.half_width == pytest.approx(Z * np.sqrt(donner_eliasziw(kappa, 0.5, 1000)), rel=0.01)


PILOTS = {
    "two labels": people(0.9, 0.8, 0.8, prevalence=0.3),
    "in claims": people(0.9, 0.8, 0.7, prevalence=0.3, cluster_size=4, correlation=0.3),
    "a rare label": people(0.97, 0.95, 0.96, prevalence=0.04, cluster_size=3, correlation=0.2),
}


@pytest.mark.parametrize("name", PILOTS)
def test_what_is_drawn_moves_the_number_of_units_by_less_than_two_per_cent(name):
    """Plain draws of 500 studies move it by 4 to 8 %: their spread is known to 1 / sqrt(2 * 500), the number to twice
    that."""
    found = [
        units_needed(
            lambda n, seed=seed: planned_alpha(PILOTS[name], n, 2, n_studies=500, seed=seed), 0.05
        ).plan.n_units
        for seed in range(8)
    ]
    assert np.std(found, ddof=1) / np.mean(found) < 0.02


def test_the_width_is_that_of_studies_drawn_one_by_one():
    """Whole studies of 60 claims simulated anew, not drawn from a pool, and alpha of each by its own function."""
    pilot, values = PILOTS["in claims"], []
    plan = planned_alpha(pilot, 240, 2, n_studies=500)
    for seed in range(8):
        _, said, cluster = simulated(pilot, 2, np.random.default_rng(100 + seed))
        for start in range(0, 20_000, 240)[:80]:
            part = said[start : start + 240]
            unit, rater = np.indices(part.shape)
            labels = Labels(unit.ravel(), rater.ravel(), part.ravel(), 240, pilot.categories)
            values.append(krippendorff_alpha(labels).estimate)
    # 640 studies know their spread to 2.8 %.
    assert plan.half_width == pytest.approx(Z * np.std(values, ddof=1), rel=0.08)
    assert plan.estimate == pytest.approx(np.mean(values), abs=0.01)


def test_the_variance_of_a_clusters_sum_is_that_of_sums_of_many_clusters():
    pilot = people(0.9, 0.7, prevalence=0.2, cluster_size=6, correlation=0.5)
    truth, said, cluster = simulated(pilot, 2, np.random.default_rng(3))
    value = (said == 1).sum(axis=1) + 0.5 * (said[:, 0] != said[:, 1])
    sums = [
        np.bincount(cluster, (said == 1).sum(axis=1) + 0.5 * (said[:, 0] != said[:, 1]))
        for _, said, cluster in (simulated(pilot, 2, np.random.default_rng(seed)) for seed in range(10, 16))
    ]
    assert variance_of_cluster(pilot, value, truth) == pytest.approx(np.concatenate(sums).var(ddof=1), rel=0.03)


def test_a_pool_has_labels_as_often_as_the_pilot_says():
    pilot = PILOTS["a rare label"]
    truth, said, cluster = simulated(pilot, 2, np.random.default_rng(1))
    # A plain draw of 19,998 is off by 0.0014 on average.
    assert np.mean(truth) == pytest.approx(0.04, abs=3e-4)
    assert np.mean(said[truth == 0]) == pytest.approx(1 - np.mean([0.97, 0.95, 0.96]), abs=1e-3)
    both = truth.reshape(-1, 3)
    pairs = np.corrcoef(np.r_[both[:, 0], both[:, 1], both[:, 2]], np.r_[both[:, 1], both[:, 2], both[:, 0]])
    assert pairs[0, 1] == pytest.approx(0.2, abs=0.03)
    assert np.bincount(cluster).tolist() == [3] * 6666


def test_a_share_needs_cochrans_number_of_units():
    """Cochran (1977), Sampling Techniques, eq. 4.1: z^2 p q / d^2 is 385 at p = .5, d = .05 and 246 at p = .2."""
    for prevalence, n in ((0.5, 385), (0.2, 246)):
        pilot = people(1.0, prevalence=prevalence)
        assert planned_rate(pilot, 1, n, 1).half_width == pytest.approx(0.05, rel=0.02)
        needed = units_needed(lambda units, pilot=pilot: planned_rate(pilot, 1, units, 1), 0.05)
        assert needed.plan.n_units == pytest.approx(n, rel=0.04) and needed.plan.half_width <= 0.05


def test_clusters_widen_by_the_design_effect():
    """Kish (1965), Survey Sampling, section 5.4: the variance grows by 1 + (m - 1) rho."""
    alone, together = people(1.0), people(1.0, cluster_size=5, correlation=0.4)
    effect = (planned_rate(together, 1, 500, 1).half_width / planned_rate(alone, 1, 500, 1).half_width) ** 2
    assert effect == pytest.approx(1 + 4 * 0.4, rel=0.06)


def test_a_checker_gives_what_prediction_powered_inference_then_has():
    machine = np.array([[0.9, 0.1], [0.1, 0.9]])
    pilot = people(0.95, prevalence=0.3, machine=machine)
    plan = planned_rate(pilot, 1, 200, 1, n_others=4000)
    rng, errors = np.random.default_rng(4), []
    for _ in range(60):
        truth = (rng.random(4200) < 0.3).astype(int)
        said, by_machine = (np.where(rng.random(4200) < p, truth, 1 - truth) for p in (0.95, 0.9))
        errors.append(prediction_powered_mean(said[:200], by_machine[:200], by_machine[200:]).standard_error)
    assert plan.half_width == pytest.approx(Z * np.mean(errors), rel=0.05)
    assert plan.half_width < 0.8 * planned_rate(pilot, 1, 200, 1).half_width


def test_bootstrap_intervals_of_such_studies_have_the_planned_width():
    pilot = people(0.9, 0.8, 0.7, prevalence=0.3, cluster_size=3, correlation=0.3)
    plan = planned_alpha(pilot, 300, 2)
    _, said, _ = simulated(pilot, 2, np.random.default_rng(9))
    halves = []
    for start in range(0, 9000, 300):
        part = said[start : start + 300]
        unit, rater = np.indices(part.shape)
        labels = Labels(unit.ravel(), rater.ravel(), part.ravel(), 300, pilot.categories, cluster=np.arange(300) // 3)
        found = krippendorff_alpha(labels).confidence_interval(n_resamples=300)
        halves.append((found.high - found.low) / 2)
    assert plan.half_width == pytest.approx(np.mean(halves), rel=0.06)


def pilot_labels(n: int, right: tuple[float, ...], seed: int = 1, cluster_size: int = 4):
    """Each unit by all; four units of a cluster have one truth with a chance of 0.7, so their correlation is 0.49."""
    rng = np.random.default_rng(seed)
    cluster = np.arange(n) // cluster_size
    common = (rng.random(n) < 0.4)[cluster]
    truth = np.where(rng.random(n) < 0.7, common, rng.random(n) < 0.4).astype(int)
    said = np.column_stack([np.where(rng.random(n) < p, truth, 1 - truth) for p in right])
    unit, rater = np.indices(said.shape)
    machine = np.where(rng.random(n) < 0.85, truth, 1 - truth)
    return Labels(unit.ravel(), rater.ravel(), said.ravel(), n, ("no", "yes"), cluster=cluster), machine


def test_a_pilot_is_read_off_its_labels():
    labels, machine = pilot_labels(2000, (0.95, 0.85, 0.75))
    pilot = pilot_of(labels, machine)
    assert np.einsum("jkk->jk", pilot.confusion).mean(axis=1) == pytest.approx([0.95, 0.85, 0.75], abs=0.03)
    assert pilot.prevalence[1] == pytest.approx(0.4, abs=0.05) and pilot.cluster_size == 4
    assert pilot.correlation == pytest.approx(0.49, abs=0.08)
    assert np.diag(pilot.machine) == pytest.approx([0.85, 0.85], abs=0.03)
    assert pilot.confusion.sum(axis=2) == pytest.approx(np.ones((3, 2)))
    found = krippendorff_alpha(labels)
    interval = found.confidence_interval()
    plan = planned_alpha(pilot, 2000, 3)
    assert plan.estimate == pytest.approx(found.estimate, abs=0.02)
    assert plan.half_width == pytest.approx((interval.high - interval.low) / 2, rel=0.15)


def test_few_labels_make_nobody_perfect_and_slots_share_a_table():
    labels, _ = pilot_labels(200, (0.95, 0.85, 0.75))
    late = Labels(
        np.r_[labels.unit, [0, 1, 2]],
        np.r_[labels.rater, [3, 3, 3]],
        np.r_[labels.value, labels.value[[0, 3, 6]]],
        200,
        ("no", "yes"),
    )
    assert pilot_of(late).confusion[3].diagonal().min() > 0.8 and pilot_of(late).confusion[3].max() < 1
    slots = Labels(labels.unit, labels.rater, labels.value, 200, ("no", "yes"), exchangeable=True)
    assert pilot_of(slots).confusion.shape == (1, 2, 2)
    assert pilot_of(slots).confusion[0, 0, 0] == pytest.approx(0.85, abs=0.06)


def test_how_many_more_is_the_smallest_number_that_reaches_the_target_and_comes_again():
    pilot = people(0.9, 0.8, 0.8, prevalence=0.3)
    needed, again = (units_needed(lambda n: planned_alpha(pilot, n, 2), 0.05) for _ in range(2))
    assert needed == again and 0.97 * 0.05 <= needed.plan.half_width <= 0.05
    more = judgements_needed(lambda k: planned_alpha(pilot, 400, k), 0.06)
    assert more.plan.half_width <= 0.06 < planned_alpha(pilot, 400, more.plan.n_raters - 1).half_width
    vain = judgements_needed(lambda k: planned_rate(pilot, 1, 50, k), 0.01, start=1)
    assert vain.plan is None and "15 judgements" in vain.undefined
    few = units_needed(lambda n: planned_rate(pilot, 1, n, 1), 0.01, most=500)
    assert few.plan is None and "all 500 units leave" in few.undefined


@pytest.mark.parametrize(("size", "start"), [(1, 100), (30, 120), (150, 600)])
def test_every_target_from_the_width_of_many_clusters_to_that_of_two_and_beyond_is_reached(size, start):
    """Also where the law of the square root leads below two clusters, and where a width is that of the next cluster."""
    pilot = people(0.9, 0.8, prevalence=0.4, cluster_size=size, correlation=0.3 if size > 1 else 0.0)

    @cache
    def alpha(n):
        return planned_alpha(pilot, n, 2, n_studies=100)

    for plan in (alpha, lambda n: planned_rate(pilot, 1, n, 1)):
        widest, narrowest = 1.5 * plan(max(2 * size, 8)).half_width, plan(60 * max(size, 10)).half_width
        for target in np.geomspace(narrowest, widest, 60):
            needed = units_needed(plan, target, start)
            assert not needed.undefined and needed.plan.half_width <= target
            assert plan(needed.plan.n_units) == needed.plan


def test_undefined_and_refused():
    single = pilot_of(Labels([0, 1], [0, 0], [0, 1], 2, ("a", "b")))
    assert "two labels" in single.undefined
    for found in (planned_alpha(single, 100, 2), planned_rate(single, 0, 100, 1)):
        assert np.isnan(found.half_width) and found.undefined == single.undefined
    assert "always the same" in planned_alpha(people(1.0, prevalence=1.0), 100, 2).undefined
    assert "fewer than two" in planned_alpha(people(0.8, cluster_size=60), 60, 2).undefined
    assert units_needed(lambda n: planned_alpha(single, n, 2), 0.1).plan is None
    with pytest.raises(ValueError, match="at least 2 judgements"):
        planned_alpha(people(0.8), 10, 1)
    with pytest.raises(ValueError, match="no labels of a checker"):
        planned_rate(people(0.8), 0, 10, 1, n_others=5)
    with pytest.raises(ValueError, match="above 0"):
        units_needed(lambda n: planned_rate(people(0.8), 0, n, 1), 0)
