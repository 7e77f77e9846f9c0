"""The database of a backup: a snapshot of one moment while others write, and putting it into an empty database.

SQLite's is a file, by its backup API. PostgreSQL's is one file per table, by COPY in one transaction, which needs no
client programs of the server's version; the tables themselves are made by the migrations that the backup names.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from django.db import connection, connections, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from config.backup.archive import BLOCK, BackupError

MIGRATIONS = MigrationRecorder.Migration._meta.db_table
SQLITE_FILE = "assay.sqlite3"


@dataclass
class Snapshot:
    migrations: list[list[str]]
    rows: dict[str, int]
    columns: dict[str, list[str]] = field(default_factory=dict)


class Database(Protocol):
    def snapshot(self, folder: Path) -> Snapshot:
        """Write files into an empty folder."""

    def restore(self, folder: Path, snapshot: Snapshot) -> None:
        """From such files into an empty database; all of it or nothing."""


def is_empty() -> bool:
    with connection.cursor() as cursor:
        return not connection.introspection.table_names(cursor)


class SQLite:
    def snapshot(self, folder: Path) -> Snapshot:
        connection.ensure_connection()
        with closing(sqlite3.connect(folder / SQLITE_FILE)) as copy:
            connection.connection.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file
            problem = copy.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if problem != "ok":
                raise BackupError(f"The database is damaged: {problem}. Restore an earlier backup")
            return Snapshot(
                [list(row) for row in copy.execute(f"SELECT app, name FROM {MIGRATIONS} ORDER BY app, name")],
                self._rows(copy),
            )

    @staticmethod
    def _rows(copy: sqlite3.Connection) -> dict[str, int]:
        listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
        return {
            name: copy.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
            for (name,) in copy.execute(listed).fetchall()
        }

    def restore(self, folder: Path, snapshot: Snapshot) -> None:
        place, source = Path(connection.settings_dict["NAME"]), folder / SQLITE_FILE
        with closing(sqlite3.connect(source)) as copy:
            if self._rows(copy) != snapshot.rows:
                raise BackupError("The database in the backup has other rows than its manifest says")
        connections.close_all()
        for path in (place, *(place.with_name(place.name + more) for more in ("-wal", "-shm"))):
            path.unlink(missing_ok=True)  # an empty one
        new = place.with_name(f"{place.name}.restoring")
        shutil.copyfile(source, new)
        with new.open("rb") as file:
            os.fsync(file.fileno())
        new.rename(place)


class PostgreSQL:
    def snapshot(self, folder: Path) -> Snapshot:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute(f"SELECT app, name FROM {MIGRATIONS} ORDER BY app, name")
            found = Snapshot([list(row) for row in cursor.fetchall()], {})
            for table in connection.introspection.table_names(cursor):
                if table == MIGRATIONS:
                    continue
                found.columns[table] = self._columns(cursor, table)
                with (
                    gzip.open(folder / f"{table}.copy.gz", "wb", compresslevel=1) as out,
                    cursor.copy(f"COPY {_listed(table, found.columns[table])} TO STDOUT") as copy,
                ):
                    for data in copy:
                        out.write(data)
                found.rows[table] = cursor.rowcount
            return found

    def restore(self, folder: Path, snapshot: Snapshot) -> None:
        applied = {tuple(one) for one in snapshot.migrations}
        executor = MigrationExecutor(connection)
        graph = executor.loader.graph
        nodes = {node for node in graph.nodes if node in applied}
        last = [
            node
            for node in nodes
            if not any(child.key in nodes and child.key[0] == node[0] for child in graph.node_map[node].children)
        ]
        with transaction.atomic(), connection.cursor() as cursor:
            executor.migrate(sorted(last))
            tables = [one for one in connection.introspection.table_names(cursor) if one != MIGRATIONS]
            if missing := sorted(snapshot.columns.keys() - set(tables)):
                raise BackupError(f"The migrations of this version make no table {missing[0]}, which the backup has")
            cursor.execute(f"TRUNCATE {', '.join(map(_quoted, tables))}")  # what migrations wrote themselves
            for table, columns in snapshot.columns.items():
                with (
                    gzip.open(folder / f"{table}.copy.gz", "rb") as source,
                    cursor.copy(f"COPY {_listed(table, columns)} FROM STDIN") as copy,
                ):
                    while data := source.read(BLOCK):
                        copy.write(data)
                if cursor.rowcount != snapshot.rows[table]:
                    raise BackupError(f"The table {table} has other rows in the backup than its manifest says")
                self._set_sequences(cursor, table, columns)

    @staticmethod
    def _columns(cursor, table: str) -> list[str]:
        """All that are stored as they are."""
        cursor.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema()"
            " AND table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position",
            [table],
        )
        return [name for (name,) in cursor.fetchall()]

    @staticmethod
    def _set_sequences(cursor, table: str, columns: list[str]) -> None:
        """New rows get numbers after those that are there."""
        for column in columns:
            cursor.execute("SELECT pg_get_serial_sequence(%s, %s)", [_quoted(table), column])
            if sequence := cursor.fetchone()[0]:
                last = f"(SELECT max({_quoted(column)}) FROM {_quoted(table)})"
                cursor.execute(f"SELECT setval(%s, coalesce({last}, 1), {last} IS NOT NULL)", [sequence])


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)


def _listed(table: str, columns: list[str]) -> str:
    return f"{_quoted(table)} ({', '.join(map(_quoted, columns))})"


_DATABASES: dict[str, Database] = {"sqlite": SQLite(), "postgresql": PostgreSQL()}


def current() -> Database:
    return _DATABASES[connection.vendor]
