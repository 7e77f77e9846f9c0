"""Judging claims against evidence in the browser: keyboard alone, the mouse, the way back."""

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from annotation.models import Annotation, Assignment, Revision
from tests.factories import make_claim_evidence, make_dataset, make_project
from tests.web.pages import PLACE, eventually, revisions, spans, stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TEXT = "The harbour of the old town stayed open all winter, the report says."


@pytest.fixture
def project(ann):
    dataset = make_dataset()
    make_claim_evidence(dataset, 6, texts=[TEXT] * 6)
    return make_project(dataset, overlap=1, annotators=[ann])


def test_the_keyboard_alone_judges_highlights_and_goes_on(label, project, ann):
    page = label(project, ann)
    first = page.assignment
    page.press("1", "6", "h", "ArrowRight", "Shift+ArrowRight", "Enter", "End", "Enter", "Escape", "Enter")
    page.gone(first)
    page.is_saved()
    assert stored(first, ann) == {"relevance": "relevant", "stance": "supports"}
    assert spans(first, ann) == [(4, 14, "harbour of"), (63, 67, "says")]
    revision = revisions(first, ann).get()
    assert revision.guideline_version == 1 and revision.shown_at < revision.submitted_at and revision.active_ms >= 0
    second = page.answer("2")
    page.is_saved()
    assert stored(second, ann) == {"relevance": "not_relevant"}


def test_a_label_that_makes_no_sense_any_more_is_not_sent(label, project, ann):
    page = label(project, ann)
    page.press("1", "3", "ArrowUp", "2")
    assert page.chosen() == ["not_relevant"]
    first = page.answer()
    page.is_saved()
    assert stored(first, ann) == {"relevance": "not_relevant"}


def test_enter_says_what_is_missing(label, project, ann):
    page = label(project, ann)
    page.press("Enter")
    assert page.status == "Choose: Relevance"
    page.press("1", "Enter")
    assert page.status == "Choose: Stance"
    assert not Revision.objects.exists()


def test_the_mouse_chooses_highlights_whole_words_and_removes(label, project, ann):
    page = label(project, ann)
    page.page.get_by_text("Relevant", exact=True).click()
    page.page.get_by_text("Refutes", exact=True).click()
    expect(page.page.locator("[data-group][data-dimension=stance]")).to_be_focused()  # nothing scrolls any more
    page.drag("evidence", 6, 13)
    eventually(page.page, page.chips, ["harbour of"])
    page.drag("evidence", 20, 25, shift=True)
    eventually(page.page, page.chips, ["harbour of", TEXT[20:25].strip()])
    page.page.get_by_role("button", name="Remove the highlight: harbour of").click()
    eventually(page.page, page.chips, [TEXT[20:25].strip()])
    first = page.assignment
    page.page.get_by_role("button", name="Submit").click()
    page.gone(first)
    page.is_saved()
    assert stored(first, ann) == {"relevance": "relevant", "stance": "refutes"}
    assert [quote for _, _, quote in spans(first, ann)] == [TEXT[20:25].strip()]


def test_a_highlight_is_kept_though_enter_follows_before_the_page_has_looked_at_it(label, project, ann):
    page = label(project, ann)
    page.press("1", "6")
    first = page.assignment
    page.page.evaluate(
        """() => {
          const text = document.querySelector('[data-field="evidence"]').firstChild;
          const at = { bubbles: true, cancelable: true };
          text.parentElement.dispatchEvent(new PointerEvent("pointerdown", { ...at, pointerType: "mouse", button: 0 }));
          getSelection().setBaseAndExtent(text, 4, text, 11);
          text.parentElement.dispatchEvent(new PointerEvent("pointerup", { ...at, pointerType: "mouse", button: 0 }));
          document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { ...at, key: "Enter", code: "Enter" }));
        }"""
    )
    page.gone(first)
    page.is_saved()
    assert spans(first, ann) == [(4, 11, "harbour")]


def test_highlights_may_overlap_and_the_caret_removes_the_one_it_is_on(label, project, ann):
    page = label(project, ann)
    page.press("1", "6", "h", "Shift+ArrowRight", "Shift+ArrowRight", "Enter")  # The harbour of
    page.press("ArrowRight", "Home", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "Enter")  # harbour of the
    assert page.chips() == ["The harbour of", "harbour of the"]
    expect(page.page.locator('mark.chosen[data-depth="2"]')).not_to_have_count(0)
    page.press("Home", "Delete")
    assert page.chips() == ["harbour of the"]
    page.press("Escape")
    first = page.answer()
    page.is_saved()
    assert spans(first, ann) == [(4, 18, "harbour of the")]


