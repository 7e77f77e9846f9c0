"""Pages of adjudication and decisions in a project of 1,000,000 items and 1,000 annotators.

    python -m benchmarks.decisions.adjudicating [--items 1000000] [--times 30] [--keep] [--no-sqlite] [--quick]

Half of the items have two answers, 300,000 differ. Requests go through the whole of Django in one process. `processor`
is what that process and the database's own spent on a request, which a busy machine changes little; `clock` is what
passed. `queries` is how many statements the request took.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable

from benchmarks.labelling.submit import SLUG
from benchmarks.shared.large import add_options, databases
from benchmarks.shared.processes import Processor, run

AIM_MS = 150


def requests(client, project, items: list) -> dict[str, Callable]:
    """By name, what asks for it; each is called with the number of the time."""
    desk, pages = f"/projects/{SLUG}/adjudication/", f"/projects/{SLUG}/items/"
    passed: dict[str, list] = {}

    def post(way: str, body: dict | None = None):
        return client.post(desk + way, json.dumps(body or {}), content_type="application/json")

    def following(queue: str):
        def ask(number):
            """As an adjudicator who leaves every item for later."""
            known = passed.setdefault(queue, [])
            reply = post(f"next/?{queue}", {"passed": known})
            if (found := reply.json()).get("payload"):
                known.append(found["payload"]["item"])
            return reply

        return ask

    def decide(number):
        payload = post(f"items/{items[number]}/").json()["payload"]
        unit = payload["units"][0]
        said = [("relevance", "relevant"), ("stance", "supports")]
        judgements = [{"unit": unit, "dimension": dimension, "label": label} for dimension, label in said]
        body = {"basis": payload["basis"], "judgements": judgements, "for_guidelines": number % 2 == 0}
        return post(f"items/{items[number]}/decide/", body)

    found = {"home": lambda _: client.get("/"), "project": lambda _: client.get(f"/projects/{SLUG}/")}
    queues = [f"which={which}&order={order}" for which in ("", "flagged") for order in ("distance", "entropy", "age")]
    for queue in (*queues, "which=commented&order=entropy", "which=differing&order=age&beyond=4"):
        found[f"queue {queue}"] = lambda _, queue=queue: client.get(f"{desk}?{queue}")
        found[f"next {queue}"] = following(queue)
    found["desk: an item"] = lambda number: post(f"items/{items[number]}/")
    found["desk: names"] = lambda number: post(f"items/{items[number]}/reveal/", {"what": "names"})
    found["desk: checkers"] = lambda number: post(f"items/{items[number]}/reveal/", {"what": "checkers"})
    found["desk: an item, and decide"] = decide
    found["examples for the guidelines"] = lambda _: client.get(f"{desk}guidelines/")
    for name in ("", "disagreed", "undecided", "flagged", "open", "judged", "stuck", "retired"):
        found[f"items {name or 'all'}"] = lambda number, name=name: client.get(
            f"{pages}?filter={name}&page={number * 5 + 1}"
        )
    for name in ("", "disagreed", "undecided"):
        found[f"item page, from {name or 'all'}"] = lambda number, name=name: client.get(
            f"{pages}{items[number]}/?filter={name}"
        )
    return found


def measure(title: str, session: str, times: int) -> None:
    import django

    django.setup()
    from django.conf import settings
    from django.db import connection, reset_queries
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from annotation.models import Item, Project

    settings.ALLOWED_HOSTS = ["*"]
    client = Client()
    client.cookies["sessionid"] = session
    project = Project.objects.get(slug=SLUG)
    differing = Item.objects.filter(case__project=project, case__undecided__gt=0).order_by("case__position")
    items = list(differing.values_list("uuid", flat=True)[: times * 3 : 3])
    assert len(items) == times
    processor = Processor(connection)
    for name, ask in requests(client, project, items).items():
        spent = []
        for number in range(times):
            reset_queries()
            with CaptureQueriesContext(connection) as queries:
                clock, used = time.perf_counter(), processor.seconds()
                reply = ask(number)
                spent.append((processor.seconds() - used, time.perf_counter() - clock, len(queries)))
            assert reply.status_code == 200, (name, reply.status_code, reply.content[:500])
        used, clock, queries = (sorted(values) for values in zip(*spent[1:], strict=True))
        place = int(len(used) * 0.95)
        print(
            f"{title:<11} {name:<40} {used[len(used) // 2] * 1000:>8.1f} {used[place] * 1000:>8.1f} "
            f"{clock[len(clock) // 2] * 1000:>8.1f} {clock[place] * 1000:>8.1f} {queries[0]:>4} to {queries[-1]:<3}"
            f"{'  over' if used[place] * 1000 > AIM_MS else ''}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--times", type=int, default=30, help="how often each page is asked for")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(*options.measure, options.times)
    times = 5 if options.quick else options.times
    print(f"{options.items:,} items; ms; aim: 95 % of requests within {AIM_MS}", file=sys.stderr)
    print(f"{'':<11} {'':<40} {'processor':>8} {'p95':>7} {'clock':>8} {'p95':>8} {'queries':>8}", flush=True)
    for title, large in databases(options):
        session = large.sessions["adjudicator"]
        run(large.env, "-m", "benchmarks.decisions.adjudicating", f"--times={times}", "--measure", title, session)


if __name__ == "__main__":
    main()
