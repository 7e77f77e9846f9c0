"""Suggestions that were seen: noted when the browser painted them, whatever becomes of the note, and not before."""

import pytest
from playwright.sync_api import expect

from annotation.models import Assignment, Revision, Suggestion
from annotation.projects import guidelines
from tests.factories import (
    make_claim_evidence,
    make_dataset,
    make_project,
    make_responses_with_triplets,
    make_suggestions,
)
from tests.web.pages import LabellingPage, eventually, revisions, stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SHOWN, SUBMIT, INQUIRY = "**/shown", "**/submit", "**/suggestions"
STANCE = 0.4321  # the score of a suggested stance, which tells where it is told
RELEVANT = {"relevance": "relevant", "stance": "supports"}

# The page waits four seconds for the suggestion that follows an answer; here a tenth of one.
IMPATIENT = """{
  const soon = window.setTimeout;
  window.setTimeout = (work, delay, ...more) => soon(work, delay === 4000 ? 100 : delay, ...more);
}"""
# The items with a note that the server has not got yet.
WAITING = """() => Object.keys(localStorage).filter((key) => key.includes(":outbox:"))
  .map((key) => JSON.parse(localStorage[key]))
  .filter(({ kind }) => kind === "painted").map(({ assignment }) => assignment)"""
# Read the guidelines and answer the item behind them before the next frame is painted.
AT_ONCE = """() => {
  document.querySelector("#stage [data-do=acknowledge]").click();
  for (const [key, code] of [["2", "Digit2"], ["Enter", "Enter"]]) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, code, bubbles: true, cancelable: true }));
  }
}"""
LOOK = """(panel) => [...panel.querySelectorAll("*")]
  .map((one) => [one.tagName, one.className, one.hidden, one.offsetHeight]).join()"""


@pytest.fixture
def make(ann):
    def make_prefilled(prefill, labels=None, **content):
        dataset = make_dataset()
        make_claim_evidence(dataset, 5, **content)
        project = make_project(dataset, overlap=1, annotators=[ann], prefill=prefill)
        make_suggestions(project, labels=labels or RELEVANT)
        return project

    return make_prefilled


def row(assignment):
    return Assignment.objects.get(uuid=assignment)


def is_noted(page, assignment):
    eventually(page.page, lambda: row(assignment).suggestions_shown_at is not None, True)


def stances(**fields):
    """Leave nothing suggested but stances."""
    Suggestion.objects.filter(dimension="relevance").delete()
    Suggestion.objects.update(probability=STANCE, **fields)


def listen(tab, project):
    """The project's page, and what tells which replies held a suggested stance: assignment and kind of request."""
    replies = []
    tab.on("requestfinished", lambda request: replies.append(request))

    def told():
        texts = [(request.url, request.response().text()) for request in replies if request.response().ok]
        return ["/".join(url.split("/")[-2:]) for url, text in texts if str(STANCE) in text]

    return LabellingPage(tab, project).open(), told


def visible(page):
    return page.page.locator("[data-suggestion]:visible")


def test_a_suggestion_that_came_too_late_was_not_seen_until_the_person_looks_back(open_context, make, ann):
    tab = open_context(ann).new_page()
    page = LabellingPage(tab, make("after"))
    tab.add_init_script(IMPATIENT)
    page.open()
    page.has_ahead()
    held = []
    tab.route(SUBMIT, lambda route: route.continue_() if held else held.append(route))
    first = page.answer("1", "1")  # it goes on by itself
    eventually(tab, lambda: len(held), 1)
    tab.wait_for_timeout(300)  # longer than the page waits
    held[0].continue_()
    page.is_saved()
    expect(visible(page)).to_have_count(0)
    assert row(first).exposure and row(first).suggestions_shown_at is None
    assert revisions(first, ann).get().suggestion_shown is False
    page.press("ArrowLeft")
    page.at(first)
    expect(visible(page)).to_have_count(2)
    is_noted(page, first)
    page.press("ArrowDown", "6", "Enter")
    page.gone(first)
    page.is_saved()
    assert [revision.suggestion_shown for revision in revisions(first, ann)] == [False, True]


