"""Gamma: agreement on where units are and what they are, after aligning the units of all raters as well as can be.

Two raters may mark one passage a few words apart. Gamma lines their units up, so that near misses count as near, and
compares what remains with what units strewn at random would leave.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy

from analysis.stats.resampling.bootstrap import Estimate, divide, draw_weights, influences_of_weights
from analysis.stats.spans.continua import Continua, Marked

NO_PAIR = "no text has two raters"
NOTHING_MARKED = "nobody marked anything, so there is nothing to align"
ONE_RATER = "one rater only"
TOO_MANY = "too many spans to align"
# Combinations of one unit (or none) of each rater that a text may have; the work to align them grows with it.
MOST_COMBINATIONS = 2_000_000
# Up to so many units all their subsets are gone through, which then takes less time than to set up a program.
FEW_UNITS = 9


@dataclass(frozen=True, eq=False, kw_only=True)
class Gamma(Estimate):
    """Gamma with its two parts, ``estimate = 1 - observed / expected``, the disorders of the best alignments.

    `n_draws` random continua were aligned for the expected disorder.
    """

    observed: float
    expected: float
    n_draws: int


@dataclass(frozen=True, eq=False)
class _AlignedTexts:
    """What texts, and random continua made from them, add to the two disorders; texts can be resampled.

    A resample gives each text a weight. ``sources[d, t]`` counts how often text t was drawn for random continuum d,
    whose weight in the mean over all continua is, to first order, one plus what its texts gained.
    """

    cost: np.ndarray
    size: np.ndarray
    drawn_cost: np.ndarray
    drawn_size: np.ndarray
    sources: scipy.sparse.csr_array
    cluster: np.ndarray | None

    def disorders(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Observed and expected disorder for weights of the texts, (n, n_texts)."""
        gained = weights / weights.mean(axis=1, keepdims=True) - 1
        draw_size = 1 + (self.sources @ gained.T).T
        expected = divide(draw_size @ self.drawn_cost, draw_size @ self.drawn_size)
        return divide(weights @ self.cost, weights @ self.size), np.where(expected > 0, expected, 0)

    def n_drawn(self, clusters: bool) -> tuple[int, bool]:
        if clusters and self.cluster is not None:
            return len(np.unique(self.cluster)), True
        return len(self.cost), False

    def values(self, n_resamples: int, rng: np.random.Generator, clusters: bool) -> np.ndarray:
        n, _ = self.n_drawn(clusters)
        member = self._member(clusters)
        batches = draw_weights(np.arange(n), n, n_resamples, rng, 2 * len(self.cost) + len(self.drawn_cost))
        return np.concatenate([1 - divide(*self.disorders(batch[:, member])) for batch in batches])

    def influences(self, clusters: bool) -> tuple[np.ndarray, np.ndarray]:
        return influences_of_weights(lambda weights: 1 - divide(*self.disorders(weights)), self._member(clusters))

    def _member(self, clusters: bool) -> np.ndarray:
        """The text or cluster that is drawn for each text."""
        if clusters and self.cluster is not None:
            return np.unique(self.cluster, return_inverse=True)[1]
        return np.arange(len(self.cost))


