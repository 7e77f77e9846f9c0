"""Somebody who answers faster than the server: the answers on their way bring the next items, nothing else asks."""

from datetime import datetime, timedelta

import pytest
from playwright.sync_api import expect

from annotation.models import Assignment, Revision
from tests.factories import make_claim_evidence, make_dataset, make_project, make_user
from tests.web.pages import LabellingPage, eventually

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
A_SECOND = timedelta(seconds=1)
moment = datetime.fromisoformat
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


def test_an_answer_is_one_request_which_says_that_the_next_item_is_shown(page):
    page.open()
    page.has_ahead()
    asked, sent = [], []
    page.page.on("request", lambda request: "/api/v1/" in request.url and asked.append(request))
    for _ in range(3):
        sent.append((page.assignment, page.answer("2") and page.assignment))
        page.is_saved()
        page.has_ahead()
    assert [request.url.split("/")[-2:] for request in asked] == [[answered, "submit"] for answered, _ in sent]
    rows = {str(row.uuid): row for row in Assignment.objects.all()}
    for request, (_, following) in zip(asked, sent, strict=True):
        body = request.post_data_json
        assert body["after"] == following and abs(moment(body["after_shown_at"]) - rows[following].shown_at) < A_SECOND


@pytest.mark.parametrize("way", ["failing", "slow", "left"])
def test_an_item_that_no_answer_says_is_shown_is_reported(page, way):
    page.open()
    first = Assignment.objects.get(uuid=page.assignment)
    eventually(page.page, lambda: Assignment.objects.get(pk=first.pk).shown_at is not None, True)
    page.page.route(SUBMIT, lambda route: route.abort() if way == "failing" else None)
    second = page.answer("2") and page.assignment
    assert second != str(first.uuid)
    if way == "left":
        page.page.goto("about:blank")
    eventually(page.page, lambda: Assignment.objects.get(uuid=second).shown_at is not None, True)
