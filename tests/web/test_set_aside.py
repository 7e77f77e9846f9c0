"""An answer on which the server fails again and again is set aside, and the others are sent."""

import json

import pytest
from playwright.sync_api import expect

from annotation.models import Revision
from tests.web.pages import LabellingPage, eventually, revisions, stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
API, SUBMIT, SKIP = "**/api/**", "**/submit", "**/skip"


def fail(page, assignment: str, status: int = 500) -> list[str]:
    """The server fails on whatever is said about an item. Returns the ids of what was tried, as it comes."""
    tried = []

    def answer(route):
        if f"/{assignment}/" not in route.request.url:
            return route.fallback()
        tried.append(route.request.post_data_json["client_id"])
        route.fulfill(status=status, body="away")

    page.page.context.route(SUBMIT, answer)
    page.page.context.route(SKIP, answer)
    return tried


def mend(page) -> None:
    page.page.context.unroute(SUBMIT)
    page.page.context.unroute(SKIP)


def says(page, words: str) -> None:
    expect(page.page.locator("[data-save-text]")).to_have_text(words)


def message(page):
    return page.page.get_by_role("alert").filter(has_text="set aside")


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_after_three_tries_an_answer_is_set_aside_and_the_others_are_sent(label, project, ann, status):
    page = label(project, ann)
    page.has_ahead()
    tried = fail(page, first := page.assignment, status)
    page.answer("2")
    second = page.answer("2")
    says(page, "1 set aside")
    expect(message(page)).to_contain_text("The server failed three times on an answer of yours.")
    assert len(tried) == 3 and len(set(tried)) == 1
    third = page.answer("2")
    eventually(page.page, lambda: Revision.objects.count(), 2)
    assert stored(second, ann) == stored(third, ann) == {"relevance": "not_relevant"}
    # It is kept, and so is the word of it; its item does not come back, and nothing stops.
    page.open()
    expect(message(page)).to_be_visible()
    says(page, "1 set aside")
    expect(page.page.locator("#stage [data-item]")).to_have_count(1)
    assert page.assignment not in (first, second, third)
    fourth = page.answer("2")
    eventually(page.page, lambda: Revision.objects.count(), 3)
    assert len(tried) == 3 and page.assignment not in (first, fourth)
    mend(page)
    message(page).get_by_role("button", name="Try again").click()
    page.is_saved()
    expect(message(page)).to_have_count(0)
    assert stored(first, ann) == {"relevance": "not_relevant"}
    assert Revision.objects.count() == 4
    assert str(revisions(first, ann).get().client_id) == tried[0]


def test_a_server_that_is_away_restarts_or_fails_at_everything_but_500_sets_nothing_aside(label, project, ann):
    page = label(project, ann)
    page.has_ahead()
    tries = []

    def away(route):
        if route.request.url.endswith("/submit"):
            tries.append(route.request.url)
        route.abort() if len(tries) % 2 else route.fulfill(status=502, body="restarting")

    page.page.context.route(API, away)
    first = page.answer("2")
    for count in range(1, 6):
        page.page.evaluate("dispatchEvent(new Event('online'))")
        eventually(page.page, lambda wanted=count: len(tries) >= wanted, True)
    says(page, "1 waiting to be sent")
    expect(message(page)).to_have_count(0)
    page.page.context.unroute(API)
    page.page.evaluate("dispatchEvent(new Event('online'))")
    page.is_saved()
    assert stored(first, ann) == {"relevance": "not_relevant"}


def test_a_later_answer_to_the_same_item_waits_behind_and_never_overtakes(label, project, ann):
    page = label(project, ann)
    page.has_ahead()
    tried = fail(page, first := page.assignment)
    page.answer("1", "6")
    says(page, "1 set aside")
    page.press("ArrowLeft")
    page.at(first)
    page.press("1", "2", "ArrowRight")
    page.gone(first)
    says(page, "2 set aside")
    expect(message(page)).to_contain_text("Your later changes to the same item wait with it (1).")
    assert len(tried) == 3
    second = page.answer("2")
    eventually(page.page, lambda: revisions(second, ann).count(), 1)
    mend(page)
    page.open()
    says(page, "2 set aside")
    message(page).get_by_role("button", name="Try again").click()
    page.is_saved()
    assert list(revisions(first, ann).values_list("number", flat=True)) == [1, 2]
    assert str(revisions(first, ann)[0].client_id) == tried[0]
    assert stored(first, ann) == {"relevance": "relevant", "stance": "insufficient-refutes"}


def test_an_answer_from_another_tab_does_not_overtake_an_earlier_one_to_the_same_item(open_context, project, ann):
    context = open_context(ann)
    left, right = (LabellingPage(context.new_page(), project) for _ in range(2))
    left.open()
    left.has_ahead()
    context.route(SUBMIT, lambda route: route.fulfill(status=503, body="away"))
    context.route("**/work/answered*", lambda route: route.fulfill(status=503, body="away"))
    first = left.answer("1", "6")
    says(left, "1 waiting to be sent")
    context.unroute("**/work/answered*")
    right.open()
    right.press("ArrowLeft")
    right.at(first)
    assert right.chosen() == ["relevant", "supports"]
    context.route("**/work/answered*", lambda route: route.fulfill(status=503, body="away"))
    right.press("1", "2", "ArrowRight")
    right.gone(first)
    says(right, "2 waiting to be sent")
    context.unroute(SUBMIT)
    right.is_saved()
    left.is_saved()
    assert stored(first, ann) == {"relevance": "relevant", "stance": "insufficient-refutes"}
    assert revisions(first, ann).count() == 2


def test_what_is_set_aside_can_be_copied_with_and_without_the_clipboard_and_discarded(open_context, project, ann):
    context = open_context(ann)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = LabellingPage(context.new_page(), project).open()
    page.has_ahead()
    tried = fail(page, first := page.assignment)
    page.press("c")
    page.page.keyboard.type("half frozen")
    page.press("Escape")
    page.answer("2")
    message(page).get_by_role("button", name="Copy it").click()
    expect(message(page).get_by_role("button", name="Copied")).to_be_focused()
    [copied] = json.loads(page.page.evaluate("navigator.clipboard.readText()"))
    assert (copied["client_id"], copied["comment"], copied["assignment"]) == (tried[0], "half frozen", first)
    assert [one["label"] for one in copied["judgements"]] == ["not_relevant"]
    page.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('forbidden')); }")
    message(page).get_by_role("button", name="Copied").click()
    by_hand = page.page.get_by_role("dialog", name="Copy the answer")
    expect(by_hand.get_by_role("textbox")).to_be_focused()
    assert json.loads(by_hand.get_by_role("textbox").input_value()) == [copied]
    page.press("Escape")
    mend(page)
    message(page).get_by_role("button", name="Discard it").click()
    page.is_saved()
    expect(message(page)).to_have_count(0)
    page.open()
    page.is_saved()
    assert not Revision.objects.exists()


def test_a_skip_is_set_aside_too(label, project, ann):
    page = label(project, ann)
    page.has_ahead()
    fail(page, first := page.assignment)
    page.skip()
    says(page, "1 set aside")
    expect(message(page)).to_contain_text("failed three times on a skip of yours")
    second = page.answer("2")
    eventually(page.page, lambda: revisions(second, ann).count(), 1)
    mend(page)
    message(page).get_by_role("button", name="Try again").click()
    page.is_saved()
    assert page.held.rater.assignments.get(uuid=first).state == "skipped"
