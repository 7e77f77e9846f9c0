"""The difference of two agreements: exact where it can be worked out, and intervals that hold what they say."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.stats import (
    Labels,
    agreement_difference,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
)

from .samples import from_matrix, random_matrix

MEASURES = [percent_agreement, krippendorff_alpha, fleiss_kappa, gwet_ac]


def planted(rng, n, agreement, cluster=None):
    return from_matrix(random_matrix(rng, 3, n, 3, 0.2, agreement), "123", cluster)


def only(labels: Labels, keep: np.ndarray) -> Labels:
    rows = keep[labels.unit]
    return replace(labels, unit=labels.unit[rows], rater=labels.rater[rows], value=labels.value[rows])


@pytest.mark.parametrize("measure", MEASURES)
def test_it_is_the_difference_of_the_two_figures_and_nothing_where_both_are_the_same(measure):
    rng = np.random.default_rng(1)
    cluster = np.arange(60) % 20
    a, b = planted(rng, 60, 0.8, cluster), planted(rng, 60, 0.3, cluster)
    found = agreement_difference(measure, a, b)
    assert found.estimate == pytest.approx(measure(a).estimate - measure(b).estimate)
    interval = found.confidence_interval(400)
    assert interval.low < found.estimate < interval.high and interval.n_clusters == 20
    same = agreement_difference(measure, a, a).confidence_interval(200)
    assert same.undefined.startswith("every resample gives the same figure")  # drawn once for both


def test_two_pairs_of_raters_on_the_same_units_spread_as_by_the_plain_bootstrap_of_units():
    rng = np.random.default_rng(2)
    labels = from_matrix(random_matrix(rng, 3, 80, 2, 0, 0.6), "12")

    a, b = (select_raters(labels, raters) for raters in ((0, 1), (0, 2)))
    interval = agreement_difference(krippendorff_alpha, a, b).confidence_interval(2000)
    draws = []
    for _ in range(500):
        drawn = rng.integers(0, 80, 80)
        draws.append(krippendorff_alpha(repeat(a, drawn)).estimate - krippendorff_alpha(repeat(b, drawn)).estimate)
    low, high = np.quantile(draws, [0.025, 0.975])
    assert interval.low == pytest.approx(low, abs=0.05) and interval.high == pytest.approx(high, abs=0.05)


def select_raters(labels: Labels, raters) -> Labels:
    rows = np.isin(labels.rater, raters)
    return replace(labels, unit=labels.unit[rows], rater=labels.rater[rows], value=labels.value[rows])


def repeat(labels: Labels, drawn: np.ndarray) -> Labels:
    table = np.full((labels.n_raters, labels.n_units), np.nan)
    table[labels.rater, labels.unit] = labels.value + 1
    return from_matrix(table[:, drawn], labels.categories)


def test_parts_without_a_common_unit_are_resampled_apart():
    rng = np.random.default_rng(3)
    labels = planted(rng, 60, 0.6)
    keep = np.arange(60) < 30
    found = agreement_difference(percent_agreement, only(labels, keep), only(labels, ~keep))
    assert found.n_shared == 0
    a, b = (percent_agreement(labels.select_units(part)).confidence_interval() for part in (keep, ~keep))
    interval = found.confidence_interval()
    together = np.hypot(a.high - a.low, b.high - b.low)  # widths of independent figures add up in squares
    assert interval.high - interval.low == pytest.approx(together, rel=0.1)


def test_the_interval_covers_nothing_gained_about_as_often_as_it_says():
    rng = np.random.default_rng(4)
    cluster = np.repeat(np.arange(40), 2)
    covered = []
    for _ in range(150):
        found = agreement_difference(krippendorff_alpha, planted(rng, 80, 0.5, cluster), planted(rng, 80, 0.5, cluster))
        interval = found.confidence_interval(200)
        covered.append(interval.low <= 0 <= interval.high)
    assert np.mean(covered) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 150)


def test_undefined_where_a_side_is_and_sides_that_do_not_fit_are_refused():
    labels = planted(np.random.default_rng(5), 20, 0.5)
    nobody = only(labels, np.zeros(20, dtype=bool))
    found = agreement_difference(krippendorff_alpha, labels, nobody)
    assert np.isnan(found.estimate) and "no unit has two labels" in found.undefined
    assert np.isnan(found.confidence_interval().low)
    with pytest.raises(ValueError, match="units"):
        agreement_difference(krippendorff_alpha, labels, planted(np.random.default_rng(5), 21, 0.5))
    with pytest.raises(ValueError, match="clusters"):
        agreement_difference(krippendorff_alpha, labels, replace(labels, cluster=np.arange(20)))
