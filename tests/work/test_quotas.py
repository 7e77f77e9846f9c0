"""A person and a group get no more than the project's limits, also when people take items at the same moment."""

import threading
from datetime import date, timedelta

import pytest
from django.db import connections
from django.utils import timezone

from annotation import incoming
from annotation.jobs import counts
from annotation.models import Annotation, Assignment, GroupSpare, Item
from annotation.projects import managing
from annotation.projects.limits import quotas
from annotation.projects.limits.quotas import Quota
from annotation.projects.queries.outlook import outlook
from annotation.projects.raters import set_group
from annotation.work import assigning
from annotation.work.queries import work
from tests.api.programs import Program, problem_of
from tests.factories import make_claim_evidence, make_dataset, make_project, make_user
from tests.work.browser import Annotator
from tests.work.test_learning import statements_of_taking
from tests.work.test_reserving import answered, rater, study
from tests.world import client_of

pytestmark = pytest.mark.django_db


def limited(project, **changes):
    managing.update_project(project, project.created_by, **changes)


def into(group, *people):
    for person in people:
        set_group(rater(person), group)


def test_a_person_gets_as_many_items_as_the_limit_and_keeps_what_they_hold():
    project, (ann, bob, *_), _ = study(n=6)
    limited(project, person_most_items=3)
    given = [ann.next()["payload"]]
    given += [ann.next(after=given[0]["assignment"], ahead=1)["payload"]]
    assert work.progress(project, rater(ann))["mine_total_open"] == 3
    for payload in given:
        ann.submit(payload)
    assert len(answered(ann)) == 1 and len(answered(bob)) == 3
    assert ann.next()["outlook"] == "share" and work.progress(project, rater(ann))["mine_total_open"] == 0
    limited(project, person_most_items=4)
    assert outlook(ann.user, project).name == "work" and len(answered(ann)) == 1


def test_what_a_person_holds_counts_and_is_given_again():
    project, (ann, *_), _ = study()
    limited(project, person_most_items=1)
    given = ann.next()["payload"]
    assert ann.next()["payload"]["assignment"] == given["assignment"]
    assert ann.next(after=given["assignment"], ahead=1)["state"] == "empty"
    assert outlook(ann.user, project).name == "work"  # the item in their hands
    assert outlook(ann.user, project, given["assignment"]).name == "share"
    ann.skip(given)
    assert ann.next()["state"] == "item"  # a skip is no answer


def test_a_share_of_the_items_is_rounded_down_and_follows_new_items():
    project, (ann, *_), items = study(n=7)
    limited(project, person_most_percent=50)
    assert len(answered(ann)) == 3
    Item.objects.filter(pk=items[0].pk).update(state=Item.State.RETIRED)
    project.queue_epoch += 1
    limited(project, person_most_percent=1)
    assert quotas.person_limit(project, "") == 1


def test_a_group_gets_its_quota_and_each_member_their_part_and_others_get_the_rest():
    project, (ann, bob, cleo, dan), _ = study(n=6, overlap=3)
    into("crowd", ann, bob, cleo)
    limited(project, group_quotas="crowd: 5, 3 each; experts: 100")
    assert [len(answered(one)) for one in (ann, bob, cleo, dan)] == [3, 2, 0, 6]
    assert [one.next()["outlook"] for one in (ann, bob)] == ["share", "group-share"]
    assert cleo.next()["outlook"] == "group-share"
    assert work.progress(project, rater(cleo))["mine_total_open"] == 0


def test_a_group_waits_while_another_member_holds_an_item_that_may_come_back():
    project, (ann, bob, *_), _ = study()
    into("crowd", ann, bob)
    limited(project, group_quotas="crowd: 1")
    held = ann.next()["payload"]
    assert bob.next()["outlook"] == "waiting"
    ann.skip(held)
    assert bob.next()["state"] == "item"
    assert ann.next()["outlook"] == "waiting"


def test_a_lease_that_ends_makes_room_and_a_late_answer_is_kept():
    project, (ann, bob, *_), _ = study()
    into("crowd", ann, bob)
    limited(project, group_quotas="crowd: 1")
    held = ann.next()["payload"]
    Assignment.objects.filter(state="leased").update(lease_expires_at=timezone.now() - timedelta(hours=1))
    assigning.return_expired_leases(project)
    bob.submit(bob.next()["payload"])
    assert ann.submit(held).status_code == 200 and Annotation.objects.filter(rater=rater(ann)).count() == 1


def test_who_changes_the_group_takes_their_answers_along():
    project, (ann, bob, cleo, _), _ = study()
    into("crowd", ann)
    limited(project, group_quotas="crowd: 6")
    answered(ann)
    assert GroupSpare.objects.get().spare
    answered(bob)  # of no group, so far: fills what is left of each item
    into("crowd", bob)
    assert len(answered(cleo)) == 0 and not quotas.may_take(project, rater(bob))


