"""A changed answer is sent when its item is left, or the person says what becomes of it."""

import json

import pytest
from playwright.sync_api import expect

from annotation.models import Revision
from tests.factories import make_claim_evidence, make_dataset, make_project, make_suggestions
from tests.web.pages import eventually, revisions, spans, stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SUBMIT = "**/submit"


@pytest.fixture
def page(label, project, ann):
    """At the second item; the first is answered as supported, and on the screen again once `back` was called."""
    page = label(project, ann)
    page.first = page.answer("1", "6")
    page.second = page.assignment
    page.is_saved()
    return page


def back(page):
    page.press("ArrowLeft")
    page.at(page.first)


def says(page, words: str) -> None:
    expect(page.page.locator("[data-save-text]")).to_have_text(words)


def dialog(page):
    return page.page.get_by_role("dialog", name="Your change is not complete")


WAYS = {
    "forward": lambda page: page.press("ArrowRight"),
    "the button forward": lambda page: page.page.get_by_role("button", name="Next item").click(),
    "reload": lambda page: page.page.reload(),
    "away": lambda page: page.page.goto("/"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_complete_change_is_sent_when_its_item_is_left(page, ann, way):
    back(page)
    page.press("1", "2")
    says(page, "Change not sent")
    assert page.status == "Changed, not sent yet"
    WAYS[way](page)
    if way.endswith("forward"):
        page.at(page.second)
        page.is_saved()
    eventually(page.page, lambda: revisions(page.first, ann).count(), 2)
    assert stored(page.first, ann) == {"relevance": "relevant", "stance": "insufficient-refutes"}
    page.open()
    page.is_saved()
    back(page)
    assert page.chosen() == ["relevant", "insufficient-refutes"] and page.status == "You answered this item"
    assert revisions(page.first, ann).count() == 2


def test_a_change_is_sent_on_the_way_further_back_and_by_undo_beyond_the_first_step(page, ann):
    third = page.answer("2") and page.assignment
    page.is_saved()
    page.open()
    page.press("ArrowLeft")
    page.at(page.second)
    page.press("c")
    page.page.keyboard.type("on second thought")
    page.press("Escape", "z")  # nothing to take back among the labels: on to the item before
    page.at(page.first)
    page.press("1", "5", "ArrowRight")
    page.at(page.second)
    page.press("ArrowRight")
    page.at(third)
    page.is_saved()
    assert list(revisions(page.second, ann).values_list("comment", flat=True)) == ["", "on second thought"]
    assert stored(page.first, ann)["stance"] == "insufficient-supports"


def test_highlights_count_as_changes_and_what_is_changed_back_does_not(page, ann):
    back(page)
    page.press("h", "Enter", "Escape")
    says(page, "Change not sent")
    page.press("z")
    page.is_saved()
    assert page.status == "You answered this item"
    page.press("1", "2", "ArrowUp", "ArrowDown", "6", "ArrowRight")
    page.at(page.second)
    page.is_saved()
    assert revisions(page.first, ann).count() == 1
    back(page)
    page.press("h", "Enter", "Escape", "ArrowRight")
    page.at(page.second)
    page.is_saved()
    assert spans(page.first, ann) == [(0, 6, "Report")]
    assert revisions(page.first, ann).count() == 2


def test_words_count_as_a_change(label, ann):
    dataset = make_dataset()
    make_claim_evidence(dataset, 2)
    options = {"free_text": {"title": "Why?", "required": True}}
    page = label(make_project(dataset, overlap=1, annotators=[ann], options=options), ann)
    page.press("2", "t")
    page.page.keyboard.type("off topic")
    page.press("Escape")
    first = page.answer()
    page.is_saved()
    page.press("ArrowLeft")
    page.at(first)
    page.press("t", "Control+a")
    page.page.keyboard.type("another town")
    says(page, "Change not sent")
    page.press("Escape", "ArrowRight")
    page.gone(first)
    page.is_saved()
    assert [one.metadata["free_text"]["answer"] for one in revisions(first, ann)] == ["off topic", "another town"]


def make_incomplete(page):
    """Relevant as before and no stance any more."""
    back(page)
    page.press("ArrowUp", "2", "ArrowUp", "1")
    assert page.chosen() == ["relevant"]


@pytest.mark.parametrize("leave", ["ArrowRight", "the mouse"])
def test_an_incomplete_change_is_kept_or_discarded_as_the_person_says(page, ann, leave):
    def go():
        if leave == "the mouse":
            page.page.get_by_role("button", name="Next item").click()
        else:
            page.press(leave)

    make_incomplete(page)
    go()
    expect(dialog(page)).to_contain_text("Choose: Stance")
    expect(page.page.get_by_role("button", name="Keep editing")).to_be_focused()
    page.press("Escape")
    expect(dialog(page)).to_be_hidden()
    page.at(page.first)
    says(page, "Change not sent")
    go()
    page.press("Enter")  # keep editing
    expect(page.page.locator("[data-group][data-dimension=stance]")).to_be_focused()
    page.at(page.first)
    go()
    page.press("Tab", "Enter")
    page.at(page.second)
    page.is_saved()
    back(page)
    assert page.chosen() == ["relevant", "supports"] and page.status == "You answered this item"
    assert revisions(page.first, ann).count() == 1


def test_an_incomplete_change_stops_a_reload_and_outlives_it(page, ann):
    make_incomplete(page)
    asked = []
    page.page.on("dialog", lambda dialog: asked.append(dialog.type) or dialog.accept())
    page.page.reload()
    page.at(page.second)
    assert asked == ["beforeunload"]
    says(page, "Change not sent")
    expect(page.page.locator("[data-notices]")).to_contain_text("the change was not sent")
    page.page.get_by_role("button", name="Open the item").click()
    page.at(page.first)
    assert page.chosen() == ["relevant"] and page.status == "Changed, not sent yet"
    page.press("1", "Enter")
    page.gone(page.first)
    page.is_saved()
    assert stored(page.first, ann) == {"relevance": "relevant", "stance": "refutes"}
    page.open()
    page.is_saved()
    assert page.page.locator("[data-notices] .message").count() == 0


def test_what_is_left_of_an_incomplete_change_can_be_discarded_after_a_reload(page, ann):
    make_incomplete(page)
    page.page.on("dialog", lambda dialog: dialog.accept())
    page.page.reload()
    page.page.get_by_role("button", name="Discard the change").click()
    page.is_saved()
    back(page)
    assert page.chosen() == ["relevant", "supports"] and page.status == "You answered this item"


def test_a_change_made_while_the_first_answer_was_on_its_way_stays_before_the_person(open_context, label, ann):
    dataset = make_dataset()
    make_claim_evidence(dataset, 3)
    project = make_project(dataset, overlap=1, annotators=[ann], prefill="after")
    make_suggestions(project)
    page = label(project, ann)
    page.has_ahead()
    before = page.assignment
    page.press("1", "6", "Enter")  # with its reply the page knows that suggestions follow
    expect(page.page.locator("[data-status]")).to_contain_text("Saved. Keep your answer")
    page.press("Enter")
    page.gone(before)
    page.is_saved()
    held = []
    page.page.context.route(SUBMIT, lambda route: route.continue_() if held else held.append(route))
    first = page.assignment
    page.press("1", "6", "Enter")
    eventually(page.page, lambda: len(held), 1)
    page.page.locator("[data-comment-box] summary").click()
    page.page.keyboard.press("Tab")
    page.page.locator("[data-comment]").fill("but the town is another one")
    held[0].fulfill(status=503, body="away")  # no suggestion will come soon
    expect(page.page.locator("[data-status]")).to_have_text("Changed, not sent yet")
    page.at(first)
    page.press("Control+Enter")
    page.gone(first)
    page.is_saved()
    assert [one.comment for one in revisions(first, ann)] == ["", "but the town is another one"]


def test_an_item_whose_answer_is_still_on_its_way_shows_that_answer_after_a_reload(page, ann):
    page.page.context.route(SUBMIT, lambda route: route.fulfill(status=503, body="away"))
    back(page)
    page.press("1", "2", "ArrowRight")
    page.at(page.second)
    says(page, "1 waiting to be sent")
    page.open()
    back(page)
    assert page.chosen() == ["relevant", "insufficient-refutes"] and page.status == "You answered this item"
    page.page.context.unroute(SUBMIT)
    page.page.evaluate("dispatchEvent(new Event('online'))")
    page.is_saved()
    assert revisions(page.first, ann).count() == 2


def test_a_refused_change_that_was_discarded_does_not_look_stored(page, ann):
    refusal = {"status": 422, "json": {"errors": [{"message": "No."}]}}
    page.page.context.route(SUBMIT, lambda route: route.fulfill(**refusal))
    back(page)
    page.press("1", "2", "ArrowRight")
    expect(page.page.locator("[data-notices]")).to_contain_text("not accepted: No.")
    page.page.context.unroute(SUBMIT)
    page.page.get_by_role("button", name="Discard it").click()
    page.is_saved()
    back(page)
    assert page.chosen() == ["relevant", "supports"]
    assert (
        json.loads(page.page.evaluate("JSON.stringify(Object.keys(localStorage).filter(k => k.includes('outbox')))"))
        == []
    )
    assert Revision.objects.count() == 1
