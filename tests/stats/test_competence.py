"""Competences with intervals: where they stand, what they cover on planted data, and agreement with others by hand."""

import numpy as np
import pytest

from analysis.stats import Labels, agreement_with_others, competence_intervals, dawid_skene, mace, shares_of_others
from analysis.stats.annotators.competence import _Fit
from analysis.stats.annotators.patterns import rater_patterns

RIGHT = (0.95, 0.85, 0.75, 0.65, 0.4)


def planted(rng, n=150, missing=0.2, cluster=None):
    """Five raters who are right so often, and else guess one of the two other labels."""
    truth = rng.integers(0, 3, n)
    rows = []
    for rater, right in enumerate(RIGHT):
        said = np.where(rng.random(n) < right, truth, (truth + rng.integers(1, 3, n)) % 3)
        rows += [(unit, rater, said[unit]) for unit in np.flatnonzero(rng.random(n) >= missing)]
    unit, rater, value = (np.array(column) for column in zip(*rows, strict=True))
    return Labels(unit, rater, value, n, ("a", "b", "c"), cluster=cluster)


@pytest.mark.parametrize("model", [dawid_skene, mace])
def test_fitting_patterns_as_they_are_ends_where_the_model_ended(model):
    labels = planted(np.random.default_rng(1))
    found = model(labels)
    patterns = rater_patterns(labels)
    examples = patterns.units[patterns.first]
    assert (patterns.one_hot.sum(axis=1) == np.bincount(labels.unit)[examples]).all()
    fit = _Fit(patterns.one_hot, 5, 3, found.confusion is None)
    start = fit.start(found.posterior[examples], found.competence, patterns.times)
    assert fit.competence(start, patterns.times[:, None])[0] == pytest.approx(found.competence, abs=0.01)


@pytest.mark.parametrize("model", [dawid_skene, mace])
def test_a_resample_ends_where_it_would_end_alone(model):
    labels = planted(np.random.default_rng(4), n=60)
    found, patterns = model(labels), rater_patterns(labels)
    fit = _Fit(patterns.one_hot, 5, 3, found.confusion is None)
    start = fit.start(found.posterior[patterns.units[patterns.first]], found.competence, patterns.times)
    weight = np.random.default_rng(5).multinomial(60, patterns.times / 60, 8).T.astype(float)
    alone = [fit.competence(start, weight[:, [place]])[0] for place in range(8)]
    together = fit.competence(start, weight)
    assert together == pytest.approx(np.array(alone), abs=1e-12) and np.ptp(together, axis=0).min() > 0.01


@pytest.mark.parametrize("model", [dawid_skene, mace])
def test_intervals_hold_the_estimate_and_tell_good_from_bad(model):
    labels = planted(np.random.default_rng(2), cluster=np.arange(150) // 3)
    found = model(labels)
    intervals = competence_intervals(labels, found, 100)
    assert intervals.n_clusters == 50 and (intervals.low <= found.competence + 0.02).all()
    assert (found.competence <= intervals.high + 0.02).all() and intervals.low[0] > intervals.high[4]


def test_dawid_skene_intervals_cover_the_planted_competences():
    """Twenty studies with five raters each: 95 % of 100 would be 95, less what percentile intervals lose near 1."""
    rng = np.random.default_rng(3)
    hits = []
    for _ in range(20):
        labels = planted(rng)
        intervals = competence_intervals(labels, dawid_skene(labels), 60)
        hits += [low <= right <= high for low, right, high in zip(intervals.low, RIGHT, intervals.high, strict=True)]
    assert np.mean(hits) >= 0.86


def test_what_cannot_be_resampled_is_undefined():
    nobody = Labels.from_columns([], [], [], "ab")
    assert competence_intervals(nobody, dawid_skene(nobody)).undefined == "no unit has a label"
    one = Labels.from_columns("uu", "xy", "ab", "ab")
    found = competence_intervals(one, dawid_skene(one))
    assert "fewer than two units" in found.undefined and np.isnan(found.low).all()


def test_agreement_with_others_by_hand():
    labels = Labels.from_columns("aaabbc", "xyzxyx", "++-+-+", "-+")
    assert shares_of_others(labels)[:5].tolist() == [0.5, 0.5, 0.0, 0.0, 0.0]
    x, y, z = agreement_with_others(labels)
    assert (x.rater, x.estimate, x.n_pairable, x.left_out) == ("x", 0.25, 2, {"without another's label": 1})
    assert (y.estimate, z.estimate) == (0.25, 0.0)
    alone = agreement_with_others(Labels.from_columns("ab", "xx", "+-", "-+"))[0]
    assert np.isnan(alone.estimate) and "nobody else" in alone.undefined


def two_labels(seen, cluster=None):
    """Sixty units of two categories in turn, three raters who are always right, and one who labelled `seen`."""
    rows = [(unit, rater, unit % 2) for unit in range(60) for rater in range(3)]
    rows += [(unit, 3, label) for unit, label in seen]
    unit, rater, value = (np.array(column) for column in zip(*rows, strict=True))
    return Labels(unit, rater, value, 60, ("a", "b"), cluster=cluster)


def test_a_category_that_a_rater_never_saw_says_nothing_of_them():
    seen = [(unit, int(unit in (0, 2, 4))) for unit in range(0, 30, 2)]  # fifteen units of the first, three times wrong
    labels = two_labels(seen)
    found = dawid_skene(labels)
    assert np.isnan(found.confusion[3, 1]).all()
    assert found.competence == pytest.approx([1, 1, 1, 0.8], abs=1e-6)
    intervals = competence_intervals(labels, found)
    assert intervals.low[3] < 0.7 and 0.9 < intervals.high[3] <= 1


@pytest.mark.parametrize("model", [dawid_skene, mace])
def test_whoever_labelled_one_cluster_only_has_no_interval(model):
    seen = [(unit, unit % 2 if unit % 3 else 0) for unit in range(12)]
    of_one, of_two = (two_labels(seen, np.arange(60) // size) for size in (12, 10))
    alone, shared = (competence_intervals(labels, model(labels)) for labels in (of_one, of_two))
    assert alone.n_clusters == 5 and np.isnan([alone.low[3], alone.high[3]]).all()
    assert shared.low[3] < shared.high[3]


def test_resamples_with_one_label_have_no_competence():
    """Of two clusters with a label each, half of the resamples hold one label only; the others are the data."""
    unit, rater = np.indices((12, 3)).reshape(2, -1)
    value = (unit >= 6).astype(int)
    labels = Labels(unit, rater, value, 12, ("a", "b"), cluster=np.arange(12) // 6)
    found, patterns = mace(labels), rater_patterns(labels)
    fit = _Fit(patterns.one_hot, 3, 2, is_mace=True)
    first = patterns.units[patterns.first]
    start = fit.start(found.posterior[first], found.competence, patterns.times)
    of_both, of_one = fit.competence(start, np.array([[6.0, 12.0], [6.0, 0.0]]))
    assert of_both == pytest.approx(found.competence, abs=0.01) and np.isnan(of_one).all()
    nothing = competence_intervals(
        Labels(unit, rater, np.zeros(36, dtype=int), 12, ("a", "b")),
        mace(Labels(unit, rater, np.zeros(36, dtype=int), 12, ("a", "b"))),
    )
    assert np.isnan(nothing.low).all() and "only one label" in nothing.undefined
