"""What stands beside an interval: on what it rests, and what it is called."""

import numpy as np
import pytest

from analysis.figures.results import Ends, Figure
from analysis.reports.estimates import TOO_LARGE, to_figure
from analysis.stats import Labels, grouped_means, krippendorff_alpha, pearson, percent_agreement


def rare_labels(n_informative: int, n_units: int = 300, cluster=None) -> Labels:
    """Three people; in so many units one of them does not give the rare label."""
    value = np.zeros((3, n_units), dtype=int)
    value[:2, :n_informative] = 1
    rater, unit = np.indices(value.shape)
    labels = unit.ravel(), rater.ravel(), value.ravel()
    return Labels(*labels, n_units, ("neg", "pos"), cluster=cluster)


@pytest.mark.parametrize(("n", "says"), [(3, "rests on about 3 units that differ from the rest"), (60, "")])
def test_an_interval_of_few_informative_units_carries_a_caution(n, says):
    note = krippendorff_alpha(rare_labels(n)).confidence_interval(200).note
    assert says in note and bool(says) == bool(note)


def test_nothing_is_called_a_cluster_where_each_has_one_unit():
    alone, pairs = np.arange(40), np.arange(40) // 2
    everybody_agrees = percent_agreement(rare_labels(0, 40, alone)).confidence_interval(100)
    assert "none of 40 units" in everybody_agrees.undefined and "over units" in everybody_agrees.method
    assert "none of 20 clusters" in percent_agreement(rare_labels(0, 40, pairs)).confidence_interval(100).undefined
    score = np.random.default_rng(1).normal(size=(2, 40))
    assert "over units" in pearson(*score, alone).confidence_interval(100).method
    assert "over clusters" in pearson(*score, pairs).confidence_interval(100).method
    means = [grouped_means(score[:1].T, np.ones((40, 1)), cluster) for cluster in (alone, pairs)]
    assert [one.are_shared for one in means] == [False, True]


def test_a_figure_that_overflows_says_why_it_has_no_number():
    estimate = percent_agreement(rare_labels(3))
    object.__setattr__(estimate, "estimate", np.inf)
    figure = to_figure(estimate, quick=True)
    assert (figure.estimate, figure.undefined) == (None, TOO_LARGE)


@pytest.mark.parametrize(("n", "is_apart"), [(1, True), (2, False), (20, False)])
def test_of_several_figures_the_interval_is_that_of_bonferroni(n, is_apart):
    """0.2 with a standard error of 0.09: 2.22 errors from 0, between the normal quantiles of 0.975 and 0.9875."""
    half = 1.959964 * 0.09
    figure = Figure(
        estimate=0.2, undefined="", low=0.2 - half, high=0.2 + half, interval=Ends(undefined="", level=0.95)
    )
    assert figure.is_apart_from(0, n) == is_apart
