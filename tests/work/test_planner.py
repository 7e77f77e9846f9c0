"""The database's planner knows at once of tables that have just become large."""

import pytest
from django.db import connection

from annotation.projects import item_making
from tests.factories import make_claim_evidence, make_dataset, make_project

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


def known_items() -> int | None:
    """How many items the planner expects."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT reltuples FROM pg_class WHERE relname = 'annotation_item'")
        elif "sqlite_stat1" in connection.introspection.table_names(cursor):
            cursor.execute("SELECT MAX(CAST(stat AS INTEGER)) FROM sqlite_stat1 WHERE tbl = 'annotation_item'")
        else:
            return None
        return cursor.fetchone()[0]


@pytest.mark.parametrize(("n", "is_told"), [(6, True), (5, False)])
def test_making_many_items_tells_the_planner(n, is_told, monkeypatch):
    monkeypatch.setattr(item_making, "MANY_ROWS", 6)
    dataset = make_dataset()
    make_claim_evidence(dataset, n)
    assert make_project(dataset).items.count() == n
    assert (known_items() == n) == is_told
