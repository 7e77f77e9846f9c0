"""The agreement report of a project in which every pair has two annotations: seconds and peak memory.

    python -m benchmarks.figures [--pairs 48517] [--quick]

Measured is `manage.py report` in a process of its own: reading the labels, every figure with its bootstrap interval of
1,000 resamples clustered by claim, per pair of annotators and per source.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.labelled import SLUG, build, measured

PAIRS = 48_517


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--quick", action="store_true", help="5,000 pairs")
    options = parser.parse_args()
    pairs = min(options.pairs, 5000) if options.quick else options.pairs
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        env = build(Path(name), pairs)
        print(f"{pairs:,} pairs with two annotations each, SQLite")
        print(f"{'report':<12} {'seconds':>8} {'process':>8} {'peak MB':>8}")
        seconds, whole, peak = measured(env, "report", SLUG, "agreement", "--format", "json")
        print(f"{'agreement':<12} {seconds:>8.2f} {whole:>8.2f} {peak:>8.0f}", flush=True)


if __name__ == "__main__":
    main()
