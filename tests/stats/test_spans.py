import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats import Continua, Marked, character_alpha, span_agreement, span_agreement_by_label
from analysis.stats.spans.overlaps import labels_overlap

MEASURES = ("exact_f1", "overlap_f1", "character_f1", "character_iou")


def figures(marked) -> tuple[float, ...]:
    found = span_agreement(marked)
    return tuple(getattr(found, name).estimate for name in MEASURES)


def test_hand_computed_pair():
    """a = 0-10 and 30-40, b = 0-10 and 35-50. Exact: 1 of 2 and 1 of 2, F1 2/4. Overlap: all four touch, 4/4.
    Characters: |A| = 20, |B| = 25, common 15, together 30: F1 30/45, IoU 15/30."""
    a = Marked("u", "x", ((0, 10), (30, 40)))
    b = Marked("u", "y", ((0, 10), (35, 50)))
    assert figures([a, b]) == pytest.approx((0.5, 1.0, 30 / 45, 0.5))


def test_nothing_against_something_is_no_agreement_and_nothing_against_nothing_is_left_out():
    marked = [
        Marked("u", "x", ((0, 5),)),
        Marked("u", "y", ()),
        Marked("v", "x", ()),
        Marked("v", "y", ()),
        Marked("w", "x", ((1, 2),)),
    ]
    found = span_agreement(marked)
    assert figures(marked) == (0, 0, 0, 0)
    assert found.exact_f1.n_pairable == 1
    assert found.exact_f1.left_out == {"one rater only": 1, "marked by neither": 1}


def test_units_count_alike_however_many_raters_they_have():
    """u: of three raters two are identical, one disjoint: pairs 1, 0, 0. v: two identical. Mean (1/3 + 1)/2."""
    marked = [
        Marked("u", "x", ((0, 4),)),
        Marked("u", "y", ((0, 4),)),
        Marked("u", "z", ((6, 9),)),
        Marked("v", "x", ((2, 3),)),
        Marked("v", "y", ((2, 3),)),
    ]
    assert figures(marked) == pytest.approx((2 / 3,) * 4)


def test_intervals_resample_clusters():
    marked = [
        Marked(unit, rater, ((0, 4 + (unit % 3) * (rater == "y")),), cluster=unit // 4)
        for unit in range(40)
        for rater in "xy"
    ]
    interval = span_agreement(marked).character_f1.confidence_interval(200)
    assert interval.n_clusters == 10
    assert interval.low <= span_agreement(marked).character_f1.estimate <= interval.high


spans = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 8)), max_size=4).map(
    lambda found: tuple((start, start + length) for start, length in found)
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(spans, spans, spans), min_size=1, max_size=5))
def test_measures_are_symmetric_bounded_and_ordered(units):
    marked = [Marked(u, r, found, 40) for u, of_unit in enumerate(units) for r, found in enumerate(of_unit)]
    found = span_agreement(marked)
    renamed = span_agreement([Marked(m.unit, -m.rater, m.spans, 40) for m in reversed(marked)])
    for name in MEASURES:
        value = getattr(found, name).estimate
        assert getattr(renamed, name).estimate == pytest.approx(value, nan_ok=True)
        assert np.isnan(value) or 0 <= value <= 1
    if not found.exact_f1.undefined:
        assert found.exact_f1.estimate <= found.overlap_f1.estimate + 1e-12
        assert found.character_iou.estimate <= found.character_f1.estimate + 1e-12


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(spans, spans), min_size=1, max_size=4))
def test_alpha_over_characters_equals_the_krippendorff_package(units):
    marked = [Marked(u, r, found, 40) for u, of_unit in enumerate(units) for r, found in enumerate(of_unit)]
    matrix = np.zeros((2, 40 * len(units)))
    for entry in marked:
        for start, end in entry.spans:
            matrix[entry.rater, 40 * entry.unit + start : 40 * entry.unit + end] = 1
    found = character_alpha(marked)
    if matrix.min() == matrix.max():
        assert found.undefined
        return
    assert found.estimate == pytest.approx(krippendorff.alpha(matrix, level_of_measurement="nominal"), abs=1e-9)


def test_alpha_resamples_texts_not_characters():
    marked = [Marked(u, r, ((u, u + 5),), 50) for u in range(12) for r in "xy"]
    assert character_alpha(marked).confidence_interval(50).n_clusters == 12


