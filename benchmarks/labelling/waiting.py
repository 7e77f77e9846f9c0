"""What it costs an answer that the state of its item for adjudicators (`Case`) is stored with it.

    python -m benchmarks.labelling.waiting [--answers 400] [--units 1,20] [--postgresql URL] [--no-sqlite] [--quick]

Answers as the labelling page sends them, next item included, through the whole of Django in one process. Every item
gets two; of every other four items the case is stored, of the rest nothing is counted: `with` and `without`, by turns
in the same run. Time is of the processor in the web process, and by the clock, which includes the database; medians.
`counting` is the processor's time of the counting alone, in the same requests: less noisy than a difference.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
import uuid
from pathlib import Path

from benchmarks.labelling.submit import SLUG, make_content
from benchmarks.shared.processes import POSTGRESQL, empty_postgresql, environment, run

AIM = 0.05
SHARE_DIFFERING = 4  # every so many-th item gets two answers that differ


def make_triplets(dataset, responses: int, triplets: int) -> None:
    from django.utils import timezone

    from annotation.models import ContentBatch, Evidence, Question, Response, Triplet, Unit

    batch = ContentBatch.objects.create(dataset=dataset, state="published", published_at=timezone.now())
    base = {"dataset": dataset, "batch": batch}
    for number in range(responses):
        question = Question.objects.create(**base, key=f"q{number}", text=f"Question {number}?")
        Evidence.objects.create(**base, key=f"q{number}/p", question=question, text="The harbour froze over. " * 30)
        response = Response.objects.create(
            **base, key=f"q{number}/r", question=question, model="model", text="It froze over and ships waited. " * 20
        )
        Unit.objects.create(**base, kind="response", key=response.key, response=response)
        made = Triplet.objects.bulk_create(
            Triplet(**base, key=f"{response.key}/{index}", response=response, index=index, head="ships", tail="ice")
            for index in range(triplets)
        )
        Unit.objects.bulk_create(Unit(**base, kind="triplet", key=one.key, triplet=one) for one in made)


def ask(client, after: str = "") -> dict:
    return client.get(f"/api/v1/projects/{SLUG}/work/next", {"ahead": 1, "after": after} if after else {}).json()


def answer(client, pages: list[dict], label_of) -> tuple[float, float]:
    """Send the answer of the first page, as the page does that has the second one in hand; seconds of the processor and
    by the clock."""
    payload, following = (page["payload"] for page in pages)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    body = {
        "client_id": str(uuid.uuid4()),
        "shown_at": now,
        "submitted_at": now,
        "active_ms": 1000,
        "text_hash": payload["text_hash"],
        "judgements": [one | {"spans": []} for unit in payload["units"] for one in label_of(unit)],
        "want_next": True,
        "after": following["assignment"],
    }
    clock, spent = time.perf_counter(), time.process_time()
    reply = client.post(
        f"/api/v1/assignments/{payload['assignment']}/submit", body, content_type="application/json", secure=False
    )
    spent, clock = time.process_time() - spent, time.perf_counter() - clock
    assert reply.status_code == 200, reply.content
    pages[:] = pages[1], reply.json()["ahead"]
    return spent, clock


def measure(units: int, answers: int) -> None:
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.test import Client

    settings.ALLOWED_HOSTS = ["*"]
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    from annotation.jobs import lifecycle
    from annotation.models import Case, Dataset, Membership, Project, User
    from annotation.projects import cases, item_job, managing

    owner = User.objects.create_user(username="owner@example.org", email="owner@example.org", is_superuser=True)
    dataset = Dataset.objects.create(slug=SLUG, title="Benchmark", owner=owner)
    if units == 1:
        make_content(dataset, answers + 10)
    else:
        make_triplets(dataset, answers + 10, units)
    kind = "claim-evidence/six-way/1" if units == 1 else "triplets/-/1"
    project = Project.objects.create(
        slug=SLUG, title="Benchmark", dataset=dataset, task_type=kind, overlap=2, order="file", created_by=owner
    )
    assert lifecycle.run_here(item_job.start_item_job(project, owner)).state == "done"
    people = []
    for name in ("ann", "ben"):
        user = User.objects.create_user(username=f"{name}@example.org", email=f"{name}@example.org")
        managing.add_member(project, user, Membership.Role.ANNOTATOR)
        client = Client()
        client.force_login(user, backend=settings.AUTHENTICATION_BACKENDS[0])
        people.append(client)
    if units == 1:
        first = [{"dimension": "relevance", "label": "relevant"}, {"dimension": "stance", "label": "supports"}]
        other = [first[0], {"dimension": "stance", "label": "refutes"}]
    else:
        slug, values = project.type.dimensions[0].slug, project.type.dimensions[0].values
        first, other = ([{"dimension": slug, "label": value}] for value in values[:2])
    counting = [0.0]

    def timed(count):
        def counted(*said) -> None:
            started = time.process_time()
            count(*said)
            counting[0] += time.process_time() - started

        return counted

    stored = timed(cases.answered), timed(cases.count)
    pages = [[first_one := ask(client), ask(client, first_one["payload"]["assignment"])] for client in people]
    times: dict[tuple[str, bool], list[tuple[float, ...]]] = {}
    for number in range(answers):
        is_stored, differs = number // SHARE_DIFFERING % 2 == 0, number % SHARE_DIFFERING == 0
        cases.answered, cases.count = stored if is_stored else (lambda *_: None,) * 2
        for place, client in enumerate(people):
            said = other if differs and place else first
            # Of many units, the annotators differ on every other one.
            turn = iter(range(10**6))
            counting[0] = 0.0
            spent = (
                *answer(
                    client,
                    pages[place],
                    lambda unit, said=said, turn=turn: [
                        {"unit": unit} | one for one in (first, said)[next(turn) % 2 == 0]
                    ],
                ),
                counting[0],
            )
            what = "first answer" if not place else "second, differs" if differs else "second, agrees"
            if number >= 2 * SHARE_DIFFERING:  # warm
                times.setdefault((what, is_stored), []).append(spent)
    assert Case.objects.filter(undecided__gt=0).count() >= answers // SHARE_DIFFERING // 2 - 2
    show(units, times)


def show(units: int, times: dict) -> None:
    from django.db import connection

    title = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[connection.vendor]
    shares = {
        "first answer": 0.5,
        "second, agrees": 0.5 - 0.5 / SHARE_DIFFERING,
        "second, differs": 0.5 / SHARE_DIFFERING,
    }
    sums = [0.0] * 5
    for what, share in shares.items():
        row = []
        for index in (0, 1):
            for is_stored in (False, True):
                row.append(statistics.median(one[index] for one in times[what, is_stored]) * 1000)
        row.append(statistics.median(one[2] for one in times[what, True]) * 1000)
        sums = [total + share * one for total, one in zip(sums, row, strict=True)]
        line(title, units, what, row)
    line(title, units, "all, as weighted", sums)


def line(title: str, units: int, what: str, row: list[float]) -> None:
    without, with_, clock, clock_with, counting = row
    print(
        f"{title:<11} {units:>5}  {what:<17} {without:>8.2f} {with_:>8.2f} {with_ / without - 1:>7.1%}"
        f"   {counting:>8.2f} {counting / (with_ - counting):>7.1%}   {clock:>8.2f} {clock_with:>8.2f}"
        f" {clock_with / clock - 1:>7.1%}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--answers", type=int, default=400, help="items that get two answers")
    parser.add_argument("--units", default="1,20", help="units per item")
    parser.add_argument("--postgresql", default=POSTGRESQL, help="a server, on which a database is made")
    parser.add_argument("--no-sqlite", action="store_true")
    parser.add_argument("--quick", action="store_true", help="40 items")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    answers = 40 if options.quick else options.answers
    if options.measure:
        return measure(options.measure, answers)
    import psycopg

    print(f"{answers} items with two answers each, different on one in {SHARE_DIFFERING}; ms; aim: {AIM:.0%} at most")
    print(
        f"{'':<11} {'units':>5}  {'':<17} {'processor without, with, more':<28} {'counting':<17} {'by the clock':<26}"
    )
    for units in map(int, options.units.split(",")):
        command = "-m", "benchmarks.labelling.waiting", "--measure", str(units), "--answers", str(answers)
        with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
            if not options.no_sqlite:
                run(environment(Path(folder)), *command)
        try:
            with (
                tempfile.TemporaryDirectory(prefix="assay-bench-") as folder,
                empty_postgresql(options.postgresql, "assay_bench_waiting") as address,
            ):
                run(environment(Path(folder), address), *command)
        except psycopg.OperationalError as error:
            print(f"PostgreSQL is left out: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
