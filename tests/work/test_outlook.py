"""What an annotator has before them is told truly, and alike on home, project, labelling page and API."""

import re
import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Annotation, Assignment, Membership, Project, Revision
from annotation.participation import consent
from annotation.projects import managing
from annotation.projects.queries.outlook import OUTLOOKS
from annotation.projects.raters import rater_of, set_group
from tests.factories import join, make_claim_evidence, make_dataset, make_project, make_user
from tests.work.browser import Annotator

pytestmark = pytest.mark.django_db


@pytest.fixture
def world():
    """Ann and Bob, two items, one judgement each."""
    dataset = make_dataset()
    make_claim_evidence(dataset, 2)
    ann, bob = make_user("ann"), make_user("bob")
    project = make_project(dataset, overlap=1, annotators=[ann, bob])
    return Annotator(ann, project), Annotator(bob, project)


def waiting(ann, bob):
    bob.submit(bob.next()["payload"])
    bob.next()


def done(ann, bob):
    """Two judgements each: Ann has given hers, Bob has not."""
    for item in ann.project.items.all():
        Assignment.objects.create(project=ann.project, item=item, position=item.position)
    for _ in range(2):
        ann.submit(ann.next()["payload"])


def skipped_by_all(ann, bob):
    for person in (ann, bob):
        for _ in range(2):
            assert person.skip(person.next()["payload"]).status_code == 200


def finished(ann, bob):
    for person in (ann, bob):
        person.submit(person.next()["payload"])


def full(ann, bob):
    for _ in range(2):
        bob.submit(bob.next()["payload"])


def move(state):
    def make(ann, bob):
        ann.submit(ann.next()["payload"])
        Project.objects.filter(pk=ann.project.pk).update(state=state)

    return make


def removed(ann, bob):
    ann.submit(ann.next()["payload"])
    managing.remove_member(ann.project, ann.user, Membership.Role.ANNOTATOR)


def withdrawn(ann, bob):
    ann.submit(ann.next()["payload"])
    consent.withdraw(ann.project, ann.user, ann.user)


def nothing(ann, bob):
    Assignment.objects.all().delete()


def share(ann, bob):
    managing.update_project(ann.project, person_most_items=1)
    ann.submit(ann.next()["payload"])


def group_share(ann, bob):
    for person in (ann, bob):
        set_group(rater_of(person.project, person.user), "crowd")
    managing.update_project(ann.project, group_quotas="crowd: 1")
    bob.submit(bob.next()["payload"])


def group_over(ann, bob):
    set_group(rater_of(ann.project, ann.user), "crowd")
    ann.submit(ann.next()["payload"])
    Project.objects.filter(pk=ann.project.pk).update(group_quotas="crowd: until 2020-01-01")


WAYS = {
    "withdrawn": withdrawn,
    "share": share,
    "group-share": group_share,
    "group-last-day": group_over,
    "work": lambda ann, bob: ann.submit(ann.next()["payload"]),
    "waiting": waiting,
    "done": done,
    "skipped by all": skipped_by_all,
    "finished": finished,
    "full": full,
    "nothing": nothing,
    "preparing": move("preparing"),
    "paused": move("paused"),
    "closed": move("closed"),
    "removed": removed,
}
LINKS = ("Continue labelling", "Start labelling", "Open the labelling page", "Review your answers")


def text_of(response) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


@pytest.mark.parametrize("way", WAYS)
def test_every_outlook_is_told_alike_on_home_project_labelling_page_and_api(world, way):
    ann, bob = world
    WAYS[way](ann, bob)
    name = way.split()[0]
    titles = [one.title for one in OUTLOOKS.values() if one.name != "work"]
    pages = {"home": ann.client.get("/"), "project": ann.client.get(f"/projects/{ann.project.slug}/")}
    if name != "work":
        pages["work"] = ann.page()
    status = 403 if name in ("removed", "withdrawn") else 200
    assert [page.status_code for page in pages.values()] == [200, *[status] * (len(pages) - 1)]
    for place, page in pages.items():
        told = [title for title in titles if re.search(rf"{title}(?! yet)", text_of(page))]
        assert told == ([] if name == "work" else [OUTLOOKS[name].title]), place
    answered = Annotation.objects.filter(rater__user=ann.user).exists()
    link = OUTLOOKS[name].link(int(answered))
    for place in ("home", "project"):
        assert [one for one in LINKS if one in text_of(pages[place])] == ([link] if link else []), place
    if name == "work":
        return
    given = ann.client.get(f"/api/v1/projects/{ann.project.slug}/work/next")
    assert given.status_code == status and given.json()["state"] == "empty"
    assert (given.json()["outlook"], given.json()["message"]) == (name, str(OUTLOOKS[name]))
    assert given.json()["ends"] == (name in ("paused", "closed", "removed", "withdrawn"))


