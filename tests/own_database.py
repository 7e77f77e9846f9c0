"""Databases with tables and nothing in them: of a process of its own, and after a test that committed something."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import django
import psycopg
from django.apps import apps
from django.db import connection, transaction
from filelock import FileLock

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "var" / "tests"


@cache
def made_from() -> str:
    """A hash of all that tables follow from: migrations and models of every app, settings, Django and Python."""
    files = {ROOT / "config" / "settings.py", ROOT / "config" / "environment.py"}
    for app in apps.get_app_configs():
        for pattern in ("apps.py", "models.py", "models/**/*.py", "migrations/*.py"):
            files |= set(Path(app.path).glob(pattern))
    digest = hashlib.sha256((django.__version__ + sys.version).encode())
    for file in sorted(files):
        digest.update(f"{file}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def migrate(url: str) -> None:
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings", "DATABASE_URL": url}
    command = [sys.executable, "manage.py", "migrate", "--skip-checks", "--verbosity", "0"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def empty_database() -> Path:
    """The file to copy. It is migrated once, and kept for later runs until what it is made from changes."""
    KEPT.mkdir(parents=True, exist_ok=True)
    path = KEPT / f"{made_from()}.sqlite3"
    with FileLock(KEPT / "lock"):
        if not path.exists():
            making = path.with_suffix(".new")
            making.unlink(missing_ok=True)
            migrate(f"sqlite:///{making}")
            for former in KEPT.glob("*.sqlite3"):
                former.unlink()
            making.rename(path)
    return path


def empty_template() -> str:
    """Its like on PostgreSQL, a database of the server. Its comment says what it was made from."""
    server = urlsplit(os.environ["DATABASE_URL"])
    name = f"empty_{server.path[1:]}"
    KEPT.mkdir(parents=True, exist_ok=True)
    with (
        FileLock(KEPT / "lock"),
        psycopg.connect(server._replace(path="/postgres").geturl(), autocommit=True) as postgresql,
    ):
        comment = "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s"
        if postgresql.execute(comment, [name]).fetchone() != (made_from(),):
            postgresql.execute(f'DROP DATABASE IF EXISTS "{name}"')
            postgresql.execute(f'CREATE DATABASE "{name}"')
            migrate(server._replace(path=f"/{name}").geturl())
            postgresql.execute(f"COMMENT ON DATABASE \"{name}\" IS '{made_from()}'")
    return name


def tables_of_tests() -> Iterator[tuple[str, list[str]]]:
    """Each table that is empty before any test, with the columns that are written to."""
    for model in apps.get_models(include_auto_created=True):
        if model._meta.app_label not in ("contenttypes", "sites") and model._meta.model_name != "permission":
            quote = connection.ops.quote_name
            columns = [field.column for field in model._meta.local_concrete_fields if not field.generated]
            yield quote(model._meta.db_table), [quote(column) for column in columns]


def empty_tables() -> None:
    """What Django's `flush` does after a test that commits, for the few tables that have rows. Making all permissions
    and content types anew, which takes it a tenth of a second, is not needed: they stay."""
    tables = [table for table, _ in tables_of_tests()]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM {name})" for name in tables))
        for (table,) in cursor.fetchall():
            cursor.execute(f"DELETE FROM {table}")


# `python -m tests.own_database` makes it before the processes that would wait for it.
if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    django.setup()
    empty_database()
