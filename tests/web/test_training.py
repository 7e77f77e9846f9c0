"""Training in a browser: the right answer stands below the person's own until they go on."""

import pytest
from playwright.sync_api import expect

from annotation.models import KeyResult
from annotation.work.learning import keys
from tests.web.pages import LabellingPage, eventually

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def trained(project):
    """Two training items, whose right answer is the first label of the first question."""
    dimension = project.type.asked_dimensions[0]
    for item in project.items.order_by("position")[:2]:
        answer = {"unit": item.key, "dimension": dimension.slug, "label": dimension.shown_labels[0].value}
        keys.set_apart(project, item, project.created_by, "training", [answer], reason="The report says *so*.")
    return project


def test_the_right_answer_is_read_before_the_next_item(label, trained, ann):
    page = label(trained, ann)
    item = page.page.locator("#stage [data-item]")
    feedback = page.page.locator("[data-feedback]")
    expect(item).to_contain_text("Training, item 1 of 2")
    expect(item.get_by_role("button", name="Skip")).to_be_hidden()
    first = page.assignment
    page.press("1", "6", "Enter")
    expect(feedback).to_contain_text("right")
    expect(feedback.locator("em")).to_have_text("so")
    assert page.assignment == first
    page.press("Enter")
    expect(item).to_contain_text("Training, item 2 of 2")
    page.press("2", "Enter")
    expect(feedback).to_contain_text("you answered")
    page.press("Enter")
    expect(item).not_to_contain_text("Training")
    page.answer("1", "6")
    page.is_saved()
    assert sorted(KeyResult.objects.values_list("right", flat=True)) == [0, 1]


def test_the_next_try_of_a_qualification_is_no_answer_from_another_browser(label, project, ann):
    dimension = project.type.asked_dimensions[0]
    item = project.items.order_by("position").first()
    answer = {"unit": item.key, "dimension": dimension.slug, "label": dimension.shown_labels[0].value}
    keys.set_apart(project, item, project.created_by, "qualification", [answer])
    page = label(project, ann)
    feedback = page.page.locator("[data-feedback]")
    for choice, words in (("2", "1 try left"), ("1", "passed")):
        first = page.assignment
        page.press(choice, *("6" if choice == "1" else ""), "Enter")
        expect(feedback).to_contain_text(words)
        expect(page.page.locator('[data-notice^="earlier:"]')).to_have_count(0)
        page.press("Enter")
        page.gone(first)
    page.is_saved()
    assert KeyResult.objects.count() == 2


def test_a_qualification_in_two_tabs_counts_the_first_answer_of_each_item(open_context, project, ann):
    dimension = project.type.asked_dimensions[0]
    for item in project.items.order_by("position")[:2]:
        answer = {"unit": item.key, "dimension": dimension.slug, "label": dimension.shown_labels[0].value}
        keys.set_apart(project, item, project.created_by, "qualification", [answer])
    context = open_context(ann)
    one, other = (LabellingPage(context.new_page(), project).open() for _ in range(2))
    first = one.assignment
    assert other.assignment == first, "both tabs have the item that the person is at"
    one.press("1", "6", "Enter")
    expect(one.page.locator("[data-feedback]")).to_be_visible()
    other.press("2", "Enter")  # which the other tab does not know to be answered, or does by then
    eventually(other.page, lambda: KeyResult.objects.count(), 1)
    for tab in (one, other):
        tab.open()
        expect(tab.page.locator("#stage [data-item]")).to_contain_text("Qualification, try 1 of 2, item 2 of 2")
    assert other.assignment == one.assignment != first
    other.press("1", "6", "Enter")
    expect(other.page.locator("[data-feedback]")).to_contain_text("passed")
    one.press("2", "Enter")
    one.open()
    expect(one.page.locator("#stage [data-item]")).not_to_contain_text("Qualification")
    assert list(KeyResult.objects.values_list("attempt", "right", "asked")) == [(1, 1, 1)] * 2
    assert project.raters.get(user=ann).admitted_at
