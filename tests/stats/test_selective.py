"""Selective answering and shares of outcomes: by hand, by simulation, and against scipy and statsmodels."""

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from analysis.stats.accuracy.risk_coverage import selective_curve
from analysis.stats.generation.outcomes import outcome_shares

N = np.nan


def test_the_curve_by_hand_with_ties_and_silence():
    """Ten units: one abstained, one without an outcome; the two at 0.5 are given together."""
    score = np.array([0.9, 0.8, 0.5, 0.5, 0.2, 0.1, 0.95, 0.4, N])
    right = np.array([1, 1, 0, 1, 0, 0, -1, -1, 1])
    silent = np.array([False] * 6 + [True] + [False] * 2)
    found = selective_curve(score, right, silent)
    assert found.threshold.tolist() == [0.9, 0.8, 0.5, 0.2, 0.1]
    assert found.coverage == pytest.approx(np.array([1, 2, 4, 5, 6]) / 7)
    assert found.accuracy == pytest.approx([1, 1, 3 / 4, 3 / 5, 3 / 6])
    assert found.area.estimate == pytest.approx((1 + 1 + 2 * 3 / 4 + 3 / 5 + 3 / 6) / 6)
    assert found.overall.estimate == 0.5 and found.gain.estimate == pytest.approx(found.area.estimate - 0.5)
    assert found.best == pytest.approx((1 + 1 + 1 + 3 / 4 + 3 / 5 + 3 / 6) / 6)
    assert (found.n_abstained, found.area.left_out) == (1, {"no outcome": 1, "no score": 1})
    assert found.at([2 / 7, 0.3, 6 / 7, 1]) == pytest.approx([1, 3 / 4, 1 / 2, N], nan_ok=True)


def test_a_constant_score_and_one_of_chance_gain_nothing():
    right = np.arange(30) % 3 == 0
    flat = selective_curve(np.ones(30), right.astype(int))
    assert (flat.area.estimate, flat.gain.estimate) == (pytest.approx(1 / 3), pytest.approx(0))
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 3000)
    noise = selective_curve(rng.random(3000), truth)
    interval = noise.gain.confidence_interval(300)
    assert interval.low < 0 < interval.high and abs(noise.gain.estimate) < 0.05


def test_one_minus_the_area_is_the_area_under_the_risk_coverage_curve():
    """Geifman and El-Yaniv: the mean over i of the error rate among the i most confident, for distinct scores."""
    rng = np.random.default_rng(1)
    score, right = rng.permutation(200) / 200, rng.integers(0, 2, 200)
    wrong = 1 - right[np.argsort(-score)]
    risk = np.mean([wrong[:i].mean() for i in range(1, 201)])
    found = selective_curve(score, right)
    assert 1 - found.area.estimate == pytest.approx(risk)
    order = np.argsort(rng.random(200))
    assert selective_curve(score[order], right[order]).area.estimate == pytest.approx(found.area.estimate)


def test_bands_are_those_of_resampled_units_and_draw_clusters():
    rng = np.random.default_rng(2)
    score = rng.random(150)
    right = (rng.random(150) < score).astype(int)
    found = selective_curve(score, right)
    plain = []
    for _ in range(800):
        rows = rng.integers(0, 150, 150)
        plain.append(selective_curve(score[rows], right[rows]).at([0.3, 1.0]))
    low, high = np.quantile(plain, [0.025, 0.975], axis=0)
    band = found.band([0.3, 1.0], 800)
    assert [one.low for one in band] == pytest.approx(low, abs=0.03)
    assert [one.high for one in band] == pytest.approx(high, abs=0.03)
    assert found.overall.confidence_interval(800).high == pytest.approx(band[1].high, abs=0.02)
    clustered = selective_curve(np.repeat(score, 2), np.repeat(right, 2), cluster=np.repeat(np.arange(150), 2))
    (one,) = clustered.band([1.0], 800)
    assert one.n_clusters == 150 and one.high - one.low == pytest.approx(band[1].high - band[1].low, rel=0.15)


def test_what_cannot_be_drawn_is_undefined():
    nobody = selective_curve(np.array([0.5, 0.7]), np.array([-1, -1]), np.array([True, True]))
    assert nobody.area.undefined == "no unit is answered at all" and nobody.coverage.tolist() == []
    assert np.isnan(nobody.at([0.5])[0]) and nobody.band([0.5])[0].undefined
    nothing = selective_curve(np.array([N]), np.array([1]))
    assert nothing.overall.undefined == "no unit has both a score and an outcome"
    assert nothing.area.confidence_interval().undefined
    with pytest.raises(ValueError, match="one length"):
        selective_curve(np.array([0.5]), np.array([1, 0]))
    with pytest.raises(ValueError, match="not known"):
        selective_curve(np.array([0.5]), np.array([2]))


