"""Forms of ordinary pages in Chromium."""

import re

import pytest
from playwright.sync_api import expect

from annotation.work import assigning
from tests import factories
from tests.web.pages import eventually

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_click_before_the_answer_is_there_sends_nothing_again(open_context):
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 1)
    project = factories.make_project(dataset)
    page = open_context(project.created_by).new_page()
    page.goto(f"/projects/{project.slug}/releases/")
    held = []
    page.route("**/releases/", lambda route: held.append(route))
    box = page.get_by_role("button", name="Freeze the labels as they are now").bounding_box()
    place = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.click(*place)  # a button's own click would wait for the answer
    eventually(page, lambda: len(held), 1)
    page.mouse.click(*place)
    held[0].continue_()
    expect(page).to_have_url(re.compile(r"/releases/1/$"))
    assert (project.releases.count(), len(held)) == (1, 1)


def test_two_researchers_who_change_the_settings_at_once_keep_both_changes_by_keyboard(open_context):
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 1)
    other = factories.make_user("rosa")
    other.name = "Rosa Theodora Alexandrine von Hohenfels-Lindenau of the Harbour Office and the Library"
    other.save()
    project = factories.make_project(dataset, researchers=[other])
    page, hers = (open_context(person).new_page() for person in (project.created_by, other))
    for one in (page, hers):
        one.goto(f"/projects/{project.slug}/settings/")
    hers.get_by_label("Title").fill("Harbours")
    hers.get_by_label("Time to answer, in minutes").fill("90")
    hers.get_by_role("button", name="Save").click()
    expect(hers.locator(".message.success")).to_be_visible()
    page.get_by_label("Title").fill("Ports")
    page.get_by_label("Title").press("Enter")
    conflict = page.locator("[data-conflict]")
    expect(conflict).to_contain_text("Changed meanwhile by Rosa")
    expect(page.get_by_label("Title", exact=True)).to_have_value("Ports")
    expect(conflict).to_be_focused()
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        box, legend = conflict.bounding_box(), conflict.locator("> legend").bounding_box()
        assert box["y"] < legend["y"] and legend["x"] + legend["width"] < box["x"] + box["width"]
        below = conflict.locator("> fieldset").first.bounding_box()
        assert legend["y"] + legend["height"] <= below["y"]
    page.keyboard.press("Tab")  # the title, which both have changed: nothing is chosen
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".message.success")).to_be_visible()
    project.refresh_from_db()
    assert (project.title, project.lease_minutes) == ("Ports", 90)


def test_a_skip_is_taken_back_by_keyboard(open_context):
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 2)
    people = [factories.make_user(name) for name in ("ann", "bob")]
    project = factories.make_project(dataset, annotators=people)
    skipped = assigning.take(project, people[0])
    assigning.skip(skipped, people[0], "Outside my language")
    page = open_context(people[0]).new_page()
    page.goto(f"/projects/{project.slug}/my-work/")
    page.get_by_role("button", name="Take back").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/work/\?item="))
    skipped.refresh_from_db()
    assert (skipped.state, skipped.skip_reason) == ("leased", "")