def gamma(
    marked: Iterable[Marked] | Continua,
    position_weight: float = 1.0,
    label_weight: float = 1.0,
    n_draws: int = 1000,
    seed: int = 0,
) -> Gamma:
    """Gamma of Mathet, Widlöcher and Métivier over one or many texts.

    Units u and v differ by ``position_weight ((|s_u - s_v| + |e_u - e_v|) / (len_u + len_v))^2 + label_weight [labels
    differ]``, a unit and none by 1. A unitary alignment holds at most one unit of each rater, and its disorder is the
    mean difference of its pairs of raters. An alignment puts every unit into exactly one unitary alignment; its
    disorder is the sum over these, divided by the mean number of units per rater. The observed disorder is that of the
    best alignment: exact, by assignment where at most two raters marked something, by all subsets of few units,
    otherwise by integer programming (HiGHS). Over several texts sums and numbers of units are added up before dividing.

    The expected disorder is that of the best alignments of random continua: the annotations of as many raters as a
    random text has, each rater's taken from a random rater of a random text, as shares of the text's length, and moved
    round by an offset drawn uniformly for each. Labels and numbers of units thus keep their frequencies, but nobody
    knows the other's text.

    Parameters
    ----------
    marked : Continua or iterable of Marked
        With lengths. Units of one rater may overlap.
    position_weight, label_weight : float
        At least 0, not both 0; alpha and beta of the paper.
    n_draws : int
        Random continua. The standard error of the expected disorder falls with its root; at 1000 it is 1 to 2 %.
    seed : int
        The same seed and data give the same figure.

    Returns
    -------
    Gamma
        At most 1, about 0 for random annotation. `n_labels` counts units. Texts in which the combinations of one unit
        (or none) per rater exceed two millions are left out and counted. The interval resamples texts, or clusters,
        for both disorders. Undefined where no text has two raters and where nobody marked anything.

    Raises
    ------
    ValueError
        As `Continua`; lengths that are missing; weights that are negative or both 0; fewer than one draw.

    References
    ----------
    Mathet, Widlöcher and Métivier (2015), The unified and holistic method gamma for inter-annotator agreement measure
    and alignment, Computational Linguistics 41(3), 437-479; doi:10.1162/COLI_a_00227.

    Examples
    --------
    >>> same = [Marked("t", rater, ((0, 10), (40, 50)), 100) for rater in "xyz"]
    >>> gamma(same, n_draws=50).estimate
    1.0
    """
    if min(position_weight, label_weight) < 0 or not position_weight + label_weight > 0:
        raise ValueError("position_weight and label_weight must be at least 0, and not both 0")
    if n_draws < 1:
        raise ValueError(f"n_draws must be at least 1, not {n_draws}")
    continua = Continua.from_marked(marked)
    weights = (position_weight, label_weight)
    texts = _texts(continua)
    two = [text for text, raters in texts.items() if len(raters) > 1]
    kept = [text for text in two if _combinations(texts[text]) <= MOST_COMBINATIONS]
    annotations = [texts[text] for text in kept]
    n_units = sum(len(units) for raters in annotations for units in raters)
    undefined = NO_PAIR if not two else NOTHING_MARKED if not n_units else ""
    left_out = {ONE_RATER: len(texts) - len(two), TOO_MANY: len(two) - len(kept)}
    rng = np.random.default_rng(seed)
    drawn, sources = _random_continua(annotations, n_draws if n_units else 0, rng)
    sample = _AlignedTexts(
        cost=np.array([alignment_cost(raters, *weights) for raters in annotations]),
        size=np.array([_mean_size(raters) for raters in annotations]),
        drawn_cost=np.array([alignment_cost(raters, *weights) for raters in drawn]),
        drawn_size=np.array([_mean_size(raters) for raters in drawn]),
        sources=sources,
        cluster=None if continua.cluster is None else continua.cluster[kept],
    )
    observed = expected = np.nan
    if not undefined:
        observed, expected = (float(part[0]) for part in sample.disorders(np.ones((1, len(kept)))))
    return Gamma(
        estimate=np.nan if undefined else 1 - observed / expected,
        undefined=undefined,
        n_units=continua.n_texts,
        n_pairable=len(kept),
        n_labels=n_units,
        left_out={reason: n for reason, n in left_out.items() if n},
        sample=sample,
        observed=observed,
        expected=expected,
        n_draws=len(drawn),
    )


def _texts(continua: Continua) -> dict[int, list[np.ndarray]]:
    """Text -> the units of each rater who looked at it: rows of start and end as shares of the text, and label."""
    length = np.maximum(continua.known_lengths(), 1)[continua.text[continua.entry]]
    units = np.column_stack([continua.start / length, continua.end / length, continua.label])
    first = np.searchsorted(continua.entry, np.arange(len(continua.text) + 1)).tolist()
    texts: dict[int, list[np.ndarray]] = {}
    for entry, text in enumerate(continua.text.tolist()):
        texts.setdefault(text, []).append(units[first[entry] : first[entry + 1]])
    return texts


def _combinations(raters: Sequence[np.ndarray]) -> float:
    return float(np.prod([len(units) + 1.0 for units in raters]))


def _mean_size(raters: Sequence[np.ndarray]) -> float:
    return sum(len(units) for units in raters) / len(raters)


