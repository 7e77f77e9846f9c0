"""Points of ROC and precision-recall curves, against scikit-learn on the same numbers."""

import numpy as np
import pytest

from analysis.stats import areas, curve_points


def sample(n: int, seed: int, distinct: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.3).astype(int)
    return np.round(rng.random(n) * 0.6 + truth * 0.3, distinct), truth


@pytest.mark.parametrize(("n", "decimals"), [(9, 1), (300, 1), (300, 6)])
def test_points_are_those_of_scikit_learn(n, decimals):
    from sklearn.metrics import precision_recall_curve, roc_curve

    score, truth = sample(n, seed=n, distinct=decimals)
    found = curve_points(score, truth)
    fpr, tpr, threshold = roc_curve(truth, score, drop_intermediate=False)
    np.testing.assert_allclose(found.false_positive_rate, fpr[1:])  # scikit-learn adds the point (0, 0)
    np.testing.assert_allclose(found.recall, tpr[1:])
    np.testing.assert_allclose(found.threshold, threshold[1:])
    precision, recall, threshold = precision_recall_curve(truth, score)
    np.testing.assert_allclose(found.precision[::-1], precision[:-1])  # and a precision of 1 at the end
    np.testing.assert_allclose(found.recall[::-1], recall[:-1])


def test_the_areas_under_them_are_the_areas_given():
    score, truth = sample(500, seed=3, distinct=2)
    found, expected = curve_points(score, truth), areas(score, truth)
    x, y = np.append(0, found.false_positive_rate), np.append(0, found.recall)
    assert np.trapezoid(y, x) == pytest.approx(expected.roc_auc.estimate)
    steps = np.diff(found.recall, prepend=0)
    assert (steps * found.precision).sum() == pytest.approx(expected.average_precision.estimate)


def test_what_has_no_score_or_no_answer_is_left_out_and_order_does_not_matter():
    found = curve_points([0.9, np.nan, 0.5, 0.5, 0.1, 0.7], [1, 1, 0, 1, 0, -1])
    again = curve_points([0.1, 0.5, 0.5, 0.9], [0, 1, 0, 1])
    assert found.n == 4 and found.n_label == 2
    for name in ("threshold", "false_positive_rate", "recall", "precision"):
        np.testing.assert_array_equal(getattr(found, name), getattr(again, name))


@pytest.mark.parametrize(
    ("score", "truth", "reason"),
    [
        ([0.5, 0.6], [1, 1], "same answer"),
        ([0.5, 0.6], [0, 0], "same answer"),
        ([np.nan], [1], "no unit"),
        ([], [], "no unit"),
    ],
)
def test_without_both_answers_there_is_no_curve(score, truth, reason):
    found = curve_points(score, truth)
    assert reason in found.undefined and len(found.recall) == 0


def test_a_long_curve_is_thinned_along_its_way_and_keeps_its_ends():
    score, truth = sample(20_000, seed=1, distinct=9)
    whole = curve_points(score, truth)
    thin = whole.thinned(100)
    assert len(whole.recall) > 19_000 and 50 < len(thin.recall) <= 100
    assert thin.recall[0] == whole.recall[0] and thin.recall[-1] == whole.recall[-1] == 1
    # Between neighbours nothing is left out that would be seen: the areas differ by less than a line is wide.
    area = [np.trapezoid(one.recall, one.false_positive_rate) for one in (whole, thin)]
    assert area[0] == pytest.approx(area[1], abs=0.002)
    assert curve_points([0.1, 0.9], [0, 1]).thinned(2).recall.tolist() == [1.0, 1.0]


def test_wrong_columns_are_refused():
    with pytest.raises(ValueError, match="one length"):
        curve_points([0.5], [1, 0])
    with pytest.raises(ValueError, match="1, 0, or -1"):
        curve_points([0.5, 0.4], [2, 0])
    with pytest.raises(ValueError, match="two ends"):
        curve_points([0.1, 0.9], [0, 1]).thinned(1)
