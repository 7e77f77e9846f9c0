"""Figures of the studies of planted_answers.py."""

from __future__ import annotations

import numpy as np

from analysis import stats
from benchmarks.studies import planted
from benchmarks.studies import planted_answers as drawn
from benchmarks.studies.study import Figures, Study, bootstrapped


def trend(data: drawn.Worked) -> Figures:
    found = stats.drift(data.share, np.arange(len(data.share)), data.cluster).trend
    return {"trend": (found.estimate, lambda: (found.low, found.high))}


def change(data: drawn.Worked) -> Figures:
    found = stats.change(data.share, data.after, data.cluster, data.rater)
    return {"change_within_people": (found.estimate, lambda: (found.low, found.high))}


def thresholds(data: planted.Judged) -> Figures:
    found = {}
    for name, code in (("common", 0), ("rare", 3)):
        truth = np.where(data.reference < 0, -1, data.reference == code)
        sweep = stats.threshold_sweep(data.probabilities[:, code], truth, data.cluster)
        found |= {f"accuracy_{name}_label": sweep.accuracy, f"f1_{name}_label": sweep.f1}
    return bootstrapped(**found)


def expected(data: drawn.Labelled) -> Figures:
    posterior = stats.dawid_skene(data.labels).posterior
    return bootstrapped(expected_accuracy=stats.expected_accuracy(posterior, data.predicted, data.labels.cluster))


def weighted(data: drawn.Selected) -> Figures:
    return bootstrapped(
        alpha=stats.weighted_agreement(stats.krippendorff_alpha, data.labels, data.chance),
        percent=stats.weighted_agreement(stats.percent_agreement, data.labels, data.chance),
    )


def long_answers(data: drawn.Long) -> Figures:
    n = len(data.query)
    covered = stats.response_coverage(data.labels, data.response, n, ("yes",))
    scores = stats.icat_scores(data.n_supported, data.n_claims, covered.n_covered, covered.n_aspects)
    everywhere = np.ones(n, dtype=bool)
    return bootstrapped(
        factuality=stats.mean_icat(scores, "factuality", everywhere, data.query),
        icat=stats.mean_icat(scores, "score", everywhere, data.query),
        coverage=stats.mean_coverage(covered, everywhere, data.query),
    )


def copied(data: drawn.Copied) -> Figures:
    rate = stats.copy_rates(data.pieces, data.contexts, data.context).rate
    means = stats.system_means(rate, ["all"] * len(rate), data.context.tolist(), ["all"]).means
    return bootstrapped(copy_rate=means[0])


OUT_OF_FOLD = tuple(f"{figure}_{label}_label" for label in ("common", "rare") for figure in ("accuracy", "f1"))
RISE = {"trend": np.array(0.2)}
STUDIES = {
    "drift, one answer per claim": Study(lambda rng, n: drawn.worked(rng, n, 1), trend, (60, 20), 1, RISE),
    "drift, two answers per claim": Study(lambda rng, n: drawn.worked(rng, n, 2), trend, (30, 10), 1, RISE),
    "six people": Study(drawn.changed, change, (80, 20), 1, {"change_within_people": np.array(0.1)}),
    "thresholds out of fold": Study(planted.judged, thresholds, (80, 20), 1, of_its_size=OUT_OF_FOLD),
    "a posterior of Dawid-Skene": Study(drawn.labelled, expected, (60, 20), 5000),
    "weighted for selection": Study(drawn.selected, weighted, (80, 20)),
    "long answers": Study(drawn.long_answers, long_answers, (80, 20)),
    "pieces and passages": Study(drawn.copied, copied, (80, 20), 10_000),
}