def _random_continua(
    annotations: list[list[np.ndarray]], n_draws: int, rng: np.random.Generator
) -> tuple[list[list[np.ndarray]], scipy.sparse.csr_array]:
    """Random continua that can be aligned, and how often each text was drawn for each of them."""
    continua, rows, columns = [], [], []
    for _ in range(n_draws):
        origin = int(rng.integers(len(annotations)))
        chosen = rng.integers(len(annotations), size=len(annotations[origin]))
        raters = [_moved(annotations[text][int(rng.integers(len(annotations[text])))], rng) for text in chosen]
        if _combinations(raters) <= MOST_COMBINATIONS:
            rows += [len(continua)] * (len(chosen) + 1)
            columns += [origin, *chosen.tolist()]
            continua.append(raters)
    shape = (len(continua), len(annotations))
    return continua, scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def _moved(units: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """All units moved by one offset; what would start beyond the end starts again at the front."""
    moved = units.copy()
    start = (units[:, 0] + rng.random()) % 1
    moved[:, 0], moved[:, 1] = start, start + units[:, 1] - units[:, 0]
    return moved


def alignment_cost(raters: Sequence[np.ndarray], position_weight: float, label_weight: float) -> float:
    """Sum of the disorders of the best alignment's unitary alignments.

    Parameters
    ----------
    raters : one (n_units, 3) float array per rater
        Start, end and label code of each unit.
    """
    marking = [units for units in raters if len(units)]
    n_pairs = len(raters) * (len(raters) - 1) / 2
    if not marking:
        return 0.0
    if len(marking) == 1:
        return float(len(marking[0]))
    differences = {
        (i, j): _difference(marking[i], marking[j], position_weight, label_weight)
        for i, j in combinations(range(len(marking)), 2)
    }
    if len(marking) == 2:
        from scipy.optimize import linear_sum_assignment

        # Two units together cost (d + n_pairs - 1) / n_pairs, apart 2; what is gained is assigned.
        gain = np.minimum((differences[0, 1] - 1) / n_pairs - 1, 0)
        return float(len(marking[0]) + len(marking[1]) + gain[linear_sum_assignment(gain)].sum())
    return _partition_cost([len(units) for units in marking], differences, n_pairs)


def _difference(one: np.ndarray, other: np.ndarray, position_weight: float, label_weight: float) -> np.ndarray:
    """Difference of every unit of one rater from every unit of another, (n_one, n_other)."""
    apart = np.abs(one[:, None, :2] - other[None, :, :2]).sum(axis=2)
    length = (one[:, 1] - one[:, 0])[:, None] + (other[:, 1] - other[:, 0])[None, :]
    return position_weight * (apart / length) ** 2 + label_weight * (one[:, None, 2] != other[None, :, 2])


def _partition_cost(sizes: list[int], differences: dict[tuple[int, int], np.ndarray], n_pairs: float) -> float:
    """Cheapest way to put every unit into exactly one unitary alignment, raters without units included in the means."""
    n = len(sizes)
    # The last place of each axis stands for no unit; a pair with it costs 1, like every pair with a rater without any.
    cost = np.full([size + 1 for size in sizes], n_pairs - n * (n - 1) / 2)
    held = np.zeros(cost.shape)
    for rater, size in enumerate(sizes):
        held += np.append(np.ones(size), 0).reshape([-1 if axis == rater else 1 for axis in range(n)])
    for (i, j), difference in differences.items():
        padded = np.ones((sizes[i] + 1, sizes[j] + 1))
        padded[:-1, :-1] = difference
        cost += padded.reshape([size + 1 if axis in (i, j) else 1 for axis, size in enumerate(sizes)])
    cost /= n_pairs
    # Units cost 1 each on their own, so nothing dearer than its units apart can be in the best alignment.
    useful = (held > 0) & (cost <= held + 1e-9)
    first = np.concatenate([[0], np.cumsum(sizes)])
    rows, columns = [], []
    for rater, place in enumerate(np.nonzero(useful)):
        real = place < sizes[rater]
        rows.append(first[rater] + place[real])
        columns.append(np.flatnonzero(real))
    row, column = np.concatenate(rows), np.concatenate(columns)
    find = _by_subsets if first[-1] <= FEW_UNITS else _by_integer_program
    return find(cost[useful], row, column, int(first[-1]))


def _by_subsets(cost: np.ndarray, row: np.ndarray, column: np.ndarray, n_units: int) -> float:
    """The cheapest partition of every subset of the units, from those of smaller subsets; the last is of all units.

    Parameters
    ----------
    cost : (n,) float array
        Of each unitary alignment.
    row, column : int arrays
        Unit `row` is in unitary alignment `column`.
    """
    held = np.zeros(len(cost), dtype=np.int64)
    np.add.at(held, column, 1 << row)
    by_lowest: list[list[tuple[int, float]]] = [[] for _ in range(n_units)]
    for units, price in zip(held.tolist(), cost.tolist(), strict=True):
        by_lowest[(units & -units).bit_length() - 1].append((units, price))
    cheapest = [0.0] * (1 << n_units)
    for subset in range(1, 1 << n_units):
        choices = by_lowest[(subset & -subset).bit_length() - 1]
        cheapest[subset] = min(price + cheapest[subset ^ units] for units, price in choices if units & subset == units)
    return cheapest[-1]


def _by_integer_program(cost: np.ndarray, row: np.ndarray, column: np.ndarray, n_units: int) -> float:
    """The same as `_by_subsets`, for any number of units."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    once = scipy.sparse.csr_array((np.ones(len(row)), (row, column)), shape=(n_units, len(cost)))
    solution = milp(cost, integrality=np.ones(len(cost)), bounds=Bounds(0, 1), constraints=LinearConstraint(once, 1, 1))
    if not solution.success:
        raise RuntimeError(f"the best alignment was not found: {solution.message}")
    return float(solution.fun)
