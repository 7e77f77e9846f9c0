"""`assay judge`: the processor time until its first line is there, and until it has ended.

    python -m benchmarks.files.judge [--rows 10000] [--repeat 5] [--quick]

Each number is the least of its repetitions: what else the machine does only adds to them. `report --from-files` makes a
comparison of the same table.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.shared.processes import ROOT

ROWS = 10_000
LABELS = ("supported", "refuted", "not enough information")
JUDGE = ("-m", "analysis.judge")
ASKED = {
    "one person": ("--judge", "judge", "--human", "ann"),
    "one person, clusters": ("--judge", "judge", "--human", "ann", "--cluster", "document"),
    "three people, two judges": ("--judge", "judge", "--judge", "rival")
    + ("--human", "ann", "--human", "ben", "--human", "cleo"),
}


def write_table(path: Path, rows: int) -> None:
    chance = random.Random(0)

    def near(label: str, share: float) -> str:
        return label if chance.random() < share else chance.choice(LABELS)

    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", "document", "text", "ann", "ben", "cleo", "judge", "rival"])
        for number in range(rows):
            label = chance.choice(LABELS)
            said = [near(label, share) for share in (0.97, 0.95, 0.9, 0.95, 0.7)]
            table.writerow([number, number // 5, f"The harbour froze in the winter of {number}.", *said])


def processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(*command: str) -> tuple[float, float]:
    """Processor seconds at the first line, and in all."""
    before = os.times()
    with subprocess.Popen([sys.executable, *command], cwd=ROOT, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        first = processor_seconds(process.pid)
        process.stdout.read()
    after = os.times()
    return first, after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="once")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        table = Path(name) / "judged.csv"
        write_table(table, options.rows)
        print(f"{options.rows:,} rows\n{'asked':<28} {'first line, s':>13} {'all, s':>8}")
        asked = {title: (*JUDGE, str(table), *more) for title, more in ASKED.items()}
        report = ("--rater-columns", "ann,ben,cleo", "--model-columns", "judge,rival")
        asked["report --from-files"] = ("manage.py", "report", str(table), "comparison", "--from-files", *report)
        for title, command in asked.items():
            runs = [measured(*command) for _ in range(1 if options.quick else options.repeat)]
            print(f"{title:<28} {min(first for first, _ in runs):>13.2f} {min(all for _, all in runs):>8.2f}")


if __name__ == "__main__":
    main()
