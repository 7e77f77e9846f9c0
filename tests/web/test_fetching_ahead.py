"""Somebody who answers faster than the server: the answers on their way bring the next items, nothing else asks."""

import pytest
from playwright.sync_api import expect

from annotation.models import Revision
from tests.factories import make_claim_evidence, make_dataset, make_project, make_user
from tests.web.pages import LabellingPage, eventually

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NEXT, SUBMIT = "**/work/next?*", "**/submit"

# An empty page asks by itself after two seconds; here only the answers may bring something.
NEVER_BY_ITSELF = """{
  const soon = window.setTimeout;
  window.setTimeout = (work, delay, ...more) => soon(work, delay === 2000 ? 600000 : delay, ...more);
}"""


@pytest.fixture
def page(open_context):
    ann = make_user("ann")
    dataset = make_dataset()
    make_claim_evidence(dataset, 6)
    project = make_project(dataset, overlap=1, annotators=[ann])
    page = open_context(ann).new_page()
    page.add_init_script(NEVER_BY_ITSELF)
    return LabellingPage(page, project)


def test_an_answer_under_way_brings_the_next_item_and_names_the_one_that_is_there_when_it_leaves(page):
    page.open()
    page.has_ahead()
    held, sent, asked = [], [], []

    def hold(route):
        sent.append(route.request.post_data_json)
        if held:
            return route.continue_()
        held.append(route)

    page.page.route(SUBMIT, hold)
    page.page.on("request", lambda request: "/work/next" in request.url and asked.append(request.url))
    first = page.assignment
    second = page.answer("2") and page.assignment
    eventually(
        page.page, lambda: len(held), 1
    )  # it names what is on the screen when it leaves, not when Enter is pressed
    page.press("2", "Enter")
    expect(page.page.locator("#stage .loading")).to_have_count(1)
    held[0].continue_()
    expect(page.page.locator("#stage [data-item]")).to_have_count(1)
    third = page.assignment
    assert third not in (first, second)
    page.is_saved()
    page.has_ahead()
    assert [body["after"] for body in sent] == [second, third]
    assert not asked
    assert Revision.objects.count() == 2


def test_an_answer_that_brought_nothing_is_followed_by_asking(page):
    page.page.route(NEXT, lambda route: route.abort())
    with page.page.expect_event("requestfailed", lambda request: "/work/next" in request.url):
        page.open()
    page.page.unroute(NEXT)

    def bring_nothing(route):
        reply = route.fetch()
        route.fulfill(response=reply, json=reply.json() | {"ahead": None})

    page.page.route(SUBMIT, bring_nothing)
    first = page.answer("2")
    expect(page.page.locator("#stage [data-item]")).to_have_count(1)
    assert page.assignment != first
    page.is_saved()
    assert Revision.objects.count() == 1
