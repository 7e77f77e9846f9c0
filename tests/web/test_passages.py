"""Highlights in several texts, for one question or for each of many triplets; whole passages; answers in words."""

import pytest
from playwright.sync_api import expect

from annotation.models import Judgement, Revision
from tests.factories import make_project
from tests.web.long_answers import make_answers
from tests.web.pages import LabellingPage, eventually, revisions, stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FAMILY = "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}"
PASSAGES = (
    "Salt keeps the harbour open.",
    f"The {FAMILY} saw \U0001d4d0\U0001d4d1 open water.",
    "قال التقرير إن الميناء بقي مفتوحا",
)
CONTEXT, TRIPLETS = "sufficient-context/-/1", "triplets/-/1"


def make(ann, identifier: str, *, passages=PASSAGES, **fields):
    dataset = make_answers(3, passages=passages, triplets=3)
    return make_project(dataset, identifier, overlap=1, annotators=[ann], order="file", **fields)


def spans(assignment, user) -> list[tuple[str, int, int, str]]:
    rows = revisions(assignment, user).filter(is_latest=True, judgements__spans__isnull=False)
    names = ("field", "start", "end", "quote")
    return sorted(rows.values_list(*(f"judgements__spans__{name}" for name in names)))


def by_unit(assignment, user) -> list[tuple[str, list[tuple[str, str]]]]:
    """Label and highlights of each triplet, in order."""
    latest = revisions(assignment, user).filter(is_latest=True)
    rows = Judgement.objects.filter(revision__in=latest).order_by("unit__triplet__index").prefetch_related("spans")
    return [(row.label, sorted((span.field, span.quote) for span in row.spans.all())) for row in rows]


def has_chips(page, *wanted: str) -> None:
    """Each with the passage that it lies in."""
    eventually(page.page, lambda: chips(page), list(wanted))


def chips(page) -> list[str]:
    return page.page.locator("[data-chips] li").evaluate_all(
        """chips => chips.map((chip) => {
          const parts = [...chip.querySelectorAll(".place, .quote")];
          return parts.map((part) => part.textContent).join(": ");
        })"""
    )


def test_the_caret_walks_from_text_to_text_and_offsets_are_those_of_the_stored_texts(label, ann):
    page = label(make(ann, CONTEXT), ann)
    page.press("h", "Enter", "Tab", "ArrowRight", "Shift+ArrowRight", "Enter")  # Salt; saw 𝓐𝓑
    page.press("Tab", "ArrowLeft", "Enter")  # right to left: the second word lies to the left
    page.press("Shift+Tab", "End", "Enter", "Escape")
    assert chips(page) == [
        "Passage 1: Salt",
        "Passage 2: saw \U0001d4d0\U0001d4d1",
        "Passage 2: water",
        "Passage 3: التقرير",
    ]
    assert page.chosen() == ["sufficient"]
    first = page.answer()
    page.is_saved()
    texts = dict(zip(("passage-1", "passage-2", "passage-3"), PASSAGES, strict=True))
    found = spans(first, ann)
    assert [(field, quote) for field, _, _, quote in found] == [
        ("passage-1", "Salt"),
        ("passage-2", "saw \U0001d4d0\U0001d4d1"),
        ("passage-2", "water"),
        ("passage-3", "التقرير"),
    ]
    assert all(texts[field][start:end] == quote for field, start, end, quote in found)


def test_tab_beyond_the_last_text_leaves_it(label, ann):
    page = label(make(ann, CONTEXT), ann)
    page.press("h", "Tab", "Tab")
    assert page.page.evaluate("document.activeElement.dataset.field") == "passage-3"
    page.press("Tab")
    assert page.page.evaluate("document.activeElement.dataset.field") is None
    assert page.page.locator("mark.caret").count() == 0
    page.press("h")  # again where it was left
    assert page.page.evaluate("document.activeElement.dataset.field") == "passage-3"


def test_the_mouse_marks_in_whichever_passage(label, ann):
    page = label(make(ann, CONTEXT), ann)
    page.drag("passage-2", 1, 3)
    has_chips(page, "Passage 2: The")
    page.drag("passage-1", 6, 9)
    has_chips(page, "Passage 1: keeps", "Passage 2: The")
    page.page.get_by_role("button", name="Remove the highlight: The").click()
    has_chips(page, "Passage 1: keeps")


