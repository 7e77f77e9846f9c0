"""Two automatic labellers against the same people: which is closer, and is it by chance?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from analysis.stats.accuracy.confusion import accuracy_of, confusion_features, macro_f1_of
from analysis.stats.labels import code_column
from analysis.stats.resampling.bootstrap import Estimate, SumSample
from analysis.stats.resampling.paired_permutation import PairedTest, Swaps, swap_test, undefined_test

NO_SHARED = "no unit has a reference and both predictions"
NONE_DISCORDANT = "both labellers are right on the same units, so nothing tells them apart (0/0)"


@dataclass(frozen=True, eq=False, kw_only=True)
class LabellerDifference:
    """Figures of a minus figures of b, on the units that have a reference and both predictions.

    `only_a_right` and `only_b_right` are the discordant units of McNemar's test.
    """

    accuracy: Estimate
    macro_f1: Estimate
    only_a_right: int
    only_b_right: int
    mcnemar: PairedTest
    permutation: PairedTest


def labeller_difference(
    reference: Sequence[int] | np.ndarray,
    a: Sequence[int] | np.ndarray,
    b: Sequence[int] | np.ndarray,
    categories: Sequence[str],
    cluster: Sequence[int] | np.ndarray | None = None,
    n_permutations: int = 2000,
    seed: int = 0,
) -> LabellerDifference:
    """Accuracy and macro-F1 of labeller a minus those of b (see `classification`).

    McNemar's test is exact: under H0 the units that only one is right on are equally often a's and b's (binomial,
    two-sided). It treats units as independent. The permutation test is for macro-F1: under H0 a's and b's labels of a
    unit (or of a whole cluster) can be swapped; see `swap_test`.

    Parameters
    ----------
    reference, a, b : (n_units,) int arrays
        Codes into `categories`, -1 for none; units without all three are left out and counted.
    categories : sequence of str
    cluster : (n_units,) int array, optional
        Intervals resample, and the permutation test swaps, whole clusters.
    n_permutations, seed : int

    Returns
    -------
    LabellerDifference
        Undefined where no unit has all three. McNemar's test is so too where both are right on the same units, and the
        permutation test where fewer than two units or clusters have anything to swap.

    References
    ----------
    McNemar (1947), Psychometrika 12(2), 153-157; doi:10.1007/BF02295996. Dror et al. (2018), The hitchhiker's guide to
    testing statistical significance in NLP, ACL; doi:10.18653/v1/P18-1128.

    Examples
    --------
    >>> result = labeller_difference([0, 0, 1, 1, 1], [0, 0, 1, 1, 0], [1, 0, 1, 0, 0], ["no", "yes"])
    >>> round(result.accuracy.estimate, 2), result.only_a_right, result.only_b_right, result.mcnemar.p_value
    (0.4, 2, 0, 0.5)
    """
    k = len(tuple(categories))
    columns = [code_column(column, k, name) for column, name in ((reference, "reference"), (a, "a"), (b, "b"))]
    if len({len(column) for column in columns}) > 1 or (cluster is not None and len(cluster) != len(columns[0])):
        raise ValueError("reference, a, b and cluster differ in length")
    has_all = np.all([column >= 0 for column in columns], axis=0)
    truth, labels_a, labels_b = (column[has_all] for column in columns)
    drawn_from = None if cluster is None else np.asarray(cluster)[has_all]
    cell, pattern = np.unique((truth.astype(np.int64) * k + labels_a) * k + labels_b, return_inverse=True)
    first, in_b = np.divmod(cell, k)
    in_truth, in_a = np.divmod(first, k)
    features = np.column_stack([confusion_features(in_truth, in_a, k), confusion_features(in_truth, in_b, k)])

    def estimate_of(figure) -> Estimate:
        def statistic(sums: np.ndarray) -> np.ndarray:
            half = sums.shape[1] // 2
            return figure(sums[:, :half]) - figure(sums[:, half:])

        sample = SumSample(features, pattern, drawn_from, statistic)
        left_out = int((~has_all).sum())
        return Estimate(
            estimate=sample.value(),
            undefined="" if len(truth) else NO_SHARED,
            n_units=len(has_all),
            n_pairable=len(truth),
            n_labels=3 * len(truth),
            left_out={"without reference and both predictions": left_out} if left_out else {},
            sample=sample,
        )

    macro_f1 = estimate_of(macro_f1_of)
    only_a, only_b = (
        int(((labels_a == truth) & (labels_b != truth)).sum()),
        int(((labels_b == truth) & (labels_a != truth)).sum()),
    )
    return LabellerDifference(
        accuracy=estimate_of(accuracy_of),
        macro_f1=macro_f1,
        only_a_right=only_a,
        only_b_right=only_b,
        mcnemar=mcnemar_test(only_a, only_b, len(truth)),
        permutation=_swap_test(features, pattern, drawn_from, n_permutations, seed),
    )


def mcnemar_test(only_a: int, only_b: int, n: int) -> PairedTest:
    """McNemar's exact test of two counts of discordant pairs among `n` pairs (McNemar 1947, Psychometrika 12, 153-157).
    Undefined where no pair is discordant; then p is NaN."""
    name = "McNemar, exact"
    if not only_a + only_b:
        return undefined_test(name, NONE_DISCORDANT if n else NO_SHARED)
    p_value = min(1.0, 2 * float(scipy.special.bdtr(min(only_a, only_b), only_a + only_b, 0.5)))
    return PairedTest(name=name, statistic=float(only_a), p_value=p_value)


def _swap_test(features, pattern, cluster, n_permutations: int, seed: int) -> PairedTest:
    name = "paired permutation of macro-F1"
    if not len(pattern):
        return undefined_test(name, NO_SHARED)
    half = features.shape[1] // 2

    def difference(sums: np.ndarray) -> np.ndarray:
        return macro_f1_of(sums[:, :half]) - macro_f1_of(sums[:, half:])

    return swap_test(name, Swaps.from_features(features, pattern, cluster), difference, n_permutations, seed)
