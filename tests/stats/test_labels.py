import numpy as np
import pytest

from analysis.stats import Labels, encode


def test_columns_are_coded_in_the_order_of_the_scale():
    labels = Labels.from_columns(["u", "u", "v"], ["x", "y", "x"], [3, 1, 2], ["3", "2", "1"], cluster=["c", "c", "d"])
    assert labels.value.tolist() == [0, 2, 1]
    assert labels.unit_names == ("u", "v")
    assert labels.rater_names == ("x", "y")
    assert labels.cluster.tolist() == [0, 1]


def test_units_without_labels_are_counted_when_named():
    labels = Labels.from_columns(["v"], ["x"], ["+"], "-+", units=["u", "v", "w"], cluster=["c"])
    assert labels.n_units == 3
    assert labels.unit.tolist() == [1]
    assert labels.cluster.tolist() == [-1, 0, -1]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((["u", "u"], ["x", "x"], ["+", "-"]), "unit 'u' is labelled twice by 'x'"),
        ((["u"], ["x"], ["maybe"]), "unknown label 'maybe'"),
        ((["u"], ["x"], [None]), "no label"),
        ((["u", "v"], ["x"], ["+"]), "differ in length"),
    ],
)
def test_bad_columns_are_refused_by_name(columns, message):
    with pytest.raises(ValueError, match=message):
        Labels.from_columns(*columns, "-+")


def test_a_unit_in_two_clusters_is_refused():
    with pytest.raises(ValueError, match="unit 'u' is in two clusters"):
        Labels.from_columns("uu", "xy", "++", "-+", cluster=["c", "d"])


def test_a_unit_outside_the_named_units_is_refused():
    with pytest.raises(ValueError, match="unit 'z' is not among the units"):
        Labels.from_columns("z", "x", "+", "-+", units=["u"])


def test_duplicates_are_found_among_many_raters_too():
    rng = np.random.default_rng(1)
    unit, rater = rng.integers(0, 5_000, 1_000), np.arange(1_000)
    unit, rater = np.append(unit, unit[7]), np.append(rater, 7)
    with pytest.raises(ValueError, match="labelled twice by '7'"):
        Labels(unit, rater, np.zeros(1_001, dtype=int), 5_000, ("a", "b"))


@pytest.mark.parametrize(
    "changes", [{"value": [2]}, {"unit": [1]}, {"unit": [-1]}, {"value": [0.5]}, {"cluster": [0, 1]}]
)
def test_codes_out_of_range_are_refused(changes):
    columns = {"unit": [0], "rater": [0], "value": [0], "n_units": 1, "categories": ("a", "b")} | changes
    with pytest.raises(ValueError):
        Labels(**columns)


def test_selected_units_keep_their_labels_clusters_and_raters():
    labels = Labels.from_columns("uuvw", "xyyx", "+-+-", "-+", cluster="ccdd")
    part = labels.select_units(np.array([False, True, True]))
    assert (part.n_units, part.unit.tolist(), part.value.tolist()) == (2, [0, 1], [1, 0])
    assert part.unit_names == ("v", "w")
    assert part.rater_names == ("x", "y")
    assert part.cluster.tolist() == [1, 1]


def test_encode_marks_missing_and_refuses_unknown():
    assert encode([2, None, "1"], ["1", "2"]).tolist() == [1, -1, 0]
    with pytest.raises(ValueError, match="unknown label 'z'"):
        encode(["z"], ["1"])