def test_after_a_reload_a_suggestion_that_came_too_late_is_there_to_look_back_at(open_context, make, ann):
    tab = open_context(ann).new_page()
    page = LabellingPage(tab, make("after"))
    tab.add_init_script(IMPATIENT)
    page.open()
    page.has_ahead()
    tab.route(SUBMIT, lambda route: (tab.wait_for_timeout(300), route.continue_()))
    first = page.answer("1", "1")
    page.is_saved()
    assert row(first).suggestions_shown_at is None
    page.open()
    page.press("ArrowLeft")
    page.at(first)
    expect(visible(page)).to_have_count(2)
    is_noted(page, first)


@pytest.mark.parametrize("prefill", ["shown", "after"])
def test_the_note_waits_in_the_browser_until_the_server_has_it(label, make, ann, prefill):
    page = label(make(prefill), ann, acknowledges=False)
    page.page.context.route(SHOWN, lambda route: route.abort())
    page.acknowledge()
    first = page.assignment
    if prefill == "after":
        page.press("1", "6", "Enter")
    eventually(page.page, lambda: page.page.evaluate(WAITING), [first])
    page.page.reload()
    assert row(first).suggestions_shown_at is None
    page.page.context.unroute(SHOWN)
    page.open()
    is_noted(page, first)
    eventually(page.page, lambda: page.page.evaluate(WAITING), [])


@pytest.mark.parametrize("loss", ["aborted", "refused"])
def test_an_answer_tells_what_was_painted_where_the_note_is_lost(label, make, ann, loss):
    page = label(make("shown"), ann, acknowledges=False)
    lose = {"aborted": lambda route: route.abort(), "refused": lambda route: route.fulfill(status=404, json={})}[loss]
    page.page.route(SHOWN, lose)
    page.acknowledge()
    expect(visible(page)).to_have_count(1)
    page.page.wait_for_timeout(100)
    first = page.answer("2")
    page.is_saved()
    assert revisions(first, ann).get().suggestion_shown is True
    assert row(first).suggestions_shown_at is not None


def test_what_was_answered_before_it_was_painted_was_given_without_it(label, make, ann):
    page = label(make("shown"), ann, acknowledges=False)
    page.has_ahead()
    page.page.evaluate(AT_ONCE)
    page.is_saved()
    eventually(page.page, Revision.objects.count, 1)
    revision = Revision.objects.get()
    assert revision.suggestion_shown is False
    assert revision.annotation.assignment.suggestions_shown_at is None and revision.annotation.assignment.exposure


def test_what_an_earlier_load_of_the_page_painted_counts_though_its_note_waits(label, make, ann):
    project = make("shown")
    page = label(project, ann)
    page.page.context.route(SHOWN, lambda route: route.abort())
    page.answer("2")
    page.is_saved()
    second = page.assignment
    eventually(page.page, lambda: second in page.page.evaluate(WAITING), True)
    assert row(second).suggestions_shown_at is None
    guidelines.publish(project, project.created_by, "Look again.")
    page.open(acknowledges=False)
    page.page.evaluate(AT_ONCE)
    page.is_saved()
    eventually(page.page, lambda: revisions(second, ann).count(), 1)
    assert revisions(second, ann).get().suggestion_shown is True


