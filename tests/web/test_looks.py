"""The labelling page to the eye: both schemes, 200 % zoom, a phone, axe-core for both tasks."""

import pytest
from playwright.sync_api import expect

from tests.factories import (
    make_claim_evidence,
    make_dataset,
    make_project,
    make_responses_with_triplets,
    make_suggestions,
    make_user,
)
from tests.kinds import EACH_KIND, make_kind_project
from tests.web.long_answers import make_answers
from tests.web.looks import grave_problems, picture, resize, scrolls_sideways

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TEXT = (
    "The harbour office keeps a diary of every winter. Its pages for January and February of that year report open "
    "water on all days but two, when thin ice was broken by the morning ferry. Fishermen who were asked in March said "
    "that they had gone out as usual. The town's paper printed a picture of a frozen harbour, of another town. "
) * 3
SIZES = {
    "desk": {"width": 1280, "height": 800},
    "zoomed to 200 %": {"width": 640, "height": 400},  # what 1280 x 800 leaves
    "phone": {"width": 360, "height": 740},
}
# Whether a person sees the element, rather than what lies over it.
IS_UNCOVERED = """mark => {
  const { left, top, width, height } = mark.getBoundingClientRect();
  return mark.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}"""
ENDS_UNCOVERED = """area => {
  const { left, bottom, width } = area.getBoundingClientRect();
  return area.contains(document.elementFromPoint(left + width / 2, bottom - 4));
}"""


def make(task, ann):
    dataset = make_dataset()
    if task == "triplets":
        make_responses_with_triplets(dataset, 2, triplets=6, passages=3)
    else:
        make_claim_evidence(dataset, 4, texts=[TEXT] * 4)
    identifier = {"triplets": "triplets/-/1", "claim-evidence": "claim-evidence/six-way/1"}[task]
    project = make_project(
        dataset, identifier, overlap=1, annotators=[ann], prefill="shown", guidelines="# Rules\n\nRead."
    )
    make_suggestions(project, checker="lexical")
    return project


