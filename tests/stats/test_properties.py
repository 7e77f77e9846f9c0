"""What no measure of agreement may depend on: names of raters, order of units and rows, names of nominal labels.

Alpha and the krippendorff package on any table are in test_alpha.py; Fleiss and statsmodels are in test_kappa.py.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats import (
    Labels,
    agreement_permutation_test,
    agreement_with_others,
    brennan_prediger,
    cohen_kappa,
    cohen_kappa_table,
    dawid_skene,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    mace,
    majority,
    percent_agreement,
    pooled_percent_agreement,
    scott_pi,
)

from .samples import from_matrix, random_matrix

CATEGORIES = "12345"
NOMINAL = {
    "percent": percent_agreement,
    "pooled percent": pooled_percent_agreement,
    "alpha": krippendorff_alpha,
    "Fleiss": fleiss_kappa,
    "AC1": gwet_ac,
    "Brennan-Prediger": brennan_prediger,
}
ORDERED = {
    "alpha, ordinal": lambda labels: krippendorff_alpha(labels, "ordinal"),
    "alpha, interval": lambda labels: krippendorff_alpha(labels, "interval"),
    "alpha, ratio": lambda labels: krippendorff_alpha(labels, "ratio"),
    "AC2, linear": lambda labels: gwet_ac(labels, "linear"),
    "AC2, ordinal": lambda labels: gwet_ac(labels, "ordinal"),
    "Brennan-Prediger, quadratic": lambda labels: brennan_prediger(labels, "quadratic"),
}
MEASURES = NOMINAL | ORDERED

tables = st.builds(
    lambda seed, raters, units, missing, agreement: random_matrix(
        np.random.default_rng(seed), raters, units, 5, missing, agreement
    ),
    st.integers(0, 2**32),
    st.integers(2, 6),
    st.integers(1, 25),
    st.floats(0, 0.8),
    st.floats(0, 1),
)
shuffled = st.randoms(use_true_random=False)


def order(n: int, random) -> np.ndarray:
    places = list(range(n))
    random.shuffle(places)
    return np.array(places, dtype=int)


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
@settings(max_examples=10, deadline=None)
@given(matrix=tables, random=shuffled)
def test_raters_can_be_renamed_units_permuted_and_rows_shuffled(measure, matrix, random):
    before = measure(from_matrix(matrix, CATEGORIES))
    moved = from_matrix(matrix[np.ix_(order(matrix.shape[0], random), order(matrix.shape[1], random))], CATEGORIES)
    rows = order(moved.n_labels, random)
    after = measure(replace(moved, unit=moved.unit[rows], rater=moved.rater[rows], value=moved.value[rows]))
    assert after.estimate == pytest.approx(before.estimate, abs=1e-12, nan_ok=True)
    assert (after.undefined, after.left_out, after.n_pairable, after.n_labels) == (
        before.undefined,
        before.left_out,
        before.n_pairable,
        before.n_labels,
    )


@pytest.mark.parametrize("measure", NOMINAL.values(), ids=NOMINAL)
@settings(max_examples=10, deadline=None)
@given(matrix=tables, categories=st.permutations(CATEGORIES))
def test_nominal_labels_can_be_renamed(measure, matrix, categories):
    before, after = (measure(from_matrix(matrix, names)) for names in (CATEGORIES, categories))
    assert after.estimate == pytest.approx(before.estimate, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("measure", [cohen_kappa, scott_pi], ids=["Cohen", "Scott"])
@settings(max_examples=25, deadline=None)
@given(matrix=tables, categories=st.permutations(CATEGORIES))
def test_figures_of_a_pair_do_not_depend_on_names_of_labels(measure, matrix, categories):
    """Nor do their standard errors and what is left out."""
    pair = np.hstack([matrix[:2], np.ones((2, 1))])  # both have said something
    before, after = (measure(from_matrix(pair, names), 0, 1) for names in (CATEGORIES, categories))
    assert after.estimate == pytest.approx(before.estimate, abs=1e-12, nan_ok=True)
    assert after.standard_error == pytest.approx(before.standard_error, abs=1e-9, nan_ok=True)
    assert (after.undefined, after.left_out) == (before.undefined, before.left_out)


@settings(max_examples=25, deadline=None)
@given(matrix=tables, places=st.permutations(range(5)))
def test_dawid_skene_does_not_depend_on_the_order_of_labels(matrix, places):
    before, after = (from_matrix(relabelled(matrix, order), CATEGORIES) for order in (range(5), places))
    found, moved = dawid_skene(before), dawid_skene(after)
    assert moved.competence == pytest.approx(found.competence, abs=1e-6, nan_ok=True)
    assert moved.prevalence[list(places)] == pytest.approx(found.prevalence, abs=1e-6, nan_ok=True)
    assert moved.posterior[:, list(places)] == pytest.approx(found.posterior, abs=1e-5, nan_ok=True)


def relabelled(matrix: np.ndarray, places) -> np.ndarray:
    """Label c + 1 of the table becomes places[c] + 1."""
    moved = matrix.copy()
    for code, place in enumerate(places):
        moved[matrix == code + 1] = place + 1
    return moved


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32), places=st.permutations(range(3)), random=shuffled)
def test_mace_follows_names_of_labels_and_raters(seed, places, random):
    """Its starts are drawn at random, so only where the data leave one maximum to find: people who mostly know."""
    matrix = random_matrix(np.random.default_rng(seed), 5, 120, 3, 0.1, 0.7)
    raters = order(5, random)
    found, moved = (
        mace(from_matrix(table, "123"), n_iterations=200) for table in (matrix, relabelled(matrix, places)[raters])
    )
    assert moved.competence == pytest.approx(found.competence[raters], abs=1e-3)
    assert moved.posterior[:, list(places)] == pytest.approx(found.posterior, abs=1e-2, nan_ok=True)
    assert found.competence.max() - found.competence.min() > 1e-3  # so that a mix-up of people would be seen


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
@settings(max_examples=10, deadline=None)
@given(matrix=tables, random=shuffled)
def test_within_a_unit_it_does_not_matter_who_said_what(measure, matrix, random):
    """All of these take raters as interchangeable, so slots of unknown people give the same figure as people."""
    mixed = matrix.copy()
    for column in range(mixed.shape[1]):
        mixed[:, column] = mixed[order(len(mixed), random), column]
    before = measure(from_matrix(matrix, CATEGORIES))
    after = measure(replace(from_matrix(mixed, CATEGORIES), exchangeable=True))
    assert after.estimate == pytest.approx(before.estimate, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
@settings(max_examples=10, deadline=None)
@given(matrix=tables, copies=st.integers(2, 4))
def test_units_without_labels_change_nothing_but_the_count(measure, matrix, copies):
    before = measure(from_matrix(matrix, CATEGORIES))
    after = measure(from_matrix(np.hstack([matrix, np.full((len(matrix), copies), np.nan)]), CATEGORIES))
    assert after.estimate == pytest.approx(before.estimate, abs=1e-12, nan_ok=True)
    assert after.left_out.get("no label", 0) == before.left_out.get("no label", 0) + copies


@settings(max_examples=25, deadline=None)
@given(matrix=tables, random=shuffled)
def test_figures_of_people_follow_their_names(matrix, random):
    """Kappa, pi, agreement with the others and Dawid-Skene's competence belong to people, wherever they stand."""
    raters = order(matrix.shape[0], random)
    before, after = from_matrix(matrix, CATEGORIES), from_matrix(matrix[raters], CATEGORIES)

    def kappas(labels, names):
        return {
            frozenset((names[int(k.rater_a)], names[int(k.rater_b)])): k.estimate for k in cohen_kappa_table(labels)
        }

    of_before, of_after = kappas(before, range(len(raters))), kappas(after, raters)
    assert of_after.keys() == of_before.keys()
    for pair, kappa in of_before.items():
        assert of_after[pair] == pytest.approx(kappa, abs=1e-12, nan_ok=True)
    if before.n_raters == after.n_raters == len(raters):
        places = np.argsort(raters)
        pi = scott_pi(before, 0, 1).estimate
        assert scott_pi(after, int(places[0]), int(places[1])).estimate == pytest.approx(pi, abs=1e-12, nan_ok=True)
        with_others = [one.estimate for one in agreement_with_others(before)]
        moved = [one.estimate for one in agreement_with_others(after)]
        assert np.array(moved)[places] == pytest.approx(np.array(with_others), abs=1e-12, nan_ok=True)


