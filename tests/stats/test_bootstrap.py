import krippendorff
import numpy as np
import pytest
from scipy import stats
from sklearn import config_context
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support

from analysis.stats import (
    Labels,
    classification,
    cohen_kappa,
    fleiss_kappa,
    kendall_tau_b,
    krippendorff_alpha,
    pearson,
    percent_agreement,
    spearman,
)
from analysis.stats.accuracy.per_label import label_sample
from analysis.stats.resampling.bootstrap import draw_weights

from .samples import from_matrix, random_matrix

SEED = 11


def drawn_units(n_units, cluster, n_resamples):
    """Units of each resample as a plain loop draws them: single units, or all units of drawn clusters."""
    rng = np.random.default_rng(SEED)
    members = [np.flatnonzero(cluster == c) for c in np.unique(cluster)] if cluster is not None else np.arange(n_units)
    for _ in range(n_resamples):
        drawn = rng.integers(0, len(members), len(members))
        yield drawn if cluster is None else np.concatenate([members[c] for c in drawn])


def assert_same_distribution(fast, naive):
    """Two samples of resampled values: close quantiles, and no difference by Kolmogorov-Smirnov."""
    at = [0.025, 0.25, 0.5, 0.75, 0.975]
    assert np.allclose(np.quantile(fast, at), np.quantile(naive, at), atol=0.2 * np.std(naive))
    assert stats.ks_2samp(fast, naive).pvalue > 1e-3


def values_of(result, clusters, n_resamples=3000):
    return result.sample.values(n_resamples, np.random.default_rng(1), clusters)


CLUSTER = np.repeat(np.arange(15), [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6])


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_resamples_like_the_package_in_a_loop(level, clustered):
    matrix = random_matrix(np.random.default_rng(2), 3, 60, 4, missing=0.0)
    result = krippendorff_alpha(from_matrix(matrix, "1234", CLUSTER), level)
    naive = [
        krippendorff.alpha(matrix[:, units], level_of_measurement=level)
        for units in drawn_units(60, CLUSTER if clustered else None, 3000)
    ]
    assert_same_distribution(values_of(result, clustered), naive)


@pytest.mark.slow
def test_cohen_and_fleiss_resample_like_a_loop():
    matrix = random_matrix(np.random.default_rng(3), 2, 60, 3, missing=0.0)
    labels = from_matrix(matrix, "123", CLUSTER)
    naive = [cohen_kappa_score(*matrix[:, units]) for units in drawn_units(60, CLUSTER, 3000)]
    assert_same_distribution(values_of(cohen_kappa(labels, 0, 1), True), naive)
    by_unit = [fleiss_kappa(from_matrix(matrix[:, units], "123")).estimate for units in drawn_units(60, None, 3000)]
    assert_same_distribution(values_of(fleiss_kappa(labels), False), by_unit)


@pytest.mark.parametrize("clustered", [False, True])
def test_figures_of_labels_and_their_mean_resample_like_scikit_learn_in_a_loop(clustered):
    reference, predicted = random_matrix(np.random.default_rng(4), 2, 60, 3, missing=0.0).astype(int) - 1
    reference[3], predicted[7] = 3, 3  # a label that many resamples do not have
    result = classification(reference, predicted, "abcd", CLUSTER)
    fast = label_sample(result).values(800, np.random.default_rng(1), clustered)
    with config_context(skip_parameter_validation=True):
        naive = np.array(
            [
                precision_recall_fscore_support(
                    reference[units], predicted[units], labels=range(4), zero_division=np.nan
                )[:3]
                for units in drawn_units(60, CLUSTER if clustered else None, 800)
            ]
        )
    # Macro-F1 is over the labels that a resample has.
    assert_same_distribution(values_of(result.macro_f1, clustered), np.nanmean(naive[:, 2], axis=1))
    assert fast.shape == (800, 12)
    for ours, theirs in zip(fast.T, naive.reshape(800, 12).T, strict=True):
        assert np.isnan(ours).mean() == pytest.approx(np.isnan(theirs).mean(), abs=0.06)
        ours, theirs = ours[~np.isnan(ours)], theirs[~np.isnan(theirs)]
        # Few values, so that quantiles jump.
        assert stats.ks_2samp(ours, theirs).pvalue > 1e-3
        assert ours.mean() == pytest.approx(theirs.mean(), abs=0.2 * theirs.std())
        assert ours.std() == pytest.approx(theirs.std(), rel=0.15)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(pearson, stats.pearsonr), (spearman, stats.spearmanr), (kendall_tau_b, stats.kendalltau)],
)
def test_correlations_resample_like_scipy_in_a_loop(ours, theirs, clustered):
    rng = np.random.default_rng(5)
    label = rng.integers(0, 5, 60)
    score = np.round(label + rng.normal(0, 3, 60), 0)
    result = ours(score, label, CLUSTER)
    naive = [
        theirs(score[units], label[units]).statistic for units in drawn_units(60, CLUSTER if clustered else None, 1500)
    ]
    assert_same_distribution(values_of(result, clustered), naive)