def test_the_promise_of_waiting_is_kept_and_the_promise_is_not_made_where_it_cannot_be(world):
    ann, bob = world
    waiting(ann, bob)
    assert ann.next()["outlook"] == "waiting"
    bob.skip({"assignment": str(Assignment.objects.get(state="leased").uuid)})
    given = ann.next()
    assert given["state"] == "item"  # what was promised
    ann.submit(given["payload"])
    assert ann.next()["outlook"] == "finished"


def test_what_is_fetched_ahead_of_the_last_answer_tells_how_it_is_after_it(world):
    ann, bob = world
    bob.submit(bob.next()["payload"])
    last = ann.next()["payload"]["assignment"]
    assert ann.next(ahead=1, after=last)["outlook"] == "finished"
    assert bob.next()["outlook"] == "waiting"


def test_nobody_is_told_about_work_in_a_closed_project(world):
    ann, _ = world
    given = ann.next()["payload"]
    managing.close_project(ann.project)
    reply = ann.submit(given, want_next=True).json()
    assert reply["status"] == "saved" and not reply["surplus"]
    assert reply["ahead"]["outlook"] == "closed" and reply["progress"]["mine_total_open"] == 0
    assert Revision.objects.count() == 1


def test_home_asks_no_more_queries_as_projects_grow():
    ann, other = make_user("ann"), make_user()
    dataset = make_dataset()
    make_claim_evidence(dataset, 2)

    def grow(states):
        for state in states:
            project = make_project(dataset, overlap=1, annotators=[ann, other])
            if state == "removed":
                managing.remove_member(project, ann, "annotator")
            elif state == "waiting":
                Annotator(other, project).next()
            else:
                Project.objects.filter(pk=project.pk).update(state=state)

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert Annotator(ann, None).client.get("/").status_code == 200
        return len(queries)

    grow(["open", "removed"])
    count()  # which fills caches
    before = count()
    grow(["open", "paused", "closed", "removed", "waiting", "open", "preparing"])
    count()
    assert count() == before


def test_an_answer_from_before_the_removal_is_refused_with_the_reason_and_taken_once_they_are_back(world):
    ann, _ = world
    given, client_id = ann.next()["payload"], str(uuid.uuid4())
    managing.remove_member(ann.project, ann.user, Membership.Role.ANNOTATOR)
    refused = ann.submit(given, client_id=client_id)
    assert refused.status_code == 403 and refused.json()["status"] == "forbidden"
    assert "You no longer label in this project" in refused.json()["message"]
    assert ann.skip(given).status_code == ann.item(given["assignment"]).status_code == 403
    assert not Revision.objects.exists()
    join(ann.project, ann.user)
    Membership.objects.filter(user=ann.user).update(is_active=True)
    assert ann.submit(given, client_id=client_id).json()["status"] == "saved"


def test_what_was_stored_before_the_removal_is_said_to_be_stored_when_its_reply_got_lost(world):
    ann, _ = world
    first, client_id = ann.next()["payload"], str(uuid.uuid4())
    ann.submit(first, client_id=client_id)
    second = ann.next()["payload"]
    ann.skip(second)
    managing.remove_member(ann.project, ann.user, Membership.Role.ANNOTATOR)
    again = ann.submit(first, client_id=client_id)
    assert (again.status_code, again.json()["status"], again.json()["revision"]) == (200, "saved", 1)
    assert ann.skip(second).json() == {"status": "saved"}
    assert ann.submit(first).status_code == 403  # another answer
    assert Revision.objects.count() == 1


def test_who_never_was_in_a_project_does_not_learn_of_it_and_who_researches_on_is_told_of_their_labelling(world):
    ann, bob = world
    outsider = Annotator(make_user(), ann.project)
    assert outsider.page().status_code == 404
    assert "No such project" not in outsider.client.get("/").content.decode()
    given = ann.next()["payload"]
    assert outsider.submit(given).status_code == outsider.item(given["assignment"]).status_code == 404
    join(bob.project, bob.user, Membership.Role.RESEARCHER)
    managing.remove_member(bob.project, bob.user, Membership.Role.ANNOTATOR)
    assert bob.page().status_code == 403
    for address in ("/", f"/projects/{bob.project.slug}/"):
        page = bob.client.get(address)
        assert page.status_code == 200 and str(OUTLOOKS["removed"].title) in text_of(page)


def test_a_lease_that_ran_out_is_work_again(world):
    ann, bob = world
    waiting(ann, bob)
    Assignment.objects.filter(state="leased").update(lease_expires_at=timezone.now() - timezone.timedelta(hours=1))
    assert ann.next()["state"] == "item"
