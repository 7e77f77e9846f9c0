import pytest
from django.db import connection
from django.utils import timezone

from annotation import statements
from annotation.models import Assignment, Project
from tests.factories import make_claim_evidence, make_dataset, make_project

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


@pytest.fixture
def row():
    dataset = make_dataset()
    make_claim_evidence(dataset, 1)
    return Assignment.objects.get(project=make_project(dataset, overlap=1))


def values_of(instance) -> dict:
    return {field.attname: getattr(instance, field.attname) for field in instance._meta.concrete_fields}


def test_a_row_read_by_hand_has_the_values_that_the_orm_gives_whatever_the_order_of_columns(row):
    statements.store(row, exposure=[{"run": "r", "suggestions": 2}], leased_at=timezone.now(), returned=True)
    columns = [field.column for field in reversed(Assignment._meta.concrete_fields)]
    quoted = ", ".join(connection.ops.quote_name(column) for column in columns)
    statement = f"SELECT 7 AS more, {quoted} FROM annotation_assignment WHERE id = %s"
    found = statements.first(Assignment, statement, [row.pk])
    assert found.more == 7
    assert values_of(found) == values_of(Assignment.objects.get(pk=row.pk)) == values_of(row)
    assert not found._state.adding
    project = statements.first(Project, "SELECT * FROM annotation_project WHERE id = %s", [row.project_id])
    assert values_of(project) == values_of(Project.objects.get())


def test_no_row_is_none(row):
    assert statements.first(Assignment, "SELECT * FROM annotation_assignment WHERE id = %s", [0]) is None


def test_only_the_named_fields_are_stored(row):
    Assignment.objects.filter(pk=row.pk).update(skip_reason="stored meanwhile")
    statements.store(row, returned=True)
    assert Assignment.objects.values_list("returned", "skip_reason").get() == (True, "stored meanwhile")