def test_a_suggestion_below_the_window_is_not_seen_until_the_person_comes_to_it(open_context, ann):
    """It is about the last of twenty triplets, far down in the sheet at the bottom of a low window."""
    dataset = make_dataset()
    make_responses_with_triplets(dataset, 2, triplets=20)
    project = make_project(dataset, "triplets/-/1", overlap=1, annotators=[ann], prefill="shown")
    run = make_suggestions(project, labels={"entailment": "neutral"})
    run.suggestions.exclude(unit__triplet__index=19).delete()
    tab = open_context(ann, viewport={"width": 390, "height": 400}).new_page()
    page = LabellingPage(tab, project).open()
    first = page.assignment
    page.has_ahead()
    tab.evaluate("window.scrollTo(0, 0)")
    tab.wait_for_timeout(200)
    eventually(tab, lambda: row(first).shown_at is not None, True)
    assert row(first).suggestions_shown_at is None
    page.page.locator("[data-suggestion]:not([hidden])").scroll_into_view_if_needed()
    is_noted(page, first)


@pytest.mark.parametrize("prefill", ["shown", "after"])
def test_a_suggestion_is_not_here_before_its_question_is_asked(open_context, make, ann, prefill):
    project = make(prefill)
    stances(spans=[{"field": "evidence", "start": 0, "end": 6}])
    page, told = listen(open_context(ann).new_page(), project)
    page.has_ahead()
    first = page.assignment
    tells = page.page.locator("#stage :is([data-suggestion]:visible, .is-suggested, mark.suggested)")
    expect(tells).to_have_count(0)
    page.answer("2")  # also where suggestions come after the answer: there is none to what was asked
    page.is_saved()
    assert revisions(first, ann).get().suggestion_shown is False
    assert row(first).suggestions_shown_at is None and row(first).exposure == []
    page.has_ahead()
    assert told() == []
    second = page.assignment
    page.press("1")
    if prefill == "after":
        page.press("6", "Enter")
    expect(tells).to_have_count(3)
    is_noted(page, second)
    assert told() == [f"{second}/{'suggestions' if prefill == 'shown' else 'submit'}"]
    assert [seen["suggestions"] for seen in row(second).exposure] == [1]
    page.press("ArrowUp", "2")
    expect(tells).to_have_count(0)
    page.press("1")  # it is here now
    expect(tells).to_have_count(3)
    page.press("ArrowUp", "2", "Enter")
    page.gone(second)
    page.is_saved()
    assert len(told()) == 1
    assert revisions(second, ann).last().suggestion_shown is True
    assert len(revisions(second, ann)) == (1 if prefill == "shown" else 2)


def test_after_an_answer_that_left_a_question_out_its_suggestion_comes_once_it_is_asked(open_context, make, ann):
    project = make("after")
    Suggestion.objects.filter(dimension="stance").update(probability=STANCE)
    page, told = listen(open_context(ann).new_page(), project)
    inquiries = []
    page.page.on("request", lambda request: inquiries.extend([request] * request.url.endswith("/suggestions")))
    first = page.assignment
    page.press("2", "Enter")
    expect(visible(page)).to_have_count(1)
    page.press("ArrowUp", "1")
    expect(visible(page)).to_have_count(2)
    assert told() == [f"{first}/suggestions"]
    page.press("6", "Enter")
    page.gone(first)
    page.is_saved()
    assert [revision.suggestion_shown for revision in revisions(first, ann)] == [False, True]
    # Looked back at, it is here, and so it is in a page that is loaded anew.
    page.press("ArrowLeft")
    page.at(first)
    expect(visible(page)).to_have_count(2)
    page.open()
    page.press("ArrowLeft")
    page.at(first)
    expect(visible(page)).to_have_count(2)
    assert len(inquiries) == 1


def test_a_draft_after_which_a_question_is_asked_brings_its_suggestion_again(label, make, ann):
    project = make("shown")
    stances()
    page = label(project, ann)
    page.press("1")
    expect(visible(page)).to_have_count(1)
    page.open()
    expect(visible(page)).to_have_count(1)
    assert page.chosen() == ["relevant"]
    assert [seen["suggestions"] for seen in page.held.exposure] == [1]


