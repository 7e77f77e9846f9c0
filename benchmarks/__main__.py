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
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Module -> what makes it small.
BENCHMARKS: dict[str, tuple[str, ...]] = {
    "importing": ("--pairs", "5000"),
    "submit": ("--sizes", "500", "--seconds", "5"),
    "alpha": ("--quick",),
    "packages": ("--quick",),
    "export": ("--quick",),
    "figures": ("--quick",),
    "coverage": ("--quick",),
    "reports": ("--quick",),
    "first_report": ("--quick",),
    "page": ("--quick",),
    "long_item": ("--quick",),
    "nli": ("--quick",),
    "answer_probabilities": ("--quick",),
    "web_memory": ("--quick",),
    "gpu": ("--quick",),
    "trained": ("--quick",),
    "retrieval": ("--quick",),
    "embedding": ("--quick",),
}


def main() -> int:
    there = [name for name in BENCHMARKS if (ROOT / "benchmarks" / f"{name}.py").exists()]
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=there, metavar="NAME", help=", ".join(there))
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("more", nargs="*", help="after --: arguments for the benchmarks themselves")
    options = parser.parse_args()
    failed = []
    for name in options.only or there:
        print(f"== {name}", flush=True)
        started = time.perf_counter()
        command = [sys.executable, "-m", f"benchmarks.{name}", *(BENCHMARKS[name] if options.quick else ())]
        if subprocess.run([*command, *options.more], cwd=ROOT).returncode:
            failed.append(name)
        print(f"({time.perf_counter() - started:.0f} s)\n", flush=True)
    if failed:
        print("failed: " + ", ".join(failed), file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