@pytest.mark.parametrize(("n", "n_classes"), [(1000, 3), (50, 50), (50, 30)])
def test_weights_add_up_and_follow_the_shares(n, n_classes):
    index = np.random.default_rng(6).integers(0, n_classes, n)
    weights = np.concatenate(list(draw_weights(index, n_classes, 4000, np.random.default_rng(7), work_per_row=100_000)))
    assert weights.shape == (4000, n_classes)
    assert (weights.sum(axis=1) == n).all()
    share = np.bincount(index, minlength=n_classes) / n
    assert np.allclose(weights.mean(axis=0), n * share, atol=5 * np.sqrt(n * share * (1 - share) / 4000) + 1e-9)
    assert np.allclose(weights.var(axis=0), n * share * (1 - share), rtol=0.25, atol=1e-9)


def test_clusters_widen_the_interval_when_their_units_are_alike():
    rng = np.random.default_rng(8)
    disagree = rng.random(200) < 0.4
    first = rng.integers(0, 2, (200, 5))
    second = np.where(disagree[:, None], 1 - first, first)
    unit = np.arange(1000)
    labels = Labels(
        unit=np.tile(unit, 2),
        rater=np.repeat([0, 1], 1000),
        value=np.concatenate([first.ravel(), second.ravel()]),
        n_units=1000,
        categories=("-", "+"),
        cluster=unit // 5,
    )
    result = percent_agreement(labels)
    by_unit, by_cluster = result.confidence_interval(clusters=False), result.confidence_interval()
    assert (by_unit.n_clusters, by_cluster.n_clusters) == (None, 200)
    assert (by_unit.method, by_cluster.method) == (
        "bootstrap over units (BCa, expanded)",
        "bootstrap over clusters (BCa, expanded)",
    )
    # All five units of a cluster agree or none does, so the interval is wider by the root of five.
    ratio = (by_cluster.high - by_cluster.low) / (by_unit.high - by_unit.low)
    assert ratio == pytest.approx(np.sqrt(5), rel=0.15)


def test_every_unit_its_own_cluster_is_the_plain_bootstrap():
    labels = from_matrix(random_matrix(np.random.default_rng(9), 3, 300, 3), "123", cluster=np.arange(300))
    result = krippendorff_alpha(labels, "ordinal")
    plain, clustered = (result.confidence_interval(4000, clusters=flag) for flag in (False, True))
    assert clustered.low == pytest.approx(plain.low, abs=0.01)
    assert clustered.high == pytest.approx(plain.high, abs=0.01)


def test_the_seed_decides_the_interval():
    result = percent_agreement(from_matrix(random_matrix(np.random.default_rng(10), 3, 50, 3), "123"))
    assert result.confidence_interval(seed=4) == result.confidence_interval(seed=4)
    assert result.confidence_interval(seed=4) != result.confidence_interval(seed=5)
    assert result.confidence_interval(level=0.5).low > result.confidence_interval(level=0.99).low


def test_one_unit_or_one_cluster_gives_no_interval():
    one_unit = percent_agreement(Labels.from_columns("uu", "xy", "+-", "-+"))
    assert one_unit.estimate == 0
    assert one_unit.confidence_interval().undefined == "fewer than two units to resample"
    one_cluster = percent_agreement(Labels.from_columns("uuvv", "xyxy", "+-++", "-+", cluster="cccc"))
    assert np.isnan(one_cluster.confidence_interval().low)
    assert one_cluster.confidence_interval().undefined == "fewer than two clusters to resample"
    assert one_cluster.confidence_interval(clusters=False).undefined == ""


@pytest.mark.parametrize("wrong", [{"level": 0}, {"level": 95}, {"n_resamples": 0}])
def test_impossible_requests_are_refused(wrong):
    with pytest.raises(ValueError):
        percent_agreement(Labels.from_columns("uuvv", "xyxy", "+-++", "-+")).confidence_interval(**wrong)
