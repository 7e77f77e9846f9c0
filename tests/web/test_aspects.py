"""Aspects of a long answer: picked by digits, marked by mouse and caret, told apart by number, colour and line."""

import re

import pytest
from playwright.sync_api import expect

from annotation.models import Judgement, Revision
from tests.factories import make_project
from tests.web.long_answers import ANSWER, make_answers
from tests.web.pages import LabellingPage, eventually, revisions

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TYPE = "aspect-coverage/-/1"


@pytest.fixture
def project(ann):
    return make_project(make_answers(3), TYPE, overlap=1, annotators=[ann], order="file")


def answers(assignment, user) -> dict[int, tuple[str, list[str]]]:
    """Label and quotes by the aspect's number, as stored."""
    latest = revisions(assignment, user).filter(is_latest=True)
    rows = Judgement.objects.filter(revision__in=latest).select_related("unit__aspect").prefetch_related("spans")
    return {
        row.unit.aspect.index + 1: (row.label, [span.quote for span in row.spans.order_by("start", "end")])
        for row in rows
    }


def current(page) -> str:
    return page.page.locator("[data-unit-row][aria-current] .pick").inner_text()


def test_the_keyboard_alone_covers_overlaps_and_submits(label, project, ann):
    page = label(project, ann)
    page.press("h", "Shift+ArrowRight", "1")  # Salt lowers
    page.press("ArrowRight", "ArrowLeft", "Shift+ArrowRight", "Shift+ArrowRight", "2")  # lowers the freezing
    assert page.chosen() == ["covered", "covered"] and current(page) == "2"
    page.press("n")  # in the caret too: answers 2 anew and goes on, the caret stays
    assert page.chosen() == ["covered", "not_covered"]
    assert current(page) == "3" and page.page.locator("mark.caret").count() > 0
    page.press("y", "Escape", "2", "y", "Enter")
    assert page.status == "Number 3 is “Covered”: highlight where"
    page.press("n")
    first = page.answer()
    page.is_saved()
    found = answers(first, ann)
    assert found == {
        1: ("covered", ["Salt lowers"]),
        2: ("covered", ["lowers the freezing"]),
        3: ("not_covered", []),
    }


def test_overlaps_carry_the_numbers_of_all_their_aspects(label, project, ann):
    page = label(project, ann)
    page.press("h", "Shift+ArrowRight", "Shift+ArrowRight", "1", "2", "Home", "3", "Escape")
    marks = page.page.locator("mark.chosen")
    assert marks.evaluate_all("marks => marks.map(mark => [mark.textContent, mark.dataset.numbers])") == [
        ["Salt", "1 2 3"],
        [" lowers the", "1 2"],
    ]
    assert (
        page.page.evaluate("getComputedStyle(document.querySelector('mark.chosen'), '::before').content") == '"1·2·3"'
    )
    assert page.text("response") == ANSWER  # numbers are no part of the text
    # A line of its own for each aspect, in different dashes, below a tint for each.
    drawn = marks.first.evaluate("mark => mark.style.background")
    assert [number in drawn for number in ("--aspect-1-line", "--aspect-2-line", "--aspect-3-line")] == [True] * 3
    row = page.page.locator("[data-unit-row]").nth(2)
    row.hover()
    expect(page.page.locator("mark.pointed")).to_have_text(["Salt"])


def test_the_mouse_selects_and_the_digit_says_what_it_belongs_to(label, project, ann):
    page = label(project, ann)
    page.drag("response", 1, 9)
    expect(page.page.locator("[data-status]")).to_contain_text("Press a number")
    assert page.chips() == []
    page.press("3")
    assert page.chips() == ["Salt lowers"] and current(page) == "3" and page.chosen() == ["covered"]
    page.drag("response", 13, 16)
    page.page.get_by_role("button", name="Number 1", exact=True).click()
    eventually(page.page, page.chips, ["the", "Salt lowers"])
    assert current(page) == "1"
    page.drag("response", 17, 20, shift=True)
    page.press("h")  # for the current one; single characters
    assert page.chips() == ["the", ANSWER[17:20].strip(), "Salt lowers"]


def test_a_highlight_brings_its_label_along_in_one_step_of_undo(label, project, ann):
    page = label(project, ann)
    page.press("h", "2", "Escape")
    assert page.chosen() == ["covered"] and page.chips() == ["Salt"]
    page.press("z")
    assert page.chosen() == [] and page.chips() == []


def test_leaving_the_text_goes_on_to_the_next_so_that_a_label_key_overturns_nothing(label, project, ann):
    page = label(project, ann)
    page.press("h", "1", "Escape")
    assert current(page) == "2"
    page.press("n")
    assert page.chosen() == ["covered", "not_covered"] and page.chips() == ["Salt"]
    page.press("2", "y", "2", "h", "Escape")
    assert current(page) == "2"  # which still lacks its highlight


