"""Triplets beside answer and passages, by the keyboard alone; long lists stay quick."""

import pytest
from playwright.sync_api import expect

from annotation.models import Judgement, Response, Triplet
from tests.factories import make_dataset, make_project, make_responses_with_triplets, make_user
from tests.web.pages import revisions

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def labels(assignment, user):
    rows = Judgement.objects.filter(revision__in=revisions(assignment, user).filter(is_latest=True)).order_by("unit")
    return list(rows.values_list("label", flat=True))


@pytest.fixture
def ann():
    return make_user()


def test_every_triplet_gets_its_label_by_digits(label, ann):
    dataset = make_dataset()
    make_responses_with_triplets(dataset, 2, triplets=4)
    page = label(make_project(dataset, "triplets/-/1", overlap=1, annotators=[ann]), ann)
    page.press("1", "2", "3")
    expect(page.page.locator("[data-counted]")).to_have_text("3 of 4 labelled")
    page.press("Enter")
    assert page.status == "1 to go"
    page.press("4", "ArrowUp", "ArrowUp", "1")
    first = page.answer()
    page.is_saved()
    assert labels(first, ann) == ["entailment", "entailment", "contradiction", "bad_triplet"]


def test_the_words_that_the_current_triplet_was_taken_from_are_underlined(label, ann):
    """Where a file says other words than stand there, nothing is."""
    dataset = make_dataset()
    make_responses_with_triplets(dataset, 1, triplets=3)
    Response.objects.update(text="🌊 Ice melts. Snow falls.")
    for index, (start, end, quote) in enumerate([(2, 12, "Ice melts."), (13, 24, "Snow falls."), (0, 5, "Hail.")]):
        said = {"start": start, "end": end, "quote": quote}
        Triplet.objects.filter(index=index).update(metadata={"stated_in": said})
    page = label(make_project(dataset, "triplets/-/1", overlap=1, annotators=[ann]), ann)
    stated = page.page.locator("mark.stated")
    expect(stated).to_have_text("Ice melts.")
    expect(page.page.get_by_text("A double line in the answer")).to_be_visible()
    page.press("1")
    expect(stated).to_have_text("Snow falls.")
    page.press("1")
    expect(stated).to_have_count(0)


def test_highlighting_says_that_there_is_nothing_to_highlight(label, ann):
    dataset = make_dataset()
    make_responses_with_triplets(dataset, 1)
    options = {"spans": {"entailment": "off"}}
    page = label(make_project(dataset, "triplets/-/1", overlap=1, annotators=[ann], options=options), ann)
    page.press("h")
    assert page.status == "This task has no highlights"


def test_two_hundred_triplets_are_labelled_and_the_next_are_there_at_once(label, ann):
    dataset = make_dataset()
    make_responses_with_triplets(dataset, 3, triplets=200)
    page = label(make_project(dataset, "triplets/-/1", overlap=1, annotators=[ann]), ann)
    page.has_ahead()
    first = page.assignment
    page.press(*["1"] * 200)
    expect(page.page.locator("[data-counted]")).to_have_text("200 of 200 labelled")
    # The item fetched ahead is on the page before the key's handlers return (how fast: benchmarks/labelling/page.py).
    now_shown = page.page.evaluate(
        """() => {
          document.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", code: "Enter", bubbles: true}));
          return document.querySelector("[data-counted]").textContent;
        }"""
    )
    assert now_shown == "0 of 200 labelled"
    page.gone(first)
    page.is_saved()
    assert labels(first, ann) == ["entailment"] * 200
