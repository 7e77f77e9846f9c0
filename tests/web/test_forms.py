"""Forms of ordinary pages in Chromium."""

import pytest
from playwright.sync_api import expect

from annotation.models import Job
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_two_clicks_send_a_form_once(open_context):
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 1)
    project = factories.make_project(dataset)
    page = open_context(project.created_by).new_page()
    page.goto(f"/projects/{project.slug}/exports/")
    exports, waiting = Job.objects.filter(kind=Job.Kind.EXPORT), page.get_by_text("waiting for a worker")
    page.get_by_role("button", name="Export", exact=True).dblclick()
    expect(waiting).to_have_count(1)
    assert exports.count() == 1
    page.get_by_role("button", name="Export", exact=True).click()  # one more is wanted
    expect(waiting).to_have_count(2)
    assert exports.count() == 2
