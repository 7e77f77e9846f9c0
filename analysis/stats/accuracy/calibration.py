"""Do probabilities mean what they say? Brier score, expected calibration error, and the table behind them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from analysis.stats.labels import code_column
from analysis.stats.resampling.bootstrap import Estimate, Interval, SumSample, divide
from analysis.stats.resampling.joint import joint_intervals

NO_PAIR = "no unit has both a reference and probabilities"
EMPTY_BIN = "no unit has a probability in the bin"
BIASED = "chance makes a calibration error larger and never smaller, so the interval may lie wholly above the truth"


@dataclass(frozen=True)
class ReliabilityBin:
    """Units whose greatest probability lies in ``(low, high]``; means are nan where there are none."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Calibration:
    """`bin_of_unit` is each unit's bin, -1 for units left out."""

    ece: Estimate
    brier: Estimate
    bins: tuple[ReliabilityBin, ...]
    bin_of_unit: np.ndarray
    shares: SumSample = field(repr=False)

    def bin_intervals(
        self, n_resamples: int = 1000, level: float = 0.95, seed: int = 0, clusters: bool = True
    ) -> tuple[Interval, ...]:
        """The interval of each bin's accuracy, all from one set of resamples; see `joint_intervals`. Units or clusters
        are drawn from all, whatever their bin. Undefined without a unit in the bin."""
        n_bins = len(self.bins)
        return joint_intervals(
            self.shares,
            [one.accuracy for one in self.bins],
            lambda sums: sums[:, n_bins:] > 0,
            reasons=["" if one.n else EMPTY_BIN for one in self.bins],
            few="have a probability in the bin",
            n_resamples=n_resamples,
            level=level,
            seed=seed,
            clusters=clusters,
        )


def calibration(
    reference: np.ndarray, probabilities: np.ndarray, cluster: np.ndarray | None = None, n_bins: int = 10
) -> Calibration:
    """Calibration of a labeller that gives every label a probability.

    Brier score: the mean over units of ``sum_k (p_uk - [k is u's label])^2``, from 0 to 2 (Brier's own; for two labels
    it is twice the score of one label's probability). Expected calibration error: units are put into `n_bins` equal
    bins by the probability of their most probable label; ``sum_b n_b / n |accuracy_b - confidence_b|``.

    Parameters
    ----------
    reference : (n_units,) int array
        Codes, -1 for none.
    probabilities : (n_units, n_categories) float array
        nan rows where there are none. Rows that do not add up to 1 (to 0.02) are divided by their sum.
    cluster : (n_units,) int array, optional
    n_bins : int

    Returns
    -------
    Calibration
        Undefined where no unit has both. ECE is never below 0 and is biased upwards where bins hold few units;
        resamples add to that bias, so the lower end of its interval may lie above what a large sample would give.

    Raises
    ------
    ValueError
        Shapes that do not fit; probabilities outside 0..1; rows of zeros.

    References
    ----------
    Brier (1950), Monthly Weather Review 78(1), 1-3. Guo et al. (2017), On calibration of modern neural networks, ICML,
    eq. 3.

    Examples
    --------
    >>> result = calibration(np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]))
    >>> round(result.brier.estimate, 4), round(result.ece.estimate, 4)
    (0.2733, 0.3)
    """
    p = np.asarray(probabilities, dtype=float)
    if p.ndim != 2:
        raise ValueError(f"probabilities are a table of units by labels, not of {p.ndim} dimensions")
    codes = code_column(reference, p.shape[1], "reference")
    if len(codes) != len(p) or (cluster is not None and len(cluster) != len(p)):
        raise ValueError("reference, probabilities and cluster differ in length")
    is_known = ~np.isnan(p).any(axis=1)
    if ((p[is_known] < 0) | (p[is_known] > 1 + 1e-9)).any() or (p[is_known].sum(axis=1) == 0).any():
        raise ValueError("probabilities lie between 0 and 1, and at least one of a unit is above 0")
    both = is_known & (codes >= 0)
    truth, share = codes[both], p[both] / p[both].sum(axis=1, keepdims=True)
    top = share.argmax(axis=1)
    confidence = share.max(axis=1) if len(share) else np.zeros(0)
    right = (top == truth).astype(float)
    place = np.clip(np.ceil(confidence * n_bins - 1e-9).astype(int) - 1, 0, n_bins - 1)
    squared = (share**2).sum(axis=1) + 1 - 2 * share[np.arange(len(truth)), truth]
    one_of = np.eye(n_bins)[place]
    drawn_from = None if cluster is None else np.asarray(cluster)[both]
    common = {
        "undefined": "" if both.any() else NO_PAIR,
        "n_units": len(codes),
        "n_pairable": int(both.sum()),
        "n_labels": int(both.sum()),
        "left_out": {
            reason: int(n)
            for reason, n in (
                ("no reference", (codes < 0).sum()),
                ("no probabilities", ((codes >= 0) & ~is_known).sum()),
            )
            if n
        },
    }
    index = np.arange(len(truth))

    def ece_of(sums: np.ndarray) -> np.ndarray:
        return divide(np.abs(sums[:, :n_bins]).sum(axis=1), sums[:, n_bins])

    def mean_of(sums: np.ndarray) -> np.ndarray:
        return divide(sums[:, 0], sums[:, 1])

    ones = np.ones((len(truth), 1))
    gaps = SumSample(np.hstack([one_of * (right - confidence)[:, None], ones]), index, drawn_from, ece_of)
    scores = SumSample(np.hstack([squared[:, None], ones]), index, drawn_from, mean_of)
    bin_of_unit = np.full(len(codes), -1)
    bin_of_unit[both] = place
    return Calibration(
        ece=Estimate(estimate=gaps.value() if both.any() else np.nan, sample=gaps, note=BIASED, **common),
        brier=Estimate(estimate=scores.value() if both.any() else np.nan, sample=scores, **common),
        bins=tuple(
            ReliabilityBin(
                low=number / n_bins,
                high=(number + 1) / n_bins,
                n=int(inside.sum()),
                confidence=float(confidence[inside].mean()) if inside.any() else np.nan,
                accuracy=float(right[inside].mean()) if inside.any() else np.nan,
            )
            for number in range(n_bins)
            for inside in [place == number]
        ),
        bin_of_unit=bin_of_unit,
        shares=_shares_right(place, right, n_bins, drawn_from),
    )


def _shares_right(place: np.ndarray, right: np.ndarray, n_bins: int, cluster: np.ndarray | None) -> SumSample:
    """Units under the share right in every bin, (n_resamples, n_bins); `place` is each unit's bin."""
    pattern, pattern_of = np.unique(np.column_stack([place, right]).astype(int), axis=0, return_inverse=True)
    in_bin = np.eye(n_bins)[pattern[:, 0]]
    return SumSample(
        features=np.hstack([in_bin * pattern[:, 1:], in_bin]),
        pattern=pattern_of.reshape(-1),
        cluster=cluster,
        statistic=lambda sums: divide(sums[:, :n_bins], sums[:, n_bins:]),
        work_per_row=n_bins,
    )