@pytest.mark.parametrize("task", ["claim-evidence", "triplets"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_while_labelling(label, task, scheme):
    ann = make_user()
    page = label(make(task, ann), ann, color_scheme=scheme)
    seen = {"first": grave_problems(page.page)}
    picture(page.page, f"work-{task}-{scheme}-empty")
    page.press("1", "6" if task == "claim-evidence" else "2")
    if task == "claim-evidence":
        page.press("h", "Shift+ArrowRight", "Enter", "ArrowRight", "ArrowRight", "Enter")
    picture(page.page, f"work-{task}-{scheme}-answered")
    seen["answered"] = grave_problems(page.page)
    page.press("Escape", "?")
    picture(page.page, f"work-{task}-{scheme}-help")
    seen["help"] = grave_problems(page.page)
    page.press("Escape", "s")
    picture(page.page, f"work-{task}-{scheme}-skip")
    seen["skip"] = grave_problems(page.page)
    assert not any(seen.values()), seen


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_when_all_is_done(label, scheme):
    ann, dataset = make_user(), make_dataset()
    make_claim_evidence(dataset, 1)
    page = label(make_project(dataset, overlap=1, annotators=[ann]), ann, color_scheme=scheme)
    page.press("2", "Enter")
    expect(page.page.locator(".empty")).to_be_visible()
    picture(page.page, f"work-done-{scheme}")
    assert grave_problems(page.page) == []


@pytest.mark.parametrize("task", ["claim-evidence", "triplets"])
@pytest.mark.parametrize("size", SIZES)
def test_everything_is_within_reach_at_any_size(label, task, size):
    ann = make_user()
    page = label(make(task, ann), ann, viewport=SIZES[size])
    picture(page.page, f"work-{task}-{size.split()[0]}")
    assert not scrolls_sideways(page.page)
    assert page.page.locator(".reader .text").first.evaluate(ENDS_UNCOVERED)  # before anything is pressed
    # Submit and what it refuses are in sight, and so is the text that is read for the answer.
    submit = page.page.get_by_role("button", name="Submit")
    expect(submit).to_be_in_viewport(ratio=1)
    page.press("Enter")
    expect(page.page.locator("[data-status][data-kind=missing]")).to_be_in_viewport(ratio=1)
    page.press("h")
    for key in ("End", "Home"):
        page.press(key)
        assert page.page.locator("mark.caret").evaluate(IS_UNCOVERED)
        expect(submit).to_be_in_viewport(ratio=1)
    page.press("Escape")
    rows = set()
    for name in ("Submit", "Skip", "Flag"):
        button = page.page.locator("#stage").get_by_role("button", name=name)
        button.scroll_into_view_if_needed()
        box = button.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= SIZES[size]["width"]
        assert box["height"] >= 24 and box["width"] >= 24
        rows.add(round(box["y"] + box["height"] / 2))
    assert max(rows) - min(rows) < 8
    page.press("f", "Enter")  # refused without a reason, which is asked for
    details = page.page.get_by_label("Details")
    expect(details).to_be_focused()
    assert details.evaluate(ENDS_UNCOVERED)
    page.press("Escape")
    first = page.page.locator(".choice").first
    first.scroll_into_view_if_needed()
    first.click()
    expect(page.page.locator("#stage input:checked")).to_have_count(1)


@EACH_KIND
def test_every_kind_of_task_is_fit_to_be_seen(label, identifier):
    ann = make_user()
    page = label(make_kind_project(identifier, annotators=[ann], overlap=1), ann)
    name = identifier.replace("/", "-")
    page.press("1", "h", "Shift+ArrowRight", "Enter", "Escape")
    for size, viewport in SIZES.items():
        resize(page.page, viewport)
        picture(page.page, f"work-{name}-{size.split()[0]}")
        assert not scrolls_sideways(page.page), size
    for scheme in ("light", "dark"):
        page.page.emulate_media(color_scheme=scheme)
        assert grave_problems(page.page) == [], scheme


@pytest.mark.parametrize("size", SIZES)
def test_twenty_aspects_stay_within_reach_beside_a_long_answer(label, size):
    ann = make_user()
    dataset = make_answers(1, text=TEXT * 40, aspects=[f"{TEXT[:60]} {number}" for number in range(20)])
    project = make_project(dataset, "aspect-coverage/-/1", overlap=1, annotators=[ann])
    page = label(project, ann, viewport=SIZES[size])
    page.press("h", *(key for digit in range(1, 10) for key in ("Shift+ArrowRight", str(digit), "ArrowRight")))
    page.press("Home", *["Shift+ArrowRight"] * 12, "0", "End", "Shift+1", "Escape")  # ten overlaps others
    picture(page.page, f"work-aspects-{size.split()[0]}")
    assert not scrolls_sideways(page.page)
    assert grave_problems(page.page) == []
    page.page.evaluate("window.scrollTo(0, document.body.scrollHeight / 2)")
    expect(page.page.get_by_role("button", name="Submit")).to_be_in_viewport(ratio=1)
    page.press("5")
    expect(page.page.locator("[data-unit-row]").nth(4).locator(".choice").first).to_be_in_viewport()


def test_texts_without_a_word_are_said_to_be_empty(label):
    ann = make_user()
    project = make_project(make_answers(1, text=" \n"), "aspect-coverage/-/1", overlap=1, annotators=[ann])
    page = label(project, ann)
    expect(page.page.locator(".reader .nothing")).to_have_text("The answer is empty: it covers nothing.")
    page.press("h")
    assert page.status == "This task has no highlights"
    assert grave_problems(page.page) == []


def test_a_chosen_colour_scheme_outlasts_the_page(label):
    ann = make_user()
    page = label(make("claim-evidence", ann), ann, color_scheme="light")
    for choice in ("light", "dark"):
        page.page.locator("[data-theme-toggle]").click()
        expect(page.page.locator("html")).to_have_attribute("data-theme", choice)
    page.open()
    assert page.page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
