"""Items whose open places nobody is left for: found whatever led there, with the reason and a way out."""

import re
import threading
from datetime import timedelta

import pytest
from django.db import connection, connections
from django.utils import timezone

from annotation import tasks
from annotation.decisions import adjudicating
from annotation.models import Annotation, Assignment, Case, Item, Membership, Thread, User
from annotation.projects import managing, reach
from annotation.projects.options import set_options
from annotation.projects.queries import projects
from annotation.work import assigning, stuck
from tests.factories import make_claim_evidence, make_dataset, make_project, make_user
from tests.work.browser import Annotator
from tests.world import client_of

pytestmark = pytest.mark.django_db


def make_world(items=1, overlap=2, names=("ann", "bob")):
    dataset = make_dataset()
    make_claim_evidence(dataset, items)
    people = [make_user(name) for name in names]
    project = make_project(dataset, overlap=overlap, annotators=people)
    return project, *(Annotator(person, project) for person in people)


def states(project):
    return list(Item.objects.filter(project=project).order_by("position").values_list("state", flat=True))


def skip_then_answer(ann, bob):
    skipped = ann.next()["payload"]
    assert ann.skip(skipped, "Outside my language").status_code == 200
    assert bob.submit(bob.next()["payload"]).status_code == 200
    return skipped


def team(project):
    [row] = projects.project_rows(project.created_by, [project])
    return row.team_done, row.team_total


def stuck_list(project):
    page = client_of(project.created_by).get(f"/projects/{project.slug}/items/?filter=stuck")
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.content.decode()))


def use(project, way, **more):
    answer = client_of(project.created_by).post(f"/projects/{project.slug}/items/stuck/", {"way": way} | more)
    assert answer.status_code == 302
    return states(project)


def test_a_skip_and_the_others_answer_leave_a_stuck_item_with_the_reason_until_the_skip_is_taken_back():
    project, ann, bob = make_world()
    skipped = skip_then_answer(ann, bob)
    assert states(project) == ["stuck"] and team(project) == (1, 2)
    assert (ann.next()["outlook"], bob.next()["outlook"]) == ("skipped", "done")
    told = stuck_list(project)
    assert "ann skipped it (“ Outside my language ”); answered by bob; 1 more answer planned" in told
    overview = client_of(project.created_by).get(f"/projects/{project.slug}/").content.decode()
    assert "1 stuck item</a>: it needs another answer and no annotator is left for it" in overview

    own = f"/projects/{project.slug}/my-work/"
    page = ann.client.get(own).content.decode()
    assert f'name="skip" value="{skipped["assignment"]}">Take back' in page
    assert 'name="skip"' not in bob.client.get(own).content.decode()
    there = f"/projects/{project.slug}/work/?item={skipped['assignment']}"
    assert ann.client.post(own, {"skip": skipped["assignment"]}).url == there
    assert ann.next()["payload"]["assignment"] == skipped["assignment"]
    assert ann.submit(ann.next()["payload"]).json()["surplus"] is False
    assert states(project) == ["active"] and team(project) == (2, 2)
    assert ann.next()["outlook"] == "finished"


def test_a_skip_is_taken_back_once_and_only_while_a_place_is_left():
    project, ann, bob, cid = make_world(names=("ann", "bob", "cid"))
    skipped = skip_then_answer(ann, bob)
    assert states(project) == ["active"]
    for _ in range(2):
        assert ann.post(skipped["assignment"], "take-back").json()["status"] == "saved"
    assert Assignment.objects.filter(state="leased", rater__user=ann.user).count() == 1
    assert not Assignment.objects.filter(state="open").exists()
    ann.skip(skipped, "after all")
    cid.submit(cid.next()["payload"])
    assert states(project) == ["active"]
    refused = ann.post(skipped["assignment"], "take-back")
    assert refused.status_code == 409 and "all its judgements" in refused.json()["message"]
    assert bob.post(skipped["assignment"], "take-back").status_code == 404  # it is not theirs
    assert Assignment.objects.filter(state="done").count() == 2


def test_what_was_not_skipped_cannot_be_taken_back():
    project, ann, bob = make_world()
    held = ann.next()["payload"]
    for told in ("You have not skipped this item", "You have answered this item"):
        refused = ann.post(held["assignment"], "take-back")
        assert refused.status_code == 409 and told in refused.json()["message"]
        assert bob.post(held["assignment"], "take-back").status_code == 404
        ann.submit(held)


