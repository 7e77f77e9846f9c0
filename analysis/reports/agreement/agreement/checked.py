"""Headline coefficients computed a second time, by the packages that the field uses: who distrusts our figures can
repeat them with these."""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version

import numpy as np

from analysis.figures.results import Figure
from analysis.reports.agreement.agreement.result import TOLERANCE, Coefficient, RaterPair, Recomputed
from analysis.stats import Labels

log = logging.getLogger(__name__)

MOST_CELLS = 20_000_000  # of the matrix of units and labels that packages take
ALPHA = "krippendorff_alpha_"


def recomputed(coded: Labels, figures: list[Coefficient], pairs: Iterable[RaterPair] = ()) -> list[Recomputed]:
    """By package, how many coefficients both define and by how much they differ at most. A package that is not
    installed, or that does not define any of them, has no entry. Where a difference exceeds TOLERANCE, it is logged."""
    found = []
    if coded.n_units * len(coded.categories) <= MOST_CELLS:
        counts = np.zeros((coded.n_units, len(coded.categories)))
        np.add.at(counts, (coded.unit, coded.value), 1)
        labels = counts.sum(axis=1)
        is_complete = len(set(labels[labels > 0])) == 1
        counts = counts[labels >= 2]
        used = np.flatnonzero(counts.any(axis=0))
        counts, values = counts[:, used], [coded.categories[value] for value in used]
        found += _compared("krippendorff", "Krippendorff's alpha", _alphas(counts, values, figures))
        found += _compared("statsmodels", "Fleiss' kappa", _fleiss(counts, is_complete, figures))
    found += _compared("scikit-learn", "Cohen's kappa", _kappas(pairs))
    return found


Both = Iterator[tuple[Figure, Callable[[], float]]]


def _compared(package: str, title: str, both: Both) -> list[Recomputed]:
    differences = []
    for figure, theirs in both:
        if figure.estimate is None:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of 0/0, which is no number and compared with nothing
                value = float(theirs())
        except ImportError:
            return []
        except ValueError:  # a package refuses what has one label only
            continue
        if math.isfinite(value):
            differences.append(abs(figure.estimate - value))
    if not differences:
        return []
    largest = max(differences)
    if largest > TOLERANCE:
        log.warning("%s differs from %s by %g", title, package, largest)
    return [Recomputed(package=package, version=version(package), title=title, n=len(differences), difference=largest)]


def _alphas(counts: np.ndarray, values: list[str], figures: list[Coefficient]) -> Both:
    def alpha(level: str) -> float:
        import krippendorff

        if level in ("nominal", "ordinal"):
            return krippendorff.alpha(value_counts=counts, level_of_measurement=level)
        numbers = np.array(values, dtype=float)
        order = np.argsort(numbers, kind="stable")
        return krippendorff.alpha(
            value_counts=counts[:, order], value_domain=numbers[order], level_of_measurement=level
        )

    for figure in figures:
        if figure.name.startswith(ALPHA):
            level = figure.name.removeprefix(ALPHA)
            yield figure, lambda level=level: alpha(level)


def _fleiss(counts: np.ndarray, is_complete: bool, figures: list[Coefficient]) -> Both:
    """The package defines it where all units have the same number of labels. Units with one label count in our chance
    agreement (Gwet 2014), so there must be none of them either."""

    def kappa() -> float:
        from statsmodels.stats.inter_rater import fleiss_kappa

        return fleiss_kappa(counts)

    if len(counts) and is_complete:
        yield from ((figure, kappa) for figure in figures if figure.name == "fleiss_kappa")


def _kappas(pairs: Iterable[RaterPair]) -> Both:
    def kappa(counts: np.ndarray) -> float:
        from sklearn.metrics import cohen_kappa_score

        a, b = np.indices(counts.shape)
        return cohen_kappa_score(a.ravel(), b.ravel(), sample_weight=counts.ravel())

    for pair in pairs:
        yield pair, lambda pair=pair: kappa(np.array(pair.counts))