@settings(max_examples=20, deadline=None)
@given(matrix=tables, random=shuffled)
def test_competence_and_majority_follow_their_raters_and_units(matrix, random):
    raters, units = order(matrix.shape[0], random), order(matrix.shape[1], random)
    before, after = from_matrix(matrix, CATEGORIES), from_matrix(matrix[np.ix_(raters, units)], CATEGORIES)
    assert (majority(after).code == majority(before).code[units]).all()
    if before.n_raters == after.n_raters == len(raters):
        found, moved = dawid_skene(before), dawid_skene(after)
        assert moved.competence == pytest.approx(found.competence[raters], abs=1e-6, nan_ok=True)


@settings(max_examples=30, deadline=None)
@given(matrix=tables, seed=st.integers(0, 1000))
def test_p_values_are_never_nought_nor_above_one(matrix, seed):
    found = agreement_permutation_test(from_matrix(matrix, CATEGORIES), n_permutations=19, seed=seed)
    assert np.isnan(found.p_value) if found.undefined else 1 / 20 <= found.p_value <= 1


@settings(max_examples=25, deadline=None)
@given(matrix=tables, measure=st.sampled_from(list(MEASURES.values())))
def test_an_interval_is_in_order_and_says_why_where_there_is_none(matrix, measure):
    found = measure(from_matrix(matrix, CATEGORIES))
    interval = found.confidence_interval(50)
    assert interval.undefined or interval.low < interval.high <= 1 + 1e-9
    assert np.isnan(interval.low) == np.isnan(interval.high) == bool(interval.undefined)


@settings(max_examples=25, deadline=None)
@given(matrix=tables)
def test_labels_in_long_form_are_the_table(matrix):
    """Names of any kind, in any order of appearance, make the same figure as the table's positions."""
    rater, unit = np.nonzero(~np.isnan(matrix))
    named = Labels.from_columns(
        [f"unit {u}" for u in unit],
        [f"rater {r}" for r in rater],
        matrix[rater, unit].astype(int).tolist(),
        CATEGORIES,
    )
    for measure in MEASURES.values():
        expected = measure(from_matrix(matrix, CATEGORIES)).estimate
        assert measure(named).estimate == pytest.approx(expected, abs=1e-12, nan_ok=True)
