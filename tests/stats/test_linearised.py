"""Standard errors in closed form, compared with published numbers, other packages, and a formula written down anew."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from analysis.stats import (
    Labels,
    brennan_prediger,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
    pooled_percent_agreement,
    scott_pi,
)

from .samples import FAST_KRIPPENDORFF, KRIPPENDORFF_2011, from_matrix, random_matrix

# What irrCAC 0.4.4 (the Python port of Gwet's own R package) gives for raw_4raters, which is Krippendorff's example:
# coefficient, standard error, lower limit. It has no percent agreement: those three are by the R package's formula
# (pa.coeff.raw), unit by unit as in `gwets_errors`.
IRRCAC = {
    "alpha": (krippendorff_alpha, 0.74342, 0.14557, 0.41906),
    "alpha, quadratic weights": (lambda labels: krippendorff_alpha(labels, "interval"), 0.84911, 0.12913, 0.56139),
    "Fleiss": (fleiss_kappa, 0.76117, 0.15302, 0.42438),
    "AC1": (gwet_ac, 0.77544, 0.14295, 0.46081),
    "Brennan-Prediger": (brennan_prediger, 0.77273, 0.14472, 0.45421),
    "percent": (percent_agreement, 0.81818, 0.12561, 0.54172),
}


@pytest.mark.parametrize("name", IRRCAC)
def test_irrcac_prints_the_same_errors_and_limits(name):
    measure, *expected = IRRCAC[name]
    found = measure(from_matrix(KRIPPENDORFF_2011, "12345"))
    interval = found.analytic_interval()
    assert [round(one, 5) for one in (found.estimate, found.standard_error, interval.low)] == expected
    assert interval.high == 1 and "Gwet" in interval.method and interval.n_resamples == 0


def counted(matrix: np.ndarray, q: int) -> list[list[int]]:
    """Units as counts of labels, of those with a label."""
    units = [[int((unit == label).sum()) for label in range(1, q + 1)] for unit in matrix.T]
    return [unit for unit in units if sum(unit)]


def error_of(own: list[float], centre: float) -> float:
    return (sum((one - centre) ** 2 for one in own) / (len(own) * (len(own) - 1))) ** 0.5


def agreeing(unit: list[int]) -> float:
    n = sum(unit)
    return sum(times * (times - 1) for times in unit) / (n * (n - 1)) if n > 1 else 0.0


def gwets_errors(units: list[list[int]]) -> dict[str, float]:
    """Gwet (2014), equations of section 5.3 for nominal labels, unit by unit as they are printed."""
    n, pairs = len(units), [unit for unit in units if sum(unit) > 1]
    labels = range(len(units[0]))
    observed = sum(map(agreeing, pairs)) / len(pairs)
    prevalence = [sum(unit[label] / sum(unit) for unit in units) / n for label in labels]
    chance = sum(share**2 for share in prevalence)
    kappa = (observed - chance) / (1 - chance)
    own_kappa = []
    for unit in units:
        direct = n / len(pairs) * (agreeing(unit) - chance * (sum(unit) > 1)) / (1 - chance)
        by_chance = sum(unit[label] * prevalence[label] for label in labels) / sum(unit)
        own_kappa.append(direct - 2 * (1 - kappa) * (by_chance - chance) / (1 - chance))

    mean = sum(map(sum, pairs)) / len(pairs)
    epsilon = 1 / sum(map(sum, pairs))
    own_share = [agreeing(unit) * sum(unit) / mean for unit in pairs]
    plain = sum(own_share) / len(pairs)
    corrected = (1 - epsilon) * plain + epsilon
    share = [sum(unit[label] for unit in pairs) / len(pairs) / mean for label in labels]
    expected = sum(one**2 for one in share)
    alpha = (plain - expected) / (1 - expected)
    own_alpha = []
    for unit, agreed in zip(pairs, own_share, strict=True):
        more = sum(unit) / mean - 1
        direct = (agreed - corrected * more - expected) / (1 - expected)
        by_chance = sum(unit[label] * share[label] for label in labels) / mean - expected * more
        own_alpha.append(direct - 2 * (1 - alpha) * (by_chance - expected) / (1 - expected))
    own_percent = [n / len(pairs) * agreeing(unit) for unit in units]
    return {
        "percent": error_of(own_percent, observed),
        "Fleiss": error_of(own_kappa, kappa),
        "alpha": error_of(own_alpha, alpha),
    }


def assert_gwets(matrix: np.ndarray, q: int) -> None:
    labels = from_matrix(matrix, "12345"[:q])
    expected = gwets_errors(counted(matrix, q))
    found = {"percent": percent_agreement(labels), "Fleiss": fleiss_kappa(labels), "alpha": krippendorff_alpha(labels)}
    assert {name: one.standard_error for name, one in found.items()} == pytest.approx(expected, abs=1e-10)


def test_the_formulas_as_printed_on_published_tables():
    assert round(gwets_errors(counted(KRIPPENDORFF_2011, 5))["alpha"], 5) == 0.14557  # the formulas are the right ones
    assert_gwets(KRIPPENDORFF_2011, 5)
    assert_gwets(FAST_KRIPPENDORFF, 4)


tables = st.builds(
    lambda seed, raters, units, missing, agreement: random_matrix(
        np.random.default_rng(seed), raters, units, 4, missing, agreement
    ),
    st.integers(0, 2**32),
    st.integers(2, 6),
    st.integers(3, 40),
    st.floats(0, 0.6),
    st.floats(0.1, 0.9),
)


@settings(max_examples=60, deadline=None)
@given(tables)
def test_the_formulas_as_printed_on_any_table(matrix):
    labels = from_matrix(matrix, "1234")
    if not krippendorff_alpha(labels).undefined and krippendorff_alpha(labels).n_pairable > 1:
        assert_gwets(matrix, 4)


def alpha_by_weights(units: np.ndarray, weight: np.ndarray) -> float:
    """Ordinal alpha of units that count so much each, without the small-sample n - 1: as many units would give it."""
    units = units * 1.0
    per_unit = units.sum(axis=1)
    marginal = weight @ units
    n, rank = marginal.sum(), np.cumsum(marginal) - marginal / 2
    distance = (rank[:, None] - rank[None, :]) ** 2
    observed = weight @ ((units @ distance * units).sum(axis=1) / (per_unit - 1)) / n
    return 1 - observed / (marginal @ distance @ marginal / n**2)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.integers(20, 60))
def test_ordinal_alpha_moves_by_what_a_little_more_of_a_unit_changes(seed, n_units):
    """With two labels everywhere the last term of irrCAC is 0, so the error is that of numerical derivatives."""
    matrix = random_matrix(np.random.default_rng(seed), 2, n_units, 4, 0.0, 0.6)
    units = np.array(counted(matrix, 4))
    found, step = krippendorff_alpha(from_matrix(matrix, "1234"), "ordinal"), 1e-5
    one = np.ones(len(units))
    own = np.array(
        [
            alpha_by_weights(units, one + step * unit) - alpha_by_weights(units, one - step * unit)
            for unit in np.eye(len(units))
        ]
    ) / (2 * step)
    n = len(units)
    assert found.standard_error == pytest.approx(float(np.sqrt((own**2).sum() * n / (n - 1))), rel=1e-5)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_errors_of_alpha_are_the_spread_of_repeated_samples(level):
    """Raters who agree by half on three labels, 200 units of two or three labels, drawn 400 times."""
    rng = np.random.default_rng(7)
    drawn = [krippendorff_alpha(from_matrix(random_matrix(rng, 3, 200, 3, 0.2, 0.5), "123"), level) for _ in range(400)]
    spread = np.std([one.estimate for one in drawn], ddof=1)
    assert np.mean([one.standard_error for one in drawn]) == pytest.approx(spread, rel=0.12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 5), st.sampled_from([None, "linear", "quadratic"]))
def test_cohens_error_and_interval_are_those_of_statsmodels(seed, n_categories, weights):
    kappa = cohen_kappa(
        from_matrix(random_matrix(np.random.default_rng(seed), 2, 60, n_categories, 0.1, 0.4), "12345"[:n_categories]),
        0,
        1,
        weights,
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = cohens_kappa(kappa.table, wt=weights)
    assert kappa.estimate == pytest.approx(expected.kappa, abs=1e-8)
    assert kappa.standard_error == pytest.approx(expected.std_kappa, abs=1e-8)
    interval = kappa.analytic_interval()
    assert (interval.low, interval.high) == pytest.approx((expected.kappa_low, min(1, expected.kappa_upp)), abs=1e-8)


def test_the_error_of_pooled_agreement_is_that_of_a_ratio():
    """Units of (agreeing pairs, pairs) (1, 3), (1, 1), (0, 1) by hand: 2 / 5, and Cochran's variance of a ratio."""
    labels = Labels.from_columns("aaabbcc", "xyzxyxy", "+-++++-", "-+")
    found = pooled_percent_agreement(labels)
    residuals = [1 - 0.4 * 3, 1 - 0.4, -0.4]
    variance = sum(one**2 for one in residuals) / 2 / 3 / (5 / 3) ** 2
    assert found.estimate == 0.4 and found.standard_error == pytest.approx(variance**0.5)
    assert found.analytic_interval().low == 0 and "ratio" in found.analytic_interval().method


