"""Databases with tables and nothing in them: of a process of its own, and after a test that committed something."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db import connection, transaction
from filelock import FileLock

ROOT = Path(__file__).resolve().parent.parent


def empty_database() -> Path:
    """The file to copy. It is migrated once for all processes of a run, which share the folder of data."""
    path = settings.DATA_DIR / "empty.sqlite3"
    with FileLock(f"{path}.lock"):
        if not path.exists():
            making = path.with_suffix(".new")
            environment = os.environ | {
                "DJANGO_SETTINGS_MODULE": "config.settings",
                "DATABASE_URL": f"sqlite:///{making}",
            }
            migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
            subprocess.run(migrate, cwd=ROOT, env=environment, check=True)
            making.rename(path)
    return path


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
