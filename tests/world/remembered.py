"""Worlds from which many tests start, kept as rows: putting them back takes a small part of the time of building."""

import functools
import pickle
from collections.abc import Callable, Iterator

from django.contrib.auth import get_user_model
from django.db import connection, transaction

from annotation.models import Dataset
from tests.own_database import tables_of_tests


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
        for table, columns in tables_of_tests():
            written = " || ',' || ".join(f"quote({column})" for column in columns)
            rows = [row for (row,) in cursor.execute(f"SELECT {written} FROM {table}").fetchall()]
            if rows:
                yield f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({'), ('.join(rows)})"
