"""Could this much agreement have come about by chance? A permutation test of Krippendorff's alpha."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analysis.stats.agreement.alpha import fixed_distance, krippendorff_alpha
from analysis.stats.labels import Labels
from analysis.stats.resampling.bootstrap import one_blas_thread

WITHIN_RATERS = "labels permuted within each rater"
OF_CLUSTERS = "labels permuted within each rater, those of a cluster together"
AMONG_ALL = "labels permuted among all, since the raters are exchangeable"
NOTHING_MOVES = (
    "no permutation changes agreement: nobody gave different labels to two units whose other labels differ, as where "
    "each person labelled one unit (or cluster) or gave one label throughout"
)


@dataclass(frozen=True, kw_only=True)
class PermutationTest:
    """`statistic` is alpha; `p_value` one-sided, for agreement above chance. Both nan where `undefined` gives a reason.

    `chance_mean` and `chance_high` are the mean and the 95 % quantile of alpha over the permutations. Of the `n_labels`
    of units with two labels or more, `n_movable` can change agreement where a permutation puts them elsewhere.
    """

    level: str
    statistic: float
    p_value: float
    n_permutations: int
    null: str
    chance_mean: float
    chance_high: float
    n_labels: int = 0
    n_movable: int = 0
    undefined: str = ""


def agreement_permutation_test(
    labels: Labels, level: str = "nominal", n_permutations: int = 999, seed: int = 0
) -> PermutationTest:
    """Test that raters agree no more than their habits alone would make them.

    Under H0 a rater's labels have nothing to do with the units that they were given to: each rater's labels are
    permuted among the units that the rater labelled, so that habits and the pattern of missing labels stay. Where units
    come in clusters, a rater's habits may differ from one to the next: all of the rater's labels of a cluster move
    together, to another one in which the rater labelled equally many units.
    Exchangeable raters have no habits of their own; their labels are permuted among all. ``p = (1 + b) / (1 + m)`` with
    b of m permutations whose alpha is at least the observed one, so p is never 0 and the test holds its level at any m.
    Units with fewer than two labels take no part; the marginals of the others stay, so expected disagreement is
    constant.

    Parameters
    ----------
    labels : Labels
    level : {'nominal', 'ordinal', 'interval', 'ratio'}
        Of alpha.
    n_permutations, seed : int

    Returns
    -------
    PermutationTest
        Undefined where alpha is, and where no permutation can change it. Units of exchangeable raters are taken as
        independent, whatever they come in.

    Raises
    ------
    ValueError
        Another level; categories that are not numbers (interval, ratio); n_permutations below 1.

    References
    ----------
    Phipson and Smyth (2010), Statistical Applications in Genetics and Molecular Biology 9(1), 39 (the + 1);
    doi:10.2202/1544-6115.1585. For two raters and two labels it is Fisher's exact test, one-sided.

    Examples
    --------
    >>> labels = Labels.from_columns("aabbccddeeff", "xyxyxyxyxyxy", "++++++------", "-+")
    >>> result = agreement_permutation_test(labels)
    >>> result.statistic, 0.01 < result.p_value < 0.1  # exactly 1 / 20
    (1.0, True)
    """
    if n_permutations < 1:
        raise ValueError(f"n_permutations must be at least 1, not {n_permutations}")
    alpha = krippendorff_alpha(labels, level)

    null = AMONG_ALL if labels.exchangeable else OF_CLUSTERS if _come_in_clusters(labels) else WITHIN_RATERS

    def undefined(reason: str, n_labels: int = 0) -> PermutationTest:
        nothing = dict.fromkeys(("statistic", "p_value", "chance_mean", "chance_high"), np.nan)
        return PermutationTest(level=level, n_permutations=0, null=null, n_labels=n_labels, undefined=reason, **nothing)

    if alpha.undefined:
        return undefined(alpha.undefined)
    labels = _in_order(labels)
    per_unit = np.bincount(labels.unit, minlength=labels.n_units)
    rows = per_unit[labels.unit] > 1
    block, cluster, size, order = _blocks(labels, rows)
    unit, value = np.unique(labels.unit[rows], return_inverse=True)[1][order], labels.value[rows][order]
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    parts = [
        part if n == 1 else part.reshape(-1, n)
        for part, n in zip(np.split(value, starts[1:]), size[starts], strict=True)
    ]
    distance = _distance(value, labels.categories, level)
    others = np.bincount(unit) - 1
    n_movable = _n_movable(unit, cluster, value, starts, distance, others)
    if not n_movable:
        return undefined(NOTHING_MOVES, len(value))
    rng = np.random.default_rng(seed)
    observed = _disagreement(unit, value, distance, others)
    with one_blas_thread():
        drawn = np.array(
            [
                _disagreement(unit, np.concatenate([rng.permutation(part).ravel() for part in parts]), distance, others)
                for _ in range(n_permutations)
            ]
        )
    as_large = int((drawn <= observed * (1 + 1e-12) + 1e-12).sum())
    chance = 1 - drawn / _expected(value, distance)
    return PermutationTest(
        level=level,
        statistic=alpha.estimate,
        p_value=(1 + as_large) / (1 + n_permutations),
        n_permutations=n_permutations,
        null=null,
        chance_mean=float(chance.mean()),
        chance_high=float(np.quantile(chance, 0.95)),
        n_labels=len(value),
        n_movable=n_movable,
    )


def _in_order(labels: Labels) -> Labels:
    """Raters numbered by their labels, and these by unit, so that what is drawn hangs neither on names, which an import
    makes anew, nor on the order of rows."""
    order = np.lexsort((labels.value, labels.unit, labels.rater))
    unit, value, rater = labels.unit[order], labels.value[order], labels.rater[order]
    parts = np.split(np.column_stack([unit, value]), np.flatnonzero(np.diff(rater)) + 1)
    by_labels = sorted(range(len(parts)), key=lambda place: parts[place].tobytes())
    number = np.argsort(by_labels).repeat([len(part) for part in parts])
    again = np.lexsort((value, unit, number))
    return replace(labels, unit=unit[again], value=value[again], rater=number[again].astype(rater.dtype))


def _blocks(labels: Labels, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What changes places, by label in the order of blocks: the block, what its members are (a cluster or a unit), how
    many labels a member has; and that order of the labels at `rows`."""
    unit, n = labels.unit[rows], int(rows.sum())
    if labels.exchangeable or not _come_in_clusters(labels):
        rater = np.zeros(n, dtype=int) if labels.exchangeable else labels.rater[rows]
        order = np.argsort(rater, kind="stable")
        return rater[order], unit[order], np.ones(n, dtype=int), order
    cluster = np.unique(labels.cluster[unit], return_inverse=True)[1]
    both = labels.rater[rows].astype(np.int64) * (int(cluster.max(initial=0)) + 1) + cluster
    member, size = np.unique(both, return_inverse=True, return_counts=True)[1:]
    size = size[member]
    order = np.lexsort((member, size, labels.rater[rows]))
    block = np.unique(np.column_stack([labels.rater[rows], size])[order], axis=0, return_inverse=True)[1].ravel()
    return block, cluster[order], size[order], order


