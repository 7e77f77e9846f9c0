"""The effect of seeing suggestions: linearmodels' and statsmodels' errors from outside, and effects planted."""

import numpy as np
import pytest

from analysis.stats import Labels, krippendorff_alpha, percent_agreement
from analysis.stats.agreement.two_way import agreement_effect, clustered_agreement
from analysis.stats.annotators.suggestions import alpha_effect, suggestion_effect, time_effect
from analysis.stats.resampling.cluster_robust import clustered_effect, clustered_logit, clustered_mean, two_ways


def table():
    """6 annotators by 20 items."""
    annotator, item = np.repeat(np.arange(6), 20), np.tile(np.arange(20), 6)
    seen = ((annotator * 5 + item * 3) % 7 < 3).astype(int)
    agrees = ((annotator * 7 + item * 11 + annotator * item) % 10 < 3 + 3 * seen).astype(float)
    return agrees, seen, annotator, item


# linearmodels 7.1: PooledOLS(agrees, [seen, 1]).fit(cov_type="clustered", clusters=..., group_debias=True).
LINEARMODELS = {
    "annotator": 0.0993453175257054,
    "item": 0.09300807187031199,
    "both": 0.10859019563319548,
}


@pytest.mark.parametrize("ways", LINEARMODELS)
def test_clustered_errors_are_those_of_linearmodels(ways):
    agrees, seen, annotator, item = table()
    groups = {"annotator": [annotator], "item": [item], "both": [annotator, item]}[ways]
    found = clustered_effect(agrees, seen, groups)
    assert found.estimate == pytest.approx(0.4484228473998295)
    assert found.standard_error == pytest.approx(LINEARMODELS[ways])
    assert found.n_clusters == tuple(len(np.unique(group)) for group in groups)


@pytest.mark.parametrize("way", ["annotator", "item"])
def test_a_clustered_mean_is_that_of_statsmodels(way):
    import statsmodels.api as sm

    agrees, _, annotator, item = table()
    group = {"annotator": annotator, "item": item}[way]
    expected = sm.OLS(agrees, np.ones(120)).fit(cov_type="cluster", cov_kwds={"groups": group})
    found = clustered_mean(agrees, [group])
    assert (found.estimate, found.standard_error) == pytest.approx((expected.params[0], expected.bse[0]))
    # The degrees of freedom are the clusters', of which statsmodels' normal interval knows nothing.
    low, high = expected.conf_int()[0]
    assert found.low < low < high < found.high and np.isnan(found.p_value)


def test_a_mean_clustered_in_two_ways_adds_their_variances_up():
    agrees, _, annotator, item = table()
    both = clustered_mean(agrees, [annotator, item])
    ways = [clustered_mean(agrees, [group]).standard_error ** 2 for group in (annotator, item, annotator * 20 + item)]
    assert both.standard_error**2 == pytest.approx(two_ways(*ways))
    assert both.n_clusters == (6, 20) and both.low < both.estimate == agrees.mean() < both.high


def test_a_mean_without_an_interval_says_why():
    agrees, _, annotator, item = table()
    assert clustered_mean([], [[]]).undefined == "there are no observations"
    assert "fewer than two clusters" in clustered_mean(agrees, [annotator * 0, item]).no_interval
    same = clustered_mean(np.ones(120), [annotator, item])
    assert same.estimate == 1 and np.isnan(same.low) and "same mean" in same.no_interval
    # Everybody half of the time, about items of their own: the items differ, people do not.
    half = clustered_mean(np.arange(120) % 2, [annotator, np.arange(120)])
    assert half.estimate == 0.5 and "in some way of clustering" in half.no_interval
    holes = clustered_mean(np.where(item == 0, np.nan, agrees), [annotator, item])
    assert (holes.n, holes.n_left_out) == (114, 6)


