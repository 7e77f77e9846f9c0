"""Reviewing drafts in Chromium by the keyboard alone, two reviewers at once, and how the page looks."""

import pytest
from playwright.sync_api import expect

from annotation.machines.drafts import reviewing
from annotation.models import Draft
from annotation.projects.draft_kinds import DRAFT_KINDS
from tests.web.looks import grave_problems, picture, scrolls_sideways
from tests.web.pages import eventually
from tests.world.drafts import ANSWERS, drafts, extract, make_drafting_project, script, triplet

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

KIND = DRAFT_KINDS["triplet"]
FIRST, FERRIES = "The harbour froze in 1963.", "Ferries stayed in port."


@pytest.fixture
def project(monkeypatch):
    at = ANSWERS[0].index(FERRIES)
    proposed = {
        ANSWERS[0]: [
            triplet("harbour", "froze in", "1963", 0, len(FIRST)),
            triplet("ferries", "stayed in", "port", at, at + len(FERRIES)),
            triplet("skaters", "crossed", "the lake"),
        ],
        ANSWERS[1]: [triplet("lighthouse", "built in", "1856"), triplet("it", "rebuilt after", "the war")],
    }
    script(monkeypatch, proposed)
    project = make_drafting_project(slug="answers")
    extract(project)
    return project


def address_of(draft: Draft) -> str:
    return f"/projects/answers/drafts/of/{draft.response_id}/"


def decided(project) -> list[tuple[str, str]]:
    return [(draft.state, (draft.edited or draft.parts)["head"]) for draft in drafts(project)]


def test_everything_is_decided_by_keyboard(open_context, project):
    page = open_context(project.created_by).new_page()
    page.goto(address_of(drafts(project)[0]))
    rows, mark = page.locator("#drafts > li"), page.locator("#response-text mark.is-current")
    expect(rows.nth(0)).to_be_focused()
    expect(mark).to_have_text(FIRST)
    page.keyboard.press("a")
    expect(rows.nth(1)).to_be_focused()
    expect(mark).to_have_text(FERRIES)
    page.keyboard.press("d")
    expect(rows.nth(2)).to_be_focused()
    expect(page.get_by_text("1 of 3 to decide")).to_be_visible()
    page.keyboard.press("k")
    page.keyboard.press("u")
    expect(page.get_by_text("2 of 3 to decide")).to_be_visible()
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("e")
    page.keyboard.press("Control+A")
    page.keyboard.type("Two ferries")
    page.keyboard.press("Enter")
    expect(rows.nth(1).get_by_text("proposed: ferries")).to_be_visible()
    expect(rows.nth(2)).to_be_focused()
    page.keyboard.press("+")
    page.keyboard.type("winter")
    page.keyboard.press("Tab")
    page.keyboard.type("was")
    page.keyboard.press("Tab")
    page.keyboard.type("cold")
    page.keyboard.press("Enter")
    expect(rows).to_have_count(4)
    expect(page.locator("#draft-add textarea").first).to_be_focused()
    expect(page.locator("#draft-add textarea").first).to_have_value("")
    by_hand = page.locator("#drafts > li").last
    by_hand.get_by_role("button", name="Remove").click()
    expect(rows).to_have_count(3)
    expect(rows.nth(2)).to_be_focused()
    page.keyboard.press("+")
    page.keyboard.type("winter")
    page.keyboard.press("Enter")
    expect(rows).to_have_count(4)
    expect(page.locator("#draft-add textarea").first).to_be_focused()
    expect(page.locator("#draft-add textarea").first).to_have_value("")
    page.locator("#draft-add textarea").first.blur()
    page.keyboard.press("j")
    page.keyboard.press("d")
    expect(page.get_by_text("All 4 decided")).to_be_visible()
    expect(page.locator("#draft-next")).to_be_focused()
    page.keyboard.press("n")
    expect(page.get_by_role("heading", name="q1/r0")).to_be_visible()
    page.wait_for_load_state()  # its scripts send the words of every row
    # Words that are not sent yet count when all that is left is accepted.
    page.locator("#drafts textarea").first.fill("the lighthouse")
    page.get_by_role("button", name="Accept all 2 left").click()
    expect(page.get_by_text("All 2 decided")).to_be_visible()
    assert sorted(decided(project)) == [
        ("accepted", "Two ferries"),
        ("accepted", "harbour"),
        ("accepted", "it"),
        ("accepted", "the lighthouse"),
        ("accepted", "winter"),
        ("dropped", "skaters"),
    ]


