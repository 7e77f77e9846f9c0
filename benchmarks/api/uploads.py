"""Upload of a checker's labels and of its scores in one request each, until they count.

    python -m benchmarks.api.uploads [--rows 50000] [--postgresql URL] [--quick]

The request goes to the production server with one worker, whose greatest resident memory is given; the job is done in a
process of its own, without other work. `rows/s` is of both together, without what starting Python takes; `CPU` is what
they spend of the processor, which a busy machine changes less. `of bulk_create` divides the processor time by that of
Django's `bulk_create` of the same rows, made in the same process right after, in steps as long.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.labelling.submit import SLUG, cpu_seconds, make_content
from benchmarks.shared.processes import POSTGRESQL, ROOT, empty_postgresql, environment, run, web_server

ROWS = 50_000
AIM_ROWS, AIM_MB = 10_000, 250
LABELS = ("supports", "refutes", "insufficient-neutral")


def prepare(rows: int, folder: Path) -> None:
    """A project of as many units, a token, and the two files."""
    import django

    django.setup()
    from django.core.management import call_command

    from annotation.jobs import lifecycle
    from annotation.models import Dataset, Unit, User
    from annotation.projects import item_job, managing, tokens

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    owner = User.objects.create_user(username="owner@example.org", email="owner@example.org", is_superuser=True)
    dataset = Dataset.objects.create(slug=SLUG, title="Benchmark", owner=owner)
    make_content(dataset, rows)
    project = managing.create_project(
        owner, title="Benchmark", slug=SLUG, dataset=dataset, task_type="claim-evidence/six-way/1", overlap=0
    )
    assert lifecycle.run_here(item_job.start_item_job(project, owner)).state == "done"
    (folder / "token").write_text(tokens.make_token(owner, "bench", ["read", "write"], 1)[1])
    keys = list(Unit.objects.filter(dataset=dataset, kind="evidence").values_list("key", flat=True))
    with open(folder / "suggestions", "w") as labels, open(folder / "scores", "w") as scores:
        for at, key in enumerate(keys):
            share = round(0.5 + at % 50 / 100, 2)
            row = {"unit": key, "dimension": "stance", "label": LABELS[at % 3], "probability": share}
            labels.write(json.dumps(row) + "\n")
            scores.write(json.dumps({"unit": key, "value": at / 7}) + "\n")


def work(job: str, what: str) -> None:
    """The job, then as many rows by bulk_create."""
    import django

    django.setup()
    from django.db import transaction

    from annotation.jobs import lifecycle
    from annotation.machines.runs.uploading import BATCH
    from annotation.models import CheckerRun, Job, Score, Suggestion

    started, spent = time.perf_counter(), time.process_time()
    done = lifecycle.run_here(Job.objects.get(uuid=job))
    seconds, cpu = time.perf_counter() - started, time.process_time() - spent
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert done.state == "done", done.message
    model = Suggestion if what == "suggestions" else Score
    rows = list(model.objects.filter(run__uuid=done.result["run"]))
    other = CheckerRun.objects.get(uuid=done.result["run"])
    other.pk, other.uuid, other.job = None, None, Job.objects.create(kind=done.kind, created_by=done.created_by)
    other.uuid = other.job.uuid
    other.save()
    names = [one.attname for one in model._meta.concrete_fields if one.attname not in ("id", "run_id")]
    values = [{name: getattr(row, name) for name in names} for row in rows]
    spent = time.process_time()
    for start in range(0, len(values), BATCH):
        with transaction.atomic():
            model.objects.bulk_create([model(run=other, **one) for one in values[start : start + BATCH]])
    print("numbers", seconds, cpu, peak, time.process_time() - spent)


def send(port: int, token: str, what: str, body: bytes) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/x-ndjson"}
    connection.request("POST", f"/api/v1/projects/{SLUG}/{what}/?checker=bench", body, headers)
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status == 202, text
    return json.loads(text)["uuid"]


def peak_mb(pid: int) -> float:
    """Of the greatest of the server's processes, since it began."""
    import psutil

    pids = [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    status = (Path(f"/proc/{one}/status").read_text() for one in pids)
    return max(int(re.search(r"VmHWM:\s+(\d+)", text)[1]) for text in status) / 1024


def measure(title: str, database: str, rows: int) -> None:
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        env = environment(folder, database)
        run(env, "-m", "benchmarks.api.uploads", "--prepare", str(folder), f"--rows={rows}")
        token = (folder / "token").read_text()
        with web_server(env, workers=1) as (port, pid):
            for what in ("suggestions", "scores"):
                body = (folder / what).read_bytes()
                before, started = cpu_seconds(pid), time.perf_counter()
                job = send(port, token, what, body)
                request, web = time.perf_counter() - started, cpu_seconds(pid) - before
                command = [sys.executable, "-m", "benchmarks.api.uploads", "--work", job, what]
                out = subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True, text=True).stdout
                found = re.search(r"^numbers (.+)$", out, re.MULTILINE)[1].split()
                seconds, cpu, peak, plain = map(float, found)
                rate = rows / (request + seconds)
                line = f"{title:<12} {what:<12} {request:>9.2f} {seconds:>7.2f} {rate:>8,.0f} {web + cpu:>6.2f}"
                ratio = (web + cpu) / plain
                print(f"{line} {ratio:>14.1f} {peak_mb(pid):>7.0f} {peak:>10.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--postgresql", default=POSTGRESQL, help="a server, on which a database is made")
    parser.add_argument("--quick", action="store_true", help="5,000 rows")
    parser.add_argument("--prepare", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.prepare:
        return prepare(options.rows, options.prepare)
    if options.work:
        return work(*options.work)
    import psycopg

    rows = min(options.rows, 5000) if options.quick else options.rows
    print(f"{rows:,} rows each; aim: {AIM_ROWS:,} rows/s, web process below {AIM_MB} MB")
    columns = f"{'request s':>9} {'job s':>7} {'rows/s':>8} {'CPU s':>6} {'of bulk_create':>14} {'web MB':>7}"
    print(f"{'database':<12} {'what':<12} {columns} {'worker MB':>10}")
    measure("SQLite", "", rows)
    try:
        with empty_postgresql(options.postgresql, "assay_bench_uploads") as address:
            measure("PostgreSQL", address, rows)
    except psycopg.OperationalError as error:
        print(f"PostgreSQL is left out: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
