"""Single answers through a token, compared with those of the labelling page, against the production server.

    python -m benchmarks.api.answers [--items 5490] [--seconds 15] [--postgresql URL] [--no-sqlite] [--quick]

One annotator, without think time, in turn by session and by token: the same requests (`benchmarks.labelling.submit`).
`web CPU` is what the server's processes spend per answer, which a busy machine changes little.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from benchmarks.labelling.submit import drive
from benchmarks.shared.processes import POSTGRESQL, empty_postgresql, environment, run, web_server

TOKENS = 20  # of 600 requests a minute each
ROUNDS = 2


def prepare(items: int, out: Path) -> None:
    from benchmarks.labelling import submit

    submit.prepare(items, 1, out)
    from annotation.models import User
    from annotation.projects import tokens

    annotator = User.objects.get(email="annotator0@example.org")
    made = [tokens.make_token(annotator, str(number), ["annotate"], 1)[1] for number in range(TOKENS)]
    out.write_text(json.dumps(json.loads(out.read_text()) | {"tokens": " ".join(made)}))


def measure(title: str, database: str, items: int, seconds: float) -> None:
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        env = environment(folder, database)
        run(env, "-m", "benchmarks.api.answers", "--prepare", str(folder / "people"), f"--items={items}")
        people = json.loads((folder / "people").read_text())
        with web_server(env) as (port, pid):
            for _ in range(ROUNDS):
                for how, who in (("page", people["cookies"][0]), ("token", people["tokens"])):
                    found = drive(port, pid, [who], seconds)
                    if found["errors"] or "p50" not in found:
                        raise SystemExit(f"{how}: {found['answers']} answers, {found['errors']}")
                    figures = f"{found['rate']:>10.1f} {found['p50']:>8.1f} {found['p95']:>8.1f} {found['cpu']:>11.1f}"
                    print(f"{title:<12} {how:<8} {figures}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=5490)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--postgresql", default=POSTGRESQL, help="a server, on which a database is made")
    parser.add_argument("--no-sqlite", action="store_true")
    parser.add_argument("--quick", action="store_true", help="1,000 items, 4 seconds")
    parser.add_argument("--prepare", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.prepare:
        return prepare(options.items, options.prepare)
    import psycopg

    items, seconds = (1000, 4) if options.quick else (options.items, options.seconds)
    print(f"{'database':<12} {'by':<8} {'answers/s':>10} {'p50, ms':>8} {'p95, ms':>8} {'web CPU, ms':>11}")
    if not options.no_sqlite:
        measure("SQLite", "", items, seconds)
    try:
        with empty_postgresql(options.postgresql, "assay_bench_answers") as address:
            measure("PostgreSQL", address, items, seconds)
    except psycopg.OperationalError as error:
        print(f"PostgreSQL is left out: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
