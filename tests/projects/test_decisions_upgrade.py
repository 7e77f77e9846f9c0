"""Rows of earlier versions outlive the upgrade: decisions with their people as raters, and claims, which get units."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from tests.journeys.test_documented_commands import database_of

ROOT = Path(__file__).resolve().parents[2]
# Their rows as they were stored then, then what the code of now reads of them.
UPGRADE = """
import json
import django
django.setup()
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
before = [("annotation", "0011_what_a_job_waits_for")]
executor = MigrationExecutor(connection)
executor.loader.replace_migrations = False  # the way of a database from then
executor.loader.build_graph()
executor.migrate(before)
apps = executor.loader.project_state(before).apps
def make(model, /, **fields):
    return apps.get_model("annotation", model).objects.create(**fields)
judge, other = (make("User", username=name, email=name + "@example.org", name=name) for name in ("judge", "other"))
dataset = make("Dataset", slug="d", title="D", owner=judge)
batch = make("ContentBatch", dataset=dataset, state="published")
claim = make("Claim", dataset=dataset, batch=batch, key="c", text="c")
project = make("Project", slug="p", title="P", dataset=dataset, task_type="claim-evidence/six-way/1", created_by=judge)
make("Rater", project=project, user=other, kind="member", name="other", pseudonym="r-other")
units = []
for key in ("1", "2"):
    evidence = make("Evidence", dataset=dataset, batch=batch, key=key, text=key, claim=claim)
    units.append(make("Unit", dataset=dataset, batch=batch, kind="evidence", key=key, evidence=evidence))
for unit, person, method in ((0, judge, "adjudicated"), (1, other, "adjudicated"), (0, None, "imported")):
    make("Decision", project=project, unit=units[unit], dimension="stance", label="supports", method=method,
         note="n", decided_by=person)
call_command("migrate", verbosity=0)
from annotation.models import Decision, Unit
rows = Decision.objects.order_by("pk")
print(json.dumps([
    [row.unit.key, row.method, row.label, row.note, row.number, row.is_latest, row.is_withdrawn, row.seen,
     row.decided_by and [row.decided_by.name, row.decided_by.kind, row.decided_by.project.slug],
     row.decided_at == row.created_at if row.decided_at else None]
    for row in rows
]))
print(rows[1].decided_by.pseudonym)
print(json.dumps([[unit.key, unit.claim.text, unit.batch.state] for unit in Unit.objects.filter(kind="claim")]))
"""


def tables(database) -> dict[str, tuple]:
    """Each table's columns, references and indexes, in an order of their own: what the two ways must agree about."""
    found = {}
    for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        rows = {
            what: database.execute(f'PRAGMA {what}("{table}")').fetchall()
            for what in ("table_info", "foreign_key_list", "index_list")
        }
        indexes = [
            (row[2:5], [one[2] for one in database.execute(f'PRAGMA index_info("{row[1]}")').fetchall()])
            for row in rows["index_list"]
        ]
        columns, references = (
            sorted(map(repr, (row[start:7] for row in rows[what])))
            for start, what in ((1, "table_info"), (2, "foreign_key_list"))
        )
        (sql,) = database.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        found[table] = columns, references, sorted(map(repr, indexes)), sorted(re.findall(r'CONSTRAINT "(\w+)"', sql))
    return found


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_decisions_outlive_the_upgrade_with_their_people_and_times(kind, tmp_path):
    variables = {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "ASSAY_SECRET_KEY": "only-for-tests-" + "y" * 40,
        "ASSAY_DATA_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path / 'old.sqlite3'}",
    }
    with database_of(kind, variables):
        command = [sys.executable, "-c", UPGRADE]
        done = subprocess.run(command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows, pseudonym, claims = done.stdout.splitlines()
    assert json.loads(claims) == [["c", "c", "published"]]
    said = ["supports", "n", 1, True, False, None]  # what anybody had been shown is not known
    assert json.loads(rows) == [
        ["1", "adjudicated", *said, ["judge", "member", "p"], True],
        ["2", "adjudicated", *said, ["other", "member", "p"], True],
        ["1", "imported", *said, None, None],
    ]
    assert pseudonym == "r-other"  # the rater that they were already
    if kind == connection.vendor == "sqlite":  # a new database has the tables of one that came here step by step
        connection.ensure_connection()
        assert tables(sqlite3.connect(tmp_path / "old.sqlite3")) == tables(connection.connection)
