"""What a person sees of a checker under each policy, and when; what is withheld reaches no response at all."""

import pytest
from playwright.sync_api import expect

from annotation.models import Assignment, Revision
from tests.factories import (
    make_claim_evidence,
    make_dataset,
    make_project,
    make_responses_with_triplets,
    make_suggestions,
)
from tests.web.pages import eventually, revisions, stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CHECKER = "secret-checker"


@pytest.fixture
def make(ann):
    def make_prefilled(prefill, labels=None, n=5):
        dataset = make_dataset()
        make_claim_evidence(dataset, n)
        project = make_project(dataset, overlap=1, annotators=[ann], prefill=prefill)
        make_suggestions(project, checker=CHECKER, labels=labels or {"relevance": "relevant", "stance": "supports"})
        return project

    return make_prefilled


@pytest.fixture
def listen(open_context):
    """A labelling page whose every response body is kept."""
    from tests.web.pages import LabellingPage

    def open_page(project, user):
        page = open_context(user).new_page()
        received = []
        page.on("requestfinished", lambda request: received.append(request))
        labelling = LabellingPage(page, project).open()

        def bodies(answers: int = 0, but: str = "no address"):
            """All that came, once the server's replies to so many answers are among it, but those of one address."""
            eventually(page, lambda: sum(request.url.endswith("/submit") for request in received), answers)
            asked = [request for request in received if not request.url.endswith(but)]
            return [response.text() for request in asked if (response := request.response()) and response.ok]

        return labelling, bodies

    return open_page


def test_off_shows_and_sends_nothing(listen, make, ann):
    page, bodies = listen(make("off"), ann)
    page.has_ahead()
    for _ in range(2):
        page.answer("1", "6")
        page.is_saved()
    texts = bodies(answers=2)
    assert len(texts) > 8 and not any(CHECKER in text or "0.875" in text for text in texts)
    expect(page.page.locator("[data-suggestion]:not([hidden])")).to_have_count(0)
    assert not Assignment.objects.filter(suggestions_shown_at__isnull=False).exists()
    assert set(Revision.objects.values_list("suggestion_shown", flat=True)) == {False}


def test_shown_stands_beside_the_form_with_checker_and_score_and_is_no_answer(label, make, ann):
    page = label(make("shown"), ann)
    page.has_ahead()
    line = page.page.locator("[data-suggestion]").first
    expect(line).to_have_text(f"{CHECKER} suggests Relevant · 0.88 Accept a")
    expect(page.page.locator(".choice.is-suggested")).to_have_count(1)
    assert page.chosen() == []
    page.press("Enter")
    assert page.status == "Choose: Relevance"
    page.press("a")
    expect(page.page.locator(".choice.is-suggested")).to_have_count(2)  # the stance is asked now
    page.press("a")
    assert page.chosen() == ["relevant", "supports"]
    first = page.answer()
    page.is_saved()
    assert stored(first, ann) == {"relevance": "relevant", "stance": "supports"}
    assert revisions(first, ann).get().suggestion_shown is True


def test_shown_counts_as_seen_only_once_the_item_is_on_the_screen(label, make, ann):
    page = label(make("shown"), ann)
    page.has_ahead()
    eventually(page.page, lambda: page.held.suggestions_shown_at is not None, True)
    on_screen = page.held
    fetched = Assignment.objects.exclude(pk=on_screen.pk).get(state="leased")
    assert on_screen.exposure[0]["suggestions"] == 1  # the stance is not asked yet
    assert fetched.suggestions_shown_at is None and fetched.shown_at is None
    page.answer("1", "6")
    page.at(str(fetched.uuid))
    eventually(page.page, lambda: page.held.suggestions_shown_at is not None, True)


def test_after_withholds_until_the_first_answer_then_shows_and_keeps(listen, make, ann):
    page, bodies = listen(make("after"), ann)
    page.has_ahead()
    assert not any(CHECKER in text for text in bodies())
    first = page.assignment
    page.press("1", "1", "Enter")
    line = page.page.locator("[data-suggestion]:not([hidden])").nth(1)
    expect(line).to_contain_text(f"{CHECKER} suggests Supports · 0.88")
    page.at(first)
    assert page.chosen() == ["relevant", "refutes"] and page.status.startswith("Saved. Keep your answer")
    # What the page asked when the stance came up may be read after the answer was stored; it is no secret by then.
    assert [CHECKER in text for text in bodies(answers=1, but="/suggestions")].count(True) == 1
    eventually(page.page, lambda: page.held.suggestions_shown_at is not None, True)
    page.press("Enter")
    page.gone(first)
    expect(page.page.locator("[data-suggestion]:not([hidden])")).to_have_count(0)
    page.is_saved()
    assert [revision.suggestion_shown for revision in revisions(first, ann)] == [False]
    assert stored(first, ann)["stance"] == "refutes"


