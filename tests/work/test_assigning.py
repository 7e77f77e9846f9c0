"""Who gets which item: order, resuming, fetching ahead, giving back, skipping, priorities."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Annotation, Assignment, Item, Project, Rater
from annotation.projects import item_making
from annotation.projects.managing import remove_member
from annotation.work import assigning
from tests.factories import join, make_claim_evidence, make_dataset, make_items, make_project, make_user
from tests.work.browser import Annotator
from tests.world import client_of

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


def make_world(n=6, overlap=2, people=2, **fields):
    dataset = make_dataset()
    make_claim_evidence(dataset, n)
    users = [make_user() for _ in range(people)]
    project = make_project(dataset, overlap=overlap, annotators=users, **fields)
    return project, users


def finish(assignment, user):
    rater = Rater.objects.get(project=assignment.project, user=user)
    Annotation.objects.create(item=assignment.item, rater=rater, assignment=assignment)
    Assignment.objects.filter(pk=assignment.pk).update(state="done", done_at=timezone.now(), lease_expires_at=None)


def work_off(project, user):
    keys = []
    while (taken := assigning.take(project, user)) is not None:
        keys.append(taken.item.key)
        finish(taken, user)
    return keys


def in_order(project):
    return list(Item.objects.filter(project=project).order_by("position").values_list("key", flat=True))


def test_work_comes_in_the_projects_order_and_each_item_once_per_person():
    project, [ann, bob] = make_world()
    assert work_off(project, ann) == in_order(project)
    assert work_off(project, bob) == in_order(project)
    assert assigning.take(project, ann) is None


def test_what_pausing_closing_opening_and_reassigning_do_is_said_first_with_numbers():
    project, [ann, bob] = make_world(n=3, overlap=2)
    client = client_of(project.created_by)
    assigning.take(project, ann), assigning.take(project, bob)
    page = client.get(f"/projects/{project.slug}/").content.decode()
    assert "Pausing assigns nothing more: 4 places wait for 2 annotators. The 2 items that they hold can" in page
    assert "Closing ends the work of 2 annotators: 4 places stay open." in page
    assert "2 items that 2 people hold go back to the queue" in page
    client.post(f"/projects/{project.slug}/items/return/")
    assert set(Assignment.objects.values_list("state", "returned")) == {("open", True), ("open", False)}
    client.post(f"/projects/{project.slug}/state/", {"move": "close"})
    page = client.get(f"/projects/{project.slug}/").content.decode()
    assert "Opening assigns the 6 places that are open to 2 annotators." in page and "Reassign" not in page


def test_taking_again_resumes_what_is_held_shown_items_first():
    project, [ann, _] = make_world()
    first = assigning.take(project, ann)
    ahead = assigning.take(project, ann, ahead=True, after=first.uuid)
    assert ahead.item != first.item
    assert assigning.take(project, ann, ahead=True, after=first.uuid) == ahead
    assigning.shown(ahead, ann, None)
    assert assigning.take(project, ann) == ahead
    assert Assignment.objects.filter(state="leased").count() == 2


def test_what_is_fetched_ahead_has_a_short_lease_until_it_is_shown():
    project, [ann, _] = make_world(lease_minutes=120)
    first = assigning.take(project, ann)
    ahead = assigning.take(project, ann, ahead=True, after=first.uuid)
    now = timezone.now()
    assert ahead.lease_expires_at <= now + timedelta(minutes=10)
    assert assigning.shown(ahead, ann, now)
    ahead.refresh_from_db()
    assert ahead.lease_expires_at > now + timedelta(minutes=110) and ahead.shown_at == now
    assigning.shown(ahead, ann, now + timedelta(hours=3))
    ahead.refresh_from_db()
    assert ahead.shown_at == now


def test_who_asks_for_the_item_after_next_says_that_the_next_one_is_shown():
    project, [ann, bob] = make_world(lease_minutes=120)
    first = assigning.take(project, ann)
    ahead = assigning.take(project, ann, ahead=True, after=first.uuid)
    finish(first, ann)
    now = timezone.now()
    assigning.take(project, bob, ahead=True, after=ahead.uuid, shown_at=now)  # not theirs
    ahead.refresh_from_db()
    assert ahead.shown_at is None
    third = assigning.take(project, ann, ahead=True, after=ahead.uuid, shown_at=now)
    ahead.refresh_from_db()
    assert third not in (None, ahead) and ahead.shown_at == now
    assert ahead.lease_expires_at > now + timedelta(minutes=110)
    Project.objects.filter(pk=project.pk).update(state=Project.State.PAUSED)
    later = timezone.now()
    assert assigning.take(project, ann, ahead=True, after=third.uuid, shown_at=later) is None
    third.refresh_from_db()
    assert third.shown_at == later  # whether there is more work or not


def test_a_skip_says_that_its_item_was_shown_and_no_clock_is_ahead_of_the_servers():
    project, [ann, _] = make_world()
    for said in (timedelta(seconds=-2), timedelta(hours=1)):
        taken, now = assigning.take(project, ann), timezone.now()
        assigning.skip(taken, ann, shown_at=now + said)
        taken.refresh_from_db()
        assert taken.state == "skipped" and taken.shown_at <= timezone.now()
        assert (taken.shown_at == now + said) == (said < timedelta(0))


def test_only_what_was_never_shown_can_be_given_back_and_only_by_its_holder():
    project, [ann, bob] = make_world()
    taken = assigning.take(project, ann)
    assert not assigning.release(taken, bob)
    assert assigning.release(taken, ann)
    taken.refresh_from_db()
    assert (taken.state, taken.returned, taken.rater) == ("open", True, None)
    assert assigning.take(project, bob) == taken
    assigning.shown(taken, bob, None)
    assert not assigning.release(taken, bob)


def test_what_came_back_is_given_out_before_the_rest_of_the_queue():
    project, [ann, bob] = make_world(overlap=1)
    first = assigning.take(project, ann)
    finish(assigning.take(project, bob), bob)
    assigning.release(first, ann)
    assert assigning.take(project, bob) == first


def test_expired_leases_come_back_and_the_next_holder_starts_anew():
    project, [ann, bob] = make_world(n=1, overlap=1)
    taken = assigning.take(project, ann)
    assigning.shown(taken, ann, None)
    assert assigning.take(project, bob) is None
    past = timezone.now() - timedelta(seconds=1)
    Assignment.objects.update(lease_expires_at=past, suggestions_shown_at=past, exposure=[{"run": "x"}])
    again = assigning.take(project, bob)
    assert again == taken
    again.refresh_from_db()
    assert (again.shown_at, again.suggestions_shown_at, again.exposure) == (None, None, [])
    assert again.rater.user == bob


def test_a_skip_bars_the_skipper_and_keeps_the_number_of_judgements():
    project, [ann, bob, cid] = make_world(n=1, overlap=2, people=3)
    taken = assigning.take(project, ann)
    assert assigning.skip(taken, ann, "unreadable", flag=True)
    assert assigning.skip(taken, ann, "unreadable")
    taken.refresh_from_db()
    assert (taken.state, taken.skip_reason, taken.is_flagged) == ("skipped", "unreadable", True)
    assert assigning.take(project, ann) is None
    assert len(work_off(project, bob)) == len(work_off(project, cid)) == 1
    assert Assignment.objects.filter(state="done").count() == 2
    assert not Assignment.objects.filter(state__in=["open", "leased"]).exists()


def test_an_item_that_nobody_is_left_for_is_stuck_until_somebody_joins():
    project, [ann, bob] = make_world(n=1, overlap=1)
    assigning.skip(assigning.take(project, ann), ann)
    item = Item.objects.get()
    assert item.state == "active"
    assigning.skip(assigning.take(project, bob), bob)
    item.refresh_from_db()
    assert item.state == "stuck"
    assert assigning.take(project, ann) is None and assigning.take(project, bob) is None
    cid = Annotator(join(project, make_user()), project)
    assert cid.submit(cid.next()["payload"]).status_code == 200
    item.refresh_from_db()
    assert item.state == "active"


def test_a_skip_after_the_lease_was_lost_still_bars_the_person():
    project, [ann, bob] = make_world(n=1, overlap=1)
    taken = assigning.take(project, ann)
    assigning.release(taken, ann)
    assert assigning.take(project, bob) == taken
    assert assigning.skip(taken, ann, "too late")
    taken.refresh_from_db()
    assert (taken.state, taken.rater.user) == ("leased", bob)
    assert Assignment.objects.get(state="skipped").skip_reason == "too late"
    assert not Assignment.objects.filter(state="open").exists()


def test_an_answered_item_cannot_be_skipped():
    project, [ann, _] = make_world()
    taken = assigning.take(project, ann)
    finish(taken, ann)
    assert not assigning.skip(taken, ann)


def test_a_raised_priority_comes_first_even_behind_the_cursor():
    project, [ann, bob] = make_world(n=8, overlap=1)
    for _ in range(4):
        finish(assigning.take(project, ann), ann)
    waiting = list(Item.objects.filter(assignments__state="open").order_by("position"))
    assigning.set_priority(project, [waiting[-1], waiting[-2]], 5)
    assert assigning.take(project, bob).item == waiting[-2]
    assert assigning.take(project, ann).item == waiting[-1]
    assigning.set_priority(project, waiting, -1)
    positions = Item.objects.values_list("pk", "position")
    of_rows = dict(Assignment.objects.values_list("item", "position"))
    assert dict(positions) == of_rows


def test_one_more_judgement_goes_to_somebody_new():
    project, [ann, bob] = make_world(n=2, overlap=1)
    work_off(project, ann)
    item = Item.objects.first()
    extra = assigning.ask_for_one_more(item, "they disagree", project.created_by)
    assert (extra.reason, "they disagree" in extra.note) == ("extra", True)
    assert assigning.take(project, ann) is None
    assert assigning.take(project, bob) == extra


def test_new_items_behind_the_cursor_are_found():
    project, [ann, _] = make_world(n=3, overlap=1)
    assert len(work_off(project, ann)) == 3
    make_claim_evidence(project.dataset, 5, prefix="new-")
    make_items(project)
    assert len(work_off(project, ann)) == 5


@pytest.mark.parametrize("state", ["preparing", "paused", "closed"])
def test_no_work_is_given_out_while_the_project_is_not_open(state):
    project, [ann, _] = make_world()
    Project.objects.update(state=state)
    assert assigning.take(project, ann) is None


def test_a_retired_items_lost_lease_does_not_come_back():
    project, [ann, bob] = make_world(n=1, overlap=1)
    taken = assigning.take(project, ann)
    assert item_making.retire_items_of([taken.item.anchor_id]) == 1
    assigning.release(taken, ann)
    taken.refresh_from_db()
    assert taken.state == "cancelled"
    assert assigning.take(project, bob) is None


def test_taking_costs_the_same_however_much_was_done():
    counts = []
    for done in (1, 15):
        project, [ann, _] = make_world(n=30)
        for _ in range(done):
            finish(assigning.take(project, ann), ann)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assigning.take(project, ann)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 8


def test_what_a_leaving_annotator_holds_goes_to_the_others_at_once():
    project, [ann, bob] = make_world(n=1, overlap=1)
    held = assigning.take(project, ann)
    assigning.shown(held, ann, None)
    assert assigning.take(project, bob) is None
    remove_member(project, ann, "annotator")
    assert assigning.take(project, bob).item == held.item


def test_items_are_ready_ahead_as_many_as_the_project_allows_and_are_held_for_longer():
    project, [ann, _] = make_world(n=6, lease_minutes=15, items_ahead=3)
    person = Annotator(ann, project)
    first = assigning.take(project, ann)
    ready = []
    for _ in range(3):
        offer = person.next(ahead=1, after=first.uuid, holds=ready)
        ready.append(offer["payload"]["assignment"])
        assert 29 * 60 < offer["payload"]["lease_seconds"] <= 30 * 60
    assert len(set(ready) | {str(first.uuid)}) == 4
    assert person.next(ahead=1, after=first.uuid, holds=ready)["state"] == "enough"
    assert person.next(ahead=1, after=first.uuid, holds=ready[1:])["payload"]["assignment"] == ready[0]
    assert Assignment.objects.filter(state="leased").count() == 4
    # That it is on the screen does not end the longer time, which a page without a connection counts on.
    row = Assignment.objects.get(uuid=ready[0])
    assert assigning.shown(row, ann, None)
    assert Assignment.objects.get(uuid=ready[0]).lease_expires_at == row.lease_expires_at
    payload = person.item(str(first.uuid)).json()["payload"]
    assert person.submit(payload, want_next=True, after=ready[0], holds=ready[1:]).json()["ahead"]["state"] == "item"
    assert person.submit(payload, want_next=True, holds="x").status_code == 422
    assert person.submit(payload, want_next=True, holds=[ready[0]] * 51).status_code == 422


def test_one_request_brings_several_items_and_says_why_there_are_no_more():
    project, [ann, _] = make_world(n=6, items_ahead=4)
    person = Annotator(ann, project)
    first = str(assigning.take(project, ann).uuid)
    offer = person.next(ahead=1, after=first, most=3)
    found = [one["payload"]["assignment"] for one in (offer, *offer["more"])]
    assert len({first, *found}) == 4
    last = person.next(ahead=1, after=first, holds=found, most=10)
    assert last["state"] == "item" and "more" not in last  # as many as may be ready
    project.items_ahead = 50
    project.save(update_fields=["items_ahead"])
    found.append(last["payload"]["assignment"])
    offer = person.next(ahead=1, after=first, holds=found, most=10)
    assert [one["state"] for one in (offer, *offer["more"])] == ["item", "empty"]
    assert Assignment.objects.filter(state="leased").count() == 6
    for wrong in ("0", "11", "x", "-1"):
        assert person.next(ahead=1, most=wrong)["errors"][0]["field"] == "most"


def test_the_script_of_the_page_without_a_connection_acts_on_the_page_alone():
    project, [ann, _] = make_world()
    address = f"/projects/{project.slug}/work/worker.js"
    reply = Annotator(ann, project).client.get(address)
    assert reply["Content-Type"] == "text/javascript" and "Service-Worker-Allowed" not in reply
    assert reply["Cache-Control"] == "private, no-store"
    assert Annotator(make_user(), project).client.get(address).status_code == 404
