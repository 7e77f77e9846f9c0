"""ICAT's figures: against scikit-learn's F-beta, undefined by reason, means, curves, and coverage as detection."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import fbeta_score, precision_recall_fscore_support

from analysis.stats.generation.coverage_detection import NO_BOTH, NONE_FOUND, coverage_detection
from analysis.stats.generation.icat import (
    BOTH_ZERO,
    NO_ASPECTS,
    NO_CLAIMS,
    NOTHING_DEFINED,
    REASONS,
    UNKNOWN_ASPECTS,
    UNKNOWN_CLAIMS,
    icat_curve,
    icat_scores,
    mean_icat,
)


@pytest.mark.parametrize("beta", [0.25, 0.5, 1, 2, 4])
def test_the_score_is_the_f_measure_of_factuality_and_coverage(beta):
    # Precision 3/4 and recall 3/9, as scikit-learn 1.9.1 combines them.
    truth, found = [1] * 9 + [0], [1] * 3 + [0] * 6 + [1]
    score = icat_scores([3], [4], [3], [9], beta).score[0]
    assert score == pytest.approx(fbeta_score(truth, found, beta=beta))
    assert icat_scores([3], [4], [3], [9], 1).score[0] == pytest.approx(6 / 13)


def test_a_greater_beta_favours_coverage():
    betas = [0.1, 1, 10]
    covering = [icat_scores([1], [10], [9], [10], beta).score[0] for beta in betas]
    assert covering == sorted(covering) and covering[0] < 0.12 and covering[2] > 0.8


#             supported, claims, covered, aspects
CASES = {
    "defined": (1, 2, 1, 2),
    "no claims": (0, 0, 1, 2),
    "no aspects": (1, 2, 0, 0),
    "neither": (0, 0, 0, 0),
    "both zero": (0, 3, 0, 2),
    "factuality zero": (0, 3, 1, 2),
    "claims unknown": (-1, -1, 1, 2),
    "supported unknown": (-1, 3, 1, 2),
    "aspects unknown": (1, 2, -1, 2),
    "no claims and aspects unknown": (0, 0, -1, 2),
    "both unknown": (-1, 2, -1, 2),
}


def test_what_is_undefined_says_why():
    found = icat_scores(*np.array(list(CASES.values())).T)
    why = {name: found.why_undefined("score", place) for place, name in enumerate(CASES)}
    assert why == {
        "defined": "",
        "no claims": NO_CLAIMS,
        "no aspects": NO_ASPECTS,
        "neither": NO_CLAIMS,
        "both zero": BOTH_ZERO,
        "factuality zero": "",
        "claims unknown": UNKNOWN_CLAIMS,
        "supported unknown": UNKNOWN_CLAIMS,
        "aspects unknown": UNKNOWN_ASPECTS,
        "no claims and aspects unknown": UNKNOWN_ASPECTS,
        "both unknown": UNKNOWN_CLAIMS,
    }
    for name in ("factuality", "coverage", "score"):
        assert np.array_equal(np.isnan(found.figure(name)), found.reason[name] >= 0)
    assert found.score[list(CASES).index("factuality zero")] == 0


def test_the_published_zero_is_a_convention_of_its_own_and_fills_in_nothing_that_nobody_judged():
    found = icat_scores(*np.array(list(CASES.values())).T, convention="zero")
    score = dict(zip(CASES, found.score.tolist(), strict=True))
    assert [score[name] for name in ("no claims", "no aspects", "neither", "both zero")] == [0, 0, 0, 0]
    assert all(np.isnan(value) for name, value in score.items() if "unknown" in name)
    with pytest.raises(ValueError, match="undefined, zero, not 'none'"):
        icat_scores([1], [1], [1], [1], convention="none")


def test_scores_are_averaged_per_query_and_not_made_of_averages():
    scores = icat_scores([4, 1, 0, 0], [4, 4, 3, 0], [1, 4, 0, 2], [4, 4, 4, 4])
    every = np.ones(4, dtype=bool)
    means = {name: mean_icat(scores, name, every) for name in ("factuality", "coverage", "score")}
    assert means["score"].estimate == pytest.approx((0.4 + 0.4) / 2)
    assert means["score"].left_out == {BOTH_ZERO: 1, NO_CLAIMS: 1}
    f, c = means["factuality"].estimate, means["coverage"].estimate
    assert (f, c) == pytest.approx((1.25 / 3, 1.75 / 4)) and 2 * f * c / (f + c) != pytest.approx(0.4)
    zero = icat_scores([4, 1, 0, 0], [4, 4, 3, 0], [1, 4, 0, 2], [4, 4, 4, 4], convention="zero")
    assert mean_icat(zero, "score", every).estimate == pytest.approx(0.2)


def test_intervals_resample_queries():
    chance = np.random.default_rng(3)
    supported = np.repeat(chance.integers(0, 11, 40), 4)  # four models that answer each query alike
    scores = icat_scores(supported, np.full(160, 10), np.full(160, 2), np.full(160, 4))
    every, query = np.ones(160, dtype=bool), np.repeat(np.arange(40), 4)
    clustered = mean_icat(scores, "factuality", every, query).confidence_interval()
    single = mean_icat(scores, "factuality", every).confidence_interval()
    assert clustered.n_clusters == 40
    assert clustered.high - clustered.low > 1.5 * (single.high - single.low)


def test_the_curve_has_the_means_and_the_intervals_of_its_points():
    chance = np.random.default_rng(7)
    n = 120
    scores = icat_scores(
        chance.integers(0, 6, n), np.full(n, 5), chance.integers(0, 4, n), np.full(n, 3)
    )  # a few have neither
    every, query = np.ones(n, dtype=bool), np.repeat(np.arange(40), 3)
    betas = [0.25, 1.0, 3.0]
    curve = icat_curve(scores, betas, np.column_stack([every, query < 20]), query)
    mean, half = (mean_icat(scores, "score", where, query) for where in (every, query < 20))
    assert curve.mean[:, 1] == pytest.approx([mean.estimate, half.estimate])
    assert curve.n[:, 1].tolist() == [mean.n_pairable, half.n_pairable] and mean.n_pairable < n
    interval, at_one = mean.confidence_interval(), curve.confidence_intervals()[0][1]
    assert (at_one.low, at_one.high) == pytest.approx((interval.low, interval.high), abs=0.01)
    assert at_one.n_clusters == 40
    # Towards 0 it is factuality, towards infinity coverage, over the same responses.
    used = scores.reason["score"] < 0
    ends = icat_curve(scores, [1e-6, 1e6], every[:, None]).mean[0]
    for end, (figure, other) in zip(ends, (("factuality", "coverage"), ("coverage", "factuality")), strict=True):
        values = np.where(scores.figure(other) == 0, 0, scores.figure(figure))[used]
        assert end == pytest.approx(values.mean(), abs=1e-6)
    zero = icat_scores([4, 0, 0], [4, 4, 0], [1, 0, 2], [4, 4, 4], convention="zero")
    assert icat_curve(zero, [1], np.ones((3, 1), dtype=bool)).mean[0, 0] == pytest.approx(0.4 / 3)


def test_nothing_there_is_undefined_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = icat_scores([0], [0], [0], [0])
        every = np.ones(1, dtype=bool)
        mean = mean_icat(scores, "score", every, np.array([0]))
        assert mean.undefined == NOTHING_DEFINED and np.isnan(mean.confidence_interval(n_resamples=20).low)
        curve = icat_curve(scores, [1], every[:, None])
        assert np.isnan(curve.mean).all() and curve.n_missing.tolist() == [[1]]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([3], [2], [0], [1]), "more supported claims than claims"),
        (([1], [2], [2], [1]), "more covered aspects than aspects"),
        (([1], [2], [2, 1], [1]), "columns of one length"),
    ],
)
def test_impossible_counts_are_refused(columns, message):
    with pytest.raises(ValueError, match=message):
        icat_scores(*columns)


@pytest.mark.parametrize("beta", [0, -1, float("nan"), float("inf")])
def test_beta_is_a_number_above_zero(beta):
    with pytest.raises(ValueError, match="beta must be a number above 0"):
        icat_scores([1], [2], [1], [2], beta)
    with pytest.raises(ValueError, match="beta must be a number above 0"):
        icat_curve(icat_scores([1], [2], [1], [2]), [1, beta], np.ones((1, 1), dtype=bool))


def test_every_reason_can_occur():
    found = icat_scores(*np.array(list(CASES.values())).T)
    assert set(found.reason["score"].tolist()) == {-1, *range(len(REASONS))}


# --- automatic against human coverage ---


def test_pooled_and_per_response_figures_equal_scikit_learn():
    chance = np.random.default_rng(9)
    n, n_responses = 600, 90
    response = chance.integers(0, n_responses, n)
    people, machine = (chance.random(n) < 0.5).astype(int), (chance.random(n) < 0.4).astype(int)
    found = coverage_detection(people, machine, response, response // 3)
    expected = precision_recall_fscore_support(people, machine, average="binary")[:3]
    assert [found.pooled[name].estimate for name in ("precision", "recall", "f1")] == pytest.approx(expected)
    per = {"precision": [], "recall": [], "f1": []}
    for one in np.unique(response):
        mine = response == one
        values = precision_recall_fscore_support(people[mine], machine[mine], average="binary", zero_division=np.nan)
        has_positives = machine[mine].any(), people[mine].any(), (machine[mine] | people[mine]).any()
        for name, value, has in zip(per, values[:3], has_positives, strict=True):
            if has:
                per[name].append(value)
    for name, values in per.items():
        assert found.mean[name].estimate == pytest.approx(np.mean(values)), name
        assert found.mean[name].n_pairable == len(values)
    assert found.n_both + found.n_only_machine + found.n_only_people + found.n_neither == n
    interval = found.pooled["f1"].confidence_interval()
    assert interval.n_clusters == 30 and interval.low < found.pooled["f1"].estimate < interval.high


def test_a_mean_of_f1_is_no_harmonic_mean_of_means():
    people, machine = [1, 1, 1, 1, 1, 0], [1, 0, 0, 0, 1, 1]
    found = coverage_detection(people, machine, [0, 0, 0, 0, 1, 1])
    p, r, f1 = (found.mean[name].estimate for name in ("precision", "recall", "f1"))
    assert (p, r, f1) == pytest.approx((0.75, 0.625, (0.4 + 2 / 3) / 2)) and f1 < 2 * p * r / (p + r)


def test_what_one_side_does_not_say_is_left_out_and_counted():
    found = coverage_detection([1, -1, 0, -1, 1], [1, 1, -1, -1, 0], [0, 0, 0, 1, 2])
    assert found.pooled["recall"].estimate == 0.5 and found.pooled["recall"].n_pairable == 2
    assert found.pooled["recall"].left_out == {
        "without a label by people": 1,
        "without a label by the machine": 1,
        "without a label by either": 1,
    }
    assert found.mean["precision"].left_out == {"nothing found covered by the machine": 1}
    silent = coverage_detection([1, 0], [0, 0], [0, 0])
    assert silent.pooled["precision"].undefined == silent.mean["precision"].undefined == NONE_FOUND
    assert silent.pooled["recall"].estimate == 0
    nothing = coverage_detection([-1], [1], [0])
    assert nothing.pooled["f1"].undefined == nothing.mean["f1"].undefined == NO_BOTH
    with pytest.raises(ValueError, match="differ in length"):
        coverage_detection([1], [1, 0], [0])
