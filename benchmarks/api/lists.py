"""Pages of the API's lists in a large project: the first, those after it by cursor, and the last ones.

    python -m benchmarks.api.lists [--items 1000000] [--pages 30] [--postgresql URL] [--no-sqlite] [--quick]

Two runs of a checker have said something of every unit. Each figure is of single requests to the production server with
one worker, one after the other, 100 rows a page.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.labelling.submit import SLUG, make_content
from benchmarks.shared.processes import POSTGRESQL, empty_postgresql, environment, run, web_server

AIM_MS = 100
LISTS = ("items", "units", "suggestions", "scores")


def prepare(items: int, folder: Path) -> None:
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from annotation.bulk import bulk_insert
    from annotation.jobs import lifecycle
    from annotation.models import CheckerRun, Dataset, ItemUnit, Job, Score, Suggestion, User
    from annotation.projects import item_job, managing, tokens

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    owner = User.objects.create_user(username="owner@example.org", email="owner@example.org", is_superuser=True)
    dataset = Dataset.objects.create(slug=SLUG, title="Benchmark", owner=owner)
    make_content(dataset, items)
    project = managing.create_project(
        owner, title="Benchmark", slug=SLUG, dataset=dataset, task_type="claim-evidence/six-way/1", overlap=0
    )
    assert lifecycle.run_here(item_job.start_item_job(project, owner)).state == "done"
    units = list(ItemUnit.objects.filter(item__project=project).order_by("pk").values_list("unit_id", flat=True))
    for version in ("1", "2"):
        job = Job.objects.create(kind=Job.Kind.PREDICTIONS, state="done", project=project, created_by=owner)
        run_ = CheckerRun.objects.create(
            project=project, job=job, checker="outside:bench", version=version, created_by=owner
        )
        for start in range(0, len(units), 20_000):
            part = units[start : start + 20_000]
            bulk_insert(
                Suggestion,
                [(run_.pk, unit, "stance", "supports") for unit in part],
                ["run_id", "unit_id", "dimension", "label"],
            )
            bulk_insert(Score, [(run_.pk, unit, "bench", 0.5) for unit in part], ["run_id", "unit_id", "name", "value"])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    (folder / "token").write_text(tokens.make_token(owner, "bench", ["read"], 1)[1])


def pages_of(port: int, token: str, name: str, sort: str, pages: int) -> list[float]:
    """Milliseconds of each page, followed by cursor."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    path: str | None = f"/api/v1/projects/{SLUG}/{name}/?sort={sort}"
    found = []
    while path and len(found) < pages:
        started = time.perf_counter()
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        body = answer.read()
        found.append((time.perf_counter() - started) * 1000)
        assert answer.status == 200, body
        following = json.loads(body)["next"]
        path = following and following.partition(f":{port}")[2]
    return found


def measure(title: str, database: str, items: int, pages: int) -> None:
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        env = environment(folder, database)
        run(env, "-m", "benchmarks.api.lists", "--prepare", str(folder), f"--items={items}")
        token = (folder / "token").read_text()
        with web_server(env, workers=1) as (port, _):
            pages_of(port, token, "items", "created", 3)  # warms up
            for name in LISTS:
                for sort in ("created", "-created"):
                    spent = pages_of(port, token, name, sort, pages)
                    p95 = sorted(spent)[int(len(spent) * 0.95)]
                    middle = sorted(spent)[len(spent) // 2]
                    print(f"{title:<12} {name:<12} {sort:<9} {spent[0]:>8.1f} {middle:>8.1f} {p95:>8.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--pages", type=int, default=30)
    parser.add_argument("--postgresql", default=POSTGRESQL, help="a server, on which a database is made")
    parser.add_argument("--no-sqlite", action="store_true")
    parser.add_argument("--quick", action="store_true", help="5,000 items, 5 pages")
    parser.add_argument("--prepare", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.prepare:
        return prepare(options.items, options.prepare)
    import psycopg

    items, pages = (5000, 5) if options.quick else (options.items, options.pages)
    print(f"{items:,} items, pages of 100 rows, ms; aim: p95 below {AIM_MS}")
    print(f"{'database':<12} {'list':<12} {'sort':<9} {'first':>8} {'median':>8} {'p95':>8}")
    if not options.no_sqlite:
        measure("SQLite", "", items, pages)
    try:
        with empty_postgresql(options.postgresql, "assay_bench_lists") as address:
            measure("PostgreSQL", address, items, pages)
    except psycopg.OperationalError as error:
        print(f"PostgreSQL is left out: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
