"""Labels from tables as they are: long, wide, a matrix; gaps, numbers, truth values, categoricals."""

import krippendorff
import numpy as np
import pandas as pd
import pytest

from analysis.stats import (
    Labels,
    agreement_permutation_test,
    cohen_kappa,
    cohen_kappa_table,
    gwet_ac,
    krippendorff_alpha,
)

# Krippendorff (2011), example C: observers A to D, twelve units.
NAN = np.nan
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)
WIDE = pd.DataFrame(OBSERVERS.T, columns=list("ABCD")).assign(unit=[f"u{n}" for n in range(12)])
LONG = WIDE.melt("unit", var_name="rater", value_name="label")


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize(
    "labels",
    [
        Labels.from_matrix(OBSERVERS.T),
        Labels.from_wide(WIDE, list("ABCD"), unit="unit"),
        Labels.from_long(LONG),
        Labels.from_long(LONG.sample(frac=1, random_state=1)),
        Labels.from_long({name: LONG[name].tolist() for name in LONG}),
    ],
    ids=["matrix", "wide", "long", "shuffled", "mapping"],
)
def test_every_form_gives_the_published_alpha(labels, level):
    expected = krippendorff.alpha(reliability_data=OBSERVERS, level_of_measurement=level)
    assert krippendorff_alpha(labels, level).estimate == pytest.approx(expected, abs=1e-12)
    assert (labels.categories, labels.n_units, labels.n_labels) == (("1", "2", "3", "4", "5"), 12, 41)
    assert krippendorff_alpha(labels).estimate == pytest.approx(0.743, abs=5e-4)


def test_a_unit_without_any_label_still_counts():
    labels = Labels.from_matrix([[1, 2], [NAN, None], [2, 2]])
    assert (labels.n_units, labels.n_labels) == (3, 4)
    assert krippendorff_alpha(labels).left_out == {"no label": 1}


@pytest.mark.parametrize(
    ("column", "categories", "has_order"),
    [
        ([10, 9, 2], ("2", "9", "10"), True),
        ([1.5, 1.0, None], ("1", "1.5"), True),
        ([True, False, None], ("False", "True"), True),
        (["yes", "no", ""], ("no", "yes"), False),
        (pd.Series([3, None, 1], dtype="Int64"), ("1", "3"), True),
        (pd.Series(["b", pd.NA, "a"], dtype="string"), ("a", "b"), False),
        (pd.Categorical(["low", "high", None], ["low", "mid", "high"], ordered=True), ("low", "mid", "high"), True),
        (pd.Categorical(["low", "high", None], ["low", "high"]), ("high", "low"), False),
    ],
)
def test_categories_are_guessed_where_they_tell_their_order(column, categories, has_order):
    frame = pd.DataFrame({"ann": column, "ben": column})
    wide = Labels.from_wide(frame, ["ann", "ben"])
    long = Labels.from_long(pd.DataFrame({"unit": range(3), "rater": "ann", "label": column}))
    for labels in (wide, long):
        assert (labels.categories, labels.has_order) == (categories, has_order)


def test_ordinal_measures_refuse_an_order_that_was_guessed():
    rows = [["low", "low"], ["high", "mid"], ["mid", "mid"], ["low", "high"]]
    guessed, said = Labels.from_matrix(rows), Labels.from_matrix(rows, categories=["low", "mid", "high"])
    assert krippendorff_alpha(guessed).estimate == krippendorff_alpha(said).estimate
    for measure in (
        lambda labels: krippendorff_alpha(labels, "ordinal"),
        lambda labels: cohen_kappa(labels, 0, 1, "quadratic"),
        lambda labels: cohen_kappa_table(labels, "linear"),
        lambda labels: gwet_ac(labels, "ordinal"),
        lambda labels: agreement_permutation_test(labels, "ordinal"),
    ):
        measure(said)
        with pytest.raises(ValueError, match=r"need the categories in the scale's order.*categories="):
            measure(guessed)
    assert not guessed.select_units(np.array([True, True, False, True])).has_order


def test_clusters_come_along():
    frame = WIDE.assign(claim=np.arange(12) // 3)
    wide = Labels.from_wide(frame, list("ABCD"), unit="unit", cluster="claim")
    long = Labels.from_long(frame.melt(["unit", "claim"], var_name="rater", value_name="label"), cluster="claim")
    matrix = Labels.from_matrix(OBSERVERS.T, cluster=(np.arange(12) // 3).tolist())
    for labels in (wide, long, matrix):
        assert labels.cluster.tolist() == (np.arange(12) // 3).tolist()


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: Labels.from_long(LONG, unit="item"), "no column 'item'; the columns are 'unit', 'rater', 'label'"),
        (lambda: Labels.from_wide(WIDE, ["A", "E"]), "no column 'E'"),
        (lambda: Labels.from_wide(WIDE, []), "at least one rater"),
        (lambda: Labels.from_wide(WIDE.assign(unit="same"), ["A"], unit="unit"), "names a unit twice"),
        (lambda: Labels.from_long(pd.concat([LONG, LONG.head(1)])), "'u0' is labelled twice by 'A'"),
        (lambda: Labels.from_matrix([[1, 2], [1]]), r"the rows of the matrix have \[1, 2\] labels"),
        (lambda: Labels.from_matrix([[1, 2]], rater_names=["x"]), "1 names for 2 raters"),
        (lambda: Labels.from_matrix([[1, 2]], rater_names=["x", "x"]), "rater names repeat"),
        (lambda: Labels.from_matrix([[1, 7]], categories=[1, 2]), "unknown label '7'"),
        (lambda: Labels.from_long(LONG.assign(rater=None)), "row 1 has no rater"),
        (lambda: Labels.from_long(LONG.assign(c=range(len(LONG))), cluster="c"), "is in two clusters"),
    ],
)
def test_what_does_not_fit_is_named(make, reason):
    with pytest.raises(ValueError, match=reason):
        make()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Labels.from_long([{"unit": n, "rater": "ann", "label": "x" * 99} for n in range(500)]), "not list"),
        (lambda: Labels.from_long({f"column {n}": [] for n in range(900)}), "'column 9' and 890 more"),
        (lambda: Labels.from_long(LONG.assign(label="?"), categories=range(900)), "'8', '9' and 890 more"),
    ],
)
def test_an_error_names_some_of_many_and_not_the_whole_data_set(make, says):
    with pytest.raises(ValueError, match=says) as error:
        make()
    assert len(str(error.value)) < 300
