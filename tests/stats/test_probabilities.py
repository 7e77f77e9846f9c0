"""Probabilities against labels: scikit-learn's numbers from outside, calibration by hand, thresholds out of fold."""

import numpy as np
import pytest
from sklearn import metrics

from analysis.stats import areas, calibration, classification, threshold_sweep


def drawn(n=300, seed=1):
    """Three labels, probabilities that know something, rounded so that scores tie."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    share = rng.dirichlet([1, 1, 1], n) + 0.7 * np.eye(3)[truth]
    return truth, np.round(share / share.sum(axis=1, keepdims=True), 2), rng


def test_areas_are_those_of_scikit_learn_with_ties():
    truth, share, _ = drawn()
    for label in range(3):
        is_label = (truth == label).astype(int)
        found = areas(share[:, label], is_label)
        assert found.roc_auc.estimate == pytest.approx(metrics.roc_auc_score(is_label, share[:, label]))
        expected = metrics.average_precision_score(is_label, share[:, label])
        assert found.average_precision.estimate == pytest.approx(expected)
        interval = found.roc_auc.confidence_interval(300)
        assert interval.low < found.roc_auc.estimate < interval.high and found.share == is_label.mean()


def test_the_areas_interval_is_that_of_resampled_units():
    truth, share, rng = drawn(120)
    is_label = (truth == 0).astype(int)
    plain = []
    for _ in range(600):
        rows = rng.integers(0, 120, 120)
        plain.append(metrics.roc_auc_score(is_label[rows], share[rows, 0]))
    interval = areas(share[:, 0], is_label).roc_auc.confidence_interval(600)
    assert (interval.low, interval.high) == pytest.approx(np.quantile(plain, [0.025, 0.975]), abs=0.02)


def test_areas_are_undefined_where_nothing_can_be_told_apart():
    same = areas(np.array([0.1, 0.2]), np.array([1, 1]))
    assert np.isnan(same.roc_auc.estimate) and "same answer" in same.average_precision.undefined
    assert np.isnan(same.roc_auc.confidence_interval().low)
    none = areas(np.array([np.nan, 0.5]), np.array([1, -1]))
    assert "no unit has both" in none.roc_auc.undefined and none.roc_auc.left_out == {"no answer": 1, "no score": 1}
    flat = areas(np.full(6, 0.5), np.array([0, 1] * 3))
    assert flat.roc_auc.estimate == 0.5


def test_brier_score_is_scikit_learns_and_ece_is_worked_out_by_hand():
    truth, share, _ = drawn()
    share = share / share.sum(axis=1, keepdims=True)
    found = calibration(truth, share)
    expected = metrics.brier_score_loss(truth, share, scale_by_half=False)
    assert found.brier.estimate == pytest.approx(expected)
    # Two bins: of three at about .95 two are right; of two at .6 one is.
    p = np.array([[0.95, 0.05], [0.95, 0.05], [0.05, 0.95], [0.6, 0.4], [0.6, 0.4], [0.5, 0.5], [np.nan, np.nan]])
    found = calibration(np.array([0, 0, 0, 0, 1, -1, 0]), p)
    assert found.ece.estimate == pytest.approx(3 / 5 * abs(2 / 3 - 0.95) + 2 / 5 * abs(1 / 2 - 0.6))
    assert found.ece.left_out == {"no reference": 1, "no probabilities": 1}
    assert [(one.low, one.n) for one in found.bins if one.n] == [(0.5, 2), (0.9, 3)]
    assert found.bin_of_unit.tolist() == [9, 9, 9, 5, 5, -1, -1]


def test_calibrated_probabilities_have_a_small_error_and_certain_ones_a_large_one():
    rng = np.random.default_rng(2)
    p = rng.uniform(0.5, 1, 4000)
    right = rng.random(4000) < p
    truth = np.where(right, 0, 1)
    good = calibration(truth, np.column_stack([p, 1 - p]))
    sure = calibration(truth, np.column_stack([np.ones(4000), np.zeros(4000)]))
    assert good.ece.estimate < 0.03 and sure.ece.estimate == pytest.approx(1 - right.mean())
    assert good.ece.confidence_interval(100).high < sure.ece.confidence_interval(100).low


def test_probabilities_that_are_none_are_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        calibration(np.array([0]), np.array([[1.5, -0.5]]))
    with pytest.raises(ValueError, match="differ in length"):
        calibration(np.array([0, 1]), np.array([[0.5, 0.5]]))
    nobody = calibration(np.array([-1]), np.array([[0.5, 0.5]]))
    assert np.isnan(nobody.ece.estimate) and "no unit has both" in nobody.brier.undefined


def test_every_threshold_is_scikit_learns_and_the_best_is_chosen_without_the_unit():
    truth, share, _ = drawn()
    is_label = (truth == 0).astype(int)
    cluster = np.arange(300) // 3
    found = threshold_sweep(share[:, 0], is_label, cluster)
    for row in found.rows[::6]:
        says = share[:, 0] >= row.threshold
        assert row.f1 == pytest.approx(metrics.f1_score(is_label, says))
        assert row.precision == pytest.approx(metrics.precision_score(is_label, says))
        assert row.accuracy == pytest.approx(metrics.accuracy_score(is_label, says))
    assert len(found.chosen) == 5 and found.f1.estimate <= max(row.f1 for row in found.rows) + 1e-12
    assert found.f1.confidence_interval(100).n_clusters == 100


def test_on_noise_the_out_of_fold_accuracy_does_not_reward_choosing():
    """40 units without any signal: the best of many thresholds in sample beats what it gives on other units."""
    rng = np.random.default_rng(3)
    gains = []
    for seed in range(40):
        score, truth = rng.random(40), rng.integers(0, 2, 40)
        found = threshold_sweep(score, truth, thresholds=np.linspace(0.02, 0.98, 49), seed=seed)
        gains.append(max(row.f1 for row in found.rows) - found.f1.estimate)
    assert np.mean(gains) > 0.01 and min(gains) >= -1e-12


def test_thresholds_need_two_sides_and_two_units_to_fold():
    one = threshold_sweep(np.array([0.2, 0.9]), np.array([0, 1]), np.array([7, 7]))
    assert "fewer than two" in one.f1.undefined and one.chosen == ()
    same = threshold_sweep(np.array([0.2, 0.9]), np.array([1, 1]))
    assert "same answer" in same.accuracy.undefined


def test_matthews_and_balanced_accuracy_are_those_of_scikit_learn():
    truth, share, rng = drawn()
    says = share.argmax(axis=1)
    found = classification(truth, says, "abc", rng.integers(0, 60, 300))
    assert found.mcc.estimate == pytest.approx(metrics.matthews_corrcoef(truth, says))
    assert found.balanced_accuracy.estimate == pytest.approx(metrics.balanced_accuracy_score(truth, says))
    interval = found.mcc.confidence_interval(200)
    assert interval.low < found.mcc.estimate < interval.high
    one = classification([0, 0, 1], [0, 0, 0], "ab")
    assert np.isnan(one.mcc.estimate) and "one label only" in one.mcc.undefined
    assert one.balanced_accuracy.estimate == 0.5 and one.accuracy.undefined == ""
