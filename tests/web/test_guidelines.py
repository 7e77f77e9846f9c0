"""A new version of the guidelines while people label, in two browsers: announced before the next item, acknowledged by
the person, and on no answer before that."""

import pytest
from playwright.sync_api import expect

from annotation.models import GuidelineAcknowledgement, Revision
from tests.factories import join, make_user
from tests.web.pages import LabellingPage, eventually, revisions

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
API, NEXT = "**/api/**", "**/work/next?*"
CHANGED = "Read twice, judge the evidence once."


@pytest.fixture
def publish(open_context, project):
    """The researcher, in a browser of their own."""
    page = open_context(project.created_by).new_page()

    def publish_text(text=CHANGED):
        page.goto(f"/projects/{project.slug}/guidelines/")
        page.get_by_label("Guidelines in Markdown").fill(text)
        page.get_by_role("button", name="Publish").click()
        expect(page.get_by_text("is now in force")).to_be_visible()

    return publish_text


def acknowledged(ann):
    rows = GuidelineAcknowledgement.objects.filter(rater__user=ann).order_by("version")
    return list(rows.values_list("version", flat=True))


def version_of(assignment, ann):
    return revisions(assignment, ann).get().guideline_version


def test_a_newcomer_reads_the_guidelines_before_the_first_item(label, project, ann):
    page = label(project, ann, acknowledges=False)
    expect(page.notice).to_contain_text("Read twice, judge once.")
    expect(page.page.locator("#stage [data-item]")).to_have_count(0)
    page.press("1", "6", "Enter", "Enter")
    page.page.reload()
    expect(page.notice).to_be_visible()
    assert acknowledged(ann) == []
    page.acknowledge()
    expect(page.page.locator("#stage [data-item]")).to_be_visible()
    first = page.answer("1", "6")
    page.is_saved()
    assert acknowledged(ann) == [1] and version_of(first, ann) == 1
    page.press("g")
    dialog = page.page.locator('dialog[data-dialog="guidelines"]')
    expect(dialog).to_contain_text("Read twice, judge once.")
    expect(dialog).to_contain_text("version 1")


def test_a_new_version_is_announced_before_the_next_item_with_what_changed(label, project, ann, publish):
    page = label(project, ann)
    page.has_ahead()
    page.press("1")
    publish()
    first = page.assignment
    page.press("6", "Enter")
    expect(page.notice).to_contain_text("The guidelines have changed")
    expect(page.notice.locator("ins")).to_have_text("Read twice, judge the evidence once.")
    expect(page.notice.locator("del")).to_have_text("Read twice, judge once.")
    expect(page.page.locator("#stage [data-item]")).to_have_count(0)
    page.is_saved()
    assert acknowledged(ann) == [1] and version_of(first, ann) == 1
    # No key but the button's own leads past it; the way back does not lose it.
    page.press("Enter", "1", "6", "s", "Escape", "ArrowRight")
    expect(page.notice).to_be_visible()
    page.press("ArrowLeft")
    page.at(first)
    page.press("ArrowRight")
    expect(page.notice).to_be_visible()
    page.acknowledge()
    expect(page.page.locator("#stage [data-item]")).to_be_visible()
    second = page.answer("1", "6")
    page.is_saved()
    assert acknowledged(ann) == [1, 2]
    assert (version_of(first, ann), version_of(second, ann)) == (1, 2)
    page.press("g")
    expect(page.page.locator('dialog[data-dialog="guidelines"]')).to_contain_text(CHANGED)


def test_the_item_that_somebody_is_at_can_be_finished_and_carries_what_they_knew(label, project, ann, publish):
    """The answer before it brings the news; they have begun the next one by then."""
    page = label(project, ann)
    page.has_ahead()
    publish()
    held = []
    page.page.route("**/submit", lambda route: route.continue_() if held else held.append(route))
    first = page.answer("1", "6")
    page.press("1")
    eventually(page.page, lambda: len(held), 1)
    held[0].continue_()
    page.is_saved()
    expect(page.notice).to_have_count(0)
    second = page.assignment
    page.press("6", "Enter")
    expect(page.notice).to_be_visible()
    page.acknowledge()
    third = page.answer("1", "6")
    page.is_saved()
    assert [version_of(one, ann) for one in (first, second, third)] == [1, 1, 2]


