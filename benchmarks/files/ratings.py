"""A wide table of ratings, from its file to the first figures: several raters and metrics, a column each.

    python -m benchmarks.files.ratings [--rows 100000] [--quick]

Each step is a command in a process of its own, on SQLite: the import makes the data set, the label set, the project,
labels and runs; the reports then print their figures. Seconds are without what starting Python takes.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import tempfile
from pathlib import Path

from benchmarks.files.importing import MAKE_USER
from benchmarks.shared.processes import environment, measured, run

ROWS, RATERS, METRICS = 100_000, 5, 3
WORDS = ("harbour", "winter", "ice", "port", "sea", "vessel", "froze", "open", "closed", "town")


def write_table(path: Path, rows: int) -> dict[str, str]:
    """Texts of ten systems with ratings from 1 to 5 that agree somewhat, and metrics that follow them; the mapping."""
    chance = random.Random(0)
    raters, metrics = [f"rater_{one}" for one in range(RATERS)], [f"metric_{one}" for one in range(METRICS)]
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", "system", "document", "text", *raters, *metrics])
        for number in range(rows):
            quality = chance.gauss(3, 1)
            given = [min(5, max(1, round(chance.gauss(quality, 0.7)))) for _ in raters]
            scores = [round(chance.gauss(quality, 1) / 5, 4) for _ in metrics]
            text = f"{number}: {' '.join(chance.choices(WORDS, k=25))}."
            table.writerow([f"t{number}", f"system{number % 10}", f"d{number // 10}", text, *given, *scores])
    mapping = {"id": "id", "text": "text", "system": "system", "document": "document"}
    mapping |= {f"label/quality/{one}": one for one in raters}
    return mapping | {f"score/{one}": one for one in metrics}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--quick", action="store_true", help="2,000 rows")
    options = parser.parse_args()
    rows = min(options.rows, 2000) if options.quick else options.rows
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        table, mapping = folder / "ratings.csv", folder / "mapping.json"
        mapping.write_text(json.dumps(write_table(table, rows)))
        env = environment(folder)
        run(env, "manage.py", "migrate", "-v0")
        run(env, "manage.py", "shell", "-v0", "-c", MAKE_USER)
        print(f"{rows:,} rows x {RATERS} raters x {METRICS} metrics, {table.stat().st_size / 1e6:.0f} MB")
        print(f"{'step':<24} {'processor, s':>12} {'clock, s':>9} {'peak MB':>8}")
        steps = {
            "import": ("import_dataset", str(table), "--format", "ratings", "--dataset", "bench")
            + ("--project", "bench", "--mapping", str(mapping)),
            "agreement": ("report", "bench", "agreement", "--format", "json"),
            "metric compared with people": ("report", "bench", "comparison", "--format", "json"),
        }
        for title, command in steps.items():
            taken = measured(env, *command)
            print(f"{title:<24} {taken.processor:>12.1f} {taken.seconds:>9.1f} {taken.peak:>8.0f}", flush=True)


if __name__ == "__main__":
    main()