def test_two_clicks_make_a_highlight_without_dragging(label, project, ann):
    page = label(project, ann)
    page.press("1", "6")
    button = page.page.locator('[data-do="highlight"]').first

    def click_at(offset: int) -> None:
        """On the right half of the character."""
        _, _, right, y = page.page.evaluate(PLACE, ["evidence", offset, offset + 1])
        page.page.mouse.click(right - 1, y)

    click_at(6)
    assert page.chips() == []  # a click alone does nothing
    button.click()
    click_at(17)  # backwards, and on the last letter of a word
    expect(page.page.get_by_text("Click the last word of the highlight")).to_be_visible()
    click_at(6)
    assert page.chips() == ["harbour of the"]
    click_at(0)  # the caret is gone
    button.click()
    click_at(0)
    page.press("ArrowRight")  # keys begin anew
    click_at(13)
    click_at(5)
    assert page.chips() == ["harbour of", "harbour of the"]
    first = page.answer()
    page.is_saved()
    assert spans(first, ann) == [(4, 14, "harbour of"), (4, 18, "harbour of the")]


def test_keys_are_off_while_somebody_types_and_in_dialogs(label, project, ann):
    page = label(project, ann)
    first = page.assignment
    page.press("c", "1", "s", "2", "Enter", "z")
    assert page.page.locator("[data-comment]").input_value() == "1s2\nz" and page.chosen() == []
    page.press("Escape", "1")
    assert page.chosen() == ["relevant"]
    page.press("?")
    expect(page.page.locator('dialog[data-dialog="help"]')).to_be_visible()
    page.press("3", "s")
    assert page.chosen() == ["relevant"]
    page.press("Escape")
    expect(page.page.locator("dialog[open]")).to_have_count(0)
    page.press("4")
    assert page.chosen() == ["relevant", "insufficient-neutral"]
    page.press("c", "Control+Enter")
    page.gone(first)
    page.is_saved()
    assert revisions(first, ann).get().comment == "1s2\nz"


def test_single_keys_can_be_switched_off_for_good(label, project, ann):
    page = label(project, ann)
    page.press("?")
    page.page.get_by_label("Single-key shortcuts").uncheck()
    page.press("Escape")
    expect(page.page.locator("dialog[open]")).to_have_count(0)
    page.press("1")
    assert page.chosen() == []
    page.open().press("1")
    assert page.chosen() == []


def test_guidelines_are_one_key_away(label, project, ann):
    page = label(project, ann)
    page.press("g")
    expect(page.page.locator('dialog[data-dialog="guidelines"]')).to_contain_text("Read twice, judge once.")


def test_undo_takes_back_step_by_step_and_reaches_over_a_submitted_item(label, project, ann):
    page = label(project, ann)
    page.press("1", "5", "Control+z")
    assert page.chosen() == ["relevant"]
    first = page.answer("5")
    assert page.chosen() == []
    page.press("z")
    page.at(first)
    page.press("z")
    assert page.chosen() == ["relevant"]
    page.press("1", "Enter")  # the digits answer the stance again
    page.gone(first)
    page.is_saved()
    assert stored(first, ann) == {"relevance": "relevant", "stance": "refutes"}
    assert revisions(first, ann).count() == 2


def test_going_back_and_changing_appends_a_revision_and_keeps_the_first(label, project, ann):
    page = label(project, ann)
    first = page.answer("2")
    second = page.assignment
    page.is_saved()
    page.press("ArrowLeft")
    page.at(first)
    assert page.chosen() == ["not_relevant"] and page.status == "You answered this item"
    page.press("1", "2", "Enter")
    page.at(second)
    page.is_saved()
    assert list(revisions(first, ann).values_list("number", "is_latest")) == [(1, False), (2, True)]
    assert stored(first, ann) == {"relevance": "relevant", "stance": "insufficient-refutes"}
    assert Annotation.objects.count() == 1


def test_the_way_back_leads_over_a_reload(label, project, ann):
    page = label(project, ann)
    first = page.answer("1", "6", "h", "Enter", "Escape")
    page.is_saved()
    page.open().press("ArrowLeft")
    page.at(first)
    assert page.chosen() == ["relevant", "supports"] and page.chips() == ["The"]
    page.press("ArrowRight")
    page.gone(first)
    assert revisions(first, ann).count() == 1


@pytest.mark.parametrize("is_flag", [False, True], ids=["skip", "flag"])
def test_skipping_and_flagging_keep_the_reason(label, project, ann, is_flag):
    page = label(project, ann)
    first = page.assignment
    page.press("f" if is_flag else "s")
    page.page.get_by_label("Broken or unreadable text").check()
    page.page.get_by_label("Details").fill("half of it is missing")
    page.page.locator("[data-skip-confirm]").click()
    page.gone(first)
    page.is_saved()
    row = Assignment.objects.get(uuid=first)
    assert (row.state, row.is_flagged) == ("skipped", is_flag)
    assert row.skip_reason == "The text is broken or unreadable: half of it is missing"
    assert not Annotation.objects.exists()


