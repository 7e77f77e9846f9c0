"""The guidelines next to the item, where there is room: open at first, searched, resized, and remembered."""

import pytest
from playwright.sync_api import expect

from annotation.projects.guidelines import publish

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WIDE = {"width": 1500, "height": 900}
TEXT = "# Judge\n\nRead *twice*, judge once. Then read again.\n\n> Claim: the harbour froze."


@pytest.fixture
def guided(project):
    publish(project, project.created_by, TEXT)
    return project


def test_guidelines_open_beside_the_first_item_and_stay_as_they_were_left(label, guided, ann):
    page = label(guided, ann, viewport=WIDE)
    pane, grip = page.page.locator("[data-pane]"), page.page.locator("[data-pane-grip]")
    expect(pane).to_contain_text("Read twice, judge once.")
    expect(page.page.locator("#stage [data-item]")).to_be_visible()
    width = pane.bounding_box()["width"]
    grip.focus()
    page.press("ArrowLeft", "ArrowLeft")
    assert pane.bounding_box()["width"] == width + 32
    assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.page.reload()
    expect(pane).to_be_visible()
    assert pane.bounding_box()["width"] == width + 32
    page.page.locator("body").press("g")
    expect(pane).to_be_hidden()
    page.page.reload()
    page.page.wait_for_function("performance.getEntriesByName('assay:shown').length")
    expect(pane).to_be_hidden()
    page.press("g")
    expect(pane).to_be_visible()
    page.answer("1", "6")
    page.is_saved()


def test_an_example_looks_the_same_where_guidelines_are_written(label, guided, ann, open_context):
    page = label(guided, ann, viewport=WIDE)
    writer = open_context(guided.created_by, viewport=WIDE).new_page()
    writer.goto(f"/projects/{guided.slug}/guidelines/")
    look = "one => ['border', 'padding', 'borderRadius'].map((name) => getComputedStyle(one)[name])"
    looks = [one.locator(".prose blockquote").first.evaluate(look) for one in (page.page, writer)]
    assert looks[0] == looks[1] and looks[0][2] == "12px"


def test_guidelines_are_searched_without_answering_the_item(label, guided, ann):
    page = label(guided, ann, viewport=WIDE)
    search, found = page.page.locator("[data-pane-search]"), page.page.locator("[data-pane-found]")
    search.fill("READ")
    expect(found).to_have_text("1 of 2")
    expect(page.page.locator("[data-pane] mark")).to_have_count(2)
    search.press("Enter")
    expect(found).to_have_text("2 of 2")
    search.fill("nothing of the kind")
    expect(found).to_have_text("Not found")
    search.fill("1")
    assert page.chosen() == []
    search.fill("")
    expect(page.page.locator("[data-pane] mark")).to_have_count(0)


def test_a_window_that_becomes_narrow_has_the_dialog_instead(label, guided, ann):
    page = label(guided, ann, viewport=WIDE)
    page.page.set_viewport_size({"width": 390, "height": 800})
    expect(page.page.locator("[data-pane]")).to_be_hidden()
    page.press("g")
    expect(page.page.locator('dialog[data-dialog="guidelines"]')).to_contain_text("Read twice")
