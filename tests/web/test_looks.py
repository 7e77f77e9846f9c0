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
from tests.web.looks import grave_problems, picture, scrolls_sideways

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
    for name in ("Submit", "Skip", "Flag"):
        button = page.page.locator("#stage").get_by_role("button", name=name)
        button.scroll_into_view_if_needed()
        box = button.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= SIZES[size]["width"]
        assert box["height"] >= 24 and box["width"] >= 24
    first = page.page.locator(".choice").first
    first.scroll_into_view_if_needed()
    first.click()
    assert len(page.chosen()) == 1


def test_a_chosen_colour_scheme_outlasts_the_page(label):
    ann = make_user()
    page = label(make("claim-evidence", ann), ann, color_scheme="light")
    for _ in range(2):
        page.page.locator("[data-theme-toggle]").click()
    page.open()
    assert page.page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
