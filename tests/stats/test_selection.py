"""Weights by the inverse chance of more judgements: survey sampling by hand, and a choice that is planted."""

import numpy as np
import pytest

from analysis.stats import Labels, gwet_ac, krippendorff_alpha, percent_agreement, pooled_percent_agreement
from analysis.stats.agreement.inverse_probability import weighted_agreement
from tests.stats.samples import KRIPPENDORFF_2011, from_matrix


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_equal_chances_give_krippendorffs_published_alpha(level):
    """Krippendorff (2011), section C: .743, .815, .849."""
    labels = from_matrix(KRIPPENDORFF_2011, "12345")
    found = weighted_agreement(lambda part: krippendorff_alpha(part, level), labels, np.full(12, 0.3))
    published = {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849}[level]
    assert found.estimate == pytest.approx(published, abs=5e-4) and found.estimate == pytest.approx(found.naive)
    assert found.effective_n == pytest.approx(found.n_pairable)


def test_a_weight_of_two_is_having_the_unit_twice():
    """Units twice as unlikely count double: the coincidences are those of data in which they stand twice, and only
    n - 1 differs, of which alpha with n for n - 1 is free."""
    rng = np.random.default_rng(3)
    matrix = rng.integers(1, 4, (2, 40)).astype(float)
    matrix[1, :30] = matrix[0, :30]
    rare = np.arange(40) < 10
    found = weighted_agreement(krippendorff_alpha, from_matrix(matrix, "123"), np.where(rare, 0.4, 0.8))
    twice = krippendorff_alpha(from_matrix(np.hstack([matrix, matrix[:, rare]]), "123"))
    n, more = 80, 100
    assert (1 - found.estimate) * n / (n - 1) == pytest.approx((1 - twice.estimate) * more / (more - 1))
    share = weighted_agreement(percent_agreement, from_matrix(matrix, "123"), np.where(rare, 0.4, 0.8)).estimate
    assert share == pytest.approx(percent_agreement(from_matrix(np.hstack([matrix, matrix[:, rare]]), "123")).estimate)


def chosen_study(rng, n=1500):
    """Half of the units are hard (people agree as by chance), the others easy. A fifth is drawn; hard ones are also
    chosen by three in four. What everybody would have said of all units is known."""
    hard = np.arange(n) % 2 == 0
    truth = rng.integers(0, 2, n)
    right = np.where(hard, 0.5, 0.95)[:, None]
    said = np.where(rng.random((n, 2)) < right, truth[:, None], 1 - truth[:, None])
    picked = hard & (rng.random(n) < 0.75)
    has_two = picked | (rng.random(n) < 0.2)
    unit, rater = np.indices(said.shape)
    keep = (rater == 0) | has_two[:, None]
    labels = Labels(unit[keep], rater[keep], said[keep], n, ("no", "yes"))
    everything = Labels(unit.ravel(), rater.ravel(), said.ravel(), n, ("no", "yes"))
    return labels, everything, np.where(picked, 1.0, 0.2)


@pytest.mark.parametrize("measure", [krippendorff_alpha, percent_agreement])
def test_a_planted_choice_of_hard_units_is_undone(measure):
    labels, everything, chance = chosen_study(np.random.default_rng(1))
    found = weighted_agreement(measure, labels, chance)
    interval, real = found.confidence_interval(), measure(everything).estimate
    assert interval.low < real < interval.high
    naive = measure(labels).confidence_interval()
    assert found.naive == pytest.approx(measure(labels).estimate) and naive.high < real
    assert found.effective_n < found.n_pairable


def test_its_interval_covers_what_all_units_would_have_given():
    """Of percent agreement, whose expectation is known: half of the units with 0.5, half with 0.95^2 + 0.05^2."""
    hits, real = 0, (0.5 + 0.95**2 + 0.05**2) / 2
    for seed in range(200):
        labels, _, chance = chosen_study(np.random.default_rng(seed), n=600)
        interval = weighted_agreement(percent_agreement, labels, chance).confidence_interval(n_resamples=300)
        hits += interval.low <= real <= interval.high
    assert 0.95 - 3 * np.sqrt(0.95 * 0.05 / 200) <= hits / 200 <= 0.995


def test_left_out_undefined_and_refused():
    labels = Labels.from_columns("aabbc", "xyxyx", "++--+", "-+")
    found = weighted_agreement(pooled_percent_agreement, labels, [1, 0, 0.5])
    assert found.n_pairable == 1
    assert found.left_out == {"one label only": 1, "units with two labels that had no chance of getting them": 1}
    nothing = weighted_agreement(percent_agreement, labels, [0, 0, 1])
    assert nothing.undefined and np.isnan(nothing.estimate) and nothing.effective_n == 0
    with pytest.raises(ValueError, match="between 0 and 1"):
        weighted_agreement(percent_agreement, labels, [1, 2, 1])
    with pytest.raises(ValueError, match="one label enter"):
        weighted_agreement(gwet_ac, labels, [1, 1, 1])
