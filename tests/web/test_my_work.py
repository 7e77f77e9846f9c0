"""A thread from the annotator's comment to their reply, and the ways back to an item of one's own, in a browser."""

import pytest
from playwright.sync_api import expect

from annotation.models import Thread
from tests.factories import make_claim_evidence, make_dataset, make_project, make_user
from tests.web.looks import picture
from tests.web.pages import LabellingPage, eventually
from tests.work.browser import Annotator

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def lead():
    return make_user("lead")


@pytest.fixture
def wide(lead):
    """Thirty items that Ann alone labels."""
    dataset = make_dataset(lead)
    make_claim_evidence(dataset, 30)
    return make_project(dataset, overlap=1, annotators=[make_user("ann")])


def test_an_annotator_comments_the_lead_replies_and_the_annotator_reads_and_answers(open_context, wide, lead):
    ann = wide.memberships.get(user__name="ann").user
    page = LabellingPage(open_context(ann).new_page(), wide).open()
    page.press("c")
    page.page.keyboard.type("Which of the two claims?")
    page.press("Escape")
    page.answer("2")
    page.is_saved()
    eventually(page.page, Thread.objects.filter(is_unanswered=True).count, 1)

    desk = open_context(lead, color_scheme="dark").new_page()
    desk.goto(f"/projects/{wide.slug}/")
    desk.get_by_role("link", name="Items 1 new").click()
    desk.get_by_role("link", name="Comments 1 new").click()
    picture(desk, "comments-dark", full_page=True)
    desk.get_by_role("link", name="Which of the two claims?").click()
    desk.get_by_label("Reply").fill("The first one.")
    desk.get_by_role("button", name="Send").click()
    expect(desk.get_by_text("Your reply was stored")).to_be_visible()
    picture(desk, "thread-dark", full_page=True)

    home = open_context(ann).new_page()
    home.goto("/")
    picture(home, "home", full_page=True)
    home.get_by_role("link", name="1 reply to a comment of yours").click()
    picture(home, "my-work", full_page=True)
    home.get_by_role("link", name="new reply").click()
    expect(home.get_by_text("The first one.")).to_be_visible()
    home.get_by_label("Reply").fill("Thank you.")
    home.get_by_role("button", name="Send").click()
    home.goto("/")
    expect(home.get_by_text("1 reply to a comment of yours")).to_have_count(0)
    desk.goto(f"/projects/{wide.slug}/comments/?filter=unanswered")
    expect(desk.get_by_text("2 replies")).to_be_visible()


def test_an_item_is_opened_by_its_link_and_its_number_and_the_work_goes_on_from_there(open_context, wide):
    ann = wide.memberships.get(user__name="ann").user
    person = Annotator(ann, wide)
    for _ in range(25):
        person.submit(person.next()["payload"])
    done = wide.assignments.filter(state="done").order_by("done_at")
    answered = [str(one) for one in done.values_list("uuid", flat=True)]
    page = LabellingPage(open_context(ann, permissions=["clipboard-read", "clipboard-write"]).new_page(), wide).open()
    number = page.page.locator(".work-tools [data-item-number]")
    expect(number).to_have_text("26")
    page.page.locator('[data-do="number"]').click()
    page.page.get_by_label("Open your answer number").fill("3")
    page.page.get_by_role("button", name="Open", exact=True).click()
    page.at(answered[2])
    expect(number).to_have_text("3")
    picture(page.page, "item-number")
    page.page.locator('[data-do="number"]').click()
    picture(page.page, "item-dialog")
    page.page.get_by_role("button", name="Copy a link to this item").click()
    link = page.page.evaluate("navigator.clipboard.readText()")
    assert link.endswith(f"/projects/{wide.slug}/work/?item={answered[2]}")
    page.page.keyboard.press("Escape")
    page.press("ArrowLeft")
    page.at(answered[1])
    expect(number).to_have_text("2")
    page.press("ArrowRight", "ArrowRight")
    expect(number).to_have_text("26")
    before = page.answer("2")
    expect(number).to_have_text("27")
    page.press("ArrowLeft")
    page.at(before)
    expect(number).to_have_text("26")


def test_a_parked_item_comes_back_at_the_end_also_in_the_same_browser(open_context, lead):
    dataset = make_dataset(lead)
    make_claim_evidence(dataset, 2)
    project = make_project(dataset, overlap=1, annotators=[make_user("ann")])
    ann = project.memberships.get(user__name="ann").user
    page = LabellingPage(open_context(ann).new_page(), project).open()
    parked = page.assignment
    page.press("s", "5")
    picture(page.page, "park")
    page.press("Enter")
    page.gone(parked)
    expect(page.page.get_by_text("Parked for later.")).to_be_visible()
    page.answer("2")
    page.at(parked)
    page.press("2", "Enter")
    page.gone(parked)
    page.is_saved()
    assert project.assignments.filter(state="done").count() == 2


@pytest.mark.parametrize("ready", [1, 5])
def test_a_skip_that_is_taken_back_is_shown_also_where_other_items_are_ready(open_context, wide, ready):
    wide.items_ahead = ready
    wide.save(update_fields=["items_ahead"])
    ann = wide.memberships.get(user__name="ann").user
    page = LabellingPage(open_context(ann).new_page(), wide).open()
    skipped = page.skip()
    page.is_saved()
    page.page.goto(f"/projects/{wide.slug}/my-work/")
    page.page.get_by_role("button", name="Take back").click()
    page._until("performance.getEntriesByName('assay:shown').length")
    page.at(skipped)
    page.press("2", "Enter")
    page.gone(skipped)
    page.is_saved()
    assert wide.assignments.get(uuid=skipped).state == "done"
