"""Statements that run with every answer, where building, planning or reading them anew each time costs more than
running them."""

from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import TypeVar

from django.conf import settings
from django.db import connection, models

Row = TypeVar("Row", bound=models.Model)

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


def first(model: type[Row], statement: str, values: Sequence) -> Row | None:
    """The first row of a statement as an instance, with all columns of the model's table; further columns become
    attributes. What `raw()` gives, which works out anew each time where the columns lie."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row = cursor.fetchone()
        if row is None:
            return None
        reading = _reading(connection.vendor, model, tuple(column[0] for column in cursor.description))
    names, places, converters, more = reading
    values = [row[place] for place in places]
    for place, functions, expression in converters:
        for function in functions:
            values[place] = function(values[place], expression, connection)
    instance = model.from_db(connection.alias, names, values)
    for name, place in more:
        setattr(instance, name, row[place])
    return instance


@lru_cache
def _reading(vendor: str, model: type[models.Model], columns: tuple[str, ...]):
    """Names of the fields and their places in a row, what turns their values into Python's, and the other columns."""
    fields = model._meta.concrete_fields
    converters = []
    for number, field in enumerate(fields):
        expression = field.get_col(model._meta.db_table)
        functions = [*connection.ops.get_db_converters(expression), *expression.get_db_converters(connection)]
        if functions:
            converters.append((number, functions, expression))
    own = {field.column for field in fields}
    more = [(name, place) for place, name in enumerate(columns) if name not in own]
    return [field.attname for field in fields], [columns.index(field.column) for field in fields], converters, more


def store(row: models.Model, **changes) -> None:
    """Set these fields of a row, and store them alone."""
    for name, value in changes.items():
        setattr(row, name, value)
    statement, fields = _update(connection.vendor, type(row), tuple(changes))
    values = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(statement, [*values, row.pk])


@lru_cache
def _update(vendor: str, model: type[models.Model], names: tuple[str, ...]) -> tuple[str, list[models.Field]]:
    quote = connection.ops.quote_name
    fields = [model._meta.get_field(name) for name in names]
    changes = ", ".join(f"{quote(field.column)} = %s" for field in fields)
    key = quote(model._meta.pk.column)
    return f"UPDATE {quote(model._meta.db_table)} SET {changes} WHERE {key} = %s", fields