def test_a_whole_passage_decides_and_is_taken_back(label, ann):
    page = label(make(ann, CONTEXT), ann)
    page.press("p", "2")
    assert chips(page) == ["Passage 2: all of it"] and page.chosen() == ["sufficient"]
    expect(page.page.get_by_role("button", name="Mark all of passage 2")).to_have_attribute("aria-pressed", "true")
    assert page.page.locator("mark.chosen").count() == 0
    page.press("p", "2")
    assert chips(page) == []
    page.press("p", "Escape", "1", "p", "9")
    assert page.status == "There is no passage 9" and chips(page) == []
    page.page.get_by_role("button", name="Mark all of passage 3").click()
    has_chips(page, "Passage 3: all of it")
    page.press("p", "1", "z", "z", "p", "1")  # undo reaches the whole passages too
    assert chips(page) == ["Passage 1: all of it"]
    first = page.answer()
    page.is_saved()
    assert spans(first, ann) == [("passage-1", 0, len(PASSAGES[0]), PASSAGES[0])]


def test_a_whole_passage_is_refused_where_the_label_carries_none(label, ann):
    page = label(make(ann, CONTEXT), ann)
    page.press("2", "p", "1")
    assert page.status == "“Insufficient” takes no highlight: choose “Sufficient” (1) first" and chips(page) == []


def test_an_empty_passage_says_so_and_cannot_decide(label, ann):
    page = label(make(ann, CONTEXT, passages=("One two.", "", "Three.")), ann)
    expect(page.page.locator("[data-field=passage-2] + .nothing")).to_have_text("This passage is empty.")
    page.press("p", "2")
    assert page.status == "Passage 2 is empty"
    page.press("h", "Tab")  # the caret steps over it
    assert page.page.evaluate("document.activeElement.dataset.field") == "passage-3"


def test_no_passage_at_all_is_said(label, ann):
    page = label(make(ann, CONTEXT, passages=()), ann)
    expect(page.page.locator(".reader .nothing")).to_have_text("There is no passage for this question.")
    page.press("h")
    assert page.status == "This task has no highlights"
    page.press("2")
    page.answer()


def test_a_highlight_after_a_label_is_for_the_triplet_just_labelled(label, ann):
    """The page has moved on to the next one by then; what is meant is named, and asked where it is not clear."""
    page = label(make(ann, TRIPLETS), ann)
    page.press("1")
    page.drag("passage-1", 6, 9)
    eventually(page.page, lambda: page.status, "Highlighted for number 1")
    page.press("h", "ArrowRight", "ArrowRight", "Enter", "Escape")  # by the keyboard likewise
    page.press("2")
    page.drag("passage-2", 1, 3)
    asked = "Number 2: “Neutral” takes no highlight. Press h or mark it again for number 3"
    eventually(page.page, lambda: page.status, asked)
    page.press("h")
    assert page.status == "Highlighted for number 3"
    page.press("p", "1")
    assert page.status == "All of passage 1 is highlighted for number 3"
    page.press("3")
    first = page.answer()
    page.is_saved()
    found = by_unit(first, ann)
    assert [label for label, _ in found] == ["entailment", "neutral", "contradiction"]
    assert found[0][1] == [("passage-1", "keeps"), ("passage-1", "the")]
    assert found[1][1] == [] and found[2][1] == [("passage-1", PASSAGES[0]), ("passage-2", "The")]


def test_a_highlight_after_a_label_is_for_the_next_triplet_once_it_is_touched(label, ann):
    page = label(make(ann, TRIPLETS), ann)
    page.press("1", "ArrowDown", "ArrowUp")
    page.drag("passage-1", 6, 9)
    eventually(page.page, lambda: page.status, "Highlighted for number 2")
    page.press("3")  # marked already, so what comes next is about the third
    page.drag("passage-2", 1, 3)
    eventually(page.page, lambda: page.status, "Highlighted for number 3")


def test_a_drag_may_end_anywhere_on_the_page(label, ann):
    page = label(make(ann, CONTEXT), ann)
    page.drag("passage-2", 5, 8, release=(3, 3))
    eventually(page.page, lambda: len(chips(page)), 1)


def test_highlights_belong_to_the_current_triplet(label, ann):
    page = label(make(ann, TRIPLETS), ann)
    page.press("h", "Enter", "Escape", "1")  # Salt, for the first, which becomes entailment
    page.press("p", "2", "3")  # the second contradicts because of passage 2
    assert page.page.locator("mark.chosen").count() == 0  # the third is current: the others' stay in the background
    assert page.page.locator("mark.other").all_text_contents() == ["Salt"]
    page.press("2", "h", "ArrowRight", "Enter")
    assert page.status == "“Neutral” takes no highlight: choose “Entailment” (1) or “Contradiction” (3) first"
    page.press("Escape", "ArrowUp", "ArrowUp")
    assert page.page.locator("mark.chosen").all_text_contents() == ["Salt"]
    assert page.page.locator("[data-unit-row]").nth(2).locator("[data-chips]").count() == 0
    first = page.answer()
    page.is_saved()
    assert by_unit(first, ann) == [
        ("entailment", [("passage-1", "Salt")]),
        ("contradiction", [("passage-2", PASSAGES[1])]),
        ("neutral", []),
    ]
    page.open().press("ArrowLeft")
    page.at(first)
    assert chips(page) == ["Passage 1: Salt", "Passage 2: all of it"]


