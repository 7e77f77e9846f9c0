"""How connections to the database begin."""

import pytest
from django.db import connection


@pytest.mark.on_postgresql
@pytest.mark.django_db
def test_rows_in_parts_are_planned_as_if_all_of_them_were_fetched():
    if connection.vendor != "postgresql":
        pytest.skip("only PostgreSQL plans for it")
    with connection.cursor() as cursor:
        cursor.execute("SHOW cursor_tuple_fraction")
        assert cursor.fetchone() == ("1",)
