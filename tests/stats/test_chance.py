"""Outside numbers: the irrCAC package (Gwet's own formulas), whose four raters are Krippendorff's worked example."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats import Labels, brennan_prediger, fleiss_kappa, gwet_ac, percent_agreement, scott_pi

from .samples import KRIPPENDORFF_2011, from_matrix, random_matrix

# weights: AC, its standard error, its lower limit, Brennan-Prediger, its standard error
IRRCAC = {
    None: (0.77544, 0.14295, 0.46081, 0.77273, 0.14472),
    "linear": (0.85874, 0.11733, 0.6005, 0.84848, 0.12336),
    "quadratic": (0.914, 0.10396, 0.68518, 0.90152, 0.11089),
    "ordinal": (0.89894, 0.1069, 0.66365, 0.88636, 0.11391),
}
TWO_RATERS = ("++++++++++----------00000", "+++++++-0-------+0--00+0-")


def two_raters() -> Labels:
    units = [*range(25), *range(25)]
    return Labels.from_columns(units, ["a"] * 25 + ["b"] * 25, "".join(TWO_RATERS), "+-0")


@pytest.mark.parametrize("weights", IRRCAC)
def test_four_raters_with_missing_labels(weights):
    labels = from_matrix(KRIPPENDORFF_2011, "12345")
    ac, bp = gwet_ac(labels, weights), brennan_prediger(labels, weights)
    interval = ac.analytic_interval()
    found = (ac.estimate, ac.standard_error, interval.low, bp.estimate, bp.standard_error)
    assert tuple(round(figure, 5) for figure in found) == IRRCAC[weights]
    assert interval.high == 1.0
    assert (ac.n_pairable, ac.left_out) == (11, {"one label only": 1})


def test_two_raters():
    labels = two_raters()
    ac, pi = gwet_ac(labels), scott_pi(labels, "a", "b")
    assert (round(ac.estimate, 5), round(ac.standard_error, 5)) == (0.58848, 0.13636)  # irrCAC
    assert (round(pi.estimate, 5), round(pi.standard_error, 5)) == (0.56195, 0.14164)  # irrCAC
    assert pi.estimate == pytest.approx(fleiss_kappa(labels).estimate)


def test_pi_looks_at_shared_units_only():
    labels = two_raters()
    more = Labels.from_columns(
        [*range(25), *range(25), 25, 26, 0],
        ["a"] * 25 + ["b"] * 25 + ["a", "c", "c"],
        "".join(TWO_RATERS) + "+-0",
        "+-0",
    )
    assert scott_pi(more, "a", "b").estimate == pytest.approx(scott_pi(labels, "a", "b").estimate)
    assert scott_pi(more, "a", "b").left_out == {"not labelled by both": 2}
    assert "no unit" in scott_pi(more.select_units(np.arange(27) > 24), "a", "b").undefined


def test_one_label_used_by_all_is_full_agreement_where_others_were_possible():
    labels = Labels.from_columns("aabb", "xyxy", "++++", "+-")
    assert gwet_ac(labels).estimate == 1 and brennan_prediger(labels).estimate == 1
    assert np.isnan(scott_pi(labels, "x", "y").estimate) and scott_pi(labels, "x", "y").undefined


def test_what_is_undefined_says_why():
    nobody = Labels.from_columns("ab", "xx", "+-", "+-")
    assert np.isnan(gwet_ac(nobody).estimate) and "no unit has two labels" in gwet_ac(nobody).undefined
    one = Labels.from_columns("aabb", "xyxy", "++++", "+")
    assert np.isnan(gwet_ac(one).estimate) and "one label only" in gwet_ac(one).undefined
    assert np.isnan(gwet_ac(nobody).analytic_interval().low)
    with pytest.raises(ValueError, match="weights"):
        gwet_ac(nobody, "cubic")


tables = st.builds(
    lambda seed, raters, units, missing, agreement: random_matrix(
        np.random.default_rng(seed), raters, units, 4, missing, agreement
    ),
    st.integers(0, 2**32),
    st.integers(2, 6),
    st.integers(2, 40),
    st.floats(0, 0.7),
    st.floats(0, 1),
)


@settings(max_examples=60, deadline=None)
@given(tables, st.sampled_from([None, "linear", "quadratic", "ordinal"]))
def test_parts_fit_together(matrix, weights):
    labels = from_matrix(matrix, "1234")
    for found in (gwet_ac(labels, weights), brennan_prediger(labels, weights)):
        if found.undefined:
            continue
        assert found.estimate <= 1 + 1e-12
        assert found.estimate == pytest.approx((found.observed - found.expected) / (1 - found.expected))
        if weights is None:
            assert found.observed == pytest.approx(percent_agreement(labels).estimate)
        interval = found.confidence_interval(200)
        assert np.isnan(interval.low) or interval.low <= interval.high
