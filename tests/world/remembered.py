"""Worlds from which many tests start, kept as rows: putting them back takes a small part of the time of building."""

import functools
import pickle
from collections.abc import Callable, Iterator

from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import connection, transaction

from annotation.models import Dataset


def remembered(build: Callable) -> Callable:
    """A function that fills an empty SQLite database. Its second call with the same arguments puts the rows of the
    first back, and returns what it returned as it was then. Where there is something already it builds as ever."""
    kept: dict[bytes, tuple[list[str], bytes]] = {}

    @functools.wraps(build)
    def world(*arguments, **options):
        if connection.vendor != "sqlite" or Dataset.objects.exists() or get_user_model().objects.exists():
            return build(*arguments, **options)
        key = pickle.dumps((arguments, options))
        if key not in kept:
            made = build(*arguments, **options)
            kept[key] = list(_inserts()), pickle.dumps(made)
            return made
        statements, made = kept[key]
        with transaction.atomic(), connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
        return pickle.loads(made)

    return world


def _inserts() -> Iterator[str]:
    """The rows as SQLite itself writes them, which no conversion touches."""
    with connection.cursor() as cursor:
        for model in apps.get_models(include_auto_created=True):
            if model._meta.app_label in ("contenttypes", "sites") or model._meta.model_name == "permission":
                continue  # there before any test
            table = connection.ops.quote_name(model._meta.db_table)
            columns = [connection.ops.quote_name(field.column) for field in model._meta.local_concrete_fields]
            written = " || ',' || ".join(f"quote({column})" for column in columns)
            rows = [row for (row,) in cursor.execute(f"SELECT {written} FROM {table}").fetchall()]
            if rows:
                yield f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({'), ('.join(rows)})"
