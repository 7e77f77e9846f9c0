"""A person's own keys for the labelling page and the page of adjudicators."""

import pytest

from annotation.task_types import every_task_type, keys, task_type
from annotation.task_types.keys import DESK, LABELLING
from tests.factories import make_claim_evidence, make_dataset, make_project, make_user
from tests.world import client_of

pytestmark = pytest.mark.django_db
ADDRESS = "/account/keys/"
SIX = task_type("claim-evidence/six-way/1")
USUAL = {action: key for action, (key, _) in keys.changeable().items()}


@pytest.fixture
def ann():
    return make_user("ann")


def test_keys_are_stored_for_one_person_and_reset(ann):
    client = client_of(ann)
    assert client.post(ADDRESS, USUAL | {"skip": "K", "flag": "s"}).status_code == 302
    ann.refresh_from_db()
    assert ann.own_keys == {"skip": "k", "flag": "s"} and make_user("bob").own_keys == {}
    assert 'value="k"' in client.get(ADDRESS).content.decode()
    client.post(ADDRESS, {"reset": "1"})
    ann.refresh_from_db()
    assert ann.own_keys == {}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"skip": "f"}, "is the key of"),
        ({"skip": "7"}, "digits choose labels"),
        ({"skip": "é"}, "Latin keyboard"),
        ({"skip": "ab"}, "at most 1 character"),
        ({"skip": ""}, "required"),
    ],
)
def test_what_cannot_be_a_key_is_refused_and_nothing_is_stored(ann, changes, words):
    reply = client_of(ann).post(ADDRESS, USUAL | {"undo": "w"} | changes)
    assert words in reply.content.decode()
    ann.refresh_from_db()
    assert ann.own_keys == {}


def test_a_key_of_a_label_in_a_project_of_the_person_is_refused(ann):
    aspects = next(kind for kind in every_task_type() if keys.label_keys([kind]))
    letter = min(keys.label_keys([aspects]))
    dataset = make_dataset()
    make_claim_evidence(dataset, 1)
    project = make_project(dataset, annotators=[ann])
    assert client_of(ann).post(ADDRESS, USUAL | {"skip": letter}).status_code == 302
    type(project).objects.filter(pk=project.pk).update(task_type=aspects.identifier)
    reply = client_of(ann).post(ADDRESS, USUAL | {"skip": letter})
    assert "chooses a label in a project of yours" in reply.content.decode()
    # Where a label got the key later, the usual keys hold there.
    assert keys.changed_keys({"skip": letter}, aspects) == {}
    assert keys.changed_keys({"skip": letter}, SIX) == {"s": letter}


def test_both_pages_and_their_lists_have_them():
    own = {"skip": "k", "highlight": "s"}
    for page in (LABELLING, DESK):
        found = keys.page_keys(page, SIX, own)
        assert found["changed"] == {"s": "k", "h": "s"}
        assert (found["actions"]["k"], found["actions"]["s"]) == ("skip", "highlight") and "h" not in found["actions"]
        printed = {key for line in keys.shortcuts_of(SIX, page, own) for key in line["printed"]}
        assert {"k", "s"} <= printed and "h" not in printed
    assert keys.changed_keys({"skip": "f"}, SIX) == {}  # two actions would share it
