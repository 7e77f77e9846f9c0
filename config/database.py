"""What a command says in place of a traceback where the database, not the command, is the matter."""

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor


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
