"""Items and their assignments: how many, in which order, once."""

import pytest
from django.db.models import Count
from django.utils import timezone

from annotation.models import Assignment, Item, ItemUnit, Project, Unit
from annotation.projects import item_making
from tests.factories import (
    make_claim_evidence,
    make_dataset,
    make_items,
    make_project,
    make_responses_with_triplets,
)

pytestmark = pytest.mark.django_db


def test_each_item_is_born_with_exactly_its_planned_open_assignments():
    dataset = make_dataset()
    make_claim_evidence(dataset, 25)
    project = make_project(dataset, overlap=3)
    counted = Item.objects.filter(project=project).annotate(open=Count("assignments"))
    assert [(item.planned, item.open) for item in counted] == [(3, 3)] * 25
    assert not Assignment.objects.exclude(state="open").exists()
    assert project.state == Project.State.OPEN


def test_making_items_again_makes_nothing_and_new_content_gets_only_its_own():
    dataset = make_dataset()
    make_claim_evidence(dataset, 5)
    project = make_project(dataset, overlap=2)
    epoch = project.queue_epoch
    before = dict(Item.objects.values_list("key", "position"))
    assert item_making.plan(project).items == 0
    make_claim_evidence(dataset, 4, prefix="more-")
    make_items(project)
    after = dict(Item.objects.values_list("key", "position"))
    assert len(after) == 9 and before.items() <= after.items()
    assert Assignment.objects.count() == 18
    assert project.queue_epoch > epoch


def test_the_order_depends_on_the_seed_and_nothing_else():
    orders = {}
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        dataset = make_dataset()
        make_claim_evidence(dataset, 30)
        project = make_project(dataset, seed=seed)
        orders[name] = list(Item.objects.filter(project=project).order_by("position").values_list("key", flat=True))
    assert orders["a"] == orders["b"] != orders["c"]


def test_file_order_follows_the_file():
    dataset = make_dataset()
    units = make_claim_evidence(dataset, 10)
    project = make_project(dataset, order=Project.Order.FILE)
    in_order = Item.objects.filter(project=project).order_by("position").values_list("key", flat=True)
    assert list(in_order) == [unit.key for unit in units]


def test_a_share_of_the_items_is_drawn_for_several_judgements_and_the_rest_get_one():
    dataset = make_dataset()
    make_claim_evidence(dataset, 400)
    project = make_project(dataset, overlap=3, multiple_share=0.25)
    planned = Item.objects.filter(project=project).values_list("is_multiple", "planned")
    assert set(planned) == {(True, 3), (False, 1)}
    assert 70 <= sum(drawn for drawn, _ in planned) <= 130


def test_without_overlap_there_are_items_but_no_work():
    dataset = make_dataset()
    make_claim_evidence(dataset, 3)
    make_project(dataset, overlap=0)
    assert Item.objects.count() == 3 and not Assignment.objects.exists()


def test_a_response_brings_its_triplets_in_order_and_an_abstained_one_gets_no_work():
    dataset = make_dataset()
    make_responses_with_triplets(dataset, 3, triplets=[2, 0, 3])
    project = make_project(dataset, "triplets/-/1", overlap=2)
    counts = Item.objects.filter(project=project).order_by("anchor").values_list("unit_count", "planned")
    assert list(counts) == [(2, 2), (0, 0), (3, 2)]
    last = Item.objects.order_by("anchor").last()
    assert [row.unit.triplet.index for row in last.item_units.order_by("index")] == [0, 1, 2]


def test_two_keys_on_one_place_get_two_positions(monkeypatch):
    monkeypatch.setattr(item_making, "seeded", lambda seed, purpose, key: 7)
    dataset = make_dataset()
    make_claim_evidence(dataset, 4)
    project = make_project(dataset)
    start = item_making.position_of(0, 7)
    assert sorted(project.items.values_list("position", flat=True)) == [start, start + 1, start + 2, start + 3]


def test_superseded_content_leaves_the_queue_and_keeps_what_was_taken():
    dataset = make_dataset()
    units = make_claim_evidence(dataset, 2)
    project = make_project(dataset, overlap=2)
    Unit.objects.filter(pk=units[0].pk).update(superseded_at=timezone.now())
    assert item_making.retire_items_of([units[0].pk]) == 1
    item = project.items.get(anchor=units[0])
    assert item.state == Item.State.RETIRED
    assert set(item.assignments.values_list("state", flat=True)) == {"cancelled"}
    assert set(project.items.get(anchor=units[1]).assignments.values_list("state", flat=True)) == {"open"}
    assert item_making.retire_items_of([units[0].pk]) == 0


def test_an_unjudged_response_goes_on_with_its_newest_triplets():
    dataset = make_dataset()
    make_responses_with_triplets(dataset, 1, triplets=3)
    project = make_project(dataset, "triplets/-/1")
    gone = Unit.objects.filter(kind="triplet").first()
    gone.superseded_at = gone.batch.published_at
    gone.save()
    assert item_making.retire_items_of([gone.pk]) == 0
    item = project.items.get()
    assert item.state == Item.State.ACTIVE and item.unit_count == 2
    assert not ItemUnit.objects.filter(unit=gone).exists()
