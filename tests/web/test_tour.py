"""The tour of the labelling page: offered once, done with the keyboard alone, and no answer to anything."""

import pytest
from playwright.sync_api import expect

from annotation.models import Revision

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_tour_is_offered_with_the_first_guidelines_and_done_by_keyboard(label, project, ann):
    page = label(project, ann, acknowledges=False)
    offer = page.notice.get_by_role("button", name="Take the tour")
    tour = page.page.locator('dialog[data-dialog="tour"]')
    offer.click()
    expect(tour).to_contain_text("First read the text")
    page.press("Enter", "Enter")
    expect(tour).to_contain_text("Press 1 or 2, or click on a label")
    page.press("1")
    expect(tour.locator('[data-tour-step="submit"]')).to_be_visible()
    page.press("Enter")
    expect(tour).to_contain_text("Step 4 of 4")
    page.press("Enter")
    expect(tour).to_be_hidden()
    assert not Revision.objects.exists()
    expect(offer).to_be_hidden()
    page.page.reload()
    expect(page.notice).to_be_visible()
    expect(offer).to_be_hidden()
    page.acknowledge()
    expect(page.page.locator("#stage [data-item]")).to_be_visible()
    page.press("?")
    page.page.get_by_role("button", name="Take the tour").click()
    expect(tour).to_be_visible()
    page.press("Escape")
    expect(tour).to_be_hidden()
    assert page.chosen() == []
