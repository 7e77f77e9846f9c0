"""Every interval of every measure contains its estimate, or is undefined and says why.

The worlds are small and often degenerate, since that is where an interval goes astray: nobody agrees, nearly everybody
does, one cluster holds nearly everything. A measure that is new to `analysis.stats` belongs into MEASURES, or into
WITHOUT_INTERVALS.
"""

import inspect
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import stats
from analysis.stats import Interval, Labels, Marked
from analysis.stats.resampling.cluster_robust import Effect
from analysis.stats.resampling.intervals import resampled_interval

N_RESAMPLES = 60
CATEGORIES = ("a", "b", "c")
SIX = tuple("abcdef")
AGREEMENT = ("random", "nobody agrees", "one disagrees", "rare label")


class World:
    """The same few units as labels of people, as columns of codes, as scores, and as marked passages."""

    def __init__(self, seed: int, n: int, how: str, clustered: bool) -> None:
        rng = np.random.default_rng(seed)
        self.rng, self.n = rng, n
        self.cluster = rng.integers(0, max(2, n // 2), n) if clustered else None
        self.group = np.arange(n) if self.cluster is None else self.cluster
        first = rng.integers(0, 3, n)
        second = {
            "random": rng.integers(0, 3, n),
            "nobody agrees": (first + rng.integers(1, 3, n)) % 3,
            "one disagrees": np.where(np.arange(n) == 0, (first + 1) % 3, first),
            "rare label": np.zeros(n, dtype=int),
        }[how]
        if how == "rare label":
            first = (np.arange(n) == n - 1).astype(int)
        third = np.where(rng.random(n) < 0.5, first, second)
        self.columns = first, second, third
        # Six labels in turn, of which nobody gives the other's: chance agreement can then only grow.
        in_turn = rng.permutation(np.arange(n) % 6)
        turns = in_turn, (in_turn + 1) % 6, (in_turn + 2) % 6
        self.said = turns if how == "nobody agrees" else self.columns
        kept = np.concatenate([np.ones(2 * n, dtype=bool), rng.random(n) < 0.5])
        self.labels = self._labels(np.arange(3 * n)[kept])
        self.pair = self._labels(np.arange(2 * n))
        self.a = first + rng.normal(size=n) * (how != "nobody agrees")
        self.b = rng.choice([0.0, 0.5, -1.0], n)
        self.shares = np.where(rng.random(n) < 0.2, np.nan, second / 2)

    def _labels(self, rows: np.ndarray) -> Labels:
        unit, rater = np.tile(np.arange(self.n), 3)[rows], np.repeat([0, 1, 2], self.n)[rows]
        value = np.concatenate(self.said)[rows]
        return Labels(unit, rater, value, self.n, SIX, cluster=self.cluster, rater_names=("x", "y", "z"))

    @property
    def truth(self) -> np.ndarray:
        return (self.columns[0] == 1).astype(int)

    @property
    def score(self) -> np.ndarray:
        return 1 / (1 + np.exp(-self.a))

    @property
    def probabilities(self) -> np.ndarray:
        p = np.eye(3)[self.columns[1]] * 0.7 + 0.1
        return p

    @property
    def marked(self) -> list[Marked]:
        spans = [((0, 3),), ((2, 5),), ()]
        return [
            Marked(unit, rater, spans[code], 10, labels=("a",) * len(spans[code]))
            for rater, column in zip("xy", self.columns[:2], strict=True)
            for unit, code in enumerate(column.tolist())
        ]

    @property
    def system(self) -> list[str]:
        return ["one", "two", "three"][: min(3, self.n)] * self.n

    def rows(self, values: np.ndarray) -> np.ndarray:
        return np.resize(values, len(self.system))


def of_labels(measure, **options):
    return lambda w: measure(w.labels, **options)


def _coverage(w: World):
    return stats.response_coverage(w.labels, w.group, int(w.group.max()) + 1, ["a"])


def _icat(w: World):
    return stats.icat_scores(w.columns[0], np.full(w.n, 2), w.columns[1], np.full(w.n, 2))


def _competence(w: World):
    fits = [stats.dawid_skene(w.labels), stats.mace(w.labels, n_restarts=1)]
    return [(fit, stats.competence_intervals(w.labels, fit, N_RESAMPLES)) for fit in fits]


def _rates(w: World):
    models, responses = ["m" if code else "n" for code in w.group % 2], w.group.tolist()
    counts = {model: len({r for r, m in zip(responses, models, strict=True) if m == model}) + 1 for model in "mn"}
    cluster = {(m, r): r // 2 for r, m in zip(responses, models, strict=True)} | {("m", -1): 0, ("n", -1): 0}
    rates = (w.columns[0], responses, models, counts, CATEGORIES)
    return stats.label_rates(*rates), stats.label_rates(*rates, cluster=cluster)


def _responses(w: World):
    n = int(w.group.max()) + 1
    counts = [stats.label_counts(column, w.group, n, 3) for column in w.columns[:2]]
    return stats.response_evaluation(*counts, CATEGORIES, [2, 1, 0], [0], np.arange(n) // 2)


def _effects(w: World):
    groups = [np.arange(w.n) % 3, w.group]
    x, y = w.truth.astype(float), (w.columns[2] == 0).astype(float)
    return stats.clustered_effect(w.a, x, groups), stats.clustered_mean(y, groups), stats.clustered_logit(y, x, groups)


def _trial(w: World):
    seen, right = np.arange(w.n) % 2, w.columns[1] - 1
    people, agrees = np.arange(w.n) % 3, (w.columns[0] == w.columns[1]).astype(float)
    seconds = np.exp(np.abs(w.a))
    rows = np.arange(w.n) % 2 == 0
    parts = [w._labels(np.flatnonzero(np.tile(part, 3))) for part in (rows, ~rows)]
    return (
        stats.suggestion_effect(agrees, seen, right, people, w.group),
        stats.time_effect(seconds, seen, right, people, w.group),
        stats.alpha_effect(stats.krippendorff_alpha, *parts, right),
        stats.agreement_effect(stats.percent_agreement, *parts),
    )


def _differences(w: World):
    half = w._labels(np.arange(2 * w.n)[: w.n + w.n // 2])
    return stats.agreement_difference(stats.krippendorff_alpha, w.labels, half)


def _on_scale(w: World):
    """Five people, so that they count as a sample, and a labeller."""
    people, scale = np.stack([*w.columns, *w.columns[:2]]).astype(float), np.arange(3.0)
    people[people < 0] = np.nan
    return (
        stats.scale_standing(people, people[0], scale, w.cluster),
        stats.scale_standing(people[:1], people[1], scale, w.cluster),
        stats.errors_along(people[0], people[1], scale, w.cluster),
        stats.isotonic_calibration(np.tile(people[0], 20), np.tile(people[1], 20)).means,
    )


def _ranked(w: World):
    first = np.arange(w.n) % 3
    choices = stats.Choices(first, (first + 1) % 3, w.columns[1] - 1, w.group, np.arange(w.n) % 2, 3)
    return stats.rank_systems(choices, n_resamples=N_RESAMPLES)


def _concordance(w: World):
    ranks = w.rng.integers(0, 3, (3 * w.n, 4))
    order = np.sign(ranks[:, None, :] - ranks[:, :, None])
    return stats.rank_concordance(order, np.tile(np.arange(w.n), 3), np.tile(w.group, 3))


def _one_ranking(w: World):
    ranks = w.rng.integers(0, 3, (4 * w.n, 4))
    order = np.sign(ranks[:, None, :] - ranks[:, :, None])
    return stats.rank_agreement(order[: w.n], order[w.n :], np.tile(np.arange(w.n), 3), w.group)


def _best_worst(w: World):
    return stats.best_worst_scores(w.columns[0] - 1, np.arange(w.n) % 3, w.group, np.arange(w.n) % 2, 3)


def _soft(w: World):
    counts = sum(np.eye(3)[np.maximum(column, 0)] * (column >= 0)[:, None] for column in w.columns)
    certainty = (0.4 + 0.2 * w.shares)[:, None]
    sure = certainty * np.eye(3)[w.truth] + (1 - certainty) / 3
    return stats.soft_label_comparison(counts, sure, np.arange(3), w.cluster)


def _means(w: World):
    groups = np.column_stack([np.ones(w.n, dtype=bool), w.truth == 1])
    return stats.grouped_means(np.column_stack([w.a, w.b, w.shares]), groups, w.cluster)


def _repeated(w: World):
    query, repetition = np.arange(w.n) // 2, np.arange(w.n) % 2
    mean = stats.repeated_mean(w.b, query.tolist(), repetition.tolist())
    f1 = stats.repeated_macro_f1(*w.columns[:2], CATEGORIES, query.tolist(), repetition.tolist())
    return mean, f1, stats.repeated_difference(mean, f1)


def _systems(w: World):
    item = np.repeat(w.group, len(w.system) // w.n).tolist()
    columns = (w.rows(w.a), w.rows(w.columns[1]), w.system, item)
    return (
        stats.system_correlation(*columns),
        stats.item_correlation(*columns[:2], item),
        stats.system_means(w.rows(w.b), w.system, item),
    )


def _features(w: World):
    return stats.feature_correlations(np.column_stack([w.a, w.b]), w.shares, w.truth, 2, w.cluster)


def _classified(w: World):
    found = stats.classification(*w.columns[:2], CATEGORIES, w.cluster)
    return found, [*zip(found.labels, stats.label_intervals(found, N_RESAMPLES), strict=True)]


MEASURES = {
    "percent_agreement": of_labels(stats.percent_agreement),
    "pooled_percent_agreement": of_labels(stats.pooled_percent_agreement),
    "krippendorff_alpha": lambda w: [stats.krippendorff_alpha(w.labels, level) for level in ("nominal", "ordinal")],
    "fleiss_kappa": of_labels(stats.fleiss_kappa),
    "gwet_ac": lambda w: [stats.gwet_ac(w.labels), stats.gwet_ac(w.labels, "ordinal")],
    "brennan_prediger": lambda w: [stats.brennan_prediger(w.labels), stats.brennan_prediger(w.labels, "linear")],
    "scott_pi": lambda w: stats.scott_pi(w.labels, "x", "y"),
    "cohen_kappa": lambda w: [stats.cohen_kappa(w.labels, "x", "y", weights) for weights in (None, "quadratic")],
    "cohen_kappa_table": lambda w: [kappa.percent_agreement() for kappa in stats.cohen_kappa_table(w.labels)],
    "agreement_with_others": of_labels(stats.agreement_with_others),
    "mean_share": lambda w: stats.mean_share(w.shares, w.group),
    "agreement_difference": _differences,
    "agreement_effect": _trial,
    "alpha_effect": _trial,
    "suggestion_effect": _trial,
    "time_effect": _trial,
    "clustered_agreement": lambda w: stats.clustered_agreement(stats.krippendorff_alpha, w.labels),
    "weighted_agreement": lambda w: stats.weighted_agreement(
        stats.krippendorff_alpha, w.labels, np.where(np.arange(w.n) % 2, 0.5, 1)
    ),
    "competence_intervals": _competence,
    "alternative_annotator_test": lambda w: stats.alternative_annotator_test(w.labels, w.columns[2], min_units=2),
    "classification": _classified,
    "label_intervals": _classified,
    "labeller_difference": lambda w: stats.labeller_difference(*w.columns, CATEGORIES, w.cluster, 9),
    "detection": lambda w: stats.detection(w.truth, (w.columns[1] == 1).astype(int), w.cluster),
    "coverage_detection": lambda w: stats.coverage_detection(
        w.truth, (w.columns[1] == 1).astype(int), w.group, w.group
    ),
    "areas": lambda w: stats.areas(w.score, w.truth, w.cluster),
    "threshold_sweep": lambda w: stats.threshold_sweep(w.score, w.truth, w.cluster),
    "calibration": lambda w: stats.calibration(w.columns[0], w.probabilities, w.cluster),
    "expected_accuracy": lambda w: stats.expected_accuracy(w.probabilities, w.columns[0], w.cluster),
    "selective_curve": lambda w: stats.selective_curve(w.score, w.truth, w.columns[1] == 2, w.cluster),
    "pearson": lambda w: stats.pearson(w.a, w.b, w.cluster),
    "spearman": lambda w: stats.spearman(w.a, w.b, w.cluster),
    "kendall_tau_b": lambda w: stats.kendall_tau_b(w.a, w.columns[1], w.cluster),
    "stratified_correlation": lambda w: stats.stratified_correlation(w.a, w.b, w.truth, "spearman", w.cluster),
    "correlation_difference": lambda w: [
        stats.correlation_difference(w.a, w.columns[2], w.b, name, w.cluster, 9)
        for name in ("pearson", "kendall_tau_b")
    ],
    "feature_correlations": _features,
    "item_correlation": _systems,
    "system_correlation": _systems,
    "system_means": _systems,
    "mann_whitney": lambda w: stats.mann_whitney(w.b, w.truth, w.group),
    "grouped_means": _means,
    "icat_curve": lambda w: stats.icat_curve(_icat(w), [0.5, 2], np.ones((w.n, 1), dtype=bool), w.cluster),
    "mean_icat": lambda w: stats.mean_icat(_icat(w), "score", np.ones(w.n, dtype=bool), w.cluster),
    "mean_coverage": lambda w: stats.mean_coverage(_coverage(w), np.ones(int(w.group.max()) + 1, dtype=bool)),
    "outcome_shares": lambda w: [
        shares.share("a", group)
        for shares in [stats.outcome_shares(w.columns[0], CATEGORIES, w.truth, ("no", "yes"), w.cluster)]
        for group in ("no", "yes")
    ],
    "label_rates": _rates,
    "mean_of": lambda w: stats.mean_of([stats.percent_agreement(w.labels), stats.percent_agreement(w.pair)]),
    "response_evaluation": _responses,
    "repeated_mean": _repeated,
    "repeated_macro_f1": _repeated,
    "repeated_difference": _repeated,
    "moved": lambda w: stats.moved(w.a, w.b, w.cluster, n_resamples=N_RESAMPLES),
    "clustered_effect": _effects,
    "clustered_mean": _effects,
    "clustered_logit": _effects,
    "drift": lambda w: stats.drift(w.shares, np.arange(w.n), w.group),
    "change": lambda w: stats.change(w.shares, np.arange(w.n) % 2, w.group),
    "prediction_powered_mean": lambda w: [
        stats.prediction_powered_mean(w.truth, w.columns[1] == 1, w.b > 0, power=power) for power in (None, 0, 1)
    ],
    "regression_mean": lambda w: stats.regression_mean(w.truth, w.columns[1], w.b),
    "distance_gap": _on_scale,
    "errors_along": _on_scale,
    "isotonic_calibration": _on_scale,
    "scale_standing": _on_scale,
    "soft_label_comparison": _soft,
    "rank_systems": _ranked,
    "rank_agreement": _one_ranking,
    "rank_concordance": _concordance,
    "best_worst_scores": _best_worst,
    "span_agreement": lambda w: stats.span_agreement(w.marked),
    "span_agreement_by_label": lambda w: stats.span_agreement_by_label(w.marked),
    "character_alpha": lambda w: stats.character_alpha(w.marked),
    "unitizing_alpha": lambda w: stats.unitizing_alpha(w.marked),
    # None, one, another, both, and two that share one.
    "set_alpha": lambda w: [
        stats.set_alpha(w.labels, ["", "p", "q", "pq", "pr", "qr"], distance) for distance in ("masi", "jaccard")
    ],
    "gamma": lambda w: stats.gamma(w.marked[: 2 * w.n], n_draws=10),
    "wilson_interval": lambda w: [
        (k / w.n, stats.wilson_interval(k, w.n, level)) for k in range(w.n + 1) for level in (0.5, 0.999)
    ],
}
WITHOUT_INTERVALS = {
    *("agreement_permutation_test", "correlation_test", "several_labellers", "steiger_test", "williams_test"),
    *("benjamini_hochberg", "benjamini_yekutieli", "holm", "equivalence"),  # equivalence holds a difference's
    *("assigned_similarity", "similarity_matrix", "encode", "majority", "dawid_skene", "mace", "shares_of_others"),
    "shared_units",
    "fit_strengths",  # rank_systems has them
    *("context_usage", "copy_rates", "curve_points", "first_present", "icat_scores", "inter_context_conflicts"),
    *("label_counts", "label_shares", "memory_conflict", "most_frequent", "prediction_shifts", "ranking_scores"),
    *("jaccard_distance", "masi_distance", "majority_baseline", "paired_accuracy"),  # exact tests
    *("response_coverage", "pilot_of", "planned_alpha", "planned_rate", "judgements_needed", "units_needed"),
}


def found_in(what) -> list[tuple[str, float, float, float, str]]:
    """Name, estimate, ends and reason of every interval in a result, whatever it is made of."""
    rows = []

    def add(name: str, estimate: float, interval: Interval) -> None:
        rows.append((name, float(estimate), interval.low, interval.high, interval.undefined))

    def walk(name: str, one) -> None:
        if isinstance(one, stats.Estimate):
            for clusters in (True, False):
                add(f"{name} by {'cluster' if clusters else 'unit'}", one.estimate, one.confidence_interval(
                    N_RESAMPLES, clusters=clusters))  # fmt: skip
            if hasattr(one, "analytic_interval"):
                add(f"{name} in closed form", one.estimate, one.analytic_interval())
        elif isinstance(one, Effect | stats.PoweredMean):
            reason = one.undefined or getattr(one, "no_interval", "") or ("alike" if np.isnan(one.low) else "")
            rows.append((name, one.estimate, one.low, one.high, reason))
        elif isinstance(one, stats.DistanceGap):
            rows.append((name, one.estimate, one.low, one.high, one.undefined))
            return
        elif isinstance(one, stats.ScaleError):
            rows.append((name, one.mean, one.low, one.high, one.undefined))
            return
        elif isinstance(one, stats.ScaleStanding):
            reason = one.kappa_undefined
            rows.append((name, one.kappa.estimate, one.kappa_low, one.kappa_high, reason))
        elif isinstance(one, stats.SystemRanking):
            for estimate, low, high in zip(one.strengths, one.low, one.high, strict=True):
                rows.append((f"{name} strength", estimate, low, high, one.undefined or one.no_interval))
            for rate, low, high in zip(one.rates, one.rates_low, one.rates_high, strict=True):
                reason = one.no_interval or ("compared with no other" if np.isnan(rate) else "")
                rows.append((f"{name} rate", rate, low, high, reason))
            return
        elif isinstance(one, stats.BestWorstScores):
            for estimate, low, high in zip(one.scores, one.low, one.high, strict=True):
                rows.append((f"{name} score", estimate, low, high, "does not vary" if np.isnan(low) else ""))
            return
        elif isinstance(one, stats.GroupedMeans):
            for means, intervals in zip(one.mean, one.confidence_intervals(N_RESAMPLES), strict=True):
                for mean, interval in zip(means, intervals, strict=True):
                    add(name, mean, interval)
            return
        elif isinstance(one, stats.FeatureCorrelations):
            for estimate, low, high in zip(
                one.estimate.flat, *(e.flat for e in one.confidence_intervals()), strict=True
            ):
                rows.append((name, estimate, low, high, "no error" if np.isnan(low) else ""))
            return
        elif isinstance(one, tuple) and len(one) == 2 and isinstance(one[1], Interval):
            return add(name, *one)
        elif isinstance(one, tuple) and len(one) == 2 and isinstance(one[1], stats.CompetenceIntervals):
            return of_model(name, *one)
        elif isinstance(one, tuple) and len(one) == 2 and isinstance(one[1], stats.LabelIntervals):
            for figure in ("precision", "recall", "f1"):
                add(f"{name} {figure}", getattr(one[0], figure), getattr(one[1], figure))
            return
        if isinstance(one, stats.Calibration):
            for part, interval in zip(one.bins, one.bin_intervals(N_RESAMPLES), strict=True):
                add(f"{name} bin", part.accuracy, interval)
        if isinstance(one, stats.SpanAgreement):
            for figure, interval in one.confidence_intervals(N_RESAMPLES).items():
                add(f"{name} {figure}", getattr(one, figure).estimate, interval)
        if isinstance(one, stats.AlternativeTest):
            for person, pair in zip(one.people, one.person_intervals(N_RESAMPLES), strict=True):
                add(f"{name} model", person.model_wins, pair[0])
                add(f"{name} person", person.person_wins, pair[1])
        if isinstance(one, stats.SelectiveCurve):
            at = [0.2, 0.5, 1.0]
            for estimate, interval in zip(one.at(at), one.band(at, N_RESAMPLES), strict=True):
                add(f"{name} band", estimate, interval)
        if is_dataclass(one) and hasattr(one, "interval") and isinstance(one.interval, Interval):
            add(name, one.estimate, one.interval)
        elif is_dataclass(one):
            for field in fields(one):
                if field.repr and not isinstance(getattr(one, field.name), np.ndarray):
                    walk(f"{name}.{field.name}", getattr(one, field.name))
        elif isinstance(one, dict):
            for key, value in one.items():
                walk(f"{name}.{key}", value)
        elif isinstance(one, list | tuple):
            for value in one:
                walk(name, value)

    def of_model(name: str, fit: stats.LatentTruth, found: stats.CompetenceIntervals) -> None:
        for estimate, low, high, reason in zip(fit.competence, found.low, found.high, found.reason, strict=True):
            rows.append((f"{name} competence", estimate, low, high, reason))
        shares = zip(fit.prevalence, *found.prevalence, found.prevalence_reason, strict=True)
        rows.extend((f"{name} prevalence", *row) for row in shares)
        if fit.confusion is not None:
            cells = zip(fit.confusion.flat, *(ends.flat for ends in found.confusion), strict=True)
            rows.extend((f"{name} table", *row, "none" if np.isnan(row[1]) else "") for row in cells)

    walk("", what)
    return rows


def test_every_measure_is_here():
    functions = {name for name in stats.__all__ if inspect.isfunction(getattr(stats, name))}
    assert MEASURES.keys() | WITHOUT_INTERVALS == functions and not MEASURES.keys() & WITHOUT_INTERVALS


@pytest.mark.parametrize("measure", list(dict.fromkeys(MEASURES.values())), ids=lambda one: "")
@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 2**32), st.sampled_from([2, 3, 5, 6, 8, 12, 18, 30]), st.sampled_from(AGREEMENT), st.booleans())
def test_an_interval_contains_its_estimate_or_says_why_there_is_none(measure, seed, n, how, clustered):
    found = measure(World(seed, n, how, clustered))
    rows = found_in(found)
    assert rows or found == {}, "nothing but a figure by label is empty, where nothing was marked"
    for name, estimate, low, high, reason in rows:
        if reason:
            assert np.isnan(low) and np.isnan(high), name
        else:
            assert low <= estimate <= high and low < high, (name, estimate, low, high)


def test_nobody_agrees():
    """Labels that are used equally often leave the least chance agreement, so that every resample lies below."""
    first = np.arange(30) % 6
    labels = Labels.from_columns(
        [*range(30), *range(30)], ["x"] * 30 + ["y"] * 30, [*first, *(first + 1) % 6], list("012345")
    )
    for measure in (stats.krippendorff_alpha, stats.fleiss_kappa):
        found = measure(labels)
        interval = found.confidence_interval()
        assert -0.21 < found.estimate < -0.15
        assert np.isnan(interval.low) and interval.undefined.startswith("nearly every resample")


def test_a_distribution_that_is_nearly_constant():
    values = np.full(1000, 0.5)
    values[:4] = 0.4
    none = np.zeros(0), np.zeros(0)
    interval = resampled_interval(values, 0.5, none, 50, False, 0.95)
    assert np.isnan(interval.low) and interval.undefined.startswith("nearly every resample gives the same figure")
    above = resampled_interval(values, 0.45, none, 50, False, 0.95)
    assert np.isnan(above.high) and "would not contain it" in above.undefined
