"""Freezing a release of a project in which every pair has two annotations: seconds and peak memory.

    python -m benchmarks.files.freezing [--pairs 48517] [--quick]

Measured is `manage.py release` in a process of its own: every file, with the data set card, its agreement with
intervals, tables, Croissant and checksums.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.shared.processes import measured
from benchmarks.shared.project import PAIRS, SLUG, build

AIM_SECONDS, AIM_MB = 20, 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--quick", action="store_true", help="2,000 pairs")
    options = parser.parse_args()
    pairs = min(options.pairs, 2000) if options.quick else options.pairs
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        env = build(folder, pairs)
        out = folder / "release"
        seconds, _, peak, processor = measured(env, "release", SLUG, str(out))
        size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) / 1e6
    print(f"{pairs:,} pairs with two annotations each, SQLite; aim: {AIM_SECONDS} s, {AIM_MB} MB")
    print(f"{'seconds':>8} {'processor s':>11} {'peak MB':>8} {'MB out':>7}")
    print(f"{seconds:>8.1f} {processor:>11.1f} {peak:>8.0f} {size:>7.0f}")


if __name__ == "__main__":
    main()
