import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support

from analysis.stats import classification


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40))
def test_equals_scikit_learn_over_the_labels_that_occur(pairs):
    reference, predicted = np.array(pairs).T
    result = classification(reference, predicted, "abcde")
    present = sorted(set(reference) | set(predicted))
    precision, recall, f1, support = precision_recall_fscore_support(
        reference, predicted, labels=range(5), zero_division=np.nan
    )
    assert result.accuracy.estimate == pytest.approx(accuracy_score(reference, predicted))
    assert result.macro_f1.estimate == pytest.approx(np.mean(np.nan_to_num(f1[present])))
    assert result.confusion.tolist() == confusion_matrix(reference, predicted, labels=range(5)).tolist()
    for figures, *expected in zip(result.labels, precision, recall, support, strict=True):
        assert [figures.precision, figures.recall, figures.support] == pytest.approx(expected, nan_ok=True)


def test_labels_on_one_side_count_as_zero_and_on_no_side_not_at_all():
    result = classification([0, 0, 1], [0, 0, 2], ["a", "b", "c", "d"])
    assert [figures.f1 for figures in result.labels[:3]] == [1, 0, 0]
    assert np.isnan(result.labels[3].f1)
    assert result.macro_f1.estimate == pytest.approx(1 / 3)
    b, c = result.labels[1:3]
    assert np.isnan(b.precision) and b.recall == 0
    assert c.precision == 0 and np.isnan(c.recall)
    assert (b.support, b.predicted, c.support, c.predicted) == (1, 0, 0, 1)


def test_units_without_either_label_are_left_out_and_counted():
    result = classification([0, -1, 1, -1], [0, 0, -1, -1], "ab")
    assert result.accuracy.estimate == 1
    assert result.accuracy.n_pairable == 1
    assert result.accuracy.left_out == {
        "no reference": 1,
        "no prediction": 1,
        "neither reference nor prediction": 1,
    }


@pytest.mark.parametrize("columns", [([], []), ([-1, 0], [0, -1])])
def test_nothing_to_compare_is_undefined(columns):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = classification(*columns, "ab")
        assert np.isnan(result.macro_f1.confidence_interval().low)
    assert np.isnan(result.accuracy.estimate) and np.isnan(result.macro_f1.estimate)
    assert result.accuracy.undefined == "no unit has both a reference and a prediction"


@pytest.mark.parametrize("columns", [([0], [0, 1]), ([2], [0]), (["a"], ["a"]), ([-2], [0])])
def test_wrong_columns_are_refused(columns):
    with pytest.raises(ValueError):
        classification(*columns, "ab")


def test_one_category_is_all_right():
    result = classification([0, 0], [0, 0], ["a"])
    assert (result.accuracy.estimate, result.macro_f1.estimate) == (1, 1)
