"""What a command or a request says in place of a traceback where the database, not the program, is the matter."""

from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

# SQLite's result codes: busy, locked, no memory, read-only, input or output, full, cannot open, protocol. Its other
# OperationalErrors, such as a missing table, are faults of the program.
SQLITE_AWAY = {5, 6, 7, 8, 10, 13, 14, 15}


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
    if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return ""
    place = connection.settings_dict["NAME"]
    return f"The database {place} lacks tables: `manage.py migrate` makes them, `make demo` with data to try"
