"""Every page and list that an owner, an adjudicator and an annotator open in a project of 1,000,000 items.

    python -m benchmarks.decisions.every_page [--items 1000000] [--times 10] [--keep] [--no-sqlite] [--quick]

Addresses come from the URL configuration: all that GET shows of the project, of its data set or to the person. Each is
opened with an empty cache after a new label (`first`), several times, and then again as often. Requests go through the
whole of Django in one process while a worker counts and an annotator may label. `p95` is what passed; `processor` is
what that process and the database's own spent, which a busy machine changes little.
"""

from __future__ import annotations

import argparse
import logging
import re
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.labelling.submit import SLUG, session_of
from benchmarks.shared.large import add_options, databases
from benchmarks.shared.processes import Processor, run, worker

AIM_MS, AIM_KB = 150, 60
# A page that takes longer than this is not opened again.
PATIENCE_SECONDS = 20.0
LOOKED_FOR = ("har", "harbour", "c77/e3", "zzzz no such words")
ROLES = ("owner", "adjudicator", "annotator")
# Pages whose address says more than where: (start of the pattern, queries).
QUERIES = {
    "projects/<slug:slug>/items/": [
        *(f"?filter={name}" for name in ("disagreed", "undecided", "open", "taken", "judged", "skipped", "flagged")),
        *(f"?filter={name}" for name in ("stuck", "retired", "empty", "commented")),
        *(f"?search={text}" for text in LOOKED_FOR),
        "?filter=undecided&search=har",
        "?page=100",
    ],
    "projects/<slug:slug>/members/": [
        "?page=3",
        *(f"?sort={name}" for name in ("-judged", "assigned", "skipped", "-last")),
        "?search=annotator7",
    ],
    "projects/<slug:slug>/progress/": ["?page=3", "?sort=others", "?sort=-last", "?search=annotator7"],
    "projects/<slug:slug>/settings/history/": ["?what=roles&person=annotator7"],
    "projects/<slug:slug>/adjudication/": ["?which=flagged", "?order=age"],
    "datasets/<slug:slug>/": [],
}
# Nothing of the project's: signing in and out, the state of the site, documents and files.
APART = (
    "accounts/",
    "style/",
    "administration/",
    "healthz",
    "readyz",
    "api/v1/docs",
    "api/v1/schema",
    "tokens/",
    "invitations/",
)


class Times(NamedTuple):
    clock: list[float]
    processor: list[float]
    size: int
    queries: int

    def at(self, part: float, of: str = "clock") -> float:
        values = sorted(getattr(self, of))
        return values[min(len(values) - 1, int(len(values) * part))] * 1000


def addresses() -> Iterator[str]:
    """With what stands in the place of a parameter; what would need an object that the project has not is left out."""
    from analysis.reports.metrics import REPORTS
    from annotation.models import CheckerRun, Item, Job, Project
    from tests.routes import all_routes

    project = Project.objects.get(slug=SLUG)
    item = Item.objects.filter(case__project=project, case__undecided__gt=0).order_by("case__position")[0]
    run, job = CheckerRun.objects.first(), Job.objects.filter(project=project).first()
    fitting = [name for name, report in REPORTS.items() if not report.fits(project.type)]
    places = [
        (r".*<slug:name>", ("reports/<slug:name>",), fitting),
        (r".*<uuid:uuid>", ("/items/<uuid", "/adjudication/"), [item.uuid]),
        (r".*<uuid:uuid>", ("runs/<uuid",), [run.uuid]),
        (r".*<uuid:uuid>", ("jobs/<uuid",), [job.uuid]),
        (r".*<slug:kind>", ("rules/new/",), ["majority"]),
    ]
    for pattern in all_routes():
        if pattern.startswith(APART) or "^" in pattern:
            continue
        filled = [pattern.replace("<slug:slug>", SLUG)]
        for name, inside, values in places:
            if any(part in pattern for part in inside):
                filled = [re.sub(name.removeprefix(".*"), str(value), one) for one in filled for value in values]
        for address in filled:
            if "<" not in address:
                yield from (f"/{address}{query}" for query in ("", *QUERIES.get(pattern, ())))


def measure(title: str, sessions: dict[str, str], times: int, only: str) -> None:
    import django

    django.setup()
    from django.conf import settings
    from django.core.cache import cache
    from django.db import connection
    from django.db.models import F
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from annotation.models import Rater, User
    from config.web.ready import get_ready

    settings.ALLOWED_HOSTS = ["*"]
    get_ready()
    logging.disable(logging.WARNING)  # what a role is refused is no page of theirs
    processor = Processor(connection)
    annotator = User.objects.get(username="annotator3@example.org")
    sessions = sessions | {"annotator": session_of(annotator)}
    rater = Rater.objects.filter(user__username="annotator5@example.org")

    def opened(client, address: str, is_first: bool) -> Times | None:
        found = Times([], [], 0, 0)
        for _ in range(times if not is_first else max(3, times // 3)):
            if is_first:
                rater.update(label_version=F("label_version") + 1)
                cache.clear()
            with CaptureQueriesContext(connection) as queries:
                clock, used = time.perf_counter(), processor.seconds()
                reply = client.get(address)
                body = b"".join(reply.streaming_content) if reply.streaming else reply.content
                found.processor.append(processor.seconds() - used)
                found.clock.append(time.perf_counter() - clock)
            if reply.status_code != 200:
                if reply.status_code >= 500:
                    print(f"{address}: {reply.status_code}", file=sys.stderr)
                return None
            found = found._replace(size=len(body), queries=max(found.queries, len(queries)))
            if sum(found.clock) > PATIENCE_SECONDS:
                break
        return found

    for role in ROLES:
        client = Client(raise_request_exception=False)
        client.cookies["sessionid"] = sessions[role]
        client.get("/")  # loads what a process loads once
        for address in addresses():
            if only and not re.search(only, address):
                continue
            first = opened(client, address, True)
            again = first and opened(client, address, False)
            if not again:
                continue
            slowest, kb = max(first.at(0.95, "processor"), again.at(0.95, "processor")), again.size / 1000
            print(
                f"{title}\t{role}\t{address}\t{first.at(0.5):.0f}\t{first.at(0.95):.0f}\t{again.at(0.5):.0f}\t"
                f"{again.at(0.95):.0f}\t{slowest:.0f}\t{kb:.0f}\t{first.queries}\t{again.queries}"
                f"\t{'slow' if slowest > AIM_MS else ''}{' large' if kb > AIM_KB else ''}",
                flush=True,
            )


HEADER = "database\trole\taddress\tfirst p50\tfirst p95\tp50\tp95\tprocessor p95\tkB\tqueries first\tqueries\t"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--times", type=int, default=20, help="how often each page is opened")
    parser.add_argument("--only", default="", help="a regular expression that addresses contain")
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        title, *sessions = options.measure
        return measure(title, dict(one.split("=") for one in sessions), options.times, options.only)
    times = 3 if options.quick else options.times
    print(f"{options.items:,} items; ms; aim: 95 % within {AIM_MS} ms and {AIM_KB} kB", file=sys.stderr)
    print(HEADER, flush=True)
    for title, large in databases(options):
        sessions = [f"{name}={large.sessions[name]}" for name in ("owner", "adjudicator")]
        with worker(large.env):
            arguments = [f"--times={times}", f"--only={options.only}", "--measure", title, *sessions]
            run(large.env, "-m", "benchmarks.decisions.every_page", *arguments)


if __name__ == "__main__":
    main()
