"""Runs the benchmarks one after the other, each in a process of its own, and prints their tables.

make bench ARGS="--quick"              all of them, small
make bench ARGS="--only export"        one of them
make bench ARGS="--only export -- --pairs 1000"   and what stands after -- goes to it
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

from benchmarks.shared.processes import ROOT

# By what is measured. A benchmark's name is the last part.
MODULES = (
    "files.importing",
    "labelling.submit",
    "labelling.waiting",
    "decisions.adjudicating",
    "decisions.majority",
    "api.uploads",
    "api.lists",
    "api.answers",
    "files.ratings",
    "files.judge",
    "coefficients.alpha",
    "coefficients.packages",
    "files.export",
    "files.freezing",
    "coverage",
    "results.reports",
    "results.first_report",
    "results.stored_bytes",
    "labelling.page",
    "labelling.long_item",
    "labelling.keys",
    "models.nli",
    "models.answer_probabilities",
    "labelling.web_memory",
    "models.gpu",
    "models.trained",
    "models.retrieval",
    "models.embedding",
    "models.judging",
    "models.million",
)
BENCHMARKS = {module.rpartition(".")[2]: f"benchmarks.{module}" for module in MODULES}


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=BENCHMARKS, metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("more", nargs="*", help="after --: arguments for the benchmarks themselves")
    options = parser.parse_args()
    more, failed = ["--quick"] * options.quick + options.more, []
    for name in options.only or BENCHMARKS:
        print(f"== {name}", flush=True)
        started = time.perf_counter()
        if subprocess.run([sys.executable, "-m", BENCHMARKS[name], *more], cwd=ROOT).returncode:
            failed.append(name)
        print(f"({time.perf_counter() - started:.0f} s)\n", flush=True)
    if failed:
        print("failed: " + ", ".join(failed), file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
