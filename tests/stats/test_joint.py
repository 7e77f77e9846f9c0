"""Intervals of several figures from one set of resamples: those that each figure has by itself."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.stats import (
    Labels,
    Marked,
    alternative_annotator_test,
    calibration,
    cohen_kappa,
    competence_intervals,
    dawid_skene,
    mace,
    pooled_percent_agreement,
    span_agreement,
)
from analysis.stats.resampling.bootstrap import Estimate


def people(n=120, clusters=True, seed=3):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    said = [np.where(rng.random(n) < right, truth, rng.integers(0, 3, n)) for right in (0.9, 0.8, 0.6, 0.7)]
    labels = Labels(
        np.tile(np.arange(n), 3),
        np.repeat(np.arange(3), n),
        np.concatenate(said[:3]),
        n,
        ("a", "b", "c"),
        cluster=np.arange(n) // 3 if clusters else None,
        rater_names=("x", "y", "z"),
    )
    return labels, said[3], truth


@pytest.mark.parametrize("in_clusters", [False, True])
def test_measures_of_spans_have_the_intervals_that_each_has_alone(in_clusters):
    rng = np.random.default_rng(1)
    marked = [
        Marked(unit, who, ((start, start + 5),), cluster=unit // 3 if in_clusters else None)
        for unit in range(90)
        for who in "xyz"
        for start in [int(rng.integers(0, 6))]
    ]
    found = span_agreement(marked)
    together = found.confidence_intervals(n_resamples=200)
    assert list(together) == ["exact_f1", "overlap_f1", "character_f1", "character_iou"]
    for name, interval in together.items():
        alone = getattr(found, name).confidence_interval(n_resamples=200)
        assert (interval.low, interval.high) == pytest.approx((alone.low, alone.high), abs=1e-12)
        assert interval.low < getattr(found, name).estimate < interval.high
    assert (together["exact_f1"].n_clusters == 30) is in_clusters


def test_measures_of_spans_say_why_they_have_no_interval():
    nobody = span_agreement([Marked("u", "x", ()), Marked("u", "y", ())]).confidence_intervals()
    assert {one.undefined for one in nobody.values()} == {"no unit has two raters of whom one marked something"}
    same = span_agreement([Marked(unit, who, ((0, 4),)) for unit in "uv" for who in "xy"]).confidence_intervals()
    assert all(one.undefined.startswith("every resample gives the same figure") for one in same.values())


def test_a_share_of_equal_labels_of_two_has_the_interval_of_pooled_agreement():
    labels, _, _ = people()
    two = labels.rater < 2
    part = replace(labels, unit=labels.unit[two], rater=labels.rater[two], value=labels.value[two])
    expected, found = pooled_percent_agreement(part), cohen_kappa(labels, "x", "y").percent_agreement()
    assert found.estimate == pytest.approx(expected.estimate)
    ends = [(one.low, one.high) for one in (found.confidence_interval(), expected.confidence_interval())]
    assert ends[0] == pytest.approx(ends[1], abs=0.02) and ends[0][0] < found.estimate < ends[0][1]
    assert found.analytic_interval().low == pytest.approx(expected.analytic_interval().low)
    nobody = Labels.from_columns("ab", "xy", "++", "-+")
    assert cohen_kappa(nobody, "x", "y").percent_agreement().undefined == "the two raters share no unit"


def test_shares_right_of_bins_hold_their_estimates_and_say_why_they_have_none():
    labels, _, truth = people(n=600)
    rng = np.random.default_rng(5)
    sure = rng.uniform(0.4, 1, 600)
    right = rng.random(600) < sure
    table = np.full((600, 3), ((1 - sure) / 2)[:, None])
    table[np.arange(600), np.where(right, truth, (truth + 1) % 3)] = sure
    found = calibration(truth, table, labels.cluster)
    intervals = found.bin_intervals(n_resamples=400)
    for one, interval in zip(found.bins, intervals, strict=True):
        if one.n:
            assert interval.low < one.accuracy < interval.high and interval.n_clusters <= min(one.n, 200)
        else:
            assert interval.undefined == "no unit has a probability in the bin"
    # Of one bin alone, drawn by its own clusters, the interval is about the same.
    place = max(range(10), key=lambda number: found.bins[number].n)
    inside = found.bin_of_unit == place
    alone = calibration(truth[inside], table[inside], labels.cluster[inside]).bin_intervals(n_resamples=400)[place]
    assert (alone.low, alone.high) == pytest.approx((intervals[place].low, intervals[place].high), abs=0.03)


@pytest.mark.parametrize("in_clusters", [False, True])
def test_shares_of_wins_have_the_intervals_of_a_mean(in_clusters):
    labels, model, _ = people(clusters=in_clusters)
    test = alternative_annotator_test(labels, model)
    pairs = test.person_intervals(n_resamples=400)
    assert len(pairs) == 3
    for one, (of_model, of_person) in zip(test.people, pairs, strict=True):
        assert of_model.low < one.model_wins < of_model.high and of_person.low < one.person_wins < of_person.high
        assert of_model.n_clusters == (40 if in_clusters else None)
    one, sample = test.people[1], test.advantage.sample
    share = replace(sample, statistic=lambda sums: (sums[:, 5] + sums[:, 6]) / sums[:, 4])
    common = {"n_units": 120, "n_pairable": 120, "n_labels": 120, "left_out": {}}
    alone = Estimate(estimate=one.person_wins, sample=share, **common)
    assert pairs[1][1] == alone.confidence_interval(n_resamples=400)


def test_prevalences_and_confusion_tables_have_intervals_from_the_fits_of_competences():
    labels, _, _ = people(n=300)
    truth = dawid_skene(labels)
    found = competence_intervals(labels, truth, 100, tables_of=[2, 0])
    low, high = found.prevalence
    assert (low < truth.prevalence).all() and (truth.prevalence < high).all() and (high - low < 0.25).all()
    low, high = found.confusion
    assert low.shape == (2, 3, 3)
    for place, rater in enumerate((2, 0)):
        inside = (low[place] <= truth.confusion[rater] + 0.01) & (truth.confusion[rater] <= high[place] + 0.01)
        assert inside[~np.isnan(low[place])].all() and (~np.isnan(low[place])).sum() >= 7
    assert (high[1].diagonal() > high[0].diagonal()).all()  # x is right more often than z
    of_mace = competence_intervals(labels, mace(labels), 50)
    assert of_mace.confusion is None and (of_mace.prevalence[0] < of_mace.prevalence[1]).all()


def test_a_share_that_never_varies_has_no_interval():
    sure = Labels.from_columns(list("aabbccdd"), list("xyxyxyxy"), list("++++++++"), "-+")
    found = competence_intervals(sure, dawid_skene(sure), 20)
    assert np.isnan(found.prevalence).all() and np.isnan(found.confusion).all()
