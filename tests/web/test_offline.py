"""Labelling without a connection: items that are ready, answers that wait, the page again after a reload."""

import json

import pytest
from playwright.sync_api import expect

from annotation.models import Annotation, Assignment, Membership, Project, Revision
from annotation.projects import managing
from annotation.work import assigning
from tests.factories import make_claim_evidence, make_dataset, make_project, make_user
from tests.web.pages import LabellingPage, eventually, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
IS_READY = "navigator.serviceWorker.getRegistration().then(one => Boolean(one?.active))"
KEPT = "caches.keys().then(names => names.length)"


@pytest.fixture
def project(ann):
    """Forty pairs of a claim and evidence; twelve may be ready ahead."""
    dataset = make_dataset()
    make_claim_evidence(dataset, 40)
    return make_project(dataset, overlap=1, annotators=[ann], items_ahead=12)


@pytest.fixture
def page(label, project, ann):
    page = label(project, ann)
    ready(page, 12)
    eventually(page.page, lambda: page.page.evaluate(IS_READY), True)
    eventually(page.page, lambda: page.page.evaluate(HAS_ALL), [1, 1, 13])
    return page


# The page, its files and thirteen items.
HAS_ALL = """(async () => {
  const [name] = await caches.keys(), requests = await (await caches.open(name)).keys();
  const has = (end) => requests.filter(one => new URL(one.url).pathname.match(end)).length;
  return [has(/work.$/), has(/main.js$/), has(/.kept./)];
})()"""


def ready(page, count: int) -> None:
    expect(page.page.locator("[data-ready]")).to_have_text(f"{count} ready")


def waiting(page) -> str:
    return page.page.locator("[data-save-text]").inner_text()


def answer(page) -> str:
    return page.answer("1", "6")


def test_answers_given_without_a_connection_are_stored_once_and_in_order_after_a_reload(page, ann):
    page.page.context.set_offline(True)
    given = [answer(page) for _ in range(4)]
    expect(page.page.locator('[data-notice="away"]')).to_contain_text("4 answers are kept in this browser")
    assert waiting(page) == "4 waiting to be sent" and not Revision.objects.exists()
    page.drag("evidence", 0, 8)
    expect(page.page.locator("[data-chips] .quote")).to_have_count(1)
    marked = page.chips()
    here = page.assignment
    page.page.reload()
    page.at(here)
    assert page.chips() == marked and waiting(page) == "4 waiting to be sent"
    page.press("ArrowLeft")
    page.at(given[-1])
    assert page.chosen()[0] == "relevant"
    page.press("ArrowRight")
    page.at(here)
    given += [answer(page) for _ in range(6)]
    page.page.context.set_offline(False)
    page.is_saved()
    expect(page.page.locator('[data-notice="back"]')).to_contain_text("10 answers were sent: 10 stored.")
    rows = Revision.objects.order_by("pk").values_list("annotation__assignment__uuid", "number")
    assert [(str(uuid), number) for uuid, number in rows] == [(one, 1) for one in given]
    assert Annotation.objects.filter(is_surplus=False).count() == 10
    ready(page, 12)
    assert Assignment.objects.filter(state="leased").count() == 13


def test_each_answer_is_reported_as_what_became_of_it_when_the_project_was_closed_meanwhile(label, project, ann):
    Project.objects.update(items_ahead=30)
    page = label(project, ann)
    ready(page, 30)
    other = make_user("bob")
    Membership.objects.create(project=project, user=other, role=Membership.Role.ANNOTATOR)
    page.page.context.set_offline(True)
    given = [answer(page) for _ in range(30)]
    assigning.return_held(project)
    taken = assigning.take(project, other)  # one of them, which came back first
    assert str(taken.uuid) == given[0]
    managing.close_project(project, ann)
    page.page.context.set_offline(False)
    words = "30 answers were sent: 29 stored, 1 stored as extra, since another annotator has the item."
    expect(page.page.locator('[data-notice="back"]')).to_contain_text(words)
    expect(page.page.locator('[data-notice="ended"]')).to_contain_text("The project is closed")
    assert Annotation.objects.filter(is_surplus=False).count() == 29
    stored = Revision.objects.order_by("pk").values_list("annotation__item", flat=True)
    places = Assignment.objects.filter(uuid__in=given).values_list("uuid", "item")
    assert list(stored) == [dict((str(uuid), item) for uuid, item in places)[one] for one in given], "once, in order"
    ready(page, 0)


def test_answers_of_a_person_who_was_removed_are_kept_and_can_be_saved(page, project, ann):
    page.page.context.set_offline(True)
    given = [answer(page) for _ in range(2)]
    project.memberships.filter(user=ann).update(is_active=False)
    page.page.context.set_offline(False)
    notice = page.page.locator('[data-notice="refused"]')
    expect(notice).to_contain_text("2 answers were not accepted")
    with page.page.expect_download() as started:
        notice.get_by_role("button", name="Save them as a file").click()
    kept = json.loads(started.value.path().read_text())
    assert [one["assignment"] for one in kept] == given and kept[0]["judgements"]


def test_nothing_of_it_stays_after_sign_out_and_other_people_see_nothing(page, project, live_server):
    assert page.page.evaluate(KEPT) == 1
    page.page.goto("/")
    page.page.get_by_role("button", name="Sign out").click()
    eventually(page.page, lambda: page.page.evaluate(KEPT), 0)
    eventually(
        page.page, lambda: page.page.evaluate("navigator.serviceWorker.getRegistrations().then(all => all.length)"), 0
    )
    assert page.page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('assay:kept:'))") == []


def test_the_page_of_another_person_who_signs_in_removes_what_was_kept(page, project, live_server):
    other = make_user("bob")
    Membership.objects.create(project=project, user=other, role=Membership.Role.ANNOTATOR)
    sign_in(page.page.context, other, live_server.url)
    theirs = LabellingPage(page.page, project).open()
    eventually(
        theirs.page, lambda: [one.endswith(f":{other.pk}") for one in theirs.page.evaluate("caches.keys()")], [True]
    )


def test_other_pages_are_not_kept(page, project):
    page.page.context.set_offline(True)
    with pytest.raises(Exception, match="ERR_INTERNET_DISCONNECTED"):
        page.page.goto(f"/projects/{project.slug}/")


def test_a_project_that_does_not_allow_it_has_no_worker(label, project, ann):
    Project.objects.update(items_ahead=1)
    page = label(project, ann)
    page.has_ahead()
    assert page.page.evaluate("navigator.serviceWorker.getRegistrations().then(all => all.length)") == 0
    assert page.page.evaluate(KEPT) == 0
    expect(page.page.locator("[data-ready]")).to_be_hidden()


def test_fifty_items_are_fetched_ten_in_a_request(label, ann):
    dataset = make_dataset()
    make_claim_evidence(dataset, 60)
    project = make_project(dataset, overlap=1, annotators=[ann], items_ahead=50)
    page = label(project, ann)
    ready(page, 50)
    asked = "performance.getEntriesByType('resource').filter(one => one.name.includes('/work/next')).length"
    assert page.page.evaluate(asked) == 5
    assert Assignment.objects.filter(state="leased").count() == 51
