"""Pages of the API's lists in a large project: the first, those after it by cursor, and the last ones.

    python -m benchmarks.api.lists [--items 1000000] [--pages 30] [--keep] [--no-sqlite] [--quick]

Two runs of a checker have said something of every unit. Each figure is of single requests through the whole of Django
in one process, one after the other, 100 rows a page. `processor` is what that process and the database's own spent on a
request, which a busy machine changes little; `clock` is what passed.
"""

from __future__ import annotations

import argparse
import sys
import time

from benchmarks.labelling.submit import SLUG
from benchmarks.shared.large import add_options, databases
from benchmarks.shared.processes import Processor, run

AIM_MS = 100
LISTS = ("items", "units", "suggestions", "scores")


def measure(title: str, token: str, pages: int) -> None:
    import django

    django.setup()
    from django.conf import settings
    from django.db import connection
    from django.test import Client

    settings.ALLOWED_HOSTS = ["*"]
    client, processor = Client(headers={"authorization": f"Bearer {token}"}), Processor(connection)

    def pages_of(name: str, sort: str, pages: int) -> list[tuple[float, float]]:
        """Milliseconds of each page, followed by cursor."""
        path, found = f"/api/v1/projects/{SLUG}/{name}/?sort={sort}", []
        while path and len(found) < pages:
            clock, used = time.perf_counter(), processor.seconds()
            answer = client.get(path)
            found.append(((processor.seconds() - used) * 1000, (time.perf_counter() - clock) * 1000))
            assert answer.status_code == 200, answer.content[:500]
            path = answer.json()["next"]
        return found

    pages_of("items", "created", 3)  # warms up
    for name in LISTS:
        for sort in ("created", "-created"):
            used, clock = zip(*pages_of(name, sort, pages), strict=True)
            row = used[0], *(sorted(used)[int(len(used) * part)] for part in (0.5, 0.95))
            row += tuple(sorted(clock)[int(len(clock) * part)] for part in (0.5, 0.95))
            print(f"{title:<12} {name:<12} {sort:<9} " + " ".join(f"{one:>8.1f}" for one in row), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--pages", type=int, default=30)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(*options.measure, options.pages)
    pages = 5 if options.quick else options.pages
    print(f"pages of 100 rows, ms; aim: p95 below {AIM_MS}", file=sys.stderr)
    print(f"{'':<12} {'list':<12} {'sort':<9} {'processor: first, median, p95':<35} {'clock: median, p95'}", flush=True)
    for title, large in databases(options):
        run(large.env, "-m", "benchmarks.api.lists", f"--pages={pages}", "--measure", title, large.token)


if __name__ == "__main__":
    main()
