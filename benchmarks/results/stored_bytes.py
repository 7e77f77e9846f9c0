"""Bytes that a stored report takes in the database, compared with what it took when the units behind each figure were a
list.

    python -m benchmarks.results.stored_bytes [--pairs 50000] [--quick]

Items are the tables of units and judgements that every figure is a filter on. `ratio` is that of the items; processor
seconds are those of the job that computed and stored the report.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.results.runs import add_run
from benchmarks.shared.processes import run
from benchmarks.shared.project import SLUG, build

PAIRS, RATERS = 50_000, 3
# Bytes of the lists of units of these reports, of the same labels.
LISTS = {"agreement": 3_762_391, "comparison": 4_989_515, "annotators": 2_912_463}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--quick", action="store_true", help="2,000 pairs")
    options = parser.parse_args()
    pairs = min(options.pairs, 2000) if options.quick else options.pairs
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        env = build(Path(name), pairs, raters=RATERS)
        print(f"{pairs:,} pairs with {RATERS} annotations each, SQLite", flush=True)
        run(env, "-m", "benchmarks.results.stored_bytes", "--measure", str(pairs))


def measure(pairs: int) -> None:
    import django

    django.setup()
    from analysis.models import StoredReport
    from analysis.reports.stored import stored_report
    from annotation.jobs import lifecycle
    from annotation.models import Project

    project = Project.objects.get(slug=SLUG)
    checker_run = add_run(project)
    print(f"{'report':<15} {'result kB':>9} {'pictures kB':>11} {'items kB':>8} {'ratio':>6} {'processor s':>11}")
    run_of, every = {"run": str(checker_run.uuid)}, {"all": True}
    reports = {
        "annotators": ("annotators", {}),
        "agreement": ("agreement", {}),
        "agreement, all": ("agreement", every),
        "comparison": ("comparison", run_of),
        "comparison, all": ("comparison", run_of | every),
    }
    for title, (name, parameters) in reports.items():
        before = time.process_time()
        report = stored_report(project, name, parameters, project.created_by)
        lifecycle.run_here(report.job)
        spent = time.process_time() - before
        stored = StoredReport.objects.get(pk=report.pk, is_partial=False)
        result, pictures, items = (len(json.dumps(one)) for one in (stored.result, stored.pictures, stored.behind))
        ratio = items / (LISTS[name] * pairs / PAIRS)
        print(
            f"{title:<15} {result / 1000:>9,.0f} {pictures / 1000:>11,.0f} {items / 1000:>8,.0f} {ratio:>6.3f}"
            f" {spent:>11.1f}",
            flush=True,
        )


if __name__ == "__main__":
    measure(int(sys.argv[2])) if "--measure" in sys.argv else main()