def test_by_keyboard_alone_a_reason_is_picked_and_the_next_item_has_the_focus(label, project, ann):
    page = label(project, ann)
    page.has_ahead()
    focused = "document.querySelector('#stage').contains(document.activeElement)"
    first = page.assignment
    page.press("s", "2", "Enter")
    page.gone(first)
    assert page.page.evaluate(focused)
    page.has_ahead()
    flagged = page.assignment
    expect(page.page.locator('[data-notice="skipped"] a')).to_have_attribute(
        "href", f"/projects/{project.slug}/my-work/"
    )
    page.press("f", "Enter")  # without a reason
    expect(page.page.get_by_role("dialog", name="Flag this item")).to_be_visible()
    expect(page.page.get_by_label("Details")).to_be_focused()
    page.at(flagged)
    expect(page.page.locator("[data-skip-confirm] kbd")).to_have_text("Ctrl+Enter")
    page.page.keyboard.type("1 of 2 pages")  # digits are words there
    page.press("Control+Enter")
    page.gone(flagged)
    assert page.page.evaluate(focused)
    page.is_saved()
    reasons = [Assignment.objects.get(uuid=one).skip_reason for one in (first, flagged)]
    assert reasons == ["Cannot be judged without more context", "1 of 2 pages"]


def test_an_item_says_its_number_and_its_claim_and_the_caret_where_it_stands(label, project, ann):
    page = label(project, ann)
    said = page.page.locator("[data-announce]")
    claim, word = page.text("claim"), page.text("evidence").split()[0]
    expect(said).to_have_text(f"New. Item 1 of 6. Claim: {claim}")
    page.press("1", "h")
    caret = page.page.get_by_role("application", name="Evidence: caret for highlights")
    expect(caret).to_be_focused()
    expect(said).to_have_text(f"Evidence: {word}")
    page.press("Enter", "ArrowRight", "ArrowLeft")
    expect(said).to_have_text(f"{word}, highlighted")
    page.press("Escape")
    expect(caret).to_have_count(0)
    page.press("ArrowUp", "2")
    page.answer()
    expect(said).to_have_text(f"New. Item 2 of 6. Claim: {page.text('claim')}")
    page.is_saved()
    page.open().press("ArrowLeft")
    expect(said).to_have_text(f"Item 1 of 6. Claim: {claim}")
    expect(page.page.get_by_role("article", name="Item 1 of 6")).to_be_visible()


def test_the_minimum_time_is_kept(label, project, ann):
    project.minimum_seconds = 60
    project.save()
    page = label(project, ann)
    first = page.assignment
    page.press("2", "Enter")
    assert "more second" in page.status
    page.at(first)
    # A minute goes by for the page, and for the server.
    page.page.evaluate("() => { const now = Date.now; Date.now = () => now() + 60000; }")
    eventually(page.page, lambda: page.held.shown_at is not None, True)
    Assignment.objects.filter(uuid=first).update(shown_at=page.held.shown_at - timedelta(minutes=1))
    page.answer()
    page.is_saved()
    assert stored(first, ann) == {"relevance": "not_relevant"}


def test_the_next_item_is_there_before_any_request(label, project, ann):
    page = label(project, ann)
    page.has_ahead()
    asked = []

    def hold(route):
        asked.append(route.request.url)

    page.page.route("**/api/**", hold)  # nothing is answered any more
    before = page.assignment
    page.press("2")
    elapsed = page.page.evaluate(
        """before => new Promise((done) => {
          const start = performance.now();
          document.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", code: "Enter", bubbles: true}));
          const now = document.querySelector("#stage [data-item]").dataset.item;
          done(now === before ? null : performance.now() - start);
        })""",
        before,
    )
    assert elapsed is not None, "the item changed only later"
    assert page.assignment != before


def test_progress_counts_and_the_end_is_told(label, ann):
    dataset = make_dataset()
    make_claim_evidence(dataset, 3)
    page = label(make_project(dataset, overlap=1, annotators=[ann]), ann)
    expect(page.page.locator("[data-open]")).to_have_text("3")
    page.answer("2")
    expect(page.page.locator("[data-mine]")).to_have_text("1")
    expect(page.page.locator("[data-team]")).to_have_text("1")
    expect(page.page.locator("[data-team-total]")).to_have_text("3")
    page.answer("2")
    page.answer("2")
    expect(page.page.locator("#stage")).to_contain_text("All done")
    page.is_saved()
    assert Revision.objects.count() == 3
    page.press("ArrowLeft")
    expect(page.page.locator("#stage [data-item]")).to_have_count(1)
    assert page.chosen() == ["not_relevant"]
