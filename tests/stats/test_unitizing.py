import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats import Marked, character_alpha, unitizing_alpha


def family(marked):
    found = unitizing_alpha(marked)
    return found.units_and_labels, found.marked_or_not, found.labels_where_both, *found.each_label.values()


def test_equals_a_published_implementation():
    """The example of A. Lindahl's unitized_alpha (2024; github.com/lindanna/unitized_alpha), which prints u-alpha
    0.474, |u-alpha 0.433, cu-alpha 0.779 covering 38.33 %, (1)u-alpha 0.769 and (2)u-alpha 0.787."""
    marked = [
        Marked("t", "Alex", ((2, 5), (9, 11), (12, 20)), 20, labels=("1", "1", "2")),
        Marked("t", "Paul", ((2, 5), (7, 15)), 20, labels=("1", "2")),
        Marked("t", "Susan", ((2, 5), (10, 15)), 20, labels=("1", "2")),
    ]
    found = unitizing_alpha(marked)
    assert [round(one.estimate, 3) for one in family(marked)] == [0.474, 0.433, 0.779, 0.769, 0.787]
    assert found.coverage == pytest.approx(0.3833, abs=5e-5)
    assert found.units_and_labels.n_labels == 7


def test_hand_computed_pair():
    """Length 10; x marks 0-4, y 2-5. l = 20; unit and unit 2 (both orders: 4), gap and gap 5 (10), agreed 14, so that
    6 disagree. Margins 7 and 13, Q = 16 + 9 = 25 of units and 13 of gaps: chance agreement
    20 (7^2 - 25 + 13^2 - 13) / (20^2 - 38) = 20 * 180 / 362."""
    found = unitizing_alpha([Marked("t", "x", ((0, 4),), 10), Marked("t", "y", ((2, 5),), 10)])
    expected = 1 - 6 / (20 - 20 * 180 / 362)
    assert found.units_and_labels.estimate == pytest.approx(expected)
    assert found.marked_or_not.estimate == pytest.approx(expected)
    assert found.labels_where_both.undefined and found.each_label[None].undefined


labelled = st.lists(st.sampled_from(["", "", "a", "b"]), min_size=12, max_size=12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.one_of(st.none(), labelled), min_size=3, max_size=3), min_size=1, max_size=4))
def test_units_of_one_character_give_nominal_alpha(texts):
    """A unit of one character is a unit of coding: u-alpha is Krippendorff's alpha of characters (package 0.9.0)."""
    marked, matrix = [], np.full((3, 12 * len(texts)), np.nan)
    for text, by_rater in enumerate(texts):
        for rater, values in enumerate(by_rater):
            if values is None:
                continue
            places = [place for place, value in enumerate(values) if value]
            spans = tuple((place, place + 1) for place in places)
            marked.append(Marked(text, rater, spans, 12, labels=tuple(values[place] for place in places)))
            matrix[rater, 12 * text : 12 * (text + 1)] = [("", "a", "b").index(value) for value in values]
    found = unitizing_alpha(marked).units_and_labels
    pairable = matrix[:, (~np.isnan(matrix)).sum(axis=0) > 1]
    if len(np.unique(pairable[~np.isnan(pairable)])) < 2:
        assert found.undefined
        return
    assert found.estimate == pytest.approx(krippendorff.alpha(matrix, level_of_measurement="nominal"), abs=1e-9)


def segments(values):
    """Runs of equal labels: (start, end, label)."""
    edges = [0, *[i for i in range(1, len(values)) if values[i] != values[i - 1]], len(values)]
    return [(a, b, values[a]) for a, b in zip(edges, edges[1:], strict=False)]


def by_definition(texts):
    """u-alpha and cu-alpha as loops over segments, for texts of (length, one row of labels per rater)."""
    observed, squares, valued_squares = {}, {}, {}
    for rows in texts:
        for i, one in enumerate(rows):
            for start, end, label in segments(one):
                squares[label] = squares.get(label, 0) + ((end - start) ** 2 if label else end - start)
                for j, other in enumerate(rows):
                    meets = 0
                    for s, e, value in segments(other) if i != j else ():
                        shared = max(0, min(e, end) - max(s, start))
                        observed[label, value] = observed.get((label, value), 0) + shared / (len(rows) - 1)
                        meets += shared if value else 0
                    if label:
                        valued_squares[label] = valued_squares.get(label, 0) + meets**2 / (len(rows) - 1)

    def alpha(coincidence, square):
        total = sum(coincidence.values())
        values = {c for c, _ in coincidence}
        margin = {c: sum(n for (a, _), n in coincidence.items() if a == c) for c in values}
        if not total or total**2 <= sum(square.values()):
            return np.nan
        agreed = sum(coincidence.get((c, c), 0) for c in values)
        chance = sum(margin[c] ** 2 - square[c] for c in values) * total / (total**2 - sum(square.values()))
        return np.nan if total - chance < 1e-9 else 1 - (total - agreed) / (total - chance)

    both = {(c, k): n for (c, k), n in observed.items() if c and k}
    return alpha(observed, squares), alpha(both, {c: valued_squares[c] for c, _ in both})


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(labelled, min_size=2, max_size=3), min_size=1, max_size=3))
def test_equals_the_definition_for_any_units(texts):
    marked = [
        Marked(
            text,
            rater,
            tuple((start, end) for start, end, label in segments(values) if label),
            12,
            labels=tuple(label for _, _, label in segments(values) if label),
        )
        for text, rows in enumerate(texts)
        for rater, values in enumerate(rows)
    ]
    u_alpha, cu_alpha = by_definition(texts)
    found = unitizing_alpha(marked)
    assert found.units_and_labels.estimate == pytest.approx(u_alpha, nan_ok=True)
    assert found.labels_where_both.estimate == pytest.approx(cu_alpha, nan_ok=True)


