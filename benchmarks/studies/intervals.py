"""How often 95 % intervals hold the truth, in studies with planted truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from analysis import stats
from analysis.stats import Estimate, Labels
from benchmarks.studies import (
    answers,
    associations,
    joint,
    labellers,
    marked_spans,
    means,
    planted,
    repeated,
    trials,
    two_ways,
)
from benchmarks.studies.study import Figures, Study, bootstrapped

RUNS, SEED = 1000, 20261122


@dataclass(frozen=True)
class Coverage:
    """Of one figure at one size: `above` and `below` are the shares of intervals that lie above and below the truth.

    `n_intervals` counts the defined ones, `n_undefined` the others; `average` is the mean estimate.
    """

    study: str
    figure: str
    n_clusters: int
    truth: float
    average: float
    covered: float
    above: float
    below: float
    n_intervals: int
    n_undefined: int

    @property
    def error(self) -> float:
        """Standard error of `covered` if it is 0.95."""
        return float(np.sqrt(0.95 * 0.05 / max(self.n_intervals, 1)))


def agreement(labels: Labels) -> Figures:
    return bootstrapped(
        percent=stats.percent_agreement(labels),
        percent_of_pairs=stats.pooled_percent_agreement(labels),
        alpha_nominal=stats.krippendorff_alpha(labels),
        alpha_ordinal=stats.krippendorff_alpha(labels, "ordinal"),
        alpha_interval=stats.krippendorff_alpha(labels, "interval"),
        alpha_ratio=stats.krippendorff_alpha(labels, "ratio", values=(1, 2, 3, 4)),
        fleiss=stats.fleiss_kappa(labels),
        ac1=stats.gwet_ac(labels),
        ac2_ordinal=stats.gwet_ac(labels, "ordinal"),
        brennan_prediger=stats.brennan_prediger(labels),
        brennan_prediger_ordinal=stats.brennan_prediger(labels, "ordinal"),
        agreement_with_others=stats.agreement_with_others(labels)[0],
    )


def pair(labels: Labels) -> Figures:
    return bootstrapped(
        cohen=stats.cohen_kappa(labels, 0, 1),
        cohen_linear=stats.cohen_kappa(labels, 0, 1, "linear"),
        cohen_quadratic=stats.cohen_kappa(labels, 0, 1, "quadratic"),
        scott=stats.scott_pi(labels, 0, 1),
    )


def in_closed_form(**found) -> Figures:
    def ends(one) -> tuple[float, float]:
        interval = one.analytic_interval()
        return interval.low, interval.high

    return {f"{name}_analytic": (one.estimate, lambda one=one: ends(one)) for name, one in found.items()}


def analytic(labels: Labels) -> Figures:
    return in_closed_form(
        percent=stats.percent_agreement(labels),
        percent_of_pairs=stats.pooled_percent_agreement(labels),
        alpha_nominal=stats.krippendorff_alpha(labels),
        alpha_ordinal=stats.krippendorff_alpha(labels, "ordinal"),
        alpha_interval=stats.krippendorff_alpha(labels, "interval"),
        fleiss=stats.fleiss_kappa(labels),
        ac1=stats.gwet_ac(labels),
        ac2_ordinal=stats.gwet_ac(labels, "ordinal"),
        brennan_prediger=stats.brennan_prediger(labels),
    )


def analytic_of_pairs(labels: Labels) -> Figures:
    return in_closed_form(
        cohen=stats.cohen_kappa(labels, 0, 1),
        cohen_linear=stats.cohen_kappa(labels, 0, 1, "linear"),
        cohen_quadratic=stats.cohen_kappa(labels, 0, 1, "quadratic"),
        scott=stats.scott_pi(labels, 0, 1),
    )


def rows(labels: Labels, keep: np.ndarray) -> Labels:
    return Labels(
        labels.unit[keep],
        labels.rater[keep],
        labels.value[keep],
        labels.n_units,
        labels.categories,
        labels.cluster,
        rater_names=tuple(str(code) for code in range(planted.N_RATERS)),
    )


def differences(labels: Labels) -> Figures:
    """Of two groups of raters on the same units, of two halves of the clusters, and of a fifth and the rest."""
    by_rater = labels.rater < 3
    half, fifth = (labels.cluster % part == 0 for part in (2, 5))
    parts = {
        "raters_on_same_units": by_rater,
        "two_arms": half[labels.unit],
        "a_fifth_and_the_rest": fifth[labels.unit],
    }
    return bootstrapped(
        **{
            f"{measure.__name__}_{name}": stats.agreement_difference(measure, rows(labels, keep), rows(labels, ~keep))
            for name, keep in parts.items()
            for measure in (stats.krippendorff_alpha, stats.percent_agreement)
        }
    )


def classified(data: planted.Judged) -> Figures:
    found = stats.classification(data.reference, data.predicted, planted.CATEGORIES, data.cluster)
    both = stats.labeller_difference(
        data.reference, data.predicted, data.other, planted.CATEGORIES, data.cluster, n_permutations=1
    )
    return bootstrapped(
        accuracy=found.accuracy,
        balanced_accuracy=found.balanced_accuracy,
        macro_f1=found.macro_f1,
        mcc=found.mcc,
        accuracy_difference=both.accuracy,
        macro_f1_difference=both.macro_f1,
    )


def probable(data: planted.Judged) -> Figures:
    common, rare = (
        stats.areas(data.probabilities[:, code], np.where(data.reference < 0, -1, data.reference == code), data.cluster)
        for code in (0, 3)
    )
    calibrated = stats.calibration(data.reference, data.probabilities, data.cluster)
    boastful = data.probabilities**3 / (data.probabilities**3).sum(axis=1, keepdims=True)
    return bootstrapped(
        roc_area=common.roc_auc,
        roc_area_rare_label=rare.roc_auc,
        average_precision=common.average_precision,
        average_precision_rare_label=rare.average_precision,
        brier=calibrated.brier,
        ece_well_calibrated=calibrated.ece,
        ece_overconfident=stats.calibration(data.reference, boastful, data.cluster).ece,
    )


def correlated(data: planted.Scored) -> Figures:
    def difference(coefficient: str) -> Estimate:
        columns = data.a, data.b, data.label, coefficient, data.cluster
        return stats.correlation_difference(*columns, n_permutations=1).difference

    return bootstrapped(
        pearson=stats.pearson(data.a, data.label, data.cluster),
        spearman=stats.spearman(data.a, data.label, data.cluster),
        kendall=stats.kendall_tau_b(data.a, data.label, data.cluster),
        pearson_difference=difference("pearson"),
        spearman_difference=difference("spearman"),
        kendall_difference=difference("kendall_tau_b"),
    )


def prevalence(data: planted.Sampled) -> Figures:
    columns = data.human, data.machine, data.others, data.cluster, data.others_cluster
    powered, alone = stats.prediction_powered_mean(*columns), stats.prediction_powered_mean(*columns, power=0.0)
    kind = "units" if data.cluster is None else "clusters"
    return {
        f"prediction_powered_{kind}": (powered.estimate, lambda: (powered.low, powered.high)),
        f"people_alone_{kind}": (alone.estimate, lambda: (alone.low, alone.high)),
    }


def alternative(data: planted.Compared) -> Figures:
    found = stats.alternative_annotator_test(data.labels, data.model)
    return bootstrapped(advantage=found.advantage, winning_rate=found.winning_rate)


def competence(model: Callable) -> Callable[[Labels], Figures]:
    def figures(labels: Labels) -> Figures:
        found = model(labels)

        @cache
        def intervals() -> stats.CompetenceIntervals:
            return stats.competence_intervals(labels, found, 100)

        figures: Figures = {
            "competence": (found.competence, lambda: (intervals().low, intervals().high)),
            "prevalence": (found.prevalence, lambda: tuple(intervals().prevalence)),
        }
        if found.confusion is not None:
            figures["confusion"] = (found.confusion, lambda: tuple(intervals().confusion))
        return figures

    return figures


def spans(marked: list) -> Figures:
    found = stats.span_agreement(marked)
    return bootstrapped(
        exact_f1=found.exact_f1,
        overlap_f1=found.overlap_f1,
        character_f1=found.character_f1,
        character_iou=found.character_iou,
        character_alpha=stats.character_alpha(marked),
    )


def shares(data: planted.Extracted) -> Figures:
    names = ("right", "neutral", "wrong")
    rates = stats.label_rates(data.label, data.response.tolist(), data.model.tolist(), data.n_responses, names)
    return bootstrapped(
        label_rate_of_a_model=rates.models[0].shares["wrong"],
        label_rate_mean_of_models=rates.shares["wrong"],
        abstained=rates.models[0].abstained,
    )


STUDIES = {
    "agreement": Study(planted.labels, agreement),
    "high agreement": Study(lambda rng, n: planted.labels(rng, n, knowing=30), agreement),
    "pairs of raters": Study(lambda rng, n: planted.labels(rng, n, asked=4), pair, (80, 40)),
    "independent units": Study(lambda rng, n: planted.labels(rng, n, clustered=False), analytic, (200, 50)),
    "differences": Study(planted.labels, differences),
    "a labeller": Study(planted.judged, classified),
    "probabilities": Study(planted.judged, probable, (80, 40), 20_000),
    "correlations": Study(planted.scored, correlated, large=20_000),
    "prevalence, clusters": Study(planted.sampled, prevalence, (1000, 300), 400_000),
    "prevalence, units": Study(lambda rng, n: planted.sampled(rng, n, False), prevalence, (2000, 500), 1_000_000),
    "alternative annotator test": Study(planted.compared, alternative, (80, 40), of_its_size=("winning_rate",)),
    "Dawid-Skene": Study(
        planted.confused,
        competence(stats.dawid_skene),
        (60,),
        1,
        {"competence": planted.RIGHT, "prevalence": np.full(3, 1 / 3), "confusion": planted.CONFUSION},
    ),
    "MACE": Study(
        planted.confused,
        competence(stats.mace),
        (60,),
        1,
        {"competence": (3 * planted.RIGHT - 1) / 2, "prevalence": np.full(3, 1 / 3)},
    ),
    "spans": Study(planted.marked, spans, (60, 20), 10_000),
    "label rates": Study(planted.extracted, shares, (80, 20)),
    **answers.STUDIES,
    **two_ways.STUDIES,
    "independent units, two raters": Study(
        lambda rng, n: planted.labels(rng, n, clustered=False, asked=4), analytic_of_pairs, (200, 50)
    ),
    **marked_spans.STUDIES,
    **repeated.STUDIES,
    **trials.STUDIES,
    **associations.STUDIES,
    **labellers.STUDIES,
    **means.STUDIES,
    **trials.OF_ONE_SIDE,
    **joint.STUDIES,
}


def measure(name: str, runs: int = RUNS, sizes: tuple[int, ...] | None = None) -> list[Coverage]:
    """Coverage of every figure of a study, at each of its sizes."""
    study = STUDIES[name]
    rng = np.random.default_rng([SEED, list(STUDIES).index(name)])
    truth = dict(study.truth)
    if not truth:
        truth = {figure: found for figure, (found, _) in study.figures(study.draw(rng, study.large)).items()}
    table = []
    for size in sizes or study.sizes:
        ends, estimates = {figure: [] for figure in truth}, {figure: [] for figure in truth}
        for _ in range(runs):
            for figure, (found, interval) in study.figures(study.draw(rng, size)).items():
                estimates[figure].append(found)
                ends[figure].append(interval())
        known = truth | {figure: np.nanmean(estimates[figure]) for figure in study.of_its_size}
        table += [_coverage(name, figure, size, known[figure], estimates[figure], ends[figure]) for figure in truth]
    return table


def _coverage(study: str, figure: str, size: int, truth, estimates: list, ends: list) -> Coverage:
    low, high = np.moveaxis(np.array(ends, dtype=float), 1, 0)
    defined = ~np.isnan(low)
    above, below = ((low > truth) & defined).sum() / defined.sum(), ((high < truth) & defined).sum() / defined.sum()
    return Coverage(
        study=study,
        figure=figure,
        n_clusters=size,
        truth=float(np.mean(truth)),
        average=float(np.nanmean(np.array(estimates, dtype=float))),
        covered=float(1 - above - below),
        above=float(above),
        below=float(below),
        n_intervals=int(defined.sum()),
        n_undefined=int((~defined).sum()),
    )
