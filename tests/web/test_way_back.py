"""The way back goes through the person's own answers in the order in which they were given, however far it is."""

import pytest
from playwright.sync_api import expect

from annotation.models import Annotation
from tests.factories import join, make_claim_evidence, make_dataset, make_project, make_user
from tests.web.pages import LabellingPage, eventually
from tests.work.browser import Annotator

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def answer_all_but(person: Annotator, left: int, total: int) -> list[str]:
    answered = []
    for _ in range(total - left):
        payload = person.next()["payload"]
        assert person.submit(payload).status_code == 200
        answered.append(payload["assignment"])
    return answered


def test_after_a_reload_back_and_undo_go_through_all_own_items_in_their_order(open_context):
    ann, bob = make_user("ann"), make_user("bob")
    dataset = make_dataset()
    make_claim_evidence(dataset, 50)
    project = make_project(dataset, overlap=1, annotators=[ann, bob])
    answer_all_but(Annotator(bob, project), 44, 50)
    answered = answer_all_but(Annotator(ann, project), 1, 44)
    page = LabellingPage(open_context(ann).new_page(), project).open()
    # Answered in this browser, before a reload as well.
    answered.append(page.answer("2"))
    page.is_saved()
    page.open()
    asked = []
    page.page.on("request", lambda request: "/work/answered" in request.url and asked.append(request.url))
    for number, assignment in enumerate(reversed(answered)):
        page.press("z" if number % 2 else "ArrowLeft")
        page.at(assignment)
        assert page.status == "You answered this item"
    assert len(asked) == 2  # forty-four in twenties, the first of them with the page
    expect(page.page.get_by_role("button", name="Previous item")).to_be_disabled()
    page.press("ArrowLeft")
    eventually(page.page, lambda: page.status, "This is the first item that you answered")
    page.press("ArrowRight")
    page.at(answered[1])
    own = set(Annotation.objects.filter(rater__user=ann).values_list("assignment__uuid", flat=True))
    assert {str(uuid) for uuid in own} == set(answered)


def test_where_the_server_cannot_be_asked_the_way_back_says_so_and_goes_on_later(open_context):
    ann = make_user("ann")
    dataset = make_dataset()
    make_claim_evidence(dataset, 23)
    project = make_project(dataset, overlap=1, annotators=[ann])
    answered = answer_all_but(Annotator(ann, project), 1, 23)
    page = LabellingPage(open_context(ann).new_page(), project).open()
    for assignment in reversed(answered[2:]):
        page.press("ArrowLeft")
        page.at(assignment)
    page.page.route("**/work/answered*", lambda route: route.abort())
    page.press("ArrowLeft")
    eventually(page.page, lambda: page.status, "Earlier items cannot be fetched now")
    page.page.unroute("**/work/answered*")
    page.press("ArrowLeft")
    page.at(answered[1])


def test_answers_of_two_tabs_stand_in_their_order(open_context):
    ann = make_user("ann")
    dataset = make_dataset()
    make_claim_evidence(dataset, 8)
    project = make_project(dataset, overlap=1)
    join(project, ann)
    context = open_context(ann)
    left, right = (LabellingPage(context.new_page(), project) for _ in range(2))
    left.open()
    left.has_ahead()
    right.open()
    right.has_ahead()
    answered = []
    for tab in (left, right, right, left):
        answered.append(tab.answer("2"))
        tab.is_saved()
    for look in (lambda: left, left.open):
        page = look()
        for assignment in reversed(answered):
            page.press("ArrowLeft")
            page.at(assignment)


def test_with_nothing_left_there_is_a_way_back_and_none_on(open_context):
    ann = make_user("ann")
    dataset = make_dataset()
    make_claim_evidence(dataset, 1)
    project = make_project(dataset, overlap=1, annotators=[ann])
    [answered] = answer_all_but(Annotator(ann, project), 0, 1)
    page = LabellingPage(open_context(ann).new_page(), project)
    page.page.goto(f"/projects/{project.slug}/work/")
    back, forward = (page.page.get_by_role("button", name=f"{way} item") for way in ("Previous", "Next"))
    expect(forward).to_be_disabled()
    expect(back).to_be_enabled()
    back.click()
    page.at(answered)