def test_shares_and_their_difference_by_hand():
    outcome = [0] * 6 + [1] * 2 + [2] * 2 + [0] + [1] * 3 + [-1, 0]
    group = [0] * 10 + [1] * 5 + [-1]
    found = outcome_shares(outcome, ["correct", "abstain", "hallucinate"], group, ["enough", "too little"])
    assert found.counts.tolist() == [[6, 2, 2], [1, 3, 0]]
    assert found.share("correct", "enough").estimate == 0.6
    apart = found.difference("correct", "enough", "too little")
    assert apart.estimate == pytest.approx(0.35) and apart.left_out == {"no outcome": 1, "no group": 1}
    interval = apart.confidence_interval(2000)
    assert interval.low < 0.35 < interval.high
    with pytest.raises(ValueError, match="one length"):
        outcome_shares([0], ["a"], [0, 0], ["g"])


def test_an_outcome_that_never_occurs_has_the_exact_interval():
    found = outcome_shares([0] * 20, ["correct", "abstain"], [0] * 20, ["enough", "empty"])
    for outcome, count in (("correct", 20), ("abstain", 0)):
        interval = found.share(outcome, "enough").confidence_interval()
        low, high = proportion_confint(count, 20, method="beta")
        assert (interval.low, interval.high) == pytest.approx((low, high))
    clustered = outcome_shares([0] * 20, ["correct", "abstain"], [0] * 20, ["enough"], np.arange(20) // 4)
    few = clustered.share("abstain", "enough").confidence_interval()
    assert few.high == pytest.approx(proportion_confint(0, 5, method="beta")[1]) and "clusters" in few.method
    empty = found.share("correct", "empty")
    assert empty.undefined and np.isnan(empty.confidence_interval().high)


def test_the_difference_draws_questions_once_for_both_groups():
    """Each question has one answer in either group and the same outcome there: the difference cannot vary."""
    outcome = np.tile(np.random.default_rng(3).integers(0, 2, 40), 2)
    group, cluster = np.repeat([0, 1], 40), np.tile(np.arange(40), 2)
    found = outcome_shares(outcome, ["a", "b"], group, ["x", "y"], cluster).difference("a", "x", "y")
    interval = found.confidence_interval(300)
    assert found.estimate == 0 and interval.undefined.startswith("every resample gives the same figure")
    assert interval.n_clusters == 40


# Sufficient Context, appendix: 115 questions, 63 with sufficient context; per model % correct, abstain, hallucinate in
# either group, and the counts that give them.
PUBLISHED = {
    "Gemini 1.5 Pro": (((53, 1, 9), (84.1, 1.6, 14.3)), ((5, 26, 21), (9.6, 50.0, 40.4))),
    "GPT 4o": (((52, 3, 8), (82.5, 4.8, 12.7)), ((12, 32, 8), (23.1, 61.5, 15.4))),
    "Claude 3.5 Sonnet": (((54, 7, 2), (85.7, 11.1, 3.2)), ((5, 28, 19), (9.6, 53.8, 36.5))),
    "Gemini 1.5 Flash": (((49, 3, 11), (77.8, 4.8, 17.5)), ((4, 38, 10), (7.7, 73.1, 19.2))),
    "Gemma 27B": (((45, 2, 16), (71.4, 3.2, 25.4)), ((5, 29, 18), (9.6, 55.8, 34.6))),
}


@pytest.mark.parametrize("model", PUBLISHED)
def test_the_published_shares_of_outcomes_by_sufficiency(model):
    groups, outcomes = ("sufficient", "insufficient"), ("correct", "abstain", "hallucinate")
    counts = [count for count, _ in PUBLISHED[model]]
    outcome = np.concatenate([np.repeat(np.arange(3), count) for count in counts])
    group = np.repeat([0, 1], [sum(count) for count in counts])
    assert len(group) == 115 and (group == 0).mean() == pytest.approx(0.548, abs=5e-4)
    found = outcome_shares(outcome, outcomes, group, groups)
    for name, (_, printed) in zip(groups, PUBLISHED[model], strict=True):
        shares = [100 * found.share(one, name).estimate for one in outcomes]
        assert shares == pytest.approx(printed, abs=0.051)