def test_suggestions_asked_for_before_the_answer_and_sent_after_it_are_shown_once(label, make, ann):
    page = label(make("after"), ann)
    page.has_ahead()
    held = []
    page.page.route("**/suggestions", lambda route: held.append(route))
    page.press("1", "1", "Enter")
    shown = page.page.locator("[data-suggestion]:not([hidden])")
    expect(shown).to_have_count(2)
    eventually(page.page, lambda: len(held), 1)
    with page.page.expect_response("**/suggestions") as late:
        held[0].continue_()
    assert CHECKER in late.value.text()  # the answer is stored
    expect(shown).to_have_count(2)
    assert page.status.startswith("Saved. Keep your answer")


def test_after_lets_the_person_change_the_answer_as_a_second_revision(label, make, ann):
    page = label(make("after"), ann)
    page.has_ahead()
    first = page.assignment
    page.press("1", "1", "Enter")
    expect(page.page.locator("[data-suggestion]:not([hidden])")).to_have_count(2)
    page.press("ArrowDown", "a", "Enter")
    page.gone(first)
    page.is_saved()
    one, two = revisions(first, ann)
    assert (one.suggestion_shown, two.suggestion_shown) == (False, True)
    assert one.judgements.get(dimension="stance").label == "refutes"
    assert two.judgements.get(dimension="stance").label == "supports"


def test_after_does_not_hold_anybody_up_while_the_server_is_away(label, make, ann):
    page = label(make("after"), ann)
    page.has_ahead()
    page.page.context.route("**/submit", lambda route: route.fulfill(status=503))
    first = page.assignment
    page.press("2", "Enter")
    page.gone(first)
    page.page.context.unroute("**/submit")
    page.is_saved()
    assert stored(first, ann) == {"relevance": "not_relevant"}


@pytest.mark.parametrize("suggested", [False, True], ids=["none comes", "one comes"])
def test_keys_typed_while_an_answer_waits_for_suggestions_are_kept(label, make, ann, suggested):
    """They act on what is there with the reply: the next item, or the same one with its suggestion. An Enter pressed
    twice answers no item that nobody has seen."""
    project = make("after")
    page = label(project, ann)
    page.has_ahead()
    before = page.assignment
    page.press("1", "6", "Enter")  # with its reply the page knows that suggestions may follow
    expect(page.page.locator("[data-status]")).to_contain_text("Saved. Keep your answer")
    page.press("Enter")
    page.gone(before)
    page.is_saved()
    if not suggested:
        project.prefill_run.suggestions.all().delete()
    held = []
    page.page.context.route("**/submit", lambda route: route.continue_() if held else held.append(route))
    first = page.assignment
    page.press("1", "6", "Enter", "Enter", "2", "Enter", "Enter")
    eventually(page.page, lambda: len(held), 1)
    page.at(first)
    held[0].continue_()
    page.gone(first)
    page.is_saved()
    expect(page.page.locator("[data-status]")).to_have_text("Choose: Relevance")
    page.is_saved()
    assert Revision.objects.count() == 3  # also where an Enter kept the answer in view of the suggestion
    assert stored(first, ann) == {"relevance": "relevant", "stance": "supports"}
    page.press("ArrowLeft")
    expect(page.page.locator("[data-submit-text]")).to_have_text("Go on")
    assert stored(page.assignment, ann) == {"relevance": "not_relevant"}


def test_suggestions_for_triplets_stand_at_their_triplet(label, ann):
    dataset = make_dataset()
    make_responses_with_triplets(dataset, 1, triplets=3)
    project = make_project(dataset, "triplets/-/1", overlap=1, annotators=[ann], prefill="shown")
    make_suggestions(project, checker=CHECKER, labels={"entailment": "neutral"})
    page = label(project, ann)
    expect(page.page.locator("[data-suggestion]:not([hidden])")).to_have_count(3)
    page.press("a", "1", "a")
    assert page.chosen() == ["neutral", "entailment", "neutral"]
