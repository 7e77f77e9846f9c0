"""A project that closes or pauses, and a member who is removed, while the labelling page is open."""

import pytest
from playwright.sync_api import expect

from annotation.models import Membership, Project, Revision
from annotation.projects import managing
from tests.factories import make_claim_evidence, make_dataset, make_project
from tests.web.pages import eventually, stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(label, ann):
    dataset = make_dataset()
    make_claim_evidence(dataset, 6)
    page = label(make_project(dataset, overlap=1, annotators=[ann]), ann)
    page.has_ahead()
    return page


def test_an_empty_page_asks_again_when_it_is_due_and_not_at_once(page):
    Project.objects.update(state="paused")
    page.answer("2")
    page.answer("2")
    expect(page.page.locator("[data-empty] h2")).to_have_text("The project is paused")
    page.is_saved()
    asked = []
    page.page.context.on("request", lambda request: asked.append(request.url))
    page.page.get_by_role("button", name="Check again").click()
    eventually(page.page, lambda: len(asked) >= 1, True)
    page.page.wait_for_timeout(1000)
    assert len(asked) == 1


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_a_project_that_stops_says_so_with_the_next_reply_and_what_is_on_the_screen_can_be_finished(page, ann, state):
    Project.objects.update(state=state)
    first = page.answer("2")
    expect(page.page.locator("[data-notices]")).to_contain_text(f"The project is {state}.")
    page.is_saved()
    second = page.answer("2")
    page.is_saved()
    expect(page.page.locator("[data-empty] h2")).to_have_text(f"The project is {state}")
    expect(page.page.locator("[data-notices] .message")).to_have_count(0)
    assert stored(first, ann) == stored(second, ann) == {"relevance": "not_relevant"}
    assert Revision.objects.count() == 2
    if state == "closed":
        expect(page.page.locator("[data-open]")).to_have_text("0")
    page.press("ArrowLeft")
    page.at(second)
    page.press("ArrowRight")
    expect(page.page.locator("[data-empty] h2")).to_have_text(f"The project is {state}")
    Project.objects.update(state="open")
    page.page.get_by_role("button", name="Check again").click()
    expect(page.page.locator("#stage [data-item]")).to_have_count(1)


def test_who_was_removed_reads_so_with_the_next_request_and_their_answer_is_kept_until_they_are_back(page, ann):
    managing.remove_member(page.project, ann, Membership.Role.ANNOTATOR)
    first = page.assignment
    page.press("2", "Enter")
    expect(page.page.locator("[data-empty] h2")).to_have_text("You no longer label in this project")
    expect(page.page.locator("[data-notices]")).to_contain_text("An answer was not accepted: You no longer label")
    expect(page.page.locator("[data-save-text]")).to_have_text("1 not accepted")
    assert not Revision.objects.exists()
    managing.add_member(page.project, ann, Membership.Role.ANNOTATOR)
    page.open()
    page.is_saved()
    eventually(page.page, lambda: Revision.objects.count(), 1)
    assert stored(first, ann) == {"relevance": "not_relevant"}


def test_who_was_removed_reads_so_also_where_they_only_look_back(page, ann):
    first = page.answer("2")
    page.is_saved()
    page.open()
    page.has_ahead()
    eventually(page.page, lambda: page.held.shown_at is not None, True)  # nothing else is left to be refused
    managing.remove_member(page.project, ann, Membership.Role.ANNOTATOR)
    page.press("ArrowLeft")
    eventually(page.page, lambda: page.status.startswith("You no longer label in this project"), True)
    assert stored(first, ann) == {"relevance": "not_relevant"}
