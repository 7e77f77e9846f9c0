"""PostgreSQL's planner knows at once of tables that have just become large."""

import pytest
from django.db import connection

from annotation.bulk import MANY_ROWS
from annotation.models import Assignment, Item, ItemUnit, Unit
from tests.factories import make_claim_evidence, make_dataset, make_project

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.on_postgresql,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="needs PostgreSQL (DATABASE_URL)"),
]


def analyzed() -> list:
    """When each of the tables was last looked at."""
    tables = [model._meta.db_table for model in (Unit, Item, ItemUnit, Assignment)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT last_analyze FROM pg_stat_user_tables WHERE relname = ANY(%s) ORDER BY relname", [tables]
        )
        return [row[0] for row in cursor.fetchall()]


@pytest.mark.parametrize(("n", "is_told"), [(MANY_ROWS, True), (20, False)])
def test_making_many_items_tells_the_planner(n, is_told):
    dataset = make_dataset()
    make_claim_evidence(dataset, n)
    before = analyzed()
    assert make_project(dataset).items.count() == n and len(before) == 4
    assert [now != then for now, then in zip(analyzed(), before, strict=True)] == [is_told] * 4
