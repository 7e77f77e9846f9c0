"""Export of a project in which every pair has two annotations: seconds and peak memory.

    python -m benchmarks.files.export [--pairs 48517] [--quick]

Measured is `manage.py export_dataset` in a process of its own: content as JSON Lines, TSV and Parquet, and every
annotation with its spans. The peak is that of Python, Django, pyarrow and the export.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.shared.processes import measured
from benchmarks.shared.project import PAIRS, SLUG, build

KINDS = {"JSON Lines": ("jsonl",), "JSON Lines, TSV": ("jsonl", "tsv"), "all three": ("jsonl", "tsv", "parquet")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--quick", action="store_true", help="5,000 pairs")
    options = parser.parse_args()
    pairs = min(options.pairs, 5000) if options.quick else options.pairs
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        env = build(folder, pairs)
        print(f"{pairs:,} pairs with two annotations each, SQLite")
        print(f"{'content as':<16} {'seconds':>8} {'process':>8} {'pairs/s':>8} {'peak MB':>8} {'MB out':>7}")
        for number, (title, kinds) in enumerate(KINDS.items()):
            out = folder / f"out-{number}"
            chosen = [part for kind in kinds for part in ("--format", kind)]
            seconds, whole, peak, _ = measured(env, "export_dataset", SLUG, str(out), *chosen)
            size = sum(path.stat().st_size for path in out.iterdir()) / 1e6
            print(
                f"{title:<16} {seconds:>8.2f} {whole:>8.2f} {pairs / seconds:>8,.0f} {peak:>8.0f} {size:>7.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