def test_logit_is_that_of_statsmodels_and_its_marginal_effect_the_difference_of_shares():
    """statsmodels 0.15.0: Logit.fit(cov_type="cluster") with both groups, params and get_margeff(dummy=True)."""
    agrees, seen, annotator, item = table()
    odds, marginal = clustered_logit(agrees, seen, [annotator, item])
    assert np.log(odds.estimate) == pytest.approx(2.1008026, abs=1e-6)
    assert odds.standard_error == pytest.approx(0.58335308, abs=1e-7)
    assert (marginal.estimate, marginal.standard_error) == pytest.approx((0.44842285, 0.1085902), abs=1e-7)


def test_a_negative_variance_is_replaced_by_the_smaller_of_the_two_ways():
    assert two_ways(2.0, 3.0, 1.0) == 4 and two_ways(2.0, 3.0, 9.0) == 2


def test_within_annotators_is_the_regression_with_a_dummy_for_each():
    import statsmodels.api as sm

    agrees, seen, annotator, item = table()
    dummies = (annotator[:, None] == np.arange(6)).astype(float)
    expected = sm.OLS(agrees, np.column_stack([seen, dummies])).fit().params[0]
    assert clustered_effect(agrees, seen, [annotator, item], within=annotator).estimate == pytest.approx(expected)


