"""Whether the code of this process and the database have the same migrations.

After an upgrade, processes that were not restarted have the old code and processes that started before `migrate` have
old tables; neither may write.
"""

from __future__ import annotations

import time
from functools import cache

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

OWN = ("analysis", "annotation")
Migration = tuple[str, str]  # app and name
# How long an answer holds: a worker asks before each turn of work.
HOLDS_SECONDS = 10.0
_asked: tuple[float, str] = (0.0, "")


@cache
def code_migrations() -> tuple[frozenset[Migration], frozenset[Migration]]:
    """The migrations of the code, and those that some of them replace. Read once, early: an upgrade changes the files
    under a process that still runs the old code."""
    found = MigrationLoader(None).disk_migrations
    replaced = frozenset(one for migration in found.values() for one in migration.replaces)
    return frozenset(found) - replaced, replaced


def applied_migrations() -> frozenset[Migration]:
    return frozenset(MigrationRecorder(connection).applied_migrations())


def unknown_migrations(applied: frozenset[Migration]) -> list[Migration]:
    """Of Assay's own migrations those that this code does not have, in order."""
    known, replaced = code_migrations()
    return sorted(one for one in applied - known - replaced if one[0] in OWN)


def why_they_differ() -> str:
    """What differs and what to do, in two sentences; empty where nothing does. One query."""
    applied = applied_migrations()
    known, _ = code_migrations()
    if unknown := unknown_migrations(applied):
        return (
            f"The database has the migration {'.'.join(unknown[-1])}, which the code of this process does not have. "
            "Restart the process with the newer version of Assay."
        )
    if missing := sorted(known - applied):
        count = "1 migration" if len(missing) == 1 else f"{len(missing)} migrations"
        return f"The database lacks {count}, the last being {'.'.join(missing[-1])}. Run `manage.py migrate`."
    return ""


def why_to_wait() -> str:
    """The same for workers, asked at most once in ten seconds."""
    global _asked
    now = time.monotonic()
    if not _asked[0] or now - _asked[0] > HOLDS_SECONDS:
        _asked = now, why_they_differ()
    return _asked[1]