def test_what_is_done_without_is_not_judged_and_cannot_be_taken_back():
    project, ann, bob = make_world()
    payloads = [person.next()["payload"] for person in (ann, bob)]
    for person, payload in zip((ann, bob), payloads, strict=True):
        assert person.skip(payload).status_code == 200
    assert use(project, "without") == ["active"]
    page = client_of(project.created_by).get(f"/projects/{project.slug}/items/").content.decode()
    assert ">no answers</span>" in page and ">judged</span>" not in page
    refused = ann.post(payloads[0]["assignment"], "take-back")
    assert refused.status_code == 409 and refused.json()["message"] == "Another answer to this item is no longer needed"
    assert ann.next()["outlook"] == "finished"


def test_a_flag_is_taken_back_with_its_skip():
    project, ann, _ = make_world()
    payload = ann.next()["payload"]
    ann.skip(payload, "broken", flag=True)
    assert Case.objects.get().is_waiting
    ann.post(payload["assignment"], "take-back")
    assert not Case.objects.filter(is_waiting=True).exists()
    assert not Assignment.objects.filter(is_flagged=True).exists()


@pytest.mark.parametrize("choice", ["again", "without", "desk"])
def test_a_researcher_has_ways_out_of_a_stuck_item(choice):
    project, ann, bob = make_world(items=2)
    skip_then_answer(ann, bob)
    assert states(project) == ["stuck", "active"]
    other = Item.objects.get(state="active")
    assert use(project, choice, item=other.uuid)[0] == "stuck"  # it is not stuck, so nothing is done about it
    assert use(project, choice, item=Item.objects.get(state="stuck").uuid) == ["active", "active"]
    assert "No items match" in stuck_list(project)
    if choice == "again":
        given = ann.next()["payload"]  # what came back comes first
        assert ann.submit(given).json()["surplus"] is False
        assert Assignment.objects.filter(item__position__lt=other.position, state="done").count() == 2
    else:
        assert team(project) == (1, 3)
        assert Case.objects.filter(is_waiting=True).exists() == (choice == "desk")


def test_who_is_asked_again_keeps_the_comment_that_they_flagged_with():
    project, ann, bob = make_world()
    flagged = ann.next()["payload"]
    ann.skip(flagged, "The text is cut", flag=True)
    bob.submit(bob.next()["payload"])
    assert use(project, "again") == ["active"]
    assert ann.submit(ann.next()["payload"]).json()["surplus"] is False
    thread = Thread.objects.get()
    lead = client_of(project.created_by)
    for client in (ann.client, lead):
        page = client.get(f"/projects/{project.slug}/comments/{thread.uuid}/").content.decode()
        assert "The text is cut" in page and "taken away" not in page
    assert "The text is cut" in lead.get(f"/projects/{project.slug}/comments/").content.decode()


def test_a_flag_stays_in_its_thread_when_the_same_person_answers_after_all():
    project, ann, _ = make_world()
    flagged = ann.next()["payload"]
    ann.skip(flagged, "The text is cut", flag=True)
    assert ann.submit(flagged).status_code == 200  # from another tab
    assert Thread.objects.get().words == "The text is cut"


def test_asking_again_needs_somebody_who_still_labels_here():
    project, ann, bob = make_world()
    skip_then_answer(ann, bob)
    managing.remove_member(project, ann.user, Membership.Role.ANNOTATOR)
    assert stuck.why_stuck(Item.objects.all())[Item.objects.get().pk].can_ask_again is False
    assert use(project, "again") == ["stuck"]


def test_who_leaves_makes_items_stuck_and_who_joins_frees_them():
    project, ann, bob = make_world(items=3)
    for _ in range(2):
        bob.submit(bob.next()["payload"])
    assert states(project) == ["active"] * 3
    managing.remove_member(project, ann.user, Membership.Role.ANNOTATOR)
    assert states(project) == ["stuck", "stuck", "active"]  # the last one still has Bob
    managing.add_member(project, ann.user, Membership.Role.ANNOTATOR)
    assert states(project) == ["active"] * 3


def test_an_account_that_is_deactivated_makes_items_stuck_within_a_sweep(monkeypatch):
    monkeypatch.setattr(reach, "_absent", {})
    project, ann, bob = make_world(items=2)
    other, *_ = make_world(names=("cat", "dan"))
    bob.submit(bob.next()["payload"])
    tasks.sweep()
    assert states(project) == ["active"] * 2
    real = reach.check_project
    account, checked = User.objects.filter(pk=ann.user.pk), []
    monkeypatch.setattr(reach, "check_project", lambda pk: checked.append(pk) or real(pk))
    for is_active, expected in ((False, ["stuck", "active"]), (True, ["active"] * 2), (False, ["stuck", "active"])):
        account.update(is_active=is_active)  # as a shell may, past every service and signal
        for _ in range(2):
            tasks.sweep()
            assert states(project) == expected
    assert checked == [project.pk] * 3 and states(other) == ["active"]
    # Activated while no process swept: the next one looks at every stuck item first.
    account.update(is_active=True)
    reach._absent.clear()
    tasks.sweep()
    assert states(project) == ["active"] * 2


