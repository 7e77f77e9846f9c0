"""Whether suggestions follow an answer is not known to its author before they have given it."""

import pytest

from annotation.models import Assignment, Project
from tests.blindness.planted import make_planted
from tests.blindness.test_annotators import CHANGING, Browser
from tests.kinds import IDENTIFIERS

pytestmark = pytest.mark.django_db


def test_what_an_annotator_gets_before_answering_is_the_same_under_every_policy():
    planted = make_planted(IDENTIFIERS[0], prefill="off")
    project, slug = planted.project, planted.project.slug
    person = Browser(planted.annotator, project)
    held = person.next()["payload"]["assignment"]
    ahead = person.next(ahead=1, after=held)["payload"]["assignment"]

    def look(prefill: str) -> list[str]:
        Project.objects.filter(pk=project.pk).update(prefill=prefill, prefill_run=planted.run)
        Assignment.objects.filter(project=project).update(prefill_arm=prefill)
        addresses = (f"/projects/{slug}/", f"/projects/{slug}/work/", f"/projects/{slug}/guidelines/", "/")
        addresses += (f"/api/v1/projects/{slug}/", "/api/v1/projects/", f"/api/v1/projects/{slug}/work/next")
        texts = [person.client.get(address).content.decode() for address in addresses]
        texts += [person.item(one).content.decode() for one in (held, ahead)]
        return [CHANGING.sub("", text) for text in texts]

    assert look("off") == look("after")
    payload = person.item(held).json()["payload"]
    assert payload["prefill"] == ""
    assert person.submit(payload, want_next=True).json()["prefill"] == "after"
    assert person.item(held).json()["payload"]["prefill"] == "after"


def test_who_still_labels_reads_no_gold_labels_of_the_data_set():
    planted = make_planted(IDENTIFIERS[0])
    project, dataset = planted.project, planted.project.dataset
    dataset.refresh_from_db()
    dataset.grants.create(user=planted.annotator, can_edit=True)
    client = Browser(planted.annotator, project).client

    def columns() -> set[str]:
        kinds = ("claim", "evidence", "question")
        answers = [client.get(f"/api/v1/datasets/{dataset.slug}/content/", {"kind": kind}) for kind in kinds]
        return {name for answer in answers for row in answer.json()["results"] for name in row["columns"]}

    gold = {"is_gold", "verdict", "answers"}
    assert not columns() & gold
    project.assignments.filter(state="open").update(state="cancelled")
    assert columns() >= gold
