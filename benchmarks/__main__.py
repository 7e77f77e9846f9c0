"""Lists the benchmarks, or runs them one after the other, each in a process of its own.

make bench                             what each of them measures
make bench ARGS="--all"                all of them; with --quick small
make bench ARGS="--only export"        one of them
make bench ARGS="--only export -- --pairs 1000"   with its own arguments after --
"""

from __future__ import annotations

import argparse
import ast
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
    "decisions.every_page",
    "decisions.leading",
    "decisions.majority",
    "api.uploads",
    "api.lists",
    "api.answers",
    "files.ratings",
    "files.judge",
    "coefficients.alpha",
    "coefficients.packages",
    "coefficients.preferences",
    "files.export",
    "files.freezing",
    "studies",
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


def purpose(module: str) -> str:
    """The first sentence of a benchmark's docstring; the module is not imported."""
    place = ROOT.joinpath(*module.split("."))
    source = place / "__main__.py" if place.is_dir() else place.with_suffix(".py")
    return ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))).splitlines()[0]


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=BENCHMARKS, metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("more", nargs="*", help="after --: arguments for the benchmarks themselves")
    parser.add_argument("--all", action="store_true", help="all of them")
    options = parser.parse_args()
    if not (options.only or options.all or options.quick):
        for name, module in BENCHMARKS.items():
            print(f"{name:20} {purpose(module)}")
        return 0
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
