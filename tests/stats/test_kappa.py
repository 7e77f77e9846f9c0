import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_statsmodels

from analysis.stats import (
    Labels,
    cohen_kappa,
    cohen_kappa_table,
    fleiss_kappa,
    krippendorff_alpha,
    percent_agreement,
    pooled_percent_agreement,
    shared_units,
)

from .samples import FLEISS_1971, KRIPPENDORFF_2011, from_counts, from_matrix, random_matrix

# Potato 2's example reviews r1..r6 by alice and bob.
ALICE = ["positive", "negative", "neutral", "positive", "negative", "negative"]
BOB = ["positive", "negative", "positive", "positive", "neutral", "negative"]
REVIEWS = Labels.from_columns(
    list(range(6)) * 2, ["alice"] * 6 + ["bob"] * 6, ALICE + BOB, ["negative", "neutral", "positive"]
)


def test_potato_reviews():
    kappa = cohen_kappa(REVIEWS, "alice", "bob")
    assert round(kappa.estimate, 4) == 0.4783
    assert kappa.agreement == 4 / 6
    assert percent_agreement(REVIEWS).estimate == 4 / 6
    assert round(krippendorff_alpha(REVIEWS).estimate, 4) == 0.5111
    assert kappa.table.tolist() == [[2, 1, 0], [0, 0, 1], [0, 0, 2]]


def test_cohens_kappa_of_published_abstractor_table():
    # Gwet (2014), ectopic pregnancy abstractors; 0.7964094 is printed in irrCAC's documentation for this table.
    table = np.array([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    a, b = (np.repeat(codes.ravel(), table.ravel()) for codes in np.indices(table.shape))
    n = len(a)
    labels = Labels(np.tile(np.arange(n), 2), np.repeat([0, 1], n), np.concatenate([a, b]), n, ("E", "A", "N"))
    assert cohen_kappa(labels, 0, 1).estimate == pytest.approx(0.7964094, abs=1e-7)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 6), st.sampled_from([None, "linear", "quadratic"]))
def test_cohen_equals_scikit_learn_on_the_shared_units(seed, n_categories, weights):
    matrix = random_matrix(np.random.default_rng(seed), 2, 40, n_categories)
    result = cohen_kappa(from_matrix(matrix, "123456"), 0, 1, weights)
    a, b = matrix[:, ~np.isnan(matrix).any(axis=0)]
    expected = cohen_kappa_score(a, b, labels=np.arange(1, 7), weights=weights)
    assert result.n_pairable == len(a)
    assert result.estimate == pytest.approx(expected, abs=1e-12)


def test_table_has_every_pair_that_shares_a_unit_as_if_computed_alone():
    matrix = random_matrix(np.random.default_rng(5), 6, 40, 3, missing=0.8)
    labels = from_matrix(matrix, "123")
    table = {(k.rater_a, k.rater_b): k for k in cohen_kappa_table(labels, "linear")}
    for a, b in combinations(range(6), 2):
        alone = cohen_kappa(labels, a, b, "linear")
        if alone.n_pairable == 0:
            assert (str(a), str(b)) not in table
            continue
        together = table[str(a), str(b)]
        assert together.estimate == pytest.approx(alone.estimate, nan_ok=True)
        assert together.left_out == alone.left_out
        assert together.n_pairable + together.n_left_out == 40


def test_table_of_some_pairs_is_part_of_the_whole_one():
    labels = from_matrix(random_matrix(np.random.default_rng(5), 6, 40, 3, missing=0.5), "123")
    whole = {(int(k.rater_a), int(k.rater_b)): k for k in cohen_kappa_table(labels)}
    shared = shared_units(labels)
    assert shared == {pair: kappa.n_pairable for pair, kappa in whole.items()}
    some = list(shared)[3::4]
    found = cohen_kappa_table(labels, pairs=some)
    assert [(int(k.rater_a), int(k.rater_b)) for k in found] == some
    for kappa, pair in zip(found, some, strict=True):
        assert kappa.estimate == whole[pair].estimate and kappa.left_out == whole[pair].left_out
    assert cohen_kappa_table(labels, pairs=[]) == ()


