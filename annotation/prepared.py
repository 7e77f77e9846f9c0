"""Statements that PostgreSQL plans once for each connection, not each time that they come."""

from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.db import connection

# The second time that a connection sees a statement, it is prepared.
STATEMENTS_SEEN = 1


def prepares_statements(view: Callable) -> Callable:
    """For a view that runs few different statements, often: planning them takes longer than all else that PostgreSQL
    does for an answer."""

    @wraps(view)
    def answer(*args, **kwargs):
        if connection.vendor != "postgresql" or not settings.PREPARED_STATEMENTS:
            return view(*args, **kwargs)
        from django.db.backends.postgresql.base import ServerBindingCursor  # needs psycopg

        connection.ensure_connection()
        used = connection.connection
        before = used.cursor_factory, used.prepare_threshold
        used.cursor_factory, used.prepare_threshold = ServerBindingCursor, STATEMENTS_SEEN
        try:
            return view(*args, **kwargs)
        finally:
            used.cursor_factory, used.prepare_threshold = before

    return answer
