"""Reports of a project of DRUID+ size: from the database to the page, cold and cached, and DRUID's own analyses.

    python -m benchmarks.results.reports [--pairs 48517] [--raters 3] [--quick]

One process builds the project; one loads the page as a browser would, works on the report's job as a worker would, and
looks every 50 ms at what the page could show by then. Cached pages are medians of 20. `processor` is the job's own
time of the processor, which a busy machine changes little. The DRUID report is computed with
18 characteristics and with the answers of two models, all made up.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.results.runs import add_druid_runs
from benchmarks.shared.processes import run
from benchmarks.shared.project import PAIRS, SLUG, build

RATERS = 3
PAGES = ("project_agreement", "project_annotators", "project_reports")
WATCH_SECONDS = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--raters", type=int, default=RATERS)
    parser.add_argument("--quick", action="store_true", help="2,000 pairs")
    options = parser.parse_args()
    pairs = min(options.pairs, 2000) if options.quick else options.pairs
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        env = build(Path(name), pairs, raters=options.raters)
        run(env, "manage.py", "collectstatic", "--noinput", "--verbosity", "0")
        print(f"{pairs:,} pairs with {options.raters} annotations each, SQLite", flush=True)
        run(env, "-m", "benchmarks.results.reports", "--measure")


def measure() -> None:
    import django

    django.setup()
    from django.conf import settings
    from django.test import Client
    from django.urls import reverse

    from analysis.models import StoredReport
    from annotation.models import Project, User

    settings.ALLOWED_HOSTS = ["testserver"]
    project = Project.objects.get(slug=SLUG)
    client = Client()
    client.force_login(User.objects.get(username="bench"))
    widths = {
        "first request ms": 17,
        "first figures s": 16,
        "whole s": 8,
        "processor s": 12,
        "cached ms": 10,
        "peak MB": 8,
    }
    print(f"{'page':<22} " + " ".join(f"{title:>{width}}" for title, width in widths.items()))
    for page in PAGES:
        row = of_page(client, reverse(page, args=[project.slug]))
        print(f"{page:<22} " + " ".join(row), flush=True)
    # Workers have computed something before: what a page waits for there is not the loading of libraries.
    StoredReport.objects.filter(name="agreement").delete()
    row = of_page(client, reverse("project_agreement", args=[project.slug]))
    print(f"{'agreement, loaded':<22} {' '.join(row)}", flush=True)
    add_druid_runs(project)
    print(f"{'project_report druid':<22} " + " ".join(of_page(client, reverse("project_report", args=[SLUG, "druid"]))))


def of_page(client, address: str) -> list[str]:
    """The numbers of one page, in the order of the header."""
    from annotation.jobs import lifecycle
    from annotation.models import Job

    started = time.perf_counter()
    client.get(address)
    first_request = time.perf_counter() - started
    job = Job.objects.filter(kind=Job.Kind.REPORT).exclude(state=Job.State.DONE).order_by("-pk").first()
    first_figures = whole = processor = 0.0
    if job is not None:
        before = time.process_time()
        with watched() as seen:
            lifecycle.run_here(job)
        processor = time.process_time() - before
        job.refresh_from_db()
        if job.state != Job.State.DONE:
            raise SystemExit(f"{address}: {job.message}")
        whole = seen["end"]
        first_figures = seen.get("first", whole)
    cached = []
    for _ in range(20):
        started = time.perf_counter()
        response = client.get(address)
        cached.append(time.perf_counter() - started)
        if response.status_code != 200:
            raise SystemExit(f"{address} answered {response.status_code}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        f"{first_request * 1000:>17.0f}",
        f"{first_figures:>16.2f}",
        f"{whole:>8.2f}",
        f"{processor:>12.2f}",
        f"{statistics.median(cached) * 1000:>10.1f}",
        f"{peak:>8.0f}",
    ]


@contextmanager
def watched() -> Iterator[dict[str, float]]:
    """When the newest report first had figures, and when the block ended, in seconds from its start."""
    seen: dict[str, float] = {}
    stop = threading.Event()
    started = time.perf_counter()

    def watch() -> None:
        from django.db import connections

        from analysis.models import StoredReport

        while not stop.wait(WATCH_SECONDS):
            newest = StoredReport.objects.order_by("-pk").values_list("computed_at", flat=True).first()
            if newest is not None:
                seen["first"] = time.perf_counter() - started
                break
        connections.close_all()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        seen["end"] = time.perf_counter() - started
        stop.set()
        thread.join()


if __name__ == "__main__":
    measure() if "--measure" in sys.argv else main()
