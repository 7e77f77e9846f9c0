"""A permutation test against chance: Fisher's exact test from outside, and planted data in which it holds its level."""

import numpy as np
import pytest
from scipy import stats

from analysis.stats import Labels, agreement_permutation_test, krippendorff_alpha

from .samples import from_counts, from_matrix


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
    assert agreement_permutation_test(two_raters("+" * 9, "-" * 9), n_permutations=99).p_value == 1
    nothing = agreement_permutation_test(two_raters("+" * 9, "+" * 9))
    assert np.isnan(nothing.p_value) and "only one label" in nothing.undefined and nothing.n_permutations == 0


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
