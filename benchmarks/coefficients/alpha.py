"""Time of Krippendorff's alpha with a bootstrap interval, against the krippendorff package called in a loop.

    python -m benchmarks.coefficients.alpha [--quick] [--level nominal|ordinal]

Every size runs in a process of its own, so that the peak memory is that size's alone (interpreter, numpy and scipy
included). Times are medians of three; the package is timed for single resamples and extrapolated.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable

import numpy as np

SIZES = ((5_490, 2), (100_000, 3), (1_000_000, 3))
N_RESAMPLES = 1000
N_CATEGORIES = 6
UNITS_PER_CLUSTER = 5
COLUMNS = (
    "size",
    "point s",
    "plain s",
    "clustered s",
    "peak MB",
    "package loop s",
    "ratio plain",
    "ratio clust",
    "max diff",
)


def made_up_labels(n_units: int, n_raters: int) -> np.ndarray:
    """Raters-by-units codes that agree half of the time beyond chance, units of one cluster alike."""
    rng = np.random.default_rng(0)
    truth = np.repeat(rng.integers(0, N_CATEGORIES, -(-n_units // UNITS_PER_CLUSTER)), UNITS_PER_CLUSTER)[:n_units]
    own = rng.integers(0, N_CATEGORIES, (n_raters, n_units), dtype=np.int8)
    return np.where(rng.random((n_raters, n_units), dtype=np.float32) < 0.7, truth.astype(np.int8), own)


def measure(n_units: int, n_raters: int, level: str) -> dict[str, float]:
    """Seconds of the point estimate (from long-form labels) and of either interval, peak MB, and the estimate."""
    from analysis.stats import Labels, krippendorff_alpha

    codes = made_up_labels(n_units, n_raters)
    labels = Labels(
        unit=np.tile(np.arange(n_units, dtype=np.int32), n_raters),
        rater=np.repeat(np.arange(n_raters, dtype=np.int32), n_units),
        value=codes.ravel().astype(np.int32),
        n_units=n_units,
        categories=tuple(str(code) for code in range(N_CATEGORIES)),
        cluster=np.arange(n_units, dtype=np.int32) // UNITS_PER_CLUSTER,
    )
    alpha = krippendorff_alpha(labels, level)
    return {
        "point": median_seconds(lambda: krippendorff_alpha(labels, level)),
        "plain": median_seconds(lambda: alpha.confidence_interval(N_RESAMPLES, clusters=False)),
        "clustered": median_seconds(lambda: alpha.confidence_interval(N_RESAMPLES, clusters=True)),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "estimate": alpha.estimate,
    }


def median_seconds(function: Callable[[], object], times: int = 3) -> float:
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def measure_package(n_units: int, n_raters: int, level: str) -> dict[str, float]:
    """Seconds that the package in a loop would take for all resamples, and its point estimate."""
    import krippendorff

    codes = made_up_labels(n_units, n_raters).astype(float)
    estimate = krippendorff.alpha(codes, level_of_measurement=level)
    rng = np.random.default_rng(1)

    def one_resample() -> None:
        krippendorff.alpha(codes[:, rng.integers(0, n_units, n_units)], level_of_measurement=level)

    return {"loop": median_seconds(one_resample) * N_RESAMPLES, "estimate": float(estimate)}


def in_own_process(function, *arguments) -> dict[str, float]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="leave out the largest size")
    parser.add_argument("--level", choices=("nominal", "ordinal"), action="append", help="default: both")
    options = parser.parse_args()
    print(
        f"Krippendorff's alpha, {N_RESAMPLES} resamples, {N_CATEGORIES} labels, {UNITS_PER_CLUSTER} units per cluster"
    )
    for level in options.level or ("nominal", "ordinal"):
        print(f"\n{level}\n" + "  ".join(f"{column:>14}" for column in COLUMNS))
        for n_units, n_raters in SIZES[: 2 if options.quick else None]:
            ours = in_own_process(measure, n_units, n_raters, level)
            package = in_own_process(measure_package, n_units, n_raters, level)
            cells = (
                f"{n_units:,} x {n_raters}",
                f"{ours['point']:.3f}",
                f"{ours['plain']:.3f}",
                f"{ours['clustered']:.3f}",
                f"{ours['peak']:.0f}",
                f"{package['loop']:.1f}",
                f"{package['loop'] / (ours['point'] + ours['plain']):.0f}",
                f"{package['loop'] / (ours['point'] + ours['clustered']):.0f}",
                f"{abs(ours['estimate'] - package['estimate']):.1e}",
            )
            print("  ".join(f"{cell:>14}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
