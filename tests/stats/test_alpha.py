import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats import Labels, krippendorff_alpha

from .samples import FAST_KRIPPENDORFF, KRIPPENDORFF_2011, from_counts, from_matrix, random_matrix

LEVELS = ("nominal", "ordinal", "interval", "ratio")


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_krippendorffs_worked_example(level, published):
    result = krippendorff_alpha(from_matrix(KRIPPENDORFF_2011, "12345"), level)
    assert round(result.estimate, 3) == published
    assert (result.n_units, result.n_pairable, result.n_labels) == (12, 11, 40)
    assert result.left_out == {"one label only": 1}
    assert result.estimate == pytest.approx(1 - result.observed / result.expected)


@pytest.mark.parametrize(("level", "published"), [("nominal", 0.691), ("interval", 0.811)])
def test_sample_of_the_krippendorff_package(level, published):
    result = krippendorff_alpha(from_matrix(FAST_KRIPPENDORFF, "1234"), level)
    assert round(result.estimate, 3) == published
    assert result.left_out == {"no label": 2, "one label only": 1}


tables = st.builds(
    lambda seed, raters, units, categories, missing, agreement: random_matrix(
        np.random.default_rng(seed), raters, units, categories, missing, agreement
    ),
    st.integers(0, 2**32),
    st.integers(2, 7),
    st.integers(1, 30),
    st.integers(2, 9),
    st.floats(0, 0.8),
    st.floats(0, 1),
)


@settings(max_examples=150, deadline=None)
@given(tables, st.sampled_from(LEVELS))
def test_equals_the_krippendorff_package_on_any_table(matrix, level):
    result = krippendorff_alpha(from_matrix(matrix, "123456789"), level)
    pairable = matrix[:, (~np.isnan(matrix)).sum(axis=0) > 1]
    if len(np.unique(pairable[~np.isnan(pairable)])) < 2:
        assert np.isnan(result.estimate) and result.undefined
        return
    expected = krippendorff.alpha(matrix, value_domain=np.arange(1.0, 10), level_of_measurement=level)
    assert result.undefined == ""
    assert result.estimate == pytest.approx(expected, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(tables, st.sampled_from(LEVELS), st.randoms(use_true_random=False))
def test_order_of_units_and_names_of_raters_do_not_matter(matrix, level, random):
    units, raters = list(range(matrix.shape[1])), list(range(matrix.shape[0]))
    random.shuffle(units)
    random.shuffle(raters)
    before = krippendorff_alpha(from_matrix(matrix, "123456789"), level)
    after = krippendorff_alpha(from_matrix(matrix[np.ix_(raters, units)], "123456789"), level)
    assert after.estimate == pytest.approx(before.estimate, abs=1e-12, nan_ok=True)


@settings(max_examples=50, deadline=None)
@given(tables, st.permutations("123456789"))
def test_nominal_labels_can_be_renamed(matrix, categories):
    before = krippendorff_alpha(from_matrix(matrix, "123456789"))
    after = krippendorff_alpha(from_matrix(matrix, categories))
    assert after.estimate == pytest.approx(before.estimate, abs=1e-12, nan_ok=True)


def test_ordinal_follows_the_order_of_the_categories_not_of_their_names():
    names = ("low", "mid", "high")
    rows = [("a", "low", "mid"), ("b", "high", "high"), ("c", "mid", "high"), ("d", "low", "low"), ("e", "low", "high")]
    unit = [row[0] for row in rows for _ in range(2)]
    value = [label for row in rows for label in row[1:]]
    in_order = krippendorff_alpha(Labels.from_columns(unit, "xy" * 5, value, names), "ordinal").estimate
    by_name = krippendorff_alpha(Labels.from_columns(unit, "xy" * 5, value, sorted(names)), "ordinal").estimate
    codes = [[names.index(row[rater]) for row in rows] for rater in (1, 2)]
    assert in_order == pytest.approx(krippendorff.alpha(codes, level_of_measurement="ordinal"), abs=1e-12)
    assert by_name != pytest.approx(in_order, abs=1e-3)


def test_unused_categories_and_gaps_change_nothing():
    matrix = np.array([[1, 1, 4, 6, 6, 4], [1, 4, 4, 6, 1, 4]])
    with_gaps = krippendorff_alpha(from_matrix(matrix, "123456"), "ordinal").estimate
    assert krippendorff_alpha(from_matrix(matrix, "146"), "ordinal").estimate == pytest.approx(with_gaps, abs=1e-12)


def test_more_labels_than_fit_one_integer_key():
    counts = np.random.default_rng(3).integers(0, 5, (60, 40))
    expected = krippendorff.alpha(value_counts=counts, level_of_measurement="ordinal")
    assert krippendorff_alpha(from_counts(counts), "ordinal").estimate == pytest.approx(expected, abs=1e-9)


def test_interval_takes_the_values_it_is_given():
    matrix = np.array([[1, 2, 3, 3, 1], [1, 2, 2, 3, 2]])
    named = Labels.from_columns(list(range(5)) * 2, [0] * 5 + [1] * 5, matrix.ravel(), "123")
    result = krippendorff_alpha(named, "interval", values=[0, 10, 15])
    spaced = np.array([0, 10, 15])[matrix - 1]
    assert result.estimate == pytest.approx(krippendorff.alpha(spaced, level_of_measurement="interval"), abs=1e-12)


@pytest.mark.parametrize(
    ("level", "categories", "values", "message"),
    [
        ("metric", "ab", None, "level must be"),
        ("interval", "ab", None, "not numbers"),
        ("interval", "ab", [1], "one finite number per category"),
        ("ratio", "ab", [-1, 1], "at least 0"),
    ],
)
def test_unusable_levels_and_values_are_refused(level, categories, values, message):
    with pytest.raises(ValueError, match=message):
        krippendorff_alpha(Labels.from_columns("uu", "xy", "ab", categories), level, values)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("unit", "rater", "value", "reason"),
    [
        ("", "", "", "no unit has two labels"),
        ("u", "x", "1", "no unit has two labels"),
        ("uvw", "xxx", "121", "no unit has two labels"),
        ("uuvv", "xyxy", "1111", "only one label was used"),
        ("uuvvw", "xyxyx", "11112", "only one label was used"),
    ],
)
def test_undefined_alpha_says_why_and_never_warns(unit, rater, value, reason, level):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = krippendorff_alpha(Labels.from_columns(unit, rater, value, "123"), level)
        interval = result.confidence_interval()
    assert np.isnan(result.estimate)
    assert result.undefined.startswith(reason)
    assert np.isnan(interval.low) and interval.undefined == result.undefined


@pytest.mark.parametrize(("level", "value"), [("interval", "1.0"), ("ratio", "01")])
def test_labels_of_one_number_expect_no_disagreement_either(level, value):
    labels = Labels.from_columns("uuvvww", "xyxyxy", ["1", value, "1", "1", value, value], ("1", value, "2"))
    found = krippendorff_alpha(labels, level)
    assert np.isnan(found.estimate) and "stand for one number" in found.undefined
    assert found.confidence_interval().undefined == found.analytic_interval().undefined == found.undefined
    assert np.isnan(found.standard_error) and not krippendorff_alpha(labels).undefined


def test_perfect_agreement_on_two_labels_is_one():
    result = krippendorff_alpha(Labels.from_columns("uuvv", "xyxy", "1122", "12"))
    assert result.estimate == 1
    interval = result.confidence_interval()
    assert np.isnan(interval.low) and interval.undefined.startswith("every resample gives the same figure")
    # Half of the resamples draw one unit twice, and then only one label is left.
    assert 400 < interval.n_undefined < 600
