"""A database of version 0.1.0 goes on as it is, one from before is refused with what to do."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from annotation.models import Dataset
from tests.factories import make_dataset
from tests.journeys.test_documented_commands import database_of

ROOT = Path(__file__).resolve().parents[2]
# Rows as 0.1.0 stored them, then what the code of now reads of them.
UPGRADE = """
import json
import django
django.setup()
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
before = [("annotation", "0001_squashed_0038_improbable_cases"), ("analysis", "0001_squashed_0004_releases")]
executor = MigrationExecutor(connection)
executor.migrate(before)
MigrationRecorder(connection).record_unapplied(*before[1])  # 0.1.0 had four of analysis
apps = executor.loader.project_state(before).apps
def make(model, /, **fields):
    return apps.get_model("annotation", model).objects.create(**fields)
judge = make("User", username="judge", email="judge@example.org", name="judge")
dataset = make("Dataset", slug="d", title="D", owner=judge)
batch = make("ContentBatch", dataset=dataset, state="published")
claim = make("Claim", dataset=dataset, batch=batch, key="c", text="c")
project = make("Project", slug="p", title="P", dataset=dataset, task_type="claim-evidence/six-way/1", created_by=judge)
rater = make("Rater", project=project, user=judge, kind="member", name="judge", pseudonym="r-judge")
evidence = make("Evidence", dataset=dataset, batch=batch, key="1", text="1", claim=claim)
unit = make("Unit", dataset=dataset, batch=batch, kind="evidence", key="1", evidence=evidence)
make("Decision", project=project, unit=unit, dimension="stance", label="supports", method="adjudicated", number=1,
     is_latest=True, note="n", decided_by=rater)
call_command("migrate", verbosity=0)
from annotation.models import Decision
row = Decision.objects.get()
print(json.dumps([row.unit.evidence.claim.text, row.label, row.note, row.decided_by.pseudonym]))
print(json.dumps(sorted(name for app, name in MigrationRecorder(connection).applied_migrations() if app == "analysis")))
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
def test_a_database_of_version_0_1_0_goes_on_as_it_is(kind, tmp_path):
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
    row, recorded = map(json.loads, done.stdout.splitlines())
    assert row == ["c", "supports", "n", "r-judge"]
    assert "0001_squashed_0004_releases" in recorded
    if kind == connection.vendor == "sqlite":  # a new database has the tables of one that came here step by step
        connection.ensure_connection()
        assert tables(sqlite3.connect(tmp_path / "old.sqlite3")) == tables(connection.connection)


@pytest.mark.django_db
def test_an_older_one_is_refused_and_nothing_changes():
    make_dataset(slug="kept")
    recorder = MigrationRecorder(connection)
    for app, name in list(recorder.applied_migrations()):
        if app == "annotation" and name > "0037":
            recorder.record_unapplied(app, name)
    before = recorder.applied_migrations().keys()
    with pytest.raises(
        CommandError, match=r"before version 0\.1\.0: .* 0036_decisions_by_set\. Run `manage.py migrate`"
    ):
        call_command("migrate", verbosity=0)
    assert recorder.applied_migrations().keys() == before and Dataset.objects.get().slug == "kept"