@pytest.mark.parametrize(
    ("marked", "reason"),
    [
        ([Marked("u", "x", ((3, 3),))], "empty"),
        ([Marked("u", "x", ((-1, 3),))], "before the text"),
        ([Marked("u", "x", ()), Marked("u", "x", ())], "twice"),
    ],
)
def test_what_cannot_be_is_refused(marked, reason):
    with pytest.raises(ValueError, match=reason):
        span_agreement(marked)


def test_lengths_must_fit():
    with pytest.raises(ValueError, match="beyond"):
        character_alpha([Marked("u", "x", ((0, 9),), 5)])
    with pytest.raises(ValueError, match="different lengths"):
        character_alpha([Marked("u", "x", (), 5), Marked("u", "y", (), 6)])


def test_nothing_at_all():
    assert span_agreement([]).exact_f1.undefined and character_alpha([]).undefined


def test_labels_are_compared_one_at_a_time():
    """for: x {0-4}, y {0-4, 6-9}: exact 2/3, characters |A & B| = 4 of 4 + 7: 8/11. against: x {6-9}, y nothing."""
    x = Marked("u", "x", ((0, 4), (6, 9)), labels=("for", "against"))
    y = Marked("u", "y", ((0, 4), (6, 9)), labels=("for", "for"))
    by_label = span_agreement_by_label([x, y])
    assert by_label["for"].exact_f1.estimate == pytest.approx(2 / 3)
    assert by_label["for"].character_f1.estimate == pytest.approx(8 / 11)
    assert by_label["against"].character_f1.estimate == 0
    assert figures([x, y]) == (1, 1, 1, 1)


def test_columns_say_the_same_as_entries():
    columns = Continua.from_columns(
        ["u", "u", "v"],
        ["x", "y", "x"],
        (["u", "u", "u"], ["x", "y", "y"], [0, 0, 35], [10, 10, 50]),
        lengths=[60, 60, 10],
    )
    entries = [Marked("u", "x", ((0, 10),), 60), Marked("u", "y", ((0, 10), (35, 50)), 60), Marked("v", "x", (), 10)]
    assert figures(columns) == figures(entries)
    assert character_alpha(columns).estimate == character_alpha(entries).estimate
    assert columns.only_raters(["x"]).n_texts == 2
    assert columns.only_raters(["y"]).texts == ("u",)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"spans": (["u"], ["z"], [0], [3])}, "not among those who looked"),
        ({"lengths": [9, 10]}, "different lengths"),
        ({"clusters": ["a", "b"]}, "different clusters"),
    ],
)
def test_columns_that_contradict_themselves_are_refused(columns, reason):
    with pytest.raises(ValueError, match=reason):
        Continua.from_columns(["u", "u"], ["x", "y"], **{"spans": ((), (), (), ()), **columns})


def test_labels_must_match_the_spans():
    with pytest.raises(ValueError, match="1 labels for 2 spans"):
        span_agreement([Marked("u", "x", ((0, 1), (2, 3)), labels=("a",))])
    with pytest.raises(ValueError, match="no span has the label"):
        Continua.from_marked([Marked("u", "x", ((0, 1),), labels=("a",))]).only_label("b")


def test_labels_that_are_part_of_spans_are_compared_as_such():
    marked = [
        Marked("u", "x", ((0, 4), (0, 4), (6, 9)), 12, labels=("for", "against", "for")),
        Marked("u", "y", ((0, 4), (6, 9)), 12, labels=("for", "against")),
        Marked("v", "x", ((2, 5),), 8, labels=("against",)),
        Marked("v", "y", ((3, 6),), 8, labels=("against",)),
    ]
    continua = Continua.from_marked(marked)
    assert labels_overlap(continua) and not labels_overlap(continua.without_labels())
    assert not labels_overlap(continua.only_label("for"))
    apart = continua.labels_apart()
    assert apart.length.tolist() == [24, 16] and not labels_overlap(apart)
    # u: one of three and two is the same; v: none.
    assert span_agreement(apart).exact_f1.estimate == pytest.approx((2 / 5 + 0) / 2)
    # Each character of each text once for each label, as the krippendorff package counts them.
    table = np.zeros((2, 24 + 16))
    for rater, spans in ((0, [(0, 4), (6, 9), (12, 16), (24 + 8 + 2, 24 + 8 + 5)]), (1, [(0, 4), (18, 21), (35, 38)])):
        for start, end in spans:
            table[rater, start:end] = 1
    expected = krippendorff.alpha(table, level_of_measurement="nominal")
    assert character_alpha(apart).estimate == pytest.approx(expected, abs=1e-12)