def planted(rng, n_annotators=24, n_items=240, per_item=6, follow=(0.5, 0.2)):
    """Annotators who see a suggestion take it over with a chance of 0.5 where it is right and 0.2 where it is wrong;
    otherwise they find the truth of a yes-no question four times in five. Seeing makes a quarter quicker."""
    item = np.repeat(np.arange(n_items), per_item)
    annotator = np.concatenate([rng.permutation(n_annotators)[:per_item] for _ in range(n_items)])
    seen = np.concatenate([rng.permutation(per_item) < per_item // 2 for _ in range(n_items)])
    truth, right = rng.integers(0, 2, n_items), rng.random(n_items) < 0.7
    suggestion = np.where(right, truth, 1 - truth)
    own = np.where(rng.random(len(item)) < 0.8, truth[item], 1 - truth[item])
    takes = seen & (rng.random(len(item)) < np.where(right[item], *follow))
    label = np.where(takes, suggestion[item], own)
    pace = rng.normal(0, 0.3, n_annotators)[annotator] + rng.normal(0, 0.4, len(item))
    seconds = 20 * np.exp(pace) * np.where(seen, 0.75, 1)
    return label, suggestion, seen, right, annotator, item, seconds


def test_planted_effects_lie_in_the_intervals():
    """By hand: of right suggestions 0.8 agree alone and 0.5 + 0.5 * 0.8 = 0.9 having seen; of wrong ones 0.2 and
    0.2 + 0.8 * 0.2 = 0.36."""
    label, suggestion, seen, right, annotator, item, seconds = planted(np.random.default_rng(3))
    agrees = label == suggestion[item]
    found = suggestion_effect(agrees, seen, right[item].astype(int), annotator, item)
    for name, effect in (("right", 0.1), ("wrong", 0.16)):
        for figure in (found.strata[name].difference, found.strata[name].within, found.strata[name].marginal):
            assert figure.low < effect < figure.high and figure.high - figure.low < 0.2
    assert found.contrast.low < 0.1 - 0.16 < found.contrast.high
    assert found.contrast.estimate == pytest.approx(
        found.strata["right"].difference.estimate - found.strata["wrong"].difference.estimate
    )
    odds = found.strata["right"].odds_ratio
    assert odds.low < (0.9 / 0.1) / (0.8 / 0.2) < odds.high
    times = time_effect(seconds, seen, right[item].astype(int), annotator, item)
    assert times["all"].within.low < 0.75 < times["all"].within.high < 1
    assert times["all"].seen / times["all"].unseen == pytest.approx(times["all"].ratio.estimate)


def two_sides(label, seen, annotator, item, n_items):
    """The labels given after seeing suggestions, and those given without."""
    names = tuple(map(str, range(24)))
    return [
        Labels(item[rows], annotator[rows], label[rows], n_items, ("no", "yes"), rater_names=names)
        for rows in (seen, ~seen)
    ]


def test_alpha_rises_with_right_suggestions_and_by_the_planted_amount():
    """With yes and no equally common alpha is 2 (p^2 + (1 - p)^2) - 1 for a chance p of the truth: .36 without, .64
    (p = .9) where a right suggestion was seen, and .0784 (p = .64) where a wrong one was."""
    label, _, seen, right, annotator, item, _ = planted(np.random.default_rng(5))
    found = alpha_effect(krippendorff_alpha, *two_sides(label, seen, annotator, item, 240), right.astype(int))
    assert found["right"].low < 0.64 - 0.36 < found["right"].high
    assert found["wrong"].low < 0.0784 - 0.36 < found["wrong"].high
    assert found["right"].low > 0 and found["wrong"].high < 0
    of_right = [side.select_units(right) for side in two_sides(label, seen, annotator, item, 240)]
    assert found["right"] == agreement_effect(krippendorff_alpha, *of_right)


def test_the_jackknife_over_labels_is_that_of_leaving_each_out():
    """By brute force: percent agreement and alpha without each label in turn."""
    from analysis.stats.agreement.two_way import _variance_by_label

    label, _, seen, _, annotator, item, _ = planted(np.random.default_rng(2), n_annotators=5, n_items=12, per_item=4)
    for measure in (percent_agreement, krippendorff_alpha):
        labels = Labels(item, annotator, label, 12, ("no", "yes"))
        keep = ~np.eye(len(label), dtype=bool)
        values = [measure(Labels(item[k], annotator[k], label[k], 12, ("no", "yes"))).estimate for k in keep]
        n = len(values)
        assert _variance_by_label(measure, labels) == pytest.approx((n - 1) * np.var(values))


def test_agreement_of_one_side_is_its_jackknife_by_people_and_by_units():
    """By brute force: alpha without each rater, each cluster, and each label in turn."""
    label, _, seen, _, annotator, item, _ = planted(np.random.default_rng(2), n_annotators=5, n_items=24, per_item=4)
    item, annotator, label = (column[seen] for column in (item, annotator, label))
    several = np.isin(item, np.flatnonzero(np.bincount(item) > 1))  # a single label of a unit is part of no figure
    item, annotator, label = (column[several] for column in (item, annotator, label))

    def of(rows):
        return krippendorff_alpha(Labels(item[rows], annotator[rows], label[rows], 24, ("no", "yes"))).estimate

    def jackknife(group):
        left = np.array([of(group != one) for one in np.unique(group)])
        return (len(left) - 1) * np.var(left)

    found = clustered_agreement(
        krippendorff_alpha,
        Labels(item, annotator, label, 24, ("no", "yes"), cluster=np.arange(24) // 2, rater_names=tuple("abcde")),
    )
    expected = two_ways(*map(jackknife, (annotator, item // 2, np.arange(len(item)))))
    assert found.estimate == of(item >= 0) and found.standard_error == pytest.approx(expected**0.5)
    assert found.n_clusters == (5, len(np.unique(item // 2))) and found.low < found.estimate < found.high


def test_people_who_are_never_compared_do_not_let_few_pass_for_many():
    """Thirty people who answered an item each that nobody else saw say nothing of how people differ."""
    rng = np.random.default_rng(4)
    item, annotator = (index.ravel() for index in np.indices((20, 3)))
    names = tuple(map(str, range(33)))

    def side(alone):
        said = np.r_[rng.permutation(np.tile([0, 0, 1], 20)), np.zeros(alone, dtype=int)]
        who, what = np.r_[annotator, 3 + np.arange(alone)], np.r_[item, 20 + np.arange(alone)]
        return Labels(what, who, said, 50, ("no", "yes"), rater_names=names)

    many = side(30)
    few = many.select_units(np.arange(50) < 20)
    found, expected = (clustered_agreement(krippendorff_alpha, labels) for labels in (many, few))
    assert found.n_clusters == expected.n_clusters == (3, 20)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    other = side(30)
    pairs = (many, other), (few, other.select_units(np.arange(50) < 20))
    found, expected = (agreement_effect(krippendorff_alpha, *pair) for pair in pairs)
    assert found.n_clusters == expected.n_clusters and found.n_clusters[0] == 3
    assert (found.low, found.high, found.p_value) == pytest.approx((expected.low, expected.high, expected.p_value))


def test_agreement_of_one_side_may_have_no_interval():
    def found(labels):
        return clustered_agreement(percent_agreement, labels)

    pair = Labels([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, 0], 2, ("no", "yes"), rater_names=("a", "b"))
    assert found(pair).estimate == 0.5 and "nobody is left to compare" in found(pair).no_interval
    three = Labels(np.repeat(range(4), 3), np.tile(range(3), 4), [0] * 12, 4, ("no", "yes"), rater_names=tuple("abc"))
    assert found(three).estimate == 1 and "is the same" in found(three).no_interval
    alone = Labels([0, 1], [0, 1], [0, 1], 2, ("no", "yes"), rater_names=("a", "b"))
    assert found(alone).undefined and np.isnan(found(alone).estimate)
    with pytest.raises(ValueError, match="exchangeable"):
        found(Labels([0, 0], [0, 1], [0, 1], 1, ("a", "b"), exchangeable=True))


def test_undefined_and_without_an_interval():
    agrees, seen, annotator, item = table()
    one_arm = suggestion_effect(agrees, np.ones(120), np.ones(120), annotator, item)
    assert "same value" in one_arm.strata["all"].difference.undefined
    assert one_arm.strata["wrong"].difference.undefined == "there are no observations"
    assert np.isnan(one_arm.contrast.estimate) and np.isnan(one_arm.strata["all"].unseen)
    # Who saw suggestions is who: nobody can be compared with themself, and one annotator is no sample of annotators.
    first = (annotator == 0).astype(int)
    alone = suggestion_effect(agrees, first, np.full(120, -1), annotator, item)
    assert alone.n_unknown == 120 and "nobody has both" in alone.strata["all"].within.undefined
    assert "fewer than two clusters" in alone.strata["all"].difference.no_interval
    assert not np.isnan(alone.strata["all"].difference.estimate)
    separated = suggestion_effect(np.where(seen == 1, 1, agrees), seen, np.ones(120), annotator, item).strata["all"]
    assert "odds are 0 or infinite" in separated.odds_ratio.undefined and separated.difference.estimate > 0
    certain = clustered_effect(seen.astype(float), seen, [annotator, item])
    assert certain.estimate == pytest.approx(1) and "does not vary" in certain.no_interval and np.isnan(certain.low)
    followed = clustered_effect(agrees, seen, [annotator], covariates=seen[:, None])
    assert "linearly dependent" in followed.undefined
    with pytest.raises(ValueError, match="differ in length"):
        suggestion_effect(agrees, seen[:-1], seen, annotator, item)


def test_two_people_tell_nothing_about_how_much_people_differ():
    label, _, seen, _, annotator, item, _ = planted(np.random.default_rng(2), n_annotators=4, n_items=12, per_item=4)
    sides = [
        Labels(item[k], annotator[k], label[k], 12, ("no", "yes"), rater_names=tuple("abcd")) for k in (seen, ~seen)
    ]
    assert agreement_effect(percent_agreement, *sides).no_interval == ""
    pair = [
        Labels(np.repeat(np.arange(12), 2), np.tile([0, 1], 12), label[start : start + 24], 12, ("no", "yes"))
        for start in (0, 24)
    ]
    found = agreement_effect(percent_agreement, *pair)
    assert "nobody left to compare" in found.no_interval and not np.isnan(found.estimate)
    with pytest.raises(ValueError, match="exchangeable"):
        agreement_effect(percent_agreement, *(Labels([0, 0], [0, 1], [0, 1], 1, ("a", "b"), exchangeable=True),) * 2)
