"""Highlights of an adjudicator in a task with several units: each is for the unit that it is meant for."""

import uuid

import pytest

from annotation.access import assignment_for
from annotation.models import Decision, Membership
from annotation.work import annotating, assigning
from annotation.work.queries import pages
from tests.factories import join, make_project, make_user
from tests.web.long_answers import make_answers
from tests.web.pages import LabellingPage, eventually

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSAGES = ("Salt keeps the harbour open.", "Ferries break the ice.")


@pytest.fixture
def desk(open_context):
    """One answer with three triplets, on two of them annotators differ, before an adjudicator."""
    project = make_project(make_answers(1, passages=PASSAGES, triplets=3), "triplets/-/1", overlap=2)
    for label in ("entailment", "contradiction"):
        person = join(project, make_user())
        assignment = assignment_for(person, assigning.take(project, person).uuid)
        [dimension] = project.type.asked_dimensions
        units = pages.load_page(assignment.item_id, project.type).unit_keys
        said = [{"unit": unit, "dimension": dimension.slug, "label": label, "spans": []} for unit in units]
        annotating.submit(assignment, person, {"client_id": str(uuid.uuid4()), "judgements": said})
    judge = join(project, make_user(), Membership.Role.ADJUDICATOR)
    page = open_context(judge).new_page()
    page.goto(f"/projects/{project.slug}/adjudication/")
    page.locator("[data-item]").wait_for()
    return LabellingPage(page, project)


@pytest.mark.parametrize("answered", ["1", "Shift+A"])
def test_a_highlight_after_an_answer_is_for_the_unit_just_answered(desk, answered):
    """Also where an annotator's answer was taken over, after which the desk is at the next unit too."""
    desk.press(answered)
    desk.drag("passage-2", 0, 7)
    eventually(desk.page, lambda: desk.status, "Highlighted for number 1")
    desk.press(answered, answered, "Enter")
    eventually(desk.page, Decision.objects.in_force().count, 3)
    decided = Decision.objects.in_force().order_by("unit__triplet__index")
    assert [[span["quote"] for span in one.spans] for one in decided] == [["Ferries"], [], []]
