"""A permutation test against chance: Fisher's exact test from outside, and planted data in which it holds its level."""

import itertools
from dataclasses import replace

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.stats import Labels, agreement_permutation_test, krippendorff_alpha

from .samples import from_counts, from_matrix, random_matrix


def two_raters(a: str, b: str, **options) -> Labels:
    units = [*range(len(a)), *range(len(b))]
    return Labels.from_columns(units, ["a"] * len(a) + ["b"] * len(b), a + b, "+-", **options)


def test_two_raters_and_two_labels_are_fishers_exact_test():
    a, b = "+++++++---------", "+++++--++-------"
    table = [[sum(x == i and y == j for x, y in zip(a, b, strict=True)) for j in "+-"] for i in "+-"]
    exact = stats.fisher_exact(table, "greater").pvalue
    found = agreement_permutation_test(two_raters(a, b), n_permutations=4000)
    assert found.p_value == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 4000))
    assert found.statistic == krippendorff_alpha(two_raters(a, b)).estimate


def test_p_is_never_nought_and_one_label_per_rater_says_nothing():
    agreed = agreement_permutation_test(two_raters("+-" * 30, "+-" * 30), n_permutations=99)
    assert agreed.p_value == 0.01 and abs(agreed.chance_mean) < 0.1
    habits = agreement_permutation_test(two_raters("+" * 9, "-" * 9), n_permutations=99)
    assert np.isnan(habits.p_value) and "one label throughout" in habits.undefined
    nothing = agreement_permutation_test(two_raters("+" * 9, "+" * 9))
    assert np.isnan(nothing.p_value) and "only one label" in nothing.undefined and nothing.n_permutations == 0


def test_where_everybody_labelled_other_units_nothing_can_move():
    """Three votes on each of ten units by thirty people: permuting the one label of a person changes nothing."""
    units, votes = [unit for unit in range(10) for _ in range(3)], "++-" * 5 + "--+" * 5
    crowd = Labels.from_columns(units, range(30), votes, "+-")
    found = agreement_permutation_test(crowd, n_permutations=99)
    assert (
        np.isnan(found.p_value) and np.isnan(found.chance_high) and "each person labelled one unit" in found.undefined
    )
    assert (found.n_movable, found.n_labels, found.n_permutations) == (0, 30, 0)


def test_how_many_labels_can_move_is_said():
    """Two people label four units each, beside four who label one each; one more gives one label throughout."""
    unit = [*range(4), *range(4), *range(4), *range(4)]
    rater = ["a"] * 4 + ["b"] * 4 + list("wxyz") + ["same"] * 4
    found = agreement_permutation_test(Labels.from_columns(unit, rater, "++--+-+-+--+++++", "+-"))
    assert (found.n_movable, found.n_labels) == (8, 16) and 0 < found.p_value <= 1
    alone = agreement_permutation_test(Labels.from_columns([0, 0, 1, 1], "abac", "+-+-", "+-"))
    assert alone.n_movable == 0 and alone.undefined


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 2**32), st.integers(2, 4), st.integers(1, 4), st.floats(0, 0.6))
def test_where_it_is_undefined_every_permutation_gives_the_same_alpha(seed, n_raters, n_units, missing):
    labels = from_matrix(random_matrix(np.random.default_rng(seed), n_raters, n_units, 2, missing), "12")
    found, alpha = agreement_permutation_test(labels, n_permutations=9), krippendorff_alpha(labels)
    if alpha.undefined or found.n_movable:
        return
    rng = np.random.default_rng(seed)
    paired = np.bincount(labels.unit, minlength=labels.n_units)[labels.unit] > 1
    for _ in range(20):
        value = labels.value.copy()
        for rater in range(labels.n_raters):
            mine = paired & (labels.rater == rater)
            value[mine] = rng.permutation(value[mine])
        assert krippendorff_alpha(replace(labels, value=value)).estimate == pytest.approx(alpha.estimate)


def null_matrix(rng: np.random.Generator) -> np.ndarray:
    """Four raters with habits of their own, two or three on each of 24 units, who do not look at the units."""
    habits = rng.dirichlet([1, 1, 1], 4)
    matrix = np.array([rng.choice([1, 2, 3], 24, p=habit) for habit in habits]).astype(float)
    matrix[rng.random(matrix.shape) < 0.35] = np.nan
    return matrix


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_it_holds_its_level_when_raters_only_have_habits(level):
    rng = np.random.default_rng(5)
    p = [agreement_permutation_test(from_matrix(null_matrix(rng), "123"), level, 39).p_value for _ in range(400)]
    rejected = np.nanmean(np.array(p) <= 0.05)
    assert rejected <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
    assert np.nanmean(p) == pytest.approx(0.5, abs=0.08)


