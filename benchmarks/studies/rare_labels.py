"""How often the interval of alpha holds its truth where a label is so rare that few of many units differ from the rest,
and how often it says so: `python -m benchmarks.studies.rare_labels`."""

from __future__ import annotations

import numpy as np

from analysis import stats

N_UNITS, SEED = 300, 20261129
FINDS, FALSELY = 0.7, 0.001  # chances of the rare label, where it is true and where it is not
SHARES = (0.01, 0.02, 0.05, 0.1)


def draw(rng: np.random.Generator, share: float, n_units: int = N_UNITS) -> stats.Labels:
    """Three people who overlook three in ten of a rare label."""
    is_rare = rng.random(n_units) < share
    value = (rng.random((3, n_units)) < np.where(is_rare, FINDS, FALSELY)).astype(int)
    rater, unit = np.indices(value.shape)
    return stats.Labels(unit.ravel(), rater.ravel(), value.ravel(), n_units, ("common", "rare"))


def covered(share: float, runs: int) -> tuple[float, float, float]:
    """Of studies with an interval, the shares that hold the truth, that carry a caution, and that hold the truth
    of those that carry none."""
    rng = np.random.default_rng([SEED, round(1_000 * share)])
    truth = stats.krippendorff_alpha(draw(rng, share, 1_000_000)).estimate
    found = []
    for _ in range(runs):
        alpha = stats.krippendorff_alpha(draw(rng, share))
        interval = alpha.confidence_interval(200)
        if not interval.undefined:
            found.append((interval.low <= truth <= interval.high, bool(interval.note)))
    holds, warned = np.array(found).T
    return holds.mean(), warned.mean(), holds[~warned].mean() if (~warned).any() else np.nan


def main(runs: int = 1_000) -> None:
    print("| units with the rare label, of 300 | covered | with a caution | covered without one |\n|--:|--:|--:|--:|")
    for share in SHARES:
        numbers = " | ".join("" if np.isnan(one) else f"{one:.1%}" for one in covered(share, runs))
        print(f"| {share * N_UNITS:.0f} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
