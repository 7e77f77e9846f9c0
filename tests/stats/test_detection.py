"""One label against the rest: scikit-learn's numbers, and what is undefined."""

import numpy as np
import pytest
from sklearn import metrics

from analysis.stats.accuracy.precision_recall import detection


def test_figures_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    truth, says = rng.integers(0, 2, 90), rng.integers(0, 2, 90)
    found = detection(truth, says, np.arange(90) // 3)
    assert found.precision.estimate == pytest.approx(metrics.precision_score(truth, says))
    assert found.recall.estimate == pytest.approx(metrics.recall_score(truth, says))
    assert found.f1.estimate == pytest.approx(metrics.f1_score(truth, says))
    assert found.accuracy.estimate == pytest.approx(metrics.accuracy_score(truth, says))
    (rest, false), (missed, hits) = metrics.confusion_matrix(truth, says).tolist()
    assert (found.n_rest, found.n_false, found.n_missed, found.n_hits) == (rest, false, missed, hits)
    interval = found.f1.confidence_interval(300)
    assert interval.low < found.f1.estimate < interval.high and interval.n_clusters == 30


def test_a_figure_without_a_denominator_is_undefined_and_the_others_are_not():
    found = detection([1, 0, -1], [0, 0, 1])
    assert found.precision.undefined == "the label is never predicted (0/0)"
    assert (found.recall.estimate, found.f1.estimate, found.accuracy.estimate) == (0, 0, 0.5)
    assert detection([0, 0], [0, 1]).recall.undefined == "no reference has the label (0/0)"
    assert detection([0], [0]).f1.undefined == "neither side has the label (0/0)"
    nothing = detection([-1, 1], [1, -1])
    assert nothing.f1.undefined == nothing.accuracy.undefined == "no unit has both a reference and a prediction"
    assert nothing.f1.left_out == {"no reference": 1, "no prediction": 1}
    with pytest.raises(ValueError, match="one length"):
        detection([0], [0, 1])
