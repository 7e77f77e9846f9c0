"""Checks of the database: whether it answers, what it is, and whether it has the migrations of the code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from django.db import DatabaseError, connection
from django.template.defaultfilters import filesizeformat

from annotation.jobs.versions import why_they_differ
from config.health.findings import Finding, error, ok, warning


def check_database() -> Iterator[Finding]:
    try:
        connection.ensure_connection()
        with connection.cursor() as cursor:
            yield from _OF_VENDOR[connection.vendor](cursor)
    except DatabaseError as problem:
        yield error(
            f"The database cannot be reached: {' '.join(str(problem).split())}",
            "Start the database server, or correct DATABASE_URL.",
        )


def _of_sqlite(cursor) -> Iterator[Finding]:
    place = Path(connection.settings_dict["NAME"])
    mode = cursor.execute("PRAGMA journal_mode").fetchone()[0]
    version = ".".join(map(str, connection.Database.sqlite_version_info))
    size = filesizeformat(place.stat().st_size).replace("\xa0", " ")
    yield ok(f"SQLite {version}, {place}, {size}, journal mode {mode}")
    if mode != "wal":
        yield warning(
            "Readers and writers block each other, because the file system cannot have a write-ahead log",
            "Put the database on a local disk (ASSAY_DATA_DIR or DATABASE_URL).",
        )


def _of_postgresql(cursor) -> Iterator[Finding]:
    cursor.execute("SELECT current_setting('server_version'), current_database(), pg_database_size(current_database())")
    version, name, size = cursor.fetchone()
    size = filesizeformat(size).replace("\xa0", " ")
    yield ok(f"PostgreSQL {version.split()[0]}, {name}, {size}")


_OF_VENDOR = {"sqlite": _of_sqlite, "postgresql": _of_postgresql}


def check_migrations() -> Iterator[Finding]:
    if difference := why_they_differ():
        what, _, todo = difference.partition(". ")
        yield error(what, todo)
    else:
        yield ok("The database has the migrations of this version")