def noisy(n_texts, seed, rater_only=None):
    rng = np.random.default_rng(seed)
    marked = []
    for text in range(n_texts):
        start = int(rng.integers(0, 60))
        for rater in ("x", "y", "z") if rater_only is None else rater_only:
            shift, label = int(rng.integers(-3, 4)), "ab"[text % 2] if rng.random() < 0.9 else "ab"[(text + 1) % 2]
            spans = ((max(0, start + shift), start + shift + 20),)
            marked.append(Marked(text, rater, spans, 100, cluster=text // 3, labels=(label,)))
    return marked


def test_names_and_orders_carry_no_meaning():
    marked = noisy(12, 1)
    renamed = [Marked(-m.unit, m.rater * 2, m.spans, 100, labels=(f"label {m.labels[0]}",)) for m in reversed(marked)]
    before, after = unitizing_alpha(marked), unitizing_alpha(renamed)
    assert after.units_and_labels.estimate == pytest.approx(before.units_and_labels.estimate)
    assert after.each_label["label a"].estimate == pytest.approx(before.each_label["a"].estimate)


def test_units_placed_at_random_agree_by_chance_only():
    rng = np.random.default_rng(7)
    marked = []
    for text in range(3000):
        for rater in "xyz":
            start, label = int(rng.integers(0, 80)), "ab"[rng.integers(2)]
            marked.append(Marked(text, rater, ((start, start + 20),), 100, labels=(label,)))
    found = unitizing_alpha(marked)
    assert abs(found.labels_where_both.estimate) < 0.06
    # Every text is marked, and the ends are marked less often, which people share without agreeing.
    assert abs(found.units_and_labels.estimate) < 0.04


@pytest.mark.parametrize("wrong", [0.0, 0.05, 0.15, 0.3])
def test_planted_errors_of_labels_are_found_again(wrong):
    """Same places, two labels equally often, each rater wrong with a chance of e: labels are equal with a chance of
    (1 - e)^2 + e^2, by chance 1/2, so that cu-alpha is (1 - 2 e)^2. Places agree, so |u-alpha is 1."""
    rng = np.random.default_rng(11)
    marked = []
    for text in range(4000):
        start, true = int(rng.integers(0, 80)), int(rng.integers(2))
        for rater in "xy":
            said = true if rng.random() >= wrong else 1 - true
            marked.append(Marked(text, rater, ((start, start + 20),), 100, labels=("ab"[said],)))
    found = unitizing_alpha(marked)
    assert found.labels_where_both.estimate == pytest.approx((1 - 2 * wrong) ** 2, abs=0.03)
    assert found.marked_or_not.estimate == pytest.approx(1)
    assert found.labels_where_both.estimate <= found.units_and_labels.estimate <= 1 + 1e-9


def test_intervals_resample_clusters_and_hold_the_figure():
    found = unitizing_alpha(noisy(60, 2))
    for one in (found.units_and_labels, found.marked_or_not, found.labels_where_both, found.each_label["b"]):
        interval = one.confidence_interval(400)
        assert interval.n_clusters == 20
        assert interval.low < one.estimate < interval.high


def test_what_nobody_can_disagree_about_is_undefined_with_its_reason():
    nothing = [Marked("t", rater, (), 50) for rater in "xy"]
    assert "nobody marked anything" in unitizing_alpha(nothing).units_and_labels.undefined
    everything = [Marked("t", rater, ((0, 50),), 50) for rater in "xy"]
    assert "no gaps" in unitizing_alpha(everything).marked_or_not.undefined
    apart = [Marked("t", "x", ((0, 5),), 50, labels=("a",)), Marked("t", "y", ((20, 25),), 50, labels=("b",))]
    found = unitizing_alpha(apart)
    assert found.labels_where_both.undefined == found.each_label["a"].undefined == "no two raters' units intersect"
    assert found.units_and_labels.estimate < 0.1
    # Of five people two meet once and differ: too little for chance to have placed it otherwise.
    few = [Marked("t", rater, (), 50) for rater in "uvw"]
    few += [Marked("t", rater, ((0, 5),), 50, labels=(rater,)) for rater in "xy"]
    assert "placed otherwise" in unitizing_alpha(few).labels_where_both.undefined
    alone = unitizing_alpha([Marked("t", "x", ((0, 5),), 50), *nothing[:0]])
    assert alone.units_and_labels.undefined == "no text has two raters"
    assert alone.units_and_labels.left_out == {"one rater only": 1}
    assert unitizing_alpha([]).units_and_labels.undefined


def test_overlapping_labels_and_missing_lengths_are_refused():
    with pytest.raises(ValueError, match="different labels overlap"):
        unitizing_alpha([Marked("t", "x", ((0, 5), (4, 9)), 10, labels=("a", "b")), Marked("t", "y", (), 10)])
    with pytest.raises(ValueError, match="lengths of the texts"):
        unitizing_alpha([Marked("t", "x", ((0, 5),)), Marked("t", "y", ())])


def test_spans_that_overlap_are_one_unit_and_spans_that_touch_are_two():
    def alpha(*spans):
        return unitizing_alpha([Marked("t", "x", spans, 30), Marked("t", "y", ((0, 10),), 30)]).units_and_labels

    assert alpha((0, 7), (4, 10)).estimate == alpha((0, 10)).estimate == 1
    assert alpha((0, 5), (5, 10)).n_labels == 3
    characters = [Marked("t", "x", ((0, 5), (5, 10)), 30), Marked("t", "y", ((0, 10),), 30)]
    assert character_alpha(characters).estimate == 1