def test_a_label_that_takes_no_highlight_says_so_and_keeps_what_was_there(label, project, ann):
    page = label(project, ann)
    page.press("h", "1", "Escape", "1", "n", "1")
    expect(page.page.locator(".is-off [data-chips]")).to_have_count(1)
    assert page.page.locator("mark.chosen").count() == 0 and page.chips() == ["Salt"]
    page.press("h", "ArrowRight", "1")
    assert page.status == "“Not covered” takes no highlight: choose “Covered” (y) first"
    page.press("Escape", "2", "n", "n")
    first = page.assignment
    page.answer()
    page.is_saved()
    assert answers(first, ann)[1] == ("not_covered", [])
    page.press("ArrowLeft")
    page.at(first)
    page.press("1", "y", "Enter")
    page.gone(first)
    page.is_saved()
    assert answers(first, ann)[1] == ("covered", ["Salt"])


def test_labels_have_keys_of_their_own_and_go_on_to_the_next_open_one(label, project, ann):
    page = label(project, ann)
    page.press("2", "n")
    assert current(page) == "3"
    page.press("n")
    assert current(page) == "1"  # around to what is open
    page.press("n")
    first = page.answer()
    page.is_saved()
    assert {label for label, _ in answers(first, ann).values()} == {"not_covered"}


def test_digits_reach_twenty_aspects_on_any_layout(label, ann):
    dataset = make_answers(1, aspects=[f"aspect {number}" for number in range(1, 21)])
    page = label(make_project(dataset, TYPE, overlap=1, annotators=[ann]), ann)
    seen = []
    for key in ("1", "9", "0", "Shift+1", "Shift+0", "4"):
        page.press(key)
        seen.append(current(page))
    assert seen == ["1", "9", "10", "11", "20", "4"]
    # A French keyboard writes a digit only with Shift; the place of the key counts, not the sign.
    page.page.evaluate(
        """() => document.dispatchEvent(new KeyboardEvent("keydown", {key: "é", code: "Digit2", bubbles: true}))"""
    )
    assert current(page) == "2"
    page.press("h", "Shift+0")
    assert page.page.locator("mark.chosen").get_attribute("data-numbers") == "20"
    # The list scrolls by itself; the picked row is in sight.
    expect(page.page.locator("[data-unit-row]").nth(19)).to_be_in_viewport()


def test_only_the_current_ones_highlights_can_be_shown(label, project, ann):
    page = label(project, ann)
    page.press("h", "1", "ArrowRight", "2", "Escape", "2", "o")
    marks = page.page.locator("mark.chosen")
    assert marks.all_text_contents() == ["lowers"]
    page.press("1")
    assert marks.all_text_contents() == ["Salt"]
    page.press("o")
    assert marks.all_text_contents() == ["Salt", "lowers"]


def test_the_caret_removes_the_current_ones_first(label, project, ann):
    page = label(project, ann)
    page.press("h", "1", "2", "Delete")
    assert page.page.locator("mark.chosen").get_attribute("data-numbers") == "1"
    page.press("Delete")
    assert page.chips() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_legible_on_all_twenty_colours(label, ann, scheme):
    dataset = make_answers(1, aspects=[f"aspect {number}" for number in range(1, 21)])
    page = label(make_project(dataset, TYPE, overlap=1, annotators=[ann]), ann, color_scheme=scheme)
    colours = page.page.evaluate(
        """() => {
          const probe = document.body.appendChild(document.createElement("i"));
          const seen = (name) => { probe.style.color = `var(${name})`; return getComputedStyle(probe).color; };
          return [seen("--text"), ...Array.from({length: 20}, (_, i) => seen(`--aspect-${i + 1}`))];
        }"""
    )
    text, *tints = [[int(part) for part in re.findall(r"\d+", colour)[:3]] for colour in colours]
    assert len({tuple(tint) for tint in tints}) == 20
    assert min(contrast(text, tint) for tint in tints) >= 4.5


def contrast(one, other) -> float:
    """WCAG's contrast ratio of two colours in sRGB."""

    def luminance(colour) -> float:
        parts = [value / 255 for value in colour]
        parts = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_draft_with_highlights_survives_a_reload_and_two_tabs(open_context, project, ann):
    context = open_context(ann)
    page = LabellingPage(context.new_page(), project).open()
    page.press("h", "1", "ArrowRight", "2", "Escape", "3", "n")
    page.open()
    assert page.chosen() == ["covered", "covered", "not_covered"] and page.chips() == ["Salt", "lowers"]
    other = LabellingPage(context.new_page(), project).open()
    assert other.assignment == page.assignment and other.chips() == ["Salt", "lowers"]
    page.page.bring_to_front()
    first = page.answer()
    page.is_saved()
    other.page.bring_to_front()
    other.gone(first)
    assert Revision.objects.count() == 1
    assert answers(first, ann)[2] == ("covered", ["lowers"])
