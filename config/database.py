"""How connections begin, and what a command or a request says in place of a traceback where the database, not the
program, is the matter."""

from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.db.backends.signals import connection_created
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.dispatch import receiver

# SQLite's result codes: busy, locked, no memory, read-only, input or output, full, cannot open, protocol. Its other
# OperationalErrors, such as a missing table, are faults of the program.
SQLITE_AWAY = {5, 6, 7, 8, 10, 13, 14, 15}


@receiver(connection_created)
def expect_all_rows(connection, **kwargs) -> None:
    """Where rows are fetched in parts, PostgreSQL expects that few of them are, and looks millions up one by one."""
    if connection.vendor == "postgresql":
        connection.connection.execute("SET cursor_tuple_fraction = 1")


def is_away(error: BaseException) -> bool:
    """Whether an error says that the database cannot be reached or used."""
    if not isinstance(error, DatabaseError | InterfaceError):
        return False
    code = getattr(error.__cause__ or error, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in SQLITE_AWAY
    return isinstance(error, OperationalError | InterfaceError)


def why_it_cannot_be_used() -> str:
    """A sentence; empty where the database answers and has all its tables."""
    connection.close()
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        return f"The database (DATABASE_URL) cannot be reached: {' '.join(str(error).split())}"
    executor = MigrationExecutor(connection)
    if older := why_too_old(executor.loader):
        return older
    if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return ""
    place = connection.settings_dict["NAME"]
    return f"The database {place} lacks tables: `manage.py migrate` makes them, `make demo` with data to try"


def why_too_old(loader: MigrationLoader) -> str:
    """A sentence where the database has only some of the migrations that one replaces, which are no longer here: Django
    would pass over its tables without a word."""
    for replacing in loader.replacements.values():
        applied = [key[1] for key in replacing.replaces if key in loader.applied_migrations]
        if 0 < len(applied) < len(replacing.replaces):
            return (
                "The database is from before version 0.1.0: its last migration of "
                f"{replacing.app_label} is {max(applied)}. Run `manage.py migrate` of Assay 0.1.0 on it first, or "
                "carry its projects into a new database by releases or exports. Nothing was changed."
            )
    return ""