def test_one_more_answer_that_nobody_can_give_is_stuck_at_once():
    project, ann, _ = make_world(overlap=1)
    ann.submit(ann.next()["payload"])
    item = Item.objects.get()
    managing.remove_member(project, project.memberships.get(user__name="bob").user, Membership.Role.ANNOTATOR)
    assert states(project) == ["active"]
    page = client_of(project.created_by).post(f"/projects/{project.slug}/items/{item.uuid}/more/", follow=True)
    assert states(project) == ["stuck"] and "No annotator is left who could give it" in page.content.decode()


def test_a_lease_that_ends_frees_an_item_for_its_holder(django_capture_on_commit_callbacks):
    project, ann, bob = make_world()
    taken = bob.next()["payload"]
    ann.skip(ann.next()["payload"])
    assert states(project) == ["stuck"]
    Assignment.objects.filter(uuid=taken["assignment"]).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    with django_capture_on_commit_callbacks(execute=True):
        assert assigning.return_expired_leases(project) == 1
    assert states(project) == ["active"]
    bob.submit(bob.next()["payload"])
    assert states(project) == ["stuck"]


def test_a_late_answer_takes_any_open_place_and_a_surplus_one_takes_a_place_that_opens():
    project, ann, bob, cid = make_world(names=("ann", "bob", "cid"))
    late = ann.next()["payload"]
    Assignment.objects.filter(uuid=late["assignment"]).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    taken, other = bob.next()["payload"], cid.next()["payload"]
    assert late["assignment"] in (taken["assignment"], other["assignment"])
    assert ann.submit(late).json()["surplus"] is True
    cid.skip(other)
    assert ann.submit(late).json()["surplus"] is False
    assert not Annotation.objects.filter(is_surplus=True).exists()
    assert bob.submit(taken).json()["surplus"] is False
    assert team(project) == (2, 2)


def wrong_items(project) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(reach._WRONG.format(which="project_id = %s"), [project.pk])
        return [pk for (pk,) in cursor.fetchall()]


@pytest.mark.on_postgresql
@pytest.mark.django_db(transaction=True)
def test_a_skip_an_answer_and_a_removal_at_once_leave_no_item_in_the_wrong_state():
    number = 12
    project, ann, bob, cid = make_world(items=number, names=("ann", "bob", "cid"))
    given = {}
    for person in (ann, bob):
        given[person] = []
        for _ in range(number):
            after = {"ahead": "1", "after": given[person][-1]["assignment"]} if given[person] else {}
            given[person].append(person.next(**after)["payload"])
            person.post(given[person][-1]["assignment"], "shown")
        given[person].sort(key=lambda payload: payload["item"])
    barrier, failures = threading.Barrier(3), []

    def run(act):
        try:
            barrier.wait()
            act()
        except Exception as error:
            failures.append(repr(error))
        finally:
            connections.close_all()

    def send(person, how):
        assert [how(payload).status_code for payload in given[person]] == [200] * number

    acts = (
        lambda: send(ann, ann.skip),
        lambda: send(bob, bob.submit),
        lambda: managing.remove_member(project, cid.user, Membership.Role.ANNOTATOR),
    )
    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert states(project) == ["stuck"] * number and wrong_items(project) == []


def test_an_item_is_not_stuck_while_adjudicators_have_decided_all_its_questions():
    project, ann, bob = make_world()
    skip_then_answer(ann, bob)
    unit, by = Item.objects.get().item_units.get().unit, project.created_by
    adjudicating.decide(project, by, unit, "relevance", "relevant")
    assert states(project) == ["stuck"]
    adjudicating.decide(project, by, unit, "stance", "supports")
    assert states(project) == ["active"] and "No items match" in stuck_list(project)
    adjudicating.withdraw(project, by, unit, "stance")
    assert states(project) == ["stuck"]
    adjudicating.decide(project, by, unit, "relevance", "irrelevant")  # which leaves no question on stance
    assert states(project) == ["active"]
    set_options(project, by, {"hidden": ["relevance"]})
    assert states(project) == ["stuck"]
    managing.add_member(project, make_user("cid"), Membership.Role.ANNOTATOR)
    assert states(project) == ["active"] and team(project) == (1, 2)
