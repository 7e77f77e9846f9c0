"""Instants that were stored before anything looked at their range: pages, exports and reports work again after it."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.db import connection

from annotation.models import Assignment, Revision
from tests import factories
from tests.world import label_one

pytestmark = pytest.mark.django_db
BAD = {"postgresql": "10000-01-01 13:59:59+00", "sqlite": "9999-12-31 23:59:59"}


def test_instants_out_of_range_are_cleared_with_a_note():
    ann = factories.make_user("ann")
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 3)
    assignment = label_one(factories.make_project(dataset, annotators=[ann]), ann)
    bad = BAD[connection.vendor]
    Revision.objects.update(metadata={"kept": 1}, submitted_at="2026-01-01T00:00:00Z")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE annotation_revision SET shown_at = %s", [bad])
        cursor.execute("UPDATE annotation_assignment SET shown_at = %s, suggestions_shown_at = %s", [bad, bad])
    migration = import_module("annotation.migrations.0010_instants_in_range")
    migration.clear_instants(None, SimpleNamespace(connection=connection))

    [revision] = Revision.objects.all()
    assert (revision.shown_at, revision.submitted_at.year) == (None, 2026)
    assert revision.metadata["kept"] == 1 and revision.metadata["shown_at_out_of_range"].startswith(bad[:16])
    held = Assignment.objects.get(pk=assignment.pk)
    assert held.shown_at == held.leased_at == held.suggestions_shown_at
