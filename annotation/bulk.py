"""Many rows at once: COPY on PostgreSQL, executemany on SQLite. For imports and for making items.

Ids are reserved beforehand, so that rows of several tables that point at each other need no query in between.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from django.db import connection, models, transaction
from django.utils import timezone

# From so many new rows on, PostgreSQL's statistics are updated at once.
MANY_ROWS = 5000
# Fields whose Python value is what the driver takes; the others go through Django's conversion.
_PLAIN = {
    "postgresql": (
        models.CharField,
        models.TextField,
        models.IntegerField,
        models.FloatField,
        models.BooleanField,
        models.ForeignKey,
        models.DateField,
        models.UUIDField,
    ),
    "sqlite": (
        models.CharField,
        models.TextField,
        models.IntegerField,
        models.FloatField,
        models.BooleanField,
        models.ForeignKey,
    ),
}


def batches(rows: Iterable, size: int) -> Iterator[list]:
    """The rows in lists of at most `size`."""
    rows = iter(rows)
    while batch := list(islice(rows, size)):
        yield batch


def reserve_ids(model: type[models.Model], count: int) -> list[int]:
    """`count` new primary keys. On SQLite call it inside the transaction that inserts the rows."""
    if count == 0:
        return []
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
                [connection.ops.quote_name(table), count],
            )
            return [row[0] for row in cursor.fetchall()]
        if not connection.in_atomic_block:
            raise transaction.TransactionManagementError("Reserving ids on SQLite needs a transaction around it")
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        fetched = cursor.fetchone()
        first = (fetched[0] if fetched else 0) + 1
        return list(range(first, first + count))


def bulk_insert(model: type[models.Model], rows: Iterable[Sequence], fields: Sequence[str]) -> int:
    """Insert `rows`, whose values stand in the order of `fields` (names or attnames such as `item_id`; foreign keys
    as ids). Fields not named get their defaults. Returns the number of rows. Signals are not sent."""
    rows = list(rows)
    if not rows:
        return 0
    plan = _plan(model, fields)
    convert = [(index, function) for index, function in enumerate(plan.converters) if function is not None]

    def values():
        for row in rows:
            complete = [*row, *plan.constants, *[make() for make in plan.makers]]
            for index, function in convert:
                complete[index] = function(complete[index])
            yield complete

    quote = connection.ops.quote_name
    table, names = quote(model._meta.db_table), ", ".join(quote(column) for column in plan.columns)
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in values():
                    copy.write_row(row)
        else:
            places = ", ".join(["%s"] * len(plan.columns))
            cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({places})", values())
    return len(rows)


def insert_rows(model: type[models.Model], rows: Sequence[Sequence], fields: tuple[str, ...]) -> list[int]:
    """Insert a few `rows` in one statement, which is not built anew each time, and return their ids in the same order.
    As in `bulk_insert`, but a field that keeps the time of its writing has to be named."""
    table, plan = _insertion(model, fields, connection.vendor)
    values = []
    for row in rows:
        values += [
            value if convert is None else convert(value) for value, convert in zip(row, plan.converters, strict=True)
        ]
        values += [*plan.constants, *[make() for make in plan.makers]]
    places = f"({', '.join(['%s'] * len(plan.columns))})"
    with connection.cursor() as cursor:
        cursor.execute(f"{table} VALUES {', '.join([places] * len(rows))} RETURNING id", values)
        return [pk for (pk,) in cursor.fetchall()]


@lru_cache
def _insertion(model: type[models.Model], fields: tuple[str, ...], vendor: str) -> "tuple[str, RowPlan]":
    plan = _plan(model, fields)
    timed = [field.column for field in model._meta.concrete_fields if getattr(field, "auto_now_add", False)]
    if left_out := set(timed) - set(plan.columns[: len(fields)]):
        raise ValueError(f"{model.__name__}: {', '.join(left_out)} must be among the fields")
    quote = connection.ops.quote_name
    names = ", ".join(quote(column) for column in plan.columns)
    return f"INSERT INTO {quote(model._meta.db_table)} ({names})", plan


@dataclass(frozen=True)
class RowPlan:
    """Columns in the order of a row: those given, those with one value for all rows, those made anew for each."""

    columns: list[str]
    converters: list[Callable | None]  # of the given columns; None where the driver takes the value as it is
    constants: list
    makers: list[Callable]


def _plan(model, fields) -> RowPlan:
    meta = model._meta
    by_name = {name: field for field in meta.concrete_fields for name in (field.name, field.attname)}
    fields_set = [by_name[name] for name in fields]
    missing = [field for field in meta.concrete_fields if field not in fields_set and not field.primary_key]
    constant = [field for field in missing if not _is_made_anew(field)]
    made_anew = [field for field in missing if _is_made_anew(field)]
    return RowPlan(
        [field.column for field in (*fields_set, *constant, *made_anew)],
        [_converter(field) for field in fields_set],
        [field.get_db_prep_save(_default(field), connection) for field in constant],
        [_maker(field) for field in made_anew],
    )


def _is_made_anew(field) -> bool:
    """Whether the default differs from row to row. An empty list or object, written out, is the same for all."""
    return field.has_default() and callable(field.default) and field.default not in (list, dict)


def _converter(field):
    if isinstance(field, _PLAIN[connection.vendor]) and not isinstance(field, models.JSONField):
        return None
    if isinstance(field, models.JSONField):
        return _json_converter(field)
    return lambda value: field.get_db_prep_save(value, connection)


def _json_converter(field):
    """Most rows have nothing there, which is written out once."""
    empty = {kind: field.get_db_prep_save(kind(), connection) for kind in (dict, list)}

    def convert(value):
        return empty[type(value)] if not value and type(value) in empty else field.get_db_prep_save(value, connection)

    return convert


def _maker(field):
    convert = _converter(field)
    return field.default if convert is None else lambda: convert(field.default())


def _default(field):
    if getattr(field, "auto_now_add", False) or getattr(field, "auto_now", False):
        return timezone.now()
    if not field.has_default() and not field.null and not field.empty_strings_allowed:
        raise ValueError(f"{field.model.__name__}.{field.name} has no default and needs a value")
    return field.get_default()


def refresh_statistics(*changed: type[models.Model]) -> None:
    """Tell the planner at once about tables that have just become large. PostgreSQL's would notice a minute later, and
    until then join them row by row: for minutes, where a second will do. SQLite's would never."""
    with connection.cursor() as cursor:
        for model in changed:
            cursor.execute(f'ANALYZE "{model._meta.db_table}"')