def test_the_keys_go_on_while_decisions_are_on_their_way(open_context, project):
    page = open_context(project.created_by).new_page()
    page.goto(address_of(drafts(project)[0]))
    rows, words = page.locator("#drafts > li"), page.locator("#draft-add textarea").first
    expect(rows.nth(0)).to_be_focused()
    held = []
    page.route("**/drafts/**", lambda route: held.append(route))
    for key in ("a", "j", "d"):
        page.keyboard.press(key)
    eventually(page, lambda: len(held), 2)
    for place, state in enumerate(("accepted", "dropped")):
        held[place].continue_()
        expect(rows.nth(place)).to_have_attribute("data-state", state)
        expect(rows.nth(place + 1)).to_be_focused()
    page.keyboard.press("a")
    page.keyboard.press("+")
    eventually(page, lambda: len(held), 3)
    held[2].continue_()
    expect(page.get_by_text("All 3 decided")).to_be_visible()
    expect(words).to_be_focused()


def test_what_another_reviewer_decided_is_told_and_kept(open_context, project):
    draft = drafts(project)[0]
    page = open_context(project.created_by).new_page()
    page.goto(address_of(draft))
    reviewing.drop(draft, project.created_by, "proposed")
    row = page.locator("#drafts > li").first
    row.get_by_role("button", name="Accept").click()
    expect(row.get_by_role("alert")).to_contain_text("Nothing was stored")
    expect(row).to_be_focused()
    assert decided(project)[0] == ("dropped", "harbour")
    page.keyboard.press("u")
    expect(row.get_by_text("to decide")).to_be_visible()
    assert decided(project)[0] == ("proposed", "harbour")


def test_without_scripts_every_decision_is_a_button(open_context, project):
    page = open_context(project.created_by, java_script_enabled=False).new_page()
    page.goto(address_of(drafts(project)[0]))
    page.get_by_role("button", name="Accept 1").click()
    expect(page.get_by_text("2 of 3 to decide")).to_be_visible()
    page.get_by_role("button", name="Drop 2").click()
    expect(page.get_by_text("1 of 3 to decide")).to_be_visible()
    page.get_by_role("button", name="Accept the last one").click()
    expect(page.get_by_text("All 3 decided")).to_be_visible()
    assert [state for state, _ in decided(project)[:3]] == ["accepted", "dropped", "accepted"]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_fit_to_be_seen(open_context, project, scheme):
    first, second, third, other, _ = drafts(project)
    user = project.created_by
    reviewing.drop(first, user, "proposed")
    reviewing.accept(second, KIND, user, second.parts | {"head": "Two ferries"}, "proposed")
    reviewing.accept(other, KIND, user, other.parts, "proposed")
    run = first.run
    pages = {
        "source": address_of(first),
        "list": "/projects/answers/drafts/",
        "run": f"/extractions/{run.uuid}/",
        "new": "/projects/answers/drafts/extract/",
    }
    wide = open_context(user, color_scheme=scheme).new_page()
    narrow = open_context(user, color_scheme=scheme, viewport={"width": 360, "height": 740}).new_page()
    for name, address in pages.items():
        for page, size in ((wide, "wide"), (narrow, "phone")):
            page.goto(address)
            picture(page, f"drafts-{name}-{scheme}-{size}")
            assert grave_problems(page) == [], name
            assert not scrolls_sideways(page), (name, size)
