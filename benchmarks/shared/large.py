"""A project of 1,000,000 items and 1,000 annotators, made by statements of the database, for other benchmarks.

Every item has one answer and every second item two, which differ on three of five; one answer of a hundred has a
comment, and one item of a hundred is flagged. Two runs of a checker have said something of every unit. What is built
once is used again: a folder with a file of SQLite, or a database of PostgreSQL, named by the folder and how many items
it has.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.labelling.submit import SLUG, session_of
from benchmarks.shared.made_up import STANCES
from benchmarks.shared.processes import POSTGRESQL, environment, run

ITEMS, ANNOTATORS = 1_000_000, 1000
TEXTS = 500  # different ones
COMPLETE = "complete.json"


@dataclass(frozen=True)
class Large:
    """Where it lies: the environment in which it is found, sessions of people by name, and a token to read with."""

    env: dict[str, str]
    folder: Path
    sessions: dict[str, str]
    token: str


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "assay-bench-large")
    parser.add_argument("--postgresql", default=POSTGRESQL, help="a server, on which a database is made")
    parser.add_argument("--no-sqlite", action="store_true")
    parser.add_argument("--no-postgresql", action="store_true")
    parser.add_argument("--keep", action="store_true", help="leave the databases for the next benchmark")
    parser.add_argument("--quick", action="store_true", help="5,000 items and 50 annotators")


def databases(options: argparse.Namespace) -> Iterator[tuple[str, Large]]:
    """Each database with its title, built where it is not there, and removed where it is not to be kept."""
    if options.quick:
        options.items = 5000
    if not options.no_sqlite:
        yield from _kept("SQLite", options, "")
    if not options.no_postgresql:
        import psycopg

        try:
            name = options.folder.name.replace("-", "_")
            yield from _kept("PostgreSQL", options, f"{options.postgresql}/{name}_{options.items}")
        except psycopg.OperationalError as error:
            print(f"PostgreSQL is left out: {error}", file=sys.stderr)


def _kept(title: str, options: argparse.Namespace, database: str) -> Iterator[tuple[str, Large]]:
    folder = options.folder / f"{title.lower()}-{options.items}"
    folder.mkdir(parents=True, exist_ok=True)
    env = environment(folder, database)
    if not (folder / COMPLETE).exists():
        _remove(folder, database)
        if database:
            _statement(database, "CREATE DATABASE {}")
        people = min(ANNOTATORS, options.items // 100)
        run(
            env,
            "-m",
            "benchmarks.shared.large",
            "--build",
            str(folder),
            f"--items={options.items}",
            f"--people={people}",
        )
    else:
        run(env, "manage.py", "migrate", "-v0")
    known = json.loads((folder / COMPLETE).read_text())
    yield title, Large(env, folder, known["sessions"], known["token"])
    if not options.keep:
        _remove(folder, database)


def _statement(database: str, statement: str) -> None:
    import psycopg

    server, _, name = database.rpartition("/")
    with psycopg.connect(f"{server}/postgres", connect_timeout=3, autocommit=True) as connection:
        connection.execute(statement.format(f'"{name}"'))


def _remove(folder: Path, database: str) -> None:
    for path in folder.glob("*"):
        if path.is_file():
            path.unlink()
    if database:
        _statement(database, "DROP DATABASE IF EXISTS {} WITH (FORCE)")


# ---- in a process of its own, because settings come from the environment ----


def build(folder: Path, items: int, people: int) -> None:
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from annotation.models import Dataset, Guideline, Membership, Project, User
    from annotation.projects import managing, tokens

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    owner = User.objects.create_user(username="owner@example.org", email="owner@example.org", is_superuser=True)
    dataset = Dataset.objects.create(slug=SLUG, title="Benchmark", owner=owner)
    project = Project.objects.create(
        slug=SLUG, title="Benchmark", dataset=dataset, task_type="claim-evidence/six-way/1", created_by=owner
    )
    Project.objects.filter(pk=project.pk).update(state=Project.State.OPEN)
    Guideline.objects.create(project=project, version=1, markdown="Read twice.", created_by=owner)
    sessions = {"owner": session_of(owner)}
    for name, role in (("adjudicator", Membership.Role.ADJUDICATOR), ("second", Membership.Role.ADJUDICATOR)):
        user = User.objects.create_user(username=f"{name}@example.org", email=f"{name}@example.org")
        managing.add_member(project, user, role)
        sessions[name] = session_of(user)
    with connection.cursor() as cursor:
        _fill(cursor, project, owner, items, people)
    _count_cases(project)
    with connection.cursor() as cursor:  # which a server does by itself, some minutes later
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
    known = {"sessions": sessions, "token": tokens.make_token(owner, "bench", ["read"], 30)[1]}
    (folder / COMPLETE).write_text(json.dumps(known))


def _count_cases(project) -> None:
    from annotation.projects import cases

    started = time.process_time()
    cases.recount(project)
    print(f"cases counted in {time.process_time() - started:.1f} s of processor time", file=sys.stderr)


def _insert(cursor, model, columns: dict[str, str], rest: str) -> None:
    """INSERT of a SELECT: `columns` are expressions by column, the others have their defaults."""
    from django.db import connection, models

    from annotation.bulk import _default

    on_postgresql = connection.vendor == "postgresql"
    uuid = "gen_random_uuid()" if on_postgresql else "lower(hex(randomblob(16)))"
    values, parameters = [], []
    missing = [one for one in model._meta.concrete_fields if one.column not in columns and not one.primary_key]
    for field in missing:
        if isinstance(field, models.UUIDField) and not field.null:
            values.append(uuid)
            continue
        default = field.get_db_prep_save(_default(field), connection)
        values.append("%s" + (f"::{field.db_type(connection)}" if on_postgresql else ""))
        parameters.append(default)
    names = ", ".join(f'"{name}"' for name in (*columns, *(field.column for field in missing)))
    cursor.execute(
        f"INSERT INTO {model._meta.db_table} ({names}) SELECT {', '.join((*columns.values(), *values))} {rest}",
        parameters,
    )


def _numbers(count: int) -> str:
    counted = f"WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < {count})"
    return f"({counted} SELECT n FROM counted) AS counted"


def _fill(cursor, project, owner, items: int, people: int) -> None:
    import random

    from django.utils import timezone

    from annotation.bulk import bulk_insert
    from annotation.models import (
        Annotation,
        Assignment,
        CheckerRun,
        Claim,
        ContentBatch,
        Evidence,
        Item,
        ItemUnit,
        ItemWords,
        Job,
        Judgement,
        Membership,
        Rater,
        Revision,
        Score,
        Suggestion,
        Unit,
        User,
    )  # fmt: skip

    dataset = project.dataset_id
    batch = ContentBatch.objects.create(dataset_id=dataset, state="published", published_at=timezone.now()).pk
    of_set = {"dataset_id": str(dataset), "batch_id": str(batch)}
    claims = -(-items // 4)
    chance = random.Random(0)
    words = [
        f"{a}{b}" for a in ("har", "win", "ice", "port", "sea", "ves") for b in ("bour", "ter", "bound", "", "sel")
    ]
    cursor.execute("CREATE TEMPORARY TABLE bench_text (n integer PRIMARY KEY, claim text, evidence text)")
    cursor.executemany(
        "INSERT INTO bench_text VALUES (%s, %s, %s)",
        [(n, " ".join(chance.choices(words, k=18)), " ".join(chance.choices(words, k=120))) for n in range(TEXTS)],
    )
    _insert(
        cursor,
        Claim,
        of_set
        | {
            "id": "counted.n",
            "key": "'c' || counted.n",
            "text": "bench_text.claim || ' ' || counted.n",
            "claimant": "'Somebody'",
            "source": "'example.org'",
        },
        f"FROM {_numbers(claims)} JOIN bench_text ON bench_text.n = counted.n %% {TEXTS}",
    )
    key = "'c' || ((counted.n - 1) / 4 + 1) || '/e' || counted.n"
    _insert(
        cursor,
        Evidence,
        of_set
        | {
            "id": "counted.n",
            "key": key,
            "claim_id": "(counted.n - 1) / 4 + 1",
            "text": "bench_text.evidence || ' ' || counted.n",
        },
        f"FROM {_numbers(items)} JOIN bench_text ON bench_text.n = counted.n %% {TEXTS}",
    )
    _insert(
        cursor,
        Unit,
        of_set | {"id": "id", "kind": "'evidence'", "key": "key", "evidence_id": "id"},
        "FROM annotation_evidence",
    )
    _insert(
        cursor,
        Item,
        {"id": "id", "project_id": str(project.pk), "anchor_id": "id", "key": "key", "position": "id", "planned": "2"},
        "FROM annotation_unit",
    )
    _insert(cursor, ItemUnit, {"item_id": "id", "unit_id": "id", "index": "0"}, "FROM annotation_item")
    of_item = {"item_id": "item.id", "project_id": "item.project_id", "key": "item.key", "title": "claim.text"}
    _insert(
        cursor,
        ItemWords,
        of_item,
        "FROM annotation_item AS item JOIN annotation_evidence AS evidence ON evidence.id = item.anchor_id "
        "JOIN annotation_claim AS claim ON claim.id = evidence.claim_id",
    )
    print("items", file=sys.stderr)

    now = timezone.now()
    names = [f"annotator{number}@example.org" for number in range(people)]
    bulk_insert(User, [(name, name, "!") for name in names], ["username", "email", "password"])
    users = dict(User.objects.filter(username__in=names).values_list("username", "pk"))
    bulk_insert(
        Membership, [(project.pk, users[name], "annotator") for name in names], ["project_id", "user_id", "role"]
    )
    bulk_insert(
        Rater,
        [
            (project.pk, "member", users[name], f"Annotator {number}", f"r-{number:08d}")
            for number, name in enumerate(names)
        ],
        ["project_id", "kind", "user_id", "name", "pseudonym"],
    )
    first_rater = Rater.objects.get(name="Annotator 0").pk
    assert Rater.objects.get(name=f"Annotator {people - 1}").pk == first_rater + people - 1

    # Two places each: the odd numbers are the first ones. Items with an even number have been answered twice.
    for place in (0, 1):
        rater = f"{first_rater} + (id / 2 + {place} * (1 + id / {people} %% {people - 1})) %% {people}"
        said = {"id": f"2 * id - 1 + {place}", "item_id": "id", "position": "position", "project_id": str(project.pk)}
        stamp = f"'{now.isoformat()}'" + ("::timestamptz" if "psycopg" in type(cursor.db.connection).__module__ else "")
        done = {"state": "'done'", "rater_id": rater, "done_at": stamp, "shown_at": stamp}
        is_done = "id %% 2 = 0" if place else "TRUE"
        _insert(cursor, Assignment, said | done, f"FROM annotation_item WHERE {is_done}")
        _insert(cursor, Assignment, said, f"FROM annotation_item WHERE NOT ({is_done})")
    cursor.execute("UPDATE annotation_assignment SET is_flagged = %s WHERE state = 'done' AND id %% 400 = 3", [True])
    _insert(
        cursor,
        Annotation,
        {"id": "id", "item_id": "item_id", "rater_id": "rater_id", "assignment_id": "id"},
        "FROM annotation_assignment WHERE state = 'done'",
    )
    _insert(
        cursor,
        Revision,
        {
            "id": "id",
            "annotation_id": "id",
            "number": "1",
            "active_ms": "12000",
            "suggestion_shown": "FALSE",  # otherwise none could be learnt from
            "comment": "CASE WHEN id %% 100 = 4 THEN 'Which port is meant?' ELSE '' END",
        },
        "FROM annotation_annotation",
    )
    whole = "FROM annotation_annotation AS said JOIN annotation_item AS item ON item.id = said.item_id"
    _insert(
        cursor,
        Judgement,
        {"revision_id": "said.id", "unit_id": "item.anchor_id", "dimension": "'relevance'", "label": "'relevant'"},
        whole,
    )
    stance = "item.id / 2 %% 6 + CASE WHEN said.id %% 2 = 0 AND item.id / 2 %% 5 < 3 THEN 1 + item.id %% 5 ELSE 0 END"
    cases = " ".join(f"WHEN {number} THEN '{value}'" for number, value in enumerate(STANCES))
    _insert(
        cursor,
        Judgement,
        {
            "revision_id": "said.id",
            "unit_id": "item.anchor_id",
            "dimension": "'stance'",
            "label": f"CASE ({stance}) %% 6 {cases} END",
        },
        whole,
    )
    print("answers", file=sys.stderr)

    for version in ("1", "2"):
        job = Job.objects.create(
            kind=Job.Kind.PREDICTIONS, state="done", project=project, created_by=owner, result={"scores": ["bench"]}
        )
        made = CheckerRun.objects.create(
            project=project, job=job, checker="outside:bench", version=version, created_by=owner
        )
        of_run = {"run_id": str(made.pk), "unit_id": "unit_id"}
        _insert(
            cursor, Suggestion, of_run | {"dimension": "'stance'", "label": "'supports'"}, "FROM annotation_itemunit"
        )
        _insert(cursor, Score, of_run | {"name": "'bench'", "value": "0.5"}, "FROM annotation_itemunit")
    if "psycopg" in type(cursor.db.connection).__module__:
        for model in (Claim, Evidence, Unit, Item, Assignment, Annotation, Revision):
            table = model._meta.db_table
            cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")
    print("runs", file=sys.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--items", type=int, required=True)
    parser.add_argument("--people", type=int, required=True)
    asked = parser.parse_args()
    build(asked.build, asked.items, asked.people)
