"""How often 95 % intervals hold the truth, and how often tests reject what is true, in studies with planted truth.

    python -m benchmarks.studies [--quick] [--only NAME ...] [--runs 1000]

Prints the tables of docs/statistics/coverage.md. Every figure is computed in 1,000 studies as a user would compute it;
its true value is that of a very large study, or of the plan. Studies are described where they are drawn: in planted.py,
planted_answers.py and the other modules of this folder.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor

from benchmarks.studies.intervals import RUNS, STUDIES, Coverage
from benchmarks.studies.levels import TESTS
from benchmarks.studies.pool import started


def undefined(row: Coverage) -> str:
    """How many studies had no interval, where that is a hundredth or more."""
    share = row.n_undefined / (row.n_intervals + row.n_undefined)
    return f", {share:.0%} undefined" if share >= 0.01 else ""


def lines(table: list[Coverage]) -> list[str]:
    """A row per figure of a study, its sizes side by side; what was defined too rarely is said."""
    found = []
    for figure in dict.fromkeys(row.figure for row in table):
        rows = [row for row in table if row.figure == figure]
        cells = [f"{row.covered:.1%} ({row.n_clusters:,}{undefined(row)})" for row in rows] + [""] * (2 - len(rows))
        found.append(f"| {rows[0].study} | {figure.replace('_', ' ')} | {rows[0].truth:.3f} | {' | '.join(cells)} |")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="50 studies of each kind, to see that everything runs")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--only", nargs="+", choices=[*STUDIES, *TESTS], default=[*STUDIES, *TESTS], metavar="NAME")
    options = parser.parse_args()
    runs = 50 if options.quick else options.runs
    begun = time.perf_counter()
    with ProcessPoolExecutor(2) as pool:
        found = started(pool, runs, options.only)
        print("| study | figure | true value | covered (clusters) | with few |")
        print("|---|---|--:|--:|--:|")
        for name in (name for name in STUDIES if name in found):
            for line in lines(found[name].result()):
                print(line, flush=True)
        print("\n| test | rejected at 5 % | studies |\n|---|--:|--:|")
        for row in (row for name in TESTS if name in found for row in found[name].result()):
            print(f"| {row.test} | {row.rejected:.1%} | {row.n:,} |", flush=True)
    print(f"\n{time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
