"""Reading: the claim stays in sight, shared words are lit, places are announced, forced colours show it all."""

import pytest
from playwright.sync_api import expect

from tests.factories import make_claim_evidence, make_dataset, make_project
from tests.web.pages import eventually

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LIT = """[...(CSS.highlights.get("shared-words") ?? [])]
  .map(({startContainer: {data}, startOffset, endOffset}) => data.slice(startOffset, endOffset))"""


@pytest.fixture
def project(ann):
    dataset = make_dataset()
    text = "The HARBOUR of a town was open. " + "Nothing else is said here, line after line.\n" * 300
    make_claim_evidence(dataset, 3, texts=[text] * 3)
    return make_project(dataset, overlap=1, annotators=[ann])


def test_the_claim_stays_in_sight_on_at_most_a_third_of_the_height(label, project, ann):
    for width, height in ((1280, 800), (390, 844)):
        page = label(project, ann, viewport={"width": width, "height": height})
        page.page.mouse.move(200, 300)
        page.page.mouse.wheel(0, 4000)
        eventually(page.page, lambda page=page: page.page.evaluate("scrollY > 1000"), True)
        box = page.page.locator('.claim [data-field="claim"]').bounding_box()
        sheet = page.page.locator("section.claim").bounding_box()
        assert 0 <= box["y"] < height / 3 and sheet["height"] <= height / 3 + 1
        assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_shared_words_are_lit_where_the_person_asks_for_it_and_stay_so(label, project, ann):
    page = label(project, ann)
    assert page.page.evaluate(LIT) == []
    page.press("=")
    button = page.page.get_by_role("button", name="Light shared words")
    expect(button).to_have_attribute("aria-pressed", "true")
    lit = page.page.evaluate(LIT)
    assert {"HARBOUR", "harbour", "town"} == set(lit)  # and no "the" or "of"
    page.page.reload()
    expect(button).to_have_attribute("aria-pressed", "true")
    eventually(page.page, lambda: sorted(set(page.page.evaluate(LIT))), ["HARBOUR", "harbour", "town"])
    button.click()
    assert page.page.evaluate(LIT) == []


def test_an_item_announces_its_place_and_how_it_begins(label, project, ann):
    page = label(project, ann)
    expect(page.page.locator("[data-announce]")).to_contain_text("Item 1 of 3. Claim: Claim 0")
    expect(page.page.get_by_role("article", name="Item 1 of 3")).to_be_visible()
    page.answer("2")
    expect(page.page.get_by_role("article", name="Item 2 of 3")).to_be_visible()


def test_marks_focus_and_answers_are_visible_in_forced_colours(label, project, ann):
    page = label(project, ann, forced_colors="active")
    page.press("1", "6", "h", "ArrowRight", "Enter", "Escape")
    assert page.chips() == ["HARBOUR"]
    style = """element => {
      const { backgroundColor, color, textDecorationLine } = getComputedStyle(element);
      return [backgroundColor, color, textDecorationLine];
    }"""
    mark = page.page.locator("mark.chosen").first.evaluate(style)
    around = page.page.locator('[data-field="evidence"]').evaluate(style)
    chosen = page.page.locator(".choice:has(:checked)").first.evaluate(style)
    other = page.page.locator(".choice:not(:has(:checked))").first.evaluate(style)
    assert mark[0] != around[0] and mark[2] == "underline" and chosen[0] != other[0]
    border = "element => getComputedStyle(element).borderInlineStartColor"
    page.press("ArrowUp")
    current, group = page.page.locator(".group.is-current"), page.page.locator(".group:not(.is-current)").first
    assert current.evaluate(border) != group.evaluate(border)