def test_it_finds_planted_agreement_and_slots_are_permuted_among_all():
    rng = np.random.default_rng(6)
    truth = rng.integers(1, 4, 40)
    matrix = np.where(rng.random((3, 40)) < 0.5, truth, rng.integers(1, 4, (3, 40))).astype(float)
    found = agreement_permutation_test(from_matrix(matrix, "123"), n_permutations=199)
    assert found.p_value == 0.005 and found.chance_high < found.statistic and "within each" in found.null
    counts = np.column_stack([(matrix == value).sum(axis=0) for value in (1, 2, 3)])
    slots = agreement_permutation_test(from_counts(counts), n_permutations=199)
    assert slots.p_value == 0.005 and slots.statistic == pytest.approx(found.statistic) and "exchangeable" in slots.null


def test_wrong_arguments_are_refused():
    labels = two_raters("+-", "+-")
    with pytest.raises(ValueError, match="level"):
        agreement_permutation_test(labels, "cubic")
    with pytest.raises(ValueError, match="n_permutations"):
        agreement_permutation_test(labels, n_permutations=0)


def test_the_interval_level_is_tested_at_the_interval_level():
    """Two people, seven units: every order of the second's labels is enumerated, with alpha as the package
    `krippendorff` has it."""
    first, second = [1, 2, 4, 9, 30, 4, 2], [2, 2, 9, 4, 30, 1, 4]
    rows = [
        (unit, rater, f"{value}") for rater, side in (("a", first), ("b", second)) for unit, value in enumerate(side)
    ]
    labels = Labels.from_columns(*zip(*rows, strict=True), ("1", "2", "4", "9", "30"))
    test = agreement_permutation_test(labels, "interval", 999)

    def alpha(side) -> float:
        return krippendorff.alpha([first, side], level_of_measurement="interval")

    every = np.array([alpha(list(order)) for order in set(itertools.permutations(second))])
    assert test.statistic == pytest.approx(alpha(second))
    assert test.p_value == pytest.approx((every >= alpha(second) - 1e-12).mean(), abs=0.02)
    assert test.chance_mean == pytest.approx(every.mean(), abs=0.06)


@pytest.mark.parametrize("unit", [1e-12, 1e250])
def test_numbers_of_any_size_give_the_same_answer(unit):
    """Squares of numbers beyond 1e154 overflow, and of small ones are below any fixed tolerance."""
    rng = np.random.default_rng(8)
    first, second = rng.integers(1, 6, 30), rng.integers(1, 6, 30)

    def tested(unit: float):
        numbers = [repr(float(value * unit)) for value in (*first, *second)]
        units, raters = [*range(30)] * 2, ["a"] * 30 + ["b"] * 30
        labels = Labels.from_columns(units, raters, numbers, [repr(float(value * unit)) for value in range(1, 6)])
        return agreement_permutation_test(labels, "interval", 199)

    plain, other = tested(1.0), tested(unit)
    assert plain.p_value > 0.05 and other.p_value == plain.p_value and other.n_movable == plain.n_movable
    assert (other.statistic, other.chance_high) == pytest.approx((plain.statistic, plain.chance_high))


@pytest.mark.parametrize("clusters", [None, [number // 2 for number in range(30)]])
def test_what_is_drawn_hangs_neither_on_the_names_of_raters_nor_on_the_order_of_rows(clusters):
    """An import gives people of a file other pseudonyms, which the rows are then in the order of."""
    drawn = np.random.default_rng(3)
    rows = [(unit, rater, drawn.choice(list("+-"))) for unit in range(30) for rater in "abcd" if drawn.random() < 0.7]

    def test_of(rows):
        units, raters, values = zip(*sorted(rows), strict=True)
        cluster = clusters and [clusters[unit] for unit in units]
        return agreement_permutation_test(Labels.from_columns(units, raters, values, "+-", cluster=cluster))

    names = {"a": "r-7", "b": "r-2", "c": "r-9", "d": "r-1"}
    assert test_of(rows) == test_of([(unit, names[rater], value) for unit, rater, value in rows])