def test_withdrawn_answers_leave_room_in_the_quota():
    project, (ann, bob, *_), _ = study()
    into("crowd", ann, bob)
    limited(project, group_quotas="crowd: 4")
    assert len(answered(ann)) == 4
    type(rater(ann)).objects.filter(pk=rater(ann).pk).update(is_excluded=True)
    assert len(answered(bob)) == 4


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("experts: 200", {"experts": Quota(200)}),
        (" a: b : 2 ; crowd:1000 , 10 each;\nlast:1", {"a: b": Quota(2), "crowd": Quota(1000, 10), "last": Quota(1)}),
        ("a: until 2026-12-24; b: 5 each", {"a": Quota(until=date(2026, 12, 24)), "b": Quota(each=5)}),
        ("a: 3, 2 each, until 2026-12-24", {"a": Quota(3, 2, date(2026, 12, 24))}),
    ],
)
def test_quotas_are_read(text, found):
    assert quotas.parse(text) == found == quotas.parse(quotas.written(found))


@pytest.mark.parametrize(
    "text",
    [
        "experts",
        "experts: 0",
        ": 3",
        "a: 3, 4",
        "a: 3, each",
        "a: -1",
        "a: ²",
        "a:99999999",
        "a: until",
        "a: until 2026-13-01",
        "a: until tomorrow",
        "a: until 2026-12-24, until 2026-12-25",
    ],  # fmt: skip
)
def test_what_is_no_quota_is_refused(text):
    with pytest.raises(incoming.Refused, match="is no quota such as"):
        quotas.parse(text)


def test_page_and_program_refuse_what_is_no_quota_and_history_has_the_change():
    project, _, _ = study(n=1)
    program, place = Program(project.created_by), f"projects/{project.slug}/settings/"
    [error] = problem_of(program.send(place, {"group_quotas": "crowd: many"}), 422)["errors"]
    assert error["field"] == "group_quotas" and "is no quota" in error["message"]
    [error] = problem_of(program.send(place, {"group_quotas": "crowd: 1; crowd: 2"}), 422)["errors"]
    assert "two quotas of the group" in error["message"]
    assert program.send(place, {"group_quotas": "crowd: 10, 2 each"}).json()["group_quotas"] == "crowd: 10, 2 each"
    [change] = project.settings_changes.all()
    assert change.changes["group_quotas"] == ["", "crowd: 10, 2 each"]
    page = client_of(project.created_by).get(f"/projects/{project.slug}/settings/").content.decode()
    assert "crowd: 10, 2 each" in page


def test_taking_work_where_there_are_limits_takes_two_statements_more():
    project, (ann, bob, *_), _ = study()
    into("crowd", ann, bob)
    without = statements_of_taking(project, ann.user)
    limited(project, group_quotas="crowd: 100, 50 each, until 2100-01-01", person_most_percent=100)
    assert statements_of_taking(project, bob.user) == without + 2, "the group's answers were counted before"


@pytest.mark.django_db(transaction=True)
def test_people_of_a_group_who_ask_at_once_get_no_more_than_its_quota_together():
    dataset = make_dataset()
    make_claim_evidence(dataset, 60)
    users = [make_user() for _ in range(8)]
    project = make_project(dataset, overlap=4, annotators=users)
    people = [Annotator(user, project) for user in users]
    into("crowd", *people)
    limited(project, group_quotas="crowd: 37", person_most_items=9)
    barrier, failures = threading.Barrier(len(people)), []

    def label(person):
        try:
            barrier.wait()
            given = person.next()
            while given["state"] == "item":
                ahead = person.next(after=given["payload"]["assignment"], ahead=1)
                person.submit(given["payload"])
                given = ahead if ahead["state"] == "item" else person.next()
        except Exception as error:
            failures.append(repr(error))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=label, args=[person]) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failures
    done = Annotation.objects.filter(item__project=project)
    assert done.count() == 37
    assert max(done.filter(rater__user=user).count() for user in users) <= 9


def test_progress_says_what_limits_leave_to_nobody():
    project, (ann, *others), _ = study(n=6)  # 12 judgements, four people
    into("crowd", ann)
    limited(project, person_most_items=3, group_quotas="crowd: 1")
    answered(ann)
    assert all(map(rater, others))  # as members have them
    counts.changed(project_id=project.pk)
    page = client_of(project.created_by).get(f"/projects/{project.slug}/progress/")
    assert page.context["lack"] == 2  # 11 are left, and three people may give 3 each
    assert "No annotator may give 2 of the judgements that are left" in page.content.decode()
