"""A suggestion about a question that is asked only after another answer would give that answer away: no reply holds it
before the person has given one after which the question is asked."""

import pytest

from annotation.models import Assignment, Suggestion
from annotation.projects.options import set_options
from annotation.task_types import every_task_type
from tests.factories import join, make_suggestions, make_user
from tests.kinds import make_kind_project
from tests.work.browser import Annotator

pytestmark = pytest.mark.django_db

# Stands with each suggestion that is withheld, and nowhere else.
SCORE = 0.12345678
CONDITIONAL = [kind for kind in every_task_type() if any(one.asked_when for one in kind.dimensions)]
KINDS = pytest.mark.parametrize("kind", CONDITIONAL, ids=lambda kind: kind.identifier)


@pytest.fixture
def make(kind):
    def make_prefilled(prefill):
        project = make_kind_project(kind.identifier, overlap=2, prefill=prefill)
        make_suggestions(project)
        slugs = [one.slug for one in kind.dimensions if one.asked_when]
        assert Suggestion.objects.filter(dimension__in=slugs).update(probability=SCORE)
        return Annotator(join(project, make_user()), project)

    return make_prefilled


def answer(payload, *, is_asked: bool, unit=None):
    """A complete answer that makes what depends on it asked, or leaves it out."""
    said = []
    [condition] = [one["asked_when"] for one in payload["dimensions"] if one["asked_when"]]
    for dimension in payload["dimensions"]:
        values = [label["value"] for label in dimension["labels"]]
        if dimension["slug"] == condition["dimension"]:
            values = [value for value in values if (value in condition["labels"]) == is_asked]
        if is_asked or not dimension["asked_when"]:
            said.append({"unit": unit or payload["units"][0], "dimension": dimension["slug"], "label": values[0]})
    return said


def tell(texts) -> list[str]:
    return [text for text in texts if str(SCORE) in text]


@KINDS
def test_pages_hold_none_before_the_question_is_asked(make):
    person = make("shown")
    person.page()
    first = person.next()["payload"]
    ahead = person.next(ahead=1, after=first["assignment"])["payload"]
    assert len(first["units"]) == 1 and ahead["assignment"] != first["assignment"]
    for payload in (first, ahead):
        assert len(payload["suggestions"]) == 1
        assert payload["suggestions"][0]["dimension"] == payload["dimensions"][0]["slug"]
    person.item(first["assignment"])
    assert person.submit(first, answer(first, is_asked=False), want_next=True).json()["ahead"]["state"] == "item"
    person.item(first["assignment"])
    person.page()
    assert tell(person.received) == []
    key = Assignment.objects.get(uuid=first["assignment"]).item.anchor.key  # not what the page calls the unit
    for said in ([], answer(first, is_asked=False), answer(first, is_asked=True, unit=key)):
        assert person.suggestions(first, said).status_code == 200
    assert tell(person.received) == []
    asked = person.suggestions(first, answer(first, is_asked=True)).json()["suggestions"]
    assert sorted(one["score"] for one in asked) == [SCORE, 0.875]
    assert person.submit(first, answer(first, is_asked=True)).json()["suggestions"] == []
    assert person.item(first["assignment"]).json()["payload"]["suggestions"] == asked


@KINDS
def test_no_reply_to_an_answer_holds_one_about_what_it_was_not_asked(make):
    person = make("after")
    payload = person.next()["payload"]
    person.suggestions(payload, answer(payload, is_asked=True))  # nothing was answered yet
    body = {"client_id": "6f9619ff-8b86-4d01-b42d-00c04fc964ff"}
    for _ in range(2):
        reply = person.submit(payload, answer(payload, is_asked=False), **body).json()
        assert [one["score"] for one in reply["suggestions"]] == [0.875]
    person.item(payload["assignment"])
    person.suggestions(payload, answer(payload, is_asked=False))
    assert tell(person.received) == []
    asked = person.suggestions(payload, answer(payload, is_asked=True)).json()["suggestions"]
    assert sorted(one["score"] for one in asked) == [SCORE, 0.875]
    reply = person.submit(payload, answer(payload, is_asked=True)).json()
    assert reply["suggestions"] == asked
    assert person.item(payload["assignment"]).json()["payload"]["suggestions"] == asked


@KINDS
def test_in_the_arm_without_suggestions_nobody_is_told_any(make):
    person = make("off")
    payload = person.next()["payload"]
    for _ in range(2):
        assert person.suggestions(payload, answer(payload, is_asked=True)).json() == {"suggestions": []}
        person.submit(payload, answer(payload, is_asked=True))
    assert not any("0.875" in text or str(SCORE) in text for text in person.received)
    assert Assignment.objects.get(uuid=payload["assignment"]).exposure == []


@KINDS
def test_a_question_whose_condition_the_project_hides_is_asked_from_the_start(make, kind):
    person = make("shown")
    hidden = next(one.asked_when.dimension for one in kind.dimensions if one.asked_when)
    set_options(person.project, person.project.created_by, {"hidden": [hidden]})
    payload = person.next()["payload"]
    assert [one["asked_when"] for one in payload["dimensions"]] == [None]
    assert [one["score"] for one in payload["suggestions"]] == [SCORE]