def test_what_is_written_is_kept_sent_and_undone(label, ann):
    page = label(make(ann, CONTEXT), ann)
    page.press("2", "t")
    page.page.keyboard.type("no date")
    page.press("1", "s")  # keys are off
    page.open()
    box = page.page.locator("[data-free-text]")
    expect(box).to_have_value("no date1s")
    assert page.chosen() == ["insufficient"]
    first = page.assignment
    page.press("t", "End", "Backspace", "Backspace", "Control+Enter")
    page.gone(first)
    page.is_saved()
    assert revisions(first, ann).get().metadata["free_text"] == {"question": "Note", "answer": "no date"}
    page.press("ArrowLeft")
    page.at(first)
    expect(box).to_have_value("no date")
    page.press("t", "End", "!", "Escape", "z")
    expect(box).to_have_value("no date")
    page.press("t", "End", "?", "Escape", "Enter")
    page.gone(first)
    page.is_saved()
    assert [row.metadata["free_text"]["answer"] for row in revisions(first, ann)] == ["no date", "no date?"]


def test_a_required_answer_in_words_is_asked_for(label, ann):
    options = {"free_text": {"title": "Why", "hint": "", "required": True}}
    page = label(make(ann, CONTEXT, options=options), ann)
    page.press("2", "Enter")
    assert page.status == "Write: Why"
    assert page.page.evaluate("'freeText' in document.activeElement.dataset")
    page.page.keyboard.type("nothing about salt")
    first = page.assignment
    page.press("Control+Enter")
    page.gone(first)
    page.is_saved()
    assert stored(first, ann) == {"sufficiency": "insufficient"}


def test_what_the_server_says_about_the_words_stands_beside_them(label, ann):
    page = label(make(ann, CONTEXT), ann)
    page.has_ahead()
    refusal = {"status": "invalid", "errors": [{"message": "Too long a note", "field": "free_text"}]}
    page.page.context.route("**/submit", lambda route: route.fulfill(status=422, json=refusal))
    page.press("t")
    page.page.keyboard.type("words")
    page.press("Escape")
    first = page.answer("2")
    page.page.get_by_role("button", name="Open the item").click()
    page.at(first)
    expect(page.page.locator("[data-free-text-error]")).to_have_text("Too long a note")
    expect(page.page.locator("[data-free-text]")).to_have_value("words")
    page.page.context.unroute("**/submit")
    page.page.keyboard.type("!")
    expect(page.page.locator("[data-free-text-error]")).to_be_hidden()
    page.press("Control+Enter")
    page.gone(first)
    page.is_saved()
    assert Revision.objects.get().metadata["free_text"]["answer"] == "words!"


def test_labels_come_in_the_project_s_order_with_its_keys(label, ann):
    options = {"order": {"sufficiency": ["insufficient", "sufficient"]}}
    page = label(make(ann, CONTEXT, options=options), ann)
    assert page.page.locator(".choice-title").all_text_contents() == ["Insufficient", "Sufficient"]
    page.press("1")
    assert page.chosen() == ["insufficient"]


def test_an_item_answered_in_another_tab_is_left_with_its_highlights(open_context, ann):
    project = make(ann, CONTEXT)
    context = open_context(ann)
    left, right = (LabellingPage(context.new_page(), project) for _ in range(2))
    left.open().press("h", "Enter", "Escape", "p", "2")
    right.open()
    assert right.assignment == left.assignment and chips(right) == ["Passage 1: Salt", "Passage 2: all of it"]
    right.page.bring_to_front()
    first = right.answer()
    right.is_saved()
    left.page.bring_to_front()
    left.gone(first)
    assert len(spans(first, ann)) == 2 and Revision.objects.count() == 1


def test_help_lists_the_keys_of_the_task_at_hand(label, ann):
    for identifier, there, missing in (
        (CONTEXT, ("whole passage", "Note"), ("current number",)),
        ("aspect-coverage/-/1", ("current number", "Not covered"), ("whole passage",)),
        ("answer-grade/-/1", ("choose a label",), ("Highlights", "whole passage")),
    ):
        page = label(make(ann, identifier), ann)
        page.press("?")
        expect(page.page.locator('dialog[data-dialog="help"]')).to_be_visible()
        words = page.page.locator('dialog[data-dialog="help"]').inner_text()
        assert all(part in words for part in there) and not any(part in words for part in missing), identifier
