"""Highlights that are there: other ends, other labels, removed, done again; by finger too."""

import pytest
from playwright.sync_api import expect

from tests.factories import make_claim_evidence, make_dataset, make_project
from tests.web.pages import PLACE, eventually

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TEXT = "The 👩‍👩‍👧 family saw é (e\u0301) ships leave the harbour."


@pytest.fixture
def project(ann):
    dataset = make_dataset()
    make_claim_evidence(dataset, 2, texts=[TEXT, TEXT])
    return make_project(dataset, overlap=1, annotators=[ann])


@pytest.fixture
def page(label, project, ann):
    page = label(project, ann)
    page.press("1", "6")
    page.drag("evidence", place("ships")[0], place("ships")[1])
    eventually(page.page, page.chips, ["ships"])
    return page


def place(words: str) -> tuple[int, int]:
    start = len(TEXT[: TEXT.index(words)].encode("utf-16-le")) // 2
    return start, start + len(words.encode("utf-16-le")) // 2


def show(page, words: str = "ships") -> None:
    left, top, right, bottom = page.page.evaluate(PLACE, ["evidence", *place(words)])
    page.page.mouse.click((left + right) / 2, (top + bottom) / 2)
    expect(page.page.get_by_role("toolbar", name="Highlight")).to_be_visible()


def test_its_ends_move_by_word_and_by_character_and_stay_exact(page):
    show(page)
    page.press("Shift+ArrowRight")
    assert page.chips() == ["ships leave"]
    page.press("Alt+Shift+ArrowLeft", "Alt+Shift+ArrowLeft")
    assert page.chips() == ["ships lea"]
    page.page.get_by_role("button", name="Beginning of the highlight").focus()
    page.press("ArrowLeft")
    assert page.chips() == ["e\u0301) ships lea"]  # the letter with its accent
    page.press("ArrowLeft", "ArrowLeft", "ArrowLeft", "Alt+ArrowLeft", "Alt+ArrowLeft")
    assert page.chips() == ["👩‍👩‍👧 family saw é (e\u0301) ships lea"]  # one emoji is one character
    page.press("Control+z", "Control+z")
    assert page.chips() == ["family saw é (e\u0301) ships lea"]
    page.press("Control+y")
    page.press("Control+Shift+z")
    assert page.chips() == ["👩‍👩‍👧 family saw é (e\u0301) ships lea"]
    page.press("Control+y")
    assert page.status == "Nothing to redo"


def test_an_end_is_dragged_to_a_word_and_with_shift_to_a_character(page):
    show(page)
    handle = page.page.get_by_role("button", name="End of the highlight").bounding_box()
    *_, right, bottom = page.page.evaluate(PLACE, ["evidence", *place("leave th")])
    page.page.mouse.move(handle["x"] + 6, handle["y"] + 8)
    page.page.mouse.down()
    page.page.mouse.move(right - 1, bottom, steps=4)
    page.page.mouse.up()
    assert page.chips() == ["ships leave the"]


def test_a_highlight_that_undo_took_away_is_not_changed_into_a_second_one(page):
    show(page)
    page.press("Shift+ArrowRight", "Control+z")
    assert page.chips() == ["ships"]
    page.press("Shift+ArrowRight")
    assert page.chips() == ["ships"]
    show(page)
    page.press("Shift+ArrowRight")
    assert page.chips() == ["ships leave"]


def test_a_drag_that_escape_cuts_short_changes_nothing_and_the_next_one_works(page):
    for is_cut, expected in ((True, "ships"), (False, "ships leave")):
        show(page)
        box = page.page.get_by_role("button", name="End of the highlight").bounding_box()
        page.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.page.mouse.down()
        *_, right, bottom = page.page.evaluate(PLACE, ["evidence", *place("leave")])
        page.page.mouse.move(right - 2, bottom)
        if is_cut:
            page.press("Escape")
        page.page.mouse.up()
        assert page.chips() == [expected]


def test_it_is_removed_with_the_button_and_that_is_taken_back(page):
    show(page)
    page.page.get_by_role("toolbar", name="Highlight").get_by_role("button", name="Remove").click()
    assert page.chips() == []
    page.press("Control+z")
    assert page.chips() == ["ships"]
    show(page)
    page.press("Escape")
    expect(page.page.get_by_role("toolbar", name="Highlight")).to_have_count(0)


def test_what_the_mouse_selects_is_not_widened_where_the_person_says_so(page):
    page.press("?")
    page.page.get_by_label("Highlights made with the mouse or a finger cover whole words").uncheck()
    page.press("Escape")
    page.drag("evidence", place("leave")[0] + 1, place("leave")[1] - 1)
    eventually(page.page, page.chips, ["ships", "eav"])


def test_a_finger_gets_a_button_at_the_selection_and_no_keycaps(label, project, ann):
    page = label(project, ann, has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844})
    page.page.locator("#stage .choice").first.tap()
    page.page.locator("#stage .choice", has_text="efutes").last.tap()
    expect(page.page.locator("#stage kbd:visible")).to_have_count(0)
    select = "({firstChild: node}, ends) => document.getSelection().setBaseAndExtent(node, ends[0], node, ends[1])"
    page.page.locator('[data-field="evidence"]').evaluate(select, place("ships"))
    button = page.page.locator("#work > button.span-bar")
    expect(button).to_be_visible()
    assert min(button.bounding_box()["height"], button.bounding_box()["width"]) >= 44
    button.tap()
    eventually(page.page, page.chips, ["ships"])
    for one in page.page.locator("#stage button:visible").all():
        assert one.bounding_box()["height"] >= 44, one.inner_text()