def test_figures_per_rater_are_refused_for_exchangeable_raters():
    labels = from_counts(FLEISS_1971)
    with pytest.raises(ValueError, match="exchangeable"):
        cohen_kappa(labels, 0, 1)
    with pytest.raises(ValueError, match="exchangeable"):
        cohen_kappa_table(labels)


@pytest.mark.parametrize(
    ("a", "b", "weights", "message"),
    [
        ("alice", "carol", None, "no rater 'carol'"),
        (0, 2, None, "no rater 2"),
        (0, 0, None, "twice"),
        (0, 1, "cubic", "weights"),
    ],
)
def test_wrong_raters_and_weights_are_refused(a, b, weights, message):
    with pytest.raises(ValueError, match=message):
        cohen_kappa(REVIEWS, a, b, weights)


@pytest.mark.parametrize(
    ("unit", "rater", "value", "reason"),
    [("uv", "xy", "++", "share no unit"), ("uuvv", "xyxy", "++++", "one and the same label")],
)
def test_undefined_cohen_says_why(unit, rater, value, reason):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = cohen_kappa(Labels.from_columns(unit, rater, value, "-+"), "x", "y")
        assert np.isnan(result.confidence_interval().high)
    assert np.isnan(result.estimate) and reason in result.undefined


def test_two_raters_with_one_different_label_each_have_kappa_zero():
    result = cohen_kappa(Labels.from_columns("uuvv", "xyxy", "+-+-", "-+"), "x", "y")
    assert result.estimate == 0 and result.undefined == ""


def test_fleiss_1971():
    result = fleiss_kappa(from_counts(FLEISS_1971))
    assert round(result.estimate, 3) == 0.430
    assert result.estimate == pytest.approx((result.observed - result.expected) / (1 - result.expected))
    assert result.form == "Fleiss 1971"


def test_fleiss_with_varying_numbers_of_raters():
    # irrCAC prints 0.76117 for Fleiss' kappa of this table (its data set cac.raw4raters).
    result = fleiss_kappa(from_matrix(KRIPPENDORFF_2011, "12345"))
    assert round(result.estimate, 5) == 0.76117
    assert "varying" in result.form
    assert (result.n_pairable, result.n_labels, result.left_out) == (11, 41, {"one label only": 1})


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 6), st.integers(2, 7), st.integers(2, 40))
def test_fleiss_equals_statsmodels_on_complete_tables(seed, n_categories, n_raters, n_units):
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(n_raters, rng.dirichlet(np.ones(n_categories)), size=n_units)
    if (counts.sum(axis=0) > 0).sum() < 2:
        return
    assert fleiss_kappa(from_counts(counts)).estimate == pytest.approx(fleiss_of_statsmodels(counts), abs=1e-12)


@pytest.mark.parametrize(
    ("unit", "rater", "value", "reason"),
    [
        ("", "", "", "no unit has two labels"),
        ("uv", "xx", "+-", "no unit has two labels"),
        ("uuvv", "xyxy", "++++", "only one label"),
    ],
)
def test_undefined_fleiss_says_why(unit, rater, value, reason):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = fleiss_kappa(Labels.from_columns(unit, rater, value, "-+"))
        assert np.isnan(result.confidence_interval().low)
    assert np.isnan(result.estimate) and result.undefined.startswith(reason)


def test_percent_agreement_weighs_units_and_the_pooled_one_pairs():
    # Six of ten pairs agree in the first unit (five labels), one of one in the second, the third has one label.
    labels = from_counts([[4, 1], [0, 2], [1, 0]])
    by_unit, pooled = percent_agreement(labels), pooled_percent_agreement(labels)
    assert by_unit.estimate == pytest.approx((6 / 10 + 1) / 2)
    assert pooled.estimate == pytest.approx(7 / 11)
    assert (by_unit.n_pairable, by_unit.n_labels, by_unit.left_out) == (2, 7, {"one label only": 1})


def test_percent_agreement_without_pairs_is_undefined():
    for figure in (percent_agreement, pooled_percent_agreement):
        result = figure(Labels.from_columns("uv", "xx", "+-", "-+"))
        assert np.isnan(result.estimate) and result.undefined == "no unit has two labels"