def test_a_reload_neither_loses_the_announcement_nor_acknowledges_it(label, project, ann, publish):
    page = label(project, ann)
    page.has_ahead()
    publish()
    page.open(acknowledges=False)
    expect(page.notice.locator("ins")).to_have_text(CHANGED)
    page.open(acknowledges=False)
    expect(page.notice).to_be_visible()
    assert acknowledged(ann) == [1]
    page.open()
    first = page.answer("1", "6")
    page.is_saved()
    assert acknowledged(ann) == [1, 2] and version_of(first, ann) == 2


def test_an_item_begun_before_a_reload_is_finished_under_the_version_it_was_begun_with(label, project, ann, publish):
    page = label(project, ann)
    first = page.assignment
    page.press("1")
    publish()
    page.open(acknowledges=False)
    page.at(first)
    page.press("6", "Enter")
    expect(page.notice).to_be_visible()
    page.is_saved()
    assert version_of(first, ann) == 1


def test_what_was_answered_offline_keeps_the_version_that_was_known_then(label, project, ann, publish):
    page = label(project, ann)
    page.has_ahead()
    page.page.context.route(API, lambda route: route.abort())
    first = page.answer("1", "6")
    second = page.assignment
    page.press("1", "6", "Enter")
    page.gone(second)
    publish()
    page.page.context.unroute(API)
    page.page.reload()
    page.is_saved()
    expect(page.notice).to_be_visible()
    page.acknowledge()
    third = page.answer("1", "6")
    page.is_saved()
    assert [version_of(one, ann) for one in (first, second, third)] == [1, 1, 2]


def test_acknowledging_offline_is_sent_before_the_answers_that_follow(label, project, ann, publish):
    page = label(project, ann)
    page.has_ahead()
    publish()
    first = page.assignment
    page.press("1", "6", "Enter")
    expect(page.notice).to_be_visible()
    page.is_saved()
    page.page.context.route(API, lambda route: route.abort())
    page.acknowledge()
    second = page.answer("1", "6")
    expect(page.page.locator("[data-save-text]")).to_have_text("1 waiting to be sent")
    assert acknowledged(ann) == [1]
    page.page.reload()  # the notice is not shown again, though the server knows nothing yet
    expect(page.page.locator("[data-save-text]")).to_have_text("1 waiting to be sent")
    expect(page.notice).to_have_count(0)
    page.page.context.unroute(API)
    page.open(acknowledges=False)
    page.is_saved()
    assert acknowledged(ann) == [1, 2]
    assert (version_of(first, ann), version_of(second, ann)) == (1, 2)


def test_what_one_tab_acknowledged_is_not_asked_again_in_another(open_context, project, ann, publish):
    context = open_context(ann)
    left, right = (LabellingPage(context.new_page(), project) for _ in range(2))
    left.open()
    right.open()
    publish()
    left.has_ahead()
    left.answer("1", "6")
    right.open(acknowledges=False)
    for page in (left, right):
        expect(page.notice).to_be_visible()
    left.acknowledge()
    for page in (left, right):
        expect(page.page.locator("#stage [data-item]")).to_be_visible()
    left.answer("1", "6")
    right.answer("1", "6")
    left.is_saved()
    right.is_saved()
    assert acknowledged(ann) == [1, 2]
    assert list(Revision.objects.order_by("pk").values_list("guideline_version", flat=True)) == [1, 2, 2]


def test_two_people_carry_what_each_of_them_knew(open_context, label, project, ann, publish):
    bob = join(project, make_user("bob"))
    page = label(project, ann)
    page.has_ahead()
    publish()
    other = LabellingPage(open_context(bob).new_page(), project).open(acknowledges=False)
    expect(other.notice).to_contain_text(CHANGED)
    expect(other.notice.locator("ins")).to_have_count(0)  # the guidelines themselves: they know none
    other.acknowledge()
    expect(other.page.locator("#stage [data-item]")).to_be_visible()
    theirs = other.answer("1", "6")
    mine = page.assignment
    page.press("1", "6", "Enter")
    page.is_saved()
    other.is_saved()
    assert (version_of(mine, ann), version_of(theirs, bob)) == (1, 2)
    assert (acknowledged(ann), acknowledged(bob)) == ([1], [2])