def test_pi_has_as_many_degrees_of_freedom_as_units_that_both_labelled():
    labels = Labels.from_columns("aabbccddeeffg", "xyxyxyxyxyxyx", "+++-+++---+++", "+-")
    pi, alone = scott_pi(labels, "x", "y"), scott_pi(labels.select_units(np.arange(7) < 6), "x", "y")
    assert pi.left_out == {"not labelled by both": 1}
    assert pi.analytic_interval() == alone.analytic_interval()


def test_where_all_agree_no_error_is_made_up():
    labels = from_matrix(np.array([[1, 2, 1, 2], [1, 2, 1, 2]]), "12")
    found = [
        *(measure(labels) for measure, *_ in IRRCAC.values()),
        cohen_kappa(labels, 0, 1),
        scott_pi(labels, 0, 1),
    ]
    for one in found:
        assert one.estimate == 1 and np.isnan(one.analytic_interval().low)
        assert "spread is unknown" in one.analytic_interval().undefined
    one = from_matrix(np.array([[1.0], [2.0]]), "12")
    assert "fewer than two units" in gwet_ac(one).analytic_interval().undefined
    nothing = cohen_kappa(from_matrix(np.array([[1, np.nan], [np.nan, 2]]), "12"), 0, 1)
    assert np.isnan(nothing.standard_error) and "share no unit" in nothing.analytic_interval().undefined


def test_few_units_have_a_warning_and_many_have_none():
    """With some 14 shared units intervals of kappa in closed form hold the truth in 81 to 89 % of simulated studies."""
    rng = np.random.default_rng(3)
    for n_units, expected in ((29, "rests on only 29 units"), (30, "")):
        both = rng.integers(0, 2, (2, n_units))
        both[1, ::2] = both[0, ::2]
        labels = from_matrix(both, "01")
        for figure in (cohen_kappa(labels, 0, 1), gwet_ac(labels), krippendorff_alpha(labels)):
            note = figure.analytic_interval().note
            assert note.startswith(expected) and bool(note) == bool(expected)