FAILURES = {
    "aborted": lambda route: route.abort(),
    "failing": lambda route: route.fulfill(status=500, body="away"),
    "signed out": lambda route: route.fulfill(status=401, json={}),
    "no JSON": lambda route: route.fulfill(body="away"),
    "never answered": lambda route: None,
}


@pytest.mark.parametrize("failure", FAILURES)
def test_work_goes_on_where_the_suggestion_does_not_come(label, make, ann, failure):
    project = make("shown")
    stances()
    page = label(project, ann)
    page.has_ahead()
    tried = []
    page.page.context.route(INQUIRY, lambda route: (tried.append(route), FAILURES[failure](route)))
    first = page.assignment
    page.press("1")
    eventually(page.page, lambda: len(tried), 1)
    page.press("c")
    page.page.keyboard.type("no word of it")
    page.press("Escape")
    expect(visible(page)).to_have_count(0)
    assert len(tried) == 1  # asked once, whatever is typed
    page.answer("1")
    page.is_saved()
    assert stored(first, ann) == {"relevance": "relevant", "stance": "refutes"}
    assert revisions(first, ann).get().suggestion_shown is False
    assert row(first).exposure == [] and row(first).suggestions_shown_at is None
    page.page.context.unroute(INQUIRY)
    page.answer("2")
    page.press("1")
    expect(visible(page)).to_have_count(1)


def test_a_suggestion_that_comes_late_leaves_what_the_person_chose(label, make, ann):
    project = make("shown")
    stances()
    page = label(project, ann)
    page.has_ahead()
    held = []
    page.page.context.route(INQUIRY, lambda route: held.append(route))
    first = page.assignment
    page.press("1", "1")
    eventually(page.page, lambda: len(held), 1)
    held[0].continue_()
    expect(visible(page)).to_have_count(1)
    assert page.chosen() == ["relevant", "refutes"]
    is_noted(page, first)
    page.answer()
    page.is_saved()
    assert stored(first, ann) == {"relevance": "relevant", "stance": "refutes"}
    assert revisions(first, ann).get().suggestion_shown is True


def test_a_suggestion_that_comes_after_its_item_was_left_was_served_and_not_seen(label, make, ann):
    project = make("shown")
    stances()
    page = label(project, ann)
    page.has_ahead()
    held = []
    page.page.context.route(INQUIRY, lambda route: held.append(route))
    first = page.answer("1", "1")
    page.is_saved()
    held[0].continue_()
    eventually(page.page, lambda: len(row(first).exposure), 1)
    assert revisions(first, ann).get().suggestion_shown is False
    assert row(first).suggestions_shown_at is None
    page.press("ArrowLeft")
    page.at(first)
    expect(visible(page)).to_have_count(1)
    is_noted(page, first)


def test_one_that_takes_too_long_is_not_shown(open_context, make, ann):
    project = make("shown")
    stances()
    tab = open_context(ann).new_page()
    page = LabellingPage(tab, project)
    tab.add_init_script(IMPATIENT)
    page.open()
    held, failed = [], []
    tab.route(INQUIRY, lambda route: held.append(route))
    tab.on("requestfailed", lambda request: failed.append(request.url))
    first = page.assignment
    page.press("1")
    eventually(tab, lambda: [url.endswith(f"{first}/suggestions") for url in failed], [True])
    expect(visible(page)).to_have_count(0)
    assert row(first).exposure == []


def test_a_suggested_stance_tells_nothing_of_the_suggested_relevance(label, make, ann):
    """Items with a suggested stance and without one look alike until relevance is answered."""
    project = make("shown")
    stances = Suggestion.objects.filter(dimension="stance")
    stances.filter(pk__in=list(stances.values_list("pk", flat=True)[:3])).delete()
    page = label(project, ann)
    looks = []
    for _ in range(4):
        looks.append(page.page.locator("[data-panel]").evaluate(LOOK))
        page.answer("2")
    assert len(set(looks)) == 1
