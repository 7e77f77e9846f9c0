"""Submit-and-next over HTTP, as the labelling page does it, against the production server.

    python -m benchmarks.labelling.submit [--sizes 500,5490,48517] [--annotators 1,8] [--seconds 20]
        [--database URL] [--quick] [--with-suggestions] [--with-rules]

Builds its own database (on PostgreSQL a new one on the server named, in SQLite a file in a temporary folder),
starts gunicorn on loopback, and drives it from processes on the same machine: each answer carries both labels and a
span, says that the next item is shown, and asks for the one after it. No think time. `veteran` is
one annotator who has done 5,000 items whose other assignments are still open. `web CPU` is what the server's processes
spend per answer, which a busy machine changes little. With `--with-rules` suggestions are shown in an arm that is
drawn, further judgements are asked for within a budget, and a tenth of the items is reserved for one of the annotators.
`--with-suggestions` shows the same suggestions without any of these, and answers differ as often, so that the two can
be compared.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import multiprocessing
import random
import statistics
import sys
import tempfile
import threading
import time
import uuid
from itertools import cycle, islice
from pathlib import Path

from benchmarks.shared.processes import POSTGRESQL, empty_postgresql, environment, run, web_server

VETERAN_ITEMS = 5000
SLUG = "bench"
WARM_UP_SECONDS = 2.0
RULES = {"prefill": "drawn", "prefill_shown_percent": 100, "further": "tied"}
STANCES = (*["supports"] * 5, "refutes")


# ---- the database, built in a process of its own because settings come from the environment ----


def prepare(size: int, annotators: int, out: Path, with_suggestions: bool, with_rules: bool) -> None:
    """Tables, content, items, people with sessions; writes the cookies that sign them in."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    from annotation.jobs import lifecycle
    from annotation.models import Dataset, Guideline, Membership, Project, User
    from annotation.projects import guidelines, item_job, managing

    owner = User.objects.create_user(username="owner@example.org", email="owner@example.org", is_superuser=True)
    dataset = Dataset.objects.create(slug=SLUG, title="Benchmark", owner=owner)
    make_content(dataset, size)
    project = Project.objects.create(
        slug=SLUG,
        title="Benchmark",
        dataset=dataset,
        task_type="claim-evidence/six-way/1",
        # Few items must not run out before the time is up.
        overlap=2 if size > 20_000 else annotators + 1,
        created_by=owner,
        **({"prefill": "shown"} if with_suggestions else {}),
        **(RULES | {"further_budget": size} if with_rules else {}),
    )
    Guideline.objects.create(project=project, version=1, markdown="Read twice.", created_by=owner)
    started = time.perf_counter()
    job = lifecycle.run_here(item_job.start_item_job(project, owner))
    spent = time.perf_counter() - started
    assert job.state == "done", job.message
    project.refresh_from_db()
    cookies = []
    for number in range(annotators + 1):
        email = f"annotator{number}@example.org"
        user = User.objects.create_user(username=email, email=email)
        managing.add_member(project, user, Membership.Role.ANNOTATOR)
        guidelines.acknowledge(project, user, 1)
        cookies.append(session_of(user))
    if with_suggestions or with_rules:
        suggest(project)
    if with_rules:
        reserve_some(project)
    has_veteran = size > 2 * VETERAN_ITEMS
    if has_veteran:
        make_veteran(project, user)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
    veteran = cookies.pop()
    out.write_text(
        json.dumps({"cookies": cookies, "veteran": veteran if has_veteran else None, "items_seconds": round(spent, 2)})
    )


def suggest(project) -> None:
    """A run that annotators are shown."""
    from annotation.bulk import bulk_insert
    from annotation.models import CheckerRun, Job, Suggestion

    job = Job.objects.create(kind="checker-run", state="done", project=project, created_by=project.created_by)
    made = {"checker": "fake", "version": "1", "parameters_hash": "", "created_by": project.created_by}
    run = CheckerRun.objects.create(project=project, job=job, **made)
    units = project.items.order_by("pk").values_list("anchor_id", flat=True)
    rows = [(run.pk, unit, "relevance", "relevant", 0.9) for unit in units]
    bulk_insert(Suggestion, rows, ["run_id", "unit_id", "dimension", "label", "probability"])
    type(project).objects.filter(pk=project.pk).update(prefill_run=run)


