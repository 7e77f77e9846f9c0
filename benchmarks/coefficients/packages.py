"""The same coefficients from Assay and from the packages that people use: seconds of each, ratio and difference.

    python -m benchmarks.coefficients.packages [--units 5490] [--quick]

Point estimates only, since none of the packages gives clustered intervals. Every side is given its own form of the same
labels; making that form is not timed. Times are medians of three runs, one run where one takes more than five seconds.
A package that cannot be given the labels (missing ones, ordered ones) is left out of that row.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np

from benchmarks.coefficients.alpha import N_CATEGORIES, made_up_labels

UNITS = 5_490
RATERS = 3
LONG = 5.0


def seconds_of(function: Callable[[], float]) -> tuple[float, float]:
    times = []
    while len(times) < 3:
        started = time.perf_counter()
        value = function()
        times.append(time.perf_counter() - started)
        if times[0] > LONG:
            break
    return statistics.median(times), float(value)


def compared(codes: np.ndarray) -> list[tuple[str, str, Callable[[], float], Callable[[], float]]]:
    """Measure, package, Assay's and the package's own; all of the same complete labels."""
    import krippendorff
    import pandas as pd
    from crowdkit.aggregation import MACE, DawidSkene
    from nltk.metrics.agreement import AnnotationTask
    from sklearn import metrics
    from statsmodels.stats.inter_rater import aggregate_raters
    from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_statsmodels

    from analysis import stats

    n_raters, n_units = codes.shape
    labels = stats.Labels(
        unit=np.tile(np.arange(n_units), n_raters),
        rater=np.repeat(np.arange(n_raters), n_units),
        value=codes.ravel().astype(int),
        n_units=n_units,
        categories=tuple(str(code) for code in range(N_CATEGORIES)),
    )
    rows = [(str(rater), str(unit), int(codes[rater, unit])) for rater in range(n_raters) for unit in range(n_units)]
    two_rows = [row for row in rows if row[0] in "01"]
    counts, _ = aggregate_raters(codes.T)
    frame = pd.DataFrame(rows, columns=["worker", "task", "label"])
    first, second = codes[0], codes[1]
    dawid_skene, mace = stats.dawid_skene(labels), stats.mace(labels)

    def crowd_accuracy(model, ours: np.ndarray) -> float:
        """Share of units whose most probable label is the one that Assay's model finds."""
        found = model.fit_predict(frame)
        return float(np.mean(found.reindex([str(unit) for unit in range(n_units)]).to_numpy() == ours))

    def furthest_posterior() -> float:
        """The greatest difference of a posterior probability from Assay's, which is set against 0."""
        found = DawidSkene(n_iter=dawid_skene.n_iterations, tol=0).fit_predict_proba(frame)
        found = found.reindex(index=[str(unit) for unit in range(n_units)], columns=range(N_CATEGORIES))
        return float(np.abs(found.to_numpy() - dawid_skene.posterior).max())

    def of_second() -> stats.Classification:
        return stats.classification(first, second, labels.categories)

    weighted = metrics.cohen_kappa_score
    return [
        ("percent agreement, pooled", "nltk", lambda: stats.pooled_percent_agreement(labels).estimate,
         lambda: AnnotationTask(rows).avg_Ao()),
        ("alpha, nominal", "krippendorff", lambda: stats.krippendorff_alpha(labels).estimate,
         lambda: krippendorff.alpha(codes.astype(float), level_of_measurement="nominal")),
        ("alpha, ordinal", "krippendorff", lambda: stats.krippendorff_alpha(labels, "ordinal").estimate,
         lambda: krippendorff.alpha(codes.astype(float), level_of_measurement="ordinal")),
        ("alpha, interval", "krippendorff", lambda: stats.krippendorff_alpha(labels, "interval").estimate,
         lambda: krippendorff.alpha(codes.astype(float), level_of_measurement="interval")),
        ("alpha, nominal", "nltk", lambda: stats.krippendorff_alpha(labels).estimate,
         lambda: AnnotationTask(rows).alpha()),
        ("Fleiss' kappa", "statsmodels", lambda: stats.fleiss_kappa(labels).estimate,
         lambda: fleiss_of_statsmodels(counts)),
        ("Cohen's kappa", "scikit-learn", lambda: stats.cohen_kappa(labels, 0, 1).estimate,
         lambda: weighted(first, second)),
        ("Cohen's kappa, linear", "scikit-learn", lambda: stats.cohen_kappa(labels, 0, 1, "linear").estimate,
         lambda: weighted(first, second, weights="linear")),
        ("Cohen's kappa, quadratic", "scikit-learn", lambda: stats.cohen_kappa(labels, 0, 1, "quadratic").estimate,
         lambda: weighted(first, second, weights="quadratic")),
        ("Cohen's kappa", "nltk", lambda: stats.cohen_kappa(labels, 0, 1).estimate,
         lambda: AnnotationTask(two_rows).kappa()),
        ("Scott's pi", "nltk", lambda: stats.scott_pi(labels, 0, 1).estimate, lambda: AnnotationTask(two_rows).pi()),
        ("macro-F1", "scikit-learn", lambda: of_second().macro_f1.estimate,
         lambda: metrics.f1_score(first, second, average="macro")),
        ("balanced accuracy", "scikit-learn", lambda: of_second().balanced_accuracy.estimate,
         lambda: metrics.balanced_accuracy_score(first, second)),
        ("Matthews correlation", "scikit-learn", lambda: of_second().mcc.estimate,
         lambda: metrics.matthews_corrcoef(first, second)),
        ("Dawid-Skene, equal labels", "crowd-kit", lambda: float(np.mean(stats.dawid_skene(labels).label >= 0)),
         lambda: crowd_accuracy(DawidSkene(n_iter=dawid_skene.n_iterations), dawid_skene.label)),
        ("Dawid-Skene, posteriors", "crowd-kit", lambda: 0.0 * stats.dawid_skene(labels).posterior[0, 0],
         furthest_posterior),
        ("MACE, equal labels", "crowd-kit", lambda: float(np.mean(stats.mace(labels).label >= 0)),
         lambda: crowd_accuracy(MACE(n_restarts=10, n_iter=50), mace.label)),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--units", type=int, default=UNITS)
    parser.add_argument("--quick", action="store_true", help="500 units")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    n_units = min(options.units, 500) if options.quick else options.units
    codes = made_up_labels(n_units, RATERS)
    print(f"{n_units:,} units, {RATERS} raters, {N_CATEGORIES} labels, nothing missing")
    print(f"{'measure':<28} {'package':<14} {'Assay ms':>9} {'package ms':>11} {'ratio':>7} {'difference':>11}")
    for measure, package, ours, theirs in compared(codes):
        (own, value), (other, expected) = seconds_of(ours), seconds_of(theirs)
        difference = f"{abs(value - expected):.1e}"
        row = (
            f"{measure:<28} {package:<14} {own * 1000:>9.2f} {other * 1000:>11.2f} {other / own:>7.1f} {difference:>11}"
        )
        print(row, flush=True)


if __name__ == "__main__":
    main()
