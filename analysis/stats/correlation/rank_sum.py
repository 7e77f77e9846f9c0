"""Do the values of one group lie above those of another? Mann-Whitney U, with the effect size and its interval."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats.accuracy.roc import areas
from analysis.stats.resampling.bootstrap import Estimate

EMPTY_GROUP = "one of the two groups has no value"


@dataclass(frozen=True, eq=False, kw_only=True)
class RankSum(Estimate):
    """`estimate` is the common language effect size: the chance that a value of the first group is greater than one of
    the second, equal ones counting half; 0.5 is no difference.

    Attributes
    ----------
    u : float
        U of the first group: the number of pairs in which its value is greater, equal ones counting half.
    p_value : float
        Two-sided; nan where undefined.
    method : str
        'exact' with at most eight values in a group and no ties, else 'asymptotic' (with corrections for ties and
        continuity).
    n_first, n_second : int
        Values in each group, after those of one cluster were averaged.
    n_in_both : int
        Clusters with values in both groups, which the p value takes as independent.
    """

    u: float
    p_value: float
    method: str
    n_first: int
    n_second: int
    n_in_both: int

    @property
    def rank_biserial(self) -> float:
        """The difference between the chance of greater and of smaller, -1 to 1."""
        return 2 * self.estimate - 1


def mann_whitney(
    value: Sequence[float] | np.ndarray,
    first: Sequence[int] | np.ndarray,
    cluster: Sequence[Hashable] | None = None,
) -> RankSum:
    """Compare the values of two groups by their ranks.

    The test takes values as independent, which repeated generations for one query are not. With `cluster`, each cluster
    therefore enters a group once, with the mean of its values there, and the interval of the effect size draws
    clusters.

    Parameters
    ----------
    value : (n_rows,) float array
        nan where there is none.
    first : (n_rows,) int array
        1 for the first group, 0 for the second, -1 for neither.
    cluster : sequence of length n_rows, optional
        Such as the claim that the value is of.

    Returns
    -------
    RankSum
        Undefined where a group has no value.

    Raises
    ------
    ValueError
        Columns of different lengths, or codes of groups that are none.

    References
    ----------
    Mann and Whitney (1947), Annals of Mathematical Statistics 18(1), 50-60; doi:10.1214/aoms/1177730491. The effect
    size: McGraw and Wong (1992), A common language effect size statistic, Psychological Bulletin 111(2), 361-365;
    doi:10.1037/0033-2909.111.2.361. Rank-biserial: Wendt (1972), doi:10.1002/ejsp.2420020412.

    Examples
    --------
    >>> result = mann_whitney([1.1, 2.3, 3.2, 0.4, 1.7], [1, 1, 1, 0, 0])
    >>> result.u, round(result.estimate, 4), result.p_value, result.method
    (5.0, 0.8333, 0.4, 'exact')
    """
    value, first = np.asarray(value, dtype=float), code_of_groups(first)
    if value.shape != first.shape or (cluster is not None and len(cluster) != len(value)):
        raise ValueError("value, first and cluster must be columns of one length")
    used = np.isfinite(value) & (first >= 0)
    left_out = {"no group": int((first < 0).sum()), "no value": int((~np.isfinite(value) & (first >= 0)).sum())}
    values, group = value[used], first[used]
    members = np.arange(len(values))
    if cluster is not None:
        codes = {name: code for code, name in enumerate(dict.fromkeys(cluster))}
        owner = np.array([codes[name] for name in cluster], dtype=np.int64)[used]
        cell, place = np.unique(2 * owner + group, return_inverse=True)
        values = np.bincount(place, weights=values, minlength=len(cell)) / np.bincount(place, minlength=len(cell))
        members, group = np.divmod(cell, 2)
    n_first, n_second = int((group == 1).sum()), int((group == 0).sum())
    effect = areas(values, group, members).roc_auc
    undefined = "" if n_first and n_second else EMPTY_GROUP
    u, p_value, method = np.nan, np.nan, ""
    if not undefined:
        from scipy import stats

        method = "exact" if min(n_first, n_second) <= 8 and len(np.unique(values)) == len(values) else "asymptotic"
        u, p_value = map(float, stats.mannwhitneyu(values[group == 1], values[group == 0], method=method))
    return RankSum(
        estimate=effect.estimate,
        undefined=undefined,
        n_units=len(value),
        n_pairable=int(used.sum()),
        n_labels=int(used.sum()),
        left_out={reason: n for reason, n in left_out.items() if n},
        sample=effect.sample,
        u=u,
        p_value=p_value,
        method=method,
        n_first=n_first,
        n_second=n_second,
        n_in_both=len(members) - len(np.unique(members)),
    )


def code_of_groups(first: Sequence[int] | np.ndarray) -> np.ndarray:
    """Check a column that says 1 for the first group, 0 for the second and -1 for neither."""
    first = np.asarray(first)
    if not np.isin(first, (-1, 0, 1)).all():
        raise ValueError("first is 1, 0, or -1 for neither group")
    return first.astype(np.int64)
