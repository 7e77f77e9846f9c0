"""The API's description as a page: Swagger UI in a real Chromium, under the Content-Security-Policy."""

import pytest
from playwright.sync_api import expect

from annotation.models import Dataset
from tests.factories import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_page_describes_the_api_and_sends_requests_of_whoever_is_signed_in(open_context):
    """`open_context` fails where a script has an error or breaks the policy."""
    page = open_context(make_user("rosa", is_staff=True)).new_page()
    page.goto("/api/v1/docs/")
    made = page.locator("#operations-datasets-post_datasets")
    expect(made).to_contain_text("A new data set, without content")
    made.locator("button.opblock-summary-control").click()
    made.get_by_role("button", name="Try it out").click()
    made.locator("textarea").fill('{"title": "Snow", "slug": "snow"}')
    made.get_by_role("button", name="Execute").click()
    expect(made.locator(".live-responses-table .response-col_status").last).to_contain_text("201")
    assert Dataset.objects.get().slug == "snow"
