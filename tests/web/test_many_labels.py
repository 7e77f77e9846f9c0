"""A question with a thousand labels: they are searched by keyboard, and the pages stay within bounds."""

import gzip

import pytest
from playwright.sync_api import expect

from tests.factories import join, make_label_set_project, make_user
from tests.web.pages import LabellingPage, stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def intents(n: int = 1_000) -> dict:
    """A label set with n labels in groups of fifty."""
    labels = [
        {"value": f"intent_{place}", "title": f"Intent {place}", "group": f"Domain {place // 50}"} for place in range(n)
    ]
    question = {"slug": "intent", "title": "Intent", "labels": labels}
    return {"name": "Intents", "version": 1, "page": "claim", "summary": "", "questions": [question]}


def size_of(answer) -> int:
    """Of a page or of JSON, compressed as a proxy does."""
    is_page = answer.ok and answer.headers.get("content-type", "").startswith(("text/html", "application/json"))
    return len(gzip.compress(answer.body())) if is_page else 0


def test_a_label_among_a_thousand_is_found_by_its_words_and_chosen_with_enter(open_context):
    anna = make_user("anna")
    project = make_label_set_project(intents(), ["My card has not come.", "Where is my money?"], slug="intents")
    join(project, anna)
    page, sizes = open_context(anna).new_page(), []

    def measure(answer):
        sizes.append(size_of(answer))

    page.on("response", measure)
    work = LabellingPage(page, project).open()
    page.remove_listener("response", measure)
    field = work.page.get_by_role("searchbox", name="Find a label of Intent")
    work.press("t")
    expect(field).to_be_focused()
    work.page.keyboard.type("domain 14 73")
    expect(work.page.locator("[data-found]")).to_have_text("10 found")  # 730 to 739
    visible = work.page.locator(".many .choice:visible")
    expect(visible).to_have_count(10)
    expect(work.page.locator("[data-label-group]:visible")).to_have_text(["Domain 14"])
    work.press("ArrowDown", "Enter")
    expect(work.page.get_by_role("radio", name="Intent 731", exact=True)).to_be_checked()
    expect(visible).to_have_count(1_000)
    first = work.answer()
    work.press("t")
    work.page.keyboard.type("nowhere")
    expect(work.page.locator("[data-found]")).to_have_text("0 found")
    work.press("Enter", "Escape")  # chooses and submits nothing
    expect(work.page.locator("[data-status]")).to_have_text("Choose: Intent")
    expect(visible).to_have_count(1_000)
    work.press("t")
    work.page.keyboard.type("intent 99")  # words of Intent 199, too
    expect(work.page.locator("[data-found]")).to_have_text("19 found")
    work.press("Enter")
    expect(work.page.get_by_role("radio", name="Intent 99", exact=True)).to_be_checked()
    work.page.locator(".many .choice").nth(5).click()
    second = work.answer()
    work.is_saved()
    assert (stored(first, anna), stored(second, anna)) == ({"intent": "intent_731"}, {"intent": "intent_5"})
    assert sizes and max(sizes) < 60_000
