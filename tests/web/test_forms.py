"""Forms of ordinary pages in Chromium."""

import re

import pytest
from playwright.sync_api import expect

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