def reserve_some(project) -> None:
    """A tenth of the items, for one annotator each."""
    from annotation.work import reserving

    people = [rater.pk for rater in reserving.annotators(project)]
    items = list(project.items.order_by("pk").values_list("pk", flat=True))[::10]
    for start in range(0, len(items), reserving.ITEMS_AT_ONCE):
        part = items[start : start + reserving.ITEMS_AT_ONCE]
        rules = {pk: reserving.ItemRule(people=(people[pk % len(people)],)) for pk in part}
        reserving.apply(project, rules)


def session_of(user) -> str:
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "allauth.account.auth_backends.AuthenticationBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return session.session_key


def make_content(dataset, size: int) -> None:
    """Claims with about four evidences each, of the lengths that evidence snippets have."""
    from django.db import transaction
    from django.utils import timezone

    from annotation.bulk import bulk_insert, reserve_ids
    from annotation.models import Claim, ContentBatch, Evidence, Unit

    chance = random.Random(0)
    words = [
        f"{a}{b}" for a in ("har", "win", "ice", "port", "sea", "ves") for b in ("bour", "ter", "bound", "", "sel")
    ]
    batch = ContentBatch.objects.create(dataset=dataset, state="published", published_at=timezone.now())
    step = 5000
    for start in range(0, size, step):
        count = min(step, size - start)
        with transaction.atomic():
            claim_ids = reserve_ids(Claim, -(-count // 4))
            bulk_insert(
                Claim,
                [
                    (
                        pk,
                        dataset.pk,
                        batch.pk,
                        f"c{pk}",
                        " ".join(chance.choices(words, k=18)),
                        "Somebody",
                        "example.org",
                    )
                    for pk in claim_ids
                ],
                ["id", "dataset_id", "batch_id", "key", "text", "claimant", "source"],
            )
            ids = reserve_ids(Evidence, count)
            parents = [claim_ids[index // 4] for index in range(count)]
            bulk_insert(
                Evidence,
                [
                    (pk, dataset.pk, batch.pk, f"c{parent}/e{pk}", parent, " ".join(chance.choices(words, k=120)))
                    for pk, parent in zip(ids, parents, strict=True)
                ],
                ["id", "dataset_id", "batch_id", "key", "claim_id", "text"],
            )
            bulk_insert(
                Unit,
                [
                    (dataset.pk, batch.pk, "evidence", f"c{parent}/e{pk}", pk)
                    for pk, parent in zip(ids, parents, strict=True)
                ],
                ["dataset_id", "batch_id", "kind", "key", "evidence_id"],
            )


def make_veteran(project, user) -> None:
    """The first 5,000 items of the queue, one judgement each by this person, the other place open."""
    from django.db import transaction
    from django.db.models import Min
    from django.utils import timezone

    from annotation.bulk import bulk_insert, reserve_ids
    from annotation.models import Annotation, Assignment, Item, Judgement, Rater, Revision

    rater = Rater.objects.get(project=project, user=user)
    items = list(Item.objects.filter(project=project).order_by("position")[:VETERAN_ITEMS])
    rows = dict(Assignment.objects.filter(item__in=items).values_list("item_id").annotate(first=Min("pk")).order_by())
    now = timezone.now()
    with transaction.atomic():
        Assignment.objects.filter(pk__in=rows.values()).update(state="done", rater=rater, done_at=now, shown_at=now)
        ids = reserve_ids(Annotation, len(items))
        bulk_insert(
            Annotation,
            [(pk, item.pk, rater.pk, rows[item.pk]) for pk, item in zip(ids, items, strict=True)],
            ["id", "item_id", "rater_id", "assignment_id"],
        )
        revisions = reserve_ids(Revision, len(items))
        bulk_insert(
            Revision,
            [(revision, pk, 1, uuid.uuid4()) for revision, pk in zip(revisions, ids, strict=True)],
            ["id", "annotation_id", "number", "client_id"],
        )
        bulk_insert(
            Judgement,
            [
                (revision, item.anchor_id, dimension, label)
                for revision, item in zip(revisions, items, strict=True)
                for dimension, label in (("relevance", "relevant"), ("stance", "supports"))
            ],
            ["revision_id", "unit_id", "dimension", "label"],
        )
        rater.cursor, rater.cursor_epoch = items[-1].position, project.queue_epoch
        rater.save(update_fields=["cursor", "cursor_epoch"])


# ---- the browser's side ----


class Page:
    """One annotator's labelling page: an item on the screen and the next one in hand. Or a program that does the same:
    `session` is tokens then, which it uses in turn, since each may be used so often in a minute."""

    def __init__(self, port: int, session: str):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.stances = islice(cycle(STANCES), random.randrange(len(STANCES)), None)  # people differ in some items
        self.tokens = cycle(session.split()) if session.startswith("assay_") else None
        token = "b" * 32
        signed_in = {"Cookie": f"sessionid={session}; csrftoken={token}", "X-CSRFToken": token}
        self.headers = {"Content-Type": "application/json", "Accept": "application/json"}
        self.headers |= {} if self.tokens else signed_in

    def ask(self, method: str, path: str, body: dict | None = None) -> dict:
        content = json.dumps(body).encode() if body is not None else None
        if self.tokens:
            self.headers["Authorization"] = f"Bearer {next(self.tokens)}"
        self.connection.request(method, path, content, self.headers)
        response = self.connection.getresponse()
        text = response.read()
        if response.status != 200:
            raise RuntimeError(f"{method} {path}: {response.status} {text[:300]!r}")
        return json.loads(text)

    def start(self) -> None:
        self.current = self.ask("GET", f"/api/v1/projects/{SLUG}/work/next")
        after = self.current["payload"]["assignment"]
        self.ahead = self.ask("GET", f"/api/v1/projects/{SLUG}/work/next?ahead=1&after={after}")

    def answer(self) -> dict:
        """What is sent for the item on the screen."""
        payload = self.current["payload"]
        unit = payload["units"][0]
        text = self.current["html"].split('data-field="evidence"', 1)[1].split(">", 1)[1]
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        return {
            "client_id": str(uuid.uuid4()),
            "shown_at": now,
            "submitted_at": now,
            "active_ms": 1000,
            "comment": "",
            "text_hash": payload["text_hash"],
            "guideline_version": payload["guideline_version"],
            "judgements": [
                {"unit": unit, "dimension": "relevance", "label": "relevant", "spans": []},
                {
                    "unit": unit,
                    "dimension": "stance",
                    "label": next(self.stances),
                    "spans": [{"field": "evidence", "start": 0, "end": 12, "quote": text[:12]}],
                },
            ],
            "want_next": True,
            "after": self.following,
            "after_shown_at": now if self.following else None,
        }

    @property
    def following(self) -> str | None:
        """The item in hand."""
        return self.ahead["payload"]["assignment"] if self.ahead["state"] == "item" else None

    def submit_and_go_on(self) -> float | None:
        """Answer the item on the screen; the seconds until the next but one is in hand. None: out of work."""
        if self.current["state"] != "item":
            return None
        body = self.answer()
        started = time.perf_counter()
        answer = self.ask("POST", f"/api/v1/assignments/{self.current['payload']['assignment']}/submit", body)
        spent = time.perf_counter() - started
        self.current, self.ahead = self.ahead, answer["ahead"]
        return spent


def annotate(port: int, session: str, seconds: float, barrier, results) -> None:
    try:
        page = Page(port, session)
        page.start()
        barrier.wait()
        started = time.perf_counter()
        times = []
        while (passed := time.perf_counter() - started) < seconds + WARM_UP_SECONDS:
            spent = page.submit_and_go_on()
            if spent is None:
                break
            if passed >= WARM_UP_SECONDS:
                times.append(spent)
        measured = max(0.001, time.perf_counter() - started - WARM_UP_SECONDS)
        results.put((times, measured, ""))
    except Exception as error:
        barrier.abort()
        results.put(([], 0.0, repr(error)))


def cpu_seconds(pid: int) -> float:
    """Of the server with all its workers."""
    import psutil

    server = psutil.Process(pid)
    return sum(sum(one.cpu_times()[:2]) for one in (server, *server.children(recursive=True)))


def drive(port: int, pid: int, sessions: list[str], seconds: float) -> dict:
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(len(sessions) + 1), context.Queue()
    people = [context.Process(target=annotate, args=(port, one, seconds, barrier, results)) for one in sessions]
    for person in people:
        person.start()
    with contextlib.suppress(threading.BrokenBarrierError):
        barrier.wait()
    time.sleep(WARM_UP_SECONDS)
    before = cpu_seconds(pid)
    collected = [results.get() for _ in people]
    for person in people:
        person.join()
    spent = cpu_seconds(pid) - before
    errors = [error for _, _, error in collected if error]
    times = sorted(value for values, _, _ in collected for value in values)
    rate = sum(len(values) / measured for values, measured, _ in collected if values)
    if len(times) < 20:
        return {"errors": errors, "answers": len(times)}
    return {
        "errors": errors,
        "answers": len(times),
        "p50": statistics.median(times) * 1000,
        "p95": times[int(len(times) * 0.95)] * 1000,
        "rate": rate,
        "cpu": spent / len(times) * 1000,
    }


# ---- one size ----


def measure(size: int, options) -> list[tuple[str, dict]]:
    lines = []
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as temporary:
        folder = Path(temporary)
        name = f"assay_bench_submit_{size}"
        on_sqlite = options.database.startswith("sqlite")
        with contextlib.nullcontext("") if on_sqlite else empty_postgresql(options.database, name) as address:
            env, facts = environment(folder, address), folder / "facts.json"
            more = "--out", str(facts), "--annotators", str(sum(options.annotators))
            more += ("--with-rules",) if options.with_rules else ()
            more += ("--with-suggestions",) if options.with_suggestions else ()
            run(env, "-m", "benchmarks.labelling.submit", "--prepare", str(size), *more)
            known = json.loads(facts.read_text())
            print(f"{size:,} items made in {known['items_seconds']} s", file=sys.stderr)
            with web_server(env, options.workers, options.threads) as (port, pid):
                people = iter(known["cookies"])  # those who answered in an earlier run may have answered everything
                for count in options.annotators:
                    lines.append((f"{count}", drive(port, pid, list(islice(people, count)), options.seconds)))
                if known["veteran"]:
                    lines.append(("veteran", drive(port, pid, [known["veteran"]], options.seconds)))
    return lines


def main() -> int:
    def numbers(text: str) -> list[int]:
        return [int(part) for part in text.split(",")]

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=numbers, default=[500, 5490, 48517])
    parser.add_argument("--annotators", type=numbers, default=[1, 8])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--database", default=POSTGRESQL, help="a PostgreSQL server, or sqlite")
    parser.add_argument("--quick", action="store_true", help="500 items, 5 seconds")
    parser.add_argument("--with-suggestions", action="store_true", help="suggestions are shown, without any rule")
    parser.add_argument("--with-rules", action="store_true", help="arms, further judgements and reserved items")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--prepare", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.quick:
        options.sizes, options.seconds = [500], 5
    if options.prepare:
        people = sum(options.annotators)
        prepare(options.prepare, people, options.out, options.with_suggestions, options.with_rules)
        return 0
    print(
        f"{'items':>9}  {'annotators':>10}  {'answers':>7}  {'p50 ms':>7}  {'p95 ms':>7}  {'answers/s':>9}  "
        f"{'web CPU ms':>10}"
    )
    failed = False
    for size in options.sizes:
        for who, line in measure(size, options):
            if line["errors"] or "p50" not in line:
                failed = True
                print(f"{size:>9,}  {who:>10}  {line['answers']:>7}  {'; '.join(line['errors'])}")
                continue
            print(
                f"{size:>9,}  {who:>10}  {line['answers']:>7}  {line['p50']:>7.1f}  {line['p95']:>7.1f}  "
                f"{line['rate']:>9.1f}  {line['cpu']:>10.1f}",
                flush=True,
            )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
