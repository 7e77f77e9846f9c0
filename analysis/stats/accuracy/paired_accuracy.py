"""Is a labeller right more often than another one, or than always giving one label? Both are scored on the same units,
against the same reference, and only the differences between them count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats.labels import code_column
from analysis.stats.resampling.paired_permutation import PairedTest, undefined_test
from analysis.stats.resampling.sign_flips import sign_flip_test

NO_SHARED = "no unit has a reference and both labels"
NO_REFERENCE = "no unit has a reference and a label"
RIGHT_ON_THE_SAME = "both are right on the same units, so nothing tells them apart"
NAME, BASELINE = "exact paired test", "exact paired test of the majority baseline"


@dataclass(frozen=True, kw_only=True)
class PairedAccuracy:
    """How often a and b are right on the `n_pairable` units that have a reference and both labels.

    `only_a_right` and `only_b_right` are the units on which they differ. `test` is two-sided, its statistic the
    difference of the accuracies.
    """

    accuracy_a: float
    accuracy_b: float
    n_pairable: int
    only_a_right: int
    only_b_right: int
    test: PairedTest


def paired_accuracy(
    reference: Sequence[int] | np.ndarray,
    a: Sequence[int] | np.ndarray,
    b: Sequence[int] | np.ndarray,
    n_categories: int,
    cluster: Sequence[int] | np.ndarray | None = None,
) -> PairedAccuracy:
    """Accuracy of a against that of b, by `sign_flip_test` of the differences; of single units McNemar's exact test.

    To hold a model against a person by the labels of people, the reference must be the same for both and hold neither's
    own labels: the labels of the *other* people, as in the alternative annotator test. Where the model is held against
    the majority of all, and the person against that of the others, a model of the same skill seems better.

    Parameters
    ----------
    reference, a, b : (n_units,) int arrays
        Codes, -1 for none; units without all three do not count.
    n_categories : int
    cluster : (n_units,) int array, optional
        What units come in: differences of whole clusters change sign.

    Returns
    -------
    PairedAccuracy
        The test is undefined where no unit counts, where both are right on the same units, and with one cluster.

    References
    ----------
    McNemar (1947), Psychometrika 12(2), 153-157; doi:10.1007/BF02295996.

    Examples
    --------
    >>> result = paired_accuracy([0] * 8, [0] * 7 + [1], [0] + [1] * 7, 2)
    >>> result.accuracy_a, result.accuracy_b
    (0.875, 0.125)
    >>> result.only_a_right, result.only_b_right, round(result.test.p_value, 5)
    (6, 0, 0.03125)
    """
    columns = [
        code_column(column, n_categories, name) for column, name in ((reference, "reference"), (a, "a"), (b, "b"))
    ]
    if len({len(column) for column in columns}) > 1 or (cluster is not None and len(cluster) != len(columns[0])):
        raise ValueError("reference, a, b and cluster differ in length")
    has_all = np.all([column >= 0 for column in columns], axis=0)
    truth, in_a, in_b = (column[has_all] for column in columns)
    right_a, right_b = in_a == truth, in_b == truth
    n = len(truth)
    return PairedAccuracy(
        accuracy_a=float(right_a.mean()) if n else np.nan,
        accuracy_b=float(right_b.mean()) if n else np.nan,
        n_pairable=n,
        only_a_right=int((right_a & ~right_b).sum()),
        only_b_right=int((right_b & ~right_a).sum()),
        test=_tested(right_a, right_b, None if cluster is None else np.asarray(cluster)[has_all], NAME, NO_SHARED),
    )


@dataclass(frozen=True, kw_only=True)
class MajorityBaseline:
    """A labeller's accuracy against that of always giving `label`, the reference's most frequent one (`share`), on the
    same `n_pairable` units."""

    label: int
    share: float
    accuracy: float
    n_pairable: int
    test: PairedTest


def majority_baseline(
    reference: Sequence[int] | np.ndarray,
    predicted: Sequence[int] | np.ndarray,
    n_categories: int,
    cluster: Sequence[int] | np.ndarray | None = None,
) -> MajorityBaseline:
    """Whether a labeller is right more often than always giving the most frequent label, or less often.

    Which label is the most frequent one is itself found in the data, so every label that occurs is tried. Above the
    baseline is who is above each label, so p is the greatest over labels; below it is who is below any label, so p is
    the smallest, times how many labels there are (Bonferroni). Either way the chance of a false verdict on each side is
    half the level at most.

    Parameters
    ----------
    reference, predicted : (n_units,) int arrays
        Codes, -1 for none; units without both do not count.
    n_categories : int
    cluster : (n_units,) int array, optional

    Returns
    -------
    MajorityBaseline
        The test's statistic is the accuracy minus the share. Undefined where no unit counts, with one cluster, and
        where the labeller is right exactly on the units of that label.

    Examples
    --------
    Eight units of each label; the labeller errs on two of the sixteen.

    >>> reference = [0] * 8 + [1] * 8
    >>> result = majority_baseline(reference, [0] * 7 + [1] * 8 + [0], 2)
    >>> result.label, result.share, result.accuracy, round(result.test.p_value, 4)
    (0, 0.5, 0.875, 0.0703)
    """
    truth, labels = code_column(reference, n_categories, "reference"), code_column(predicted, n_categories, "predicted")
    if len(truth) != len(labels) or (cluster is not None and len(cluster) != len(truth)):
        raise ValueError("reference, predicted and cluster differ in length")
    has_both = (truth >= 0) & (labels >= 0)
    truth, labels = truth[has_both], labels[has_both]
    group = None if cluster is None else np.asarray(cluster)[has_both]
    if not len(truth):
        nothing = undefined_test(BASELINE, NO_REFERENCE)
        return MajorityBaseline(label=-1, share=np.nan, accuracy=np.nan, n_pairable=0, test=nothing)
    times, right = np.bincount(truth, minlength=n_categories), labels == truth
    most = int(times.argmax())
    share, accuracy = float(times[most] / len(truth)), float(right.mean())
    tests = {one: _tested(right, truth == one, group, BASELINE, NO_REFERENCE) for one in np.flatnonzero(times).tolist()}
    return MajorityBaseline(
        label=most,
        share=share,
        accuracy=accuracy,
        n_pairable=len(truth),
        test=_against_any(tests, most, accuracy - share),
    )


def _against_any(tests: dict[int, PairedTest], most: int, difference: float) -> PairedTest:
    if tests[most].undefined:
        return tests[most]
    known = [test for test in tests.values() if not test.undefined]
    if difference > 0:
        p_value = max(test.p_value for test in known)
    else:
        p_value = min([1.0, *(len(tests) * test.p_value for test in known if test.statistic < 0)])
    return PairedTest(name=BASELINE, statistic=difference, p_value=p_value)


def _tested(
    right_a: np.ndarray, right_b: np.ndarray, cluster: np.ndarray | None, name: str, nothing: str
) -> PairedTest:
    if not len(right_a):
        return undefined_test(name, nothing)
    if (right_a == right_b).all():
        return undefined_test(name, RIGHT_ON_THE_SAME)
    return sign_flip_test(name, right_a.astype(np.int64) - right_b, cluster)
