"""Participants who learn first: how a failed qualification ends, and what counts for the number of items."""

import pytest

from annotation.models import ItemKey, Membership, Participation, Rater
from annotation.work.learning import keys, standing
from tests.factories import join, make_user
from tests.participation.test_panels import PROLIFIC, arrived, finish_of
from tests.participation.test_study_links import make_link
from tests.work.browser import Annotator
from tests.work.test_learning import answer, key_of

pytestmark = pytest.mark.django_db
PURPOSES = (ItemKey.Purpose.TRAINING, ItemKey.Purpose.QUALIFICATION)


@pytest.fixture
def link():
    made = make_link(items=6, most_items=2, **(PROLIFIC | {"endings": PROLIFIC["endings"] | {"failed": "C0DE4"}}))
    project = made.project
    lead = make_user()
    join(project, lead, Membership.Role.RESEARCHER)
    for purpose in PURPOSES:
        item = project.items.filter(state="active", annotations=None).order_by("-position").first()
        keys.set_apart(project, item, lead, purpose, key_of(project, item))
    project.refresh_from_db()
    project.qualification_tries = 1
    project.save(update_fields=["qualification_tries"])
    return made


def participant(link):
    arrived(link)
    found = Participation.objects.get()
    return found, Annotator(found.user, link.project)


def test_training_is_no_item_of_those_that_a_participant_may_have(link):
    found, person = participant(link)
    for _ in PURPOSES:
        answer(person, person.next(), right=True)
    for _ in range(2):
        answer(person, person.next(), right=True)
    assert person.next()["state"] == "empty"
    assert Rater.objects.get(user=found.user).annotations.count() == 4
    assert found.state == Participation.State.ACTIVE


def test_a_failed_qualification_ends_the_part_with_its_code_until_a_researcher_lets_the_person_in(
    link, django_capture_on_commit_callbacks
):
    found, person = participant(link)
    answer(person, person.next(), right=True)
    with django_capture_on_commit_callbacks(execute=True):
        answer(person, person.next(), right=False)
    found.refresh_from_db()
    assert found.state == Participation.State.FAILED
    reply = person.next()
    assert reply["state"] == "empty" and finish_of(link) in reply["html"]
    assert "C0DE4" in person.client.get(finish_of(link)).content.decode()
    rater = Rater.objects.get(user=found.user)
    standing.decide_standing(link.project, rater, "admit", link.project.created_by)
    found.refresh_from_db()
    assert (found.state, found.ended_at) == (Participation.State.ACTIVE, None)
    assert person.next()["state"] == "item"
