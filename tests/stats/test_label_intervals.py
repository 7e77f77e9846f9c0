"""Intervals of each label's precision, recall and F1."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.stats import classification, label_intervals
from analysis.stats.accuracy.per_label import FIGURES, label_sample


def intervals_of(found, **options):
    return [getattr(row, name) for name in FIGURES for row in label_intervals(found, **options)]


def alone(found, column, estimate):
    sample = label_sample(found)
    return replace(
        found.accuracy,
        estimate=estimate,
        sample=replace(sample, statistic=lambda sums: sample.statistic(sums)[:, column]),
    )


@pytest.mark.parametrize("clusters", [False, True])
def test_each_is_the_interval_that_the_figure_has_by_itself(clusters):
    """Every cluster has both labels on both sides, so every figure rests on all of them."""
    reference = np.tile([0, 0, 0, 1, 1, 1], 40)
    predicted = np.tile([0, 1, 0, 1, 0, 1], 40)
    wrong = np.random.default_rng(1).random(80) < 0.3
    predicted[2::3] = np.where(wrong, 1 - predicted[2::3], predicted[2::3])
    found = classification(reference, predicted, ["no", "yes"], np.arange(240) // 6)
    estimates = [getattr(row, name) for name in FIGURES for row in found.labels]
    for column, (together, estimate) in enumerate(zip(intervals_of(found, clusters=clusters), estimates, strict=True)):
        expected = alone(found, column, estimate).confidence_interval(clusters=clusters)
        assert (together.low, together.high) == pytest.approx((expected.low, expected.high), abs=0.02)
        if clusters:
            assert together == expected and together.n_clusters == 40


def test_a_rare_label_rests_on_the_clusters_that_have_it_and_says_so():
    reference = np.array([0, 1] * 50 + [2, 0] * 5)
    predicted = np.where(np.arange(110) % 3 == 0, 0, reference)
    found = label_intervals(classification(reference, predicted, "abc", np.arange(110) // 2))
    assert [row.recall.n_clusters for row in found] == [55, 50, 5]
    assert "rests on only 5 clusters" in found[2].recall.note and not found[0].recall.note
    assert found[2].recall.n_undefined > 0  # resamples without any of the five


def test_undefined_figures_have_no_interval_and_a_reason():
    # b is never predicted, c is not in the reference, d is on neither side; e has one unit, in one cluster.
    reference, predicted = [0, 0, 0, 1, 1, 0, 0, 4], [0, 2, 0, 0, 2, 0, 0, 4]
    classified = classification(reference, predicted, "abcde", [0, 0, 1, 1, 2, 2, 3, 3])
    a, b, c, d, e = label_intervals(classified)
    assert b.precision.undefined == "the label is never predicted (0/0)" and np.isnan(b.precision.low)
    assert c.recall.undefined == "the label does not occur in the reference (0/0)"
    assert d.f1.undefined == classified.labels[3].undefined["f1"] == "the label is on neither side (0/0)"
    assert e.recall.undefined == "fewer than two clusters have the label" and classified.labels[4].recall == 1
    assert b.recall.undefined.startswith("every resample gives the same") and "none of 2 clust" in b.recall.undefined
    assert a.recall.low < classified.labels[0].recall < a.recall.high and not a.recall.undefined
    by_unit = label_intervals(classified, clusters=False)
    assert by_unit[4].recall.undefined == "fewer than two units have the label" and by_unit[0].recall.n_clusters is None
    nothing = classification([-1, 0], [0, -1], "ab")
    assert {one.undefined for one in intervals_of(nothing)} == {"no unit has both a reference and a prediction"}


@pytest.mark.parametrize("wrong", [{"level": 0}, {"level": 95}, {"n_resamples": 0}])
def test_impossible_requests_are_refused(wrong):
    with pytest.raises(ValueError):
        label_intervals(classification([0, 1], [0, 1], "ab"), **wrong)