def _come_in_clusters(labels: Labels) -> bool:
    if labels.cluster is None:
        return False
    labelled = np.unique(labels.unit)
    return len(np.unique(labels.cluster[labelled])) < len(labelled)


def _n_movable(
    unit: np.ndarray,
    member: np.ndarray,
    value: np.ndarray,
    starts: np.ndarray,
    distance: np.ndarray,
    others: np.ndarray,
) -> int:
    """Labels of blocks (which begin at `starts`) whose permutation may change disagreement: who gave different
    labels to different members (units or clusters), on which either the others' labels cost the labels differently,
    or another such rater moves."""
    size = np.diff(starts, append=len(value))

    def differ(column: np.ndarray) -> np.ndarray:
        return np.maximum.reduceat(column, starts) - np.minimum.reduceat(column, starts) > 1e-9

    moving = differ(value.astype(float)) & differ(member.astype(float))
    mine = np.repeat(moving, size)
    has_other = np.bincount(unit, mine)[unit] - mine > 0
    q = len(distance)
    counts = np.bincount(unit * q + value, minlength=len(others) * q).reshape(-1, q)
    cost = (counts[unit] @ distance - distance[value]) / others[unit][:, None]
    unlike = np.any([differ(cost[:, code] - cost[:, 0]) for code in range(1, q)], axis=0)
    return int(size[moving & (unlike | np.logical_or.reduceat(has_other, starts))].sum())


def _distance(value: np.ndarray, categories: tuple[str, ...], level: str) -> np.ndarray:
    """In the unit of the largest, so that one tolerance serves numbers of any size."""
    if level == "ordinal":
        marginal = np.bincount(value, minlength=len(categories))
        rank = np.cumsum(marginal) - marginal / 2
        return (rank[:, None] - rank[None, :]) ** 2
    distance = fixed_distance(level, categories)
    return distance / (distance.max() or 1.0)


def _disagreement(unit: np.ndarray, value: np.ndarray, distance: np.ndarray, others: np.ndarray) -> float:
    """Sum over units of the disagreement of their pairs of labels, as it enters alpha."""
    q = len(distance)
    counts = np.bincount(unit * q + value, minlength=len(others) * q).reshape(-1, q).astype(float)
    return float((((counts @ distance) * counts).sum(axis=1) / others).sum())


def _expected(value: np.ndarray, distance: np.ndarray) -> float:
    """The same sum as chance would have it, so that ``alpha = 1 - observed / expected``."""
    marginal = np.bincount(value, minlength=len(distance)).astype(float)
    return float(marginal @ distance @ marginal) / (len(value) - 1)
