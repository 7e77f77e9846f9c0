"""Setting items apart with a key, and putting them back.

An item that nobody has answered leaves work. One with answers stays what it is: a copy of it, with the same texts, can
be a check for those who have not seen it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation import editing
from annotation.models import (
    Assignment,
    Case,
    Decision,
    Item,
    ItemKey,
    ItemUnit,
    Judgement,
    Project,
    SettingsChange,
    User,
)
from annotation.projects import cases
from annotation.projects.item_making import position_of
from annotation.work.answer_rules import check_key
from annotation.work.queries import pages

MAX_REASON = 10_000
LEARNING = (ItemKey.Purpose.TRAINING, ItemKey.Purpose.QUALIFICATION)
# Whose decision is proposed as the right answer, the best first.
ORDER = (Decision.Method.ADJUDICATED, Decision.Method.IMPORTED, Decision.Method.RULE, Decision.Method.MAJORITY)


class ApartError(Exception):
    """The item cannot be set apart; the message is for the researcher."""


def set_apart(
    project: Project,
    item: Item,
    user: User,
    purpose: str,
    answers: object,
    *,
    reason: str = "",
    is_loud: bool = False,
    is_noted: bool = True,
) -> ItemKey:
    """Give the item, or a copy of it where it has answers, a key and a purpose; one that is set apart gets these anew.

    `is_noted`: the history of the project gets a line, which does not name the item: it may be a check for its reader.
    Raises ApartError where its state or its answers do not allow that, and InvalidSubmission for a wrong key.
    """
    page = pages.load_page(item.pk, project.type)
    checked = [asdict(one) for one in check_key(page.type, page.unit_keys, page.contents.texts, answers)]
    values = {"purpose": purpose, "answers": checked, "reason": reason, "is_loud": is_loud, "created_by": user}
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        cases.lock(project.pk)
        item.refresh_from_db()
        if project.is_preparing:
            raise ApartError(project.why_not_ready)
        if item.state == Item.State.RETIRED or not item.unit_count:
            raise ApartError("This item no longer has anything to judge")
        if item.state != Item.State.APART and item.annotations.exists():
            values["original"], item = item, _copy(item, purpose)
        elif item.state != Item.State.APART:
            _leave_work(item)
        key, _ = ItemKey.objects.update_or_create(item=item, defaults=values | {"project": project})
        _update_learning(project)
        if is_noted:
            note(project, user, {purpose: 1})
    return key


def note(project: Project, by: User | None, numbers: Mapping[str, int]) -> None:
    """Items that were set apart, by what for, in the history of the project."""
    after = {dict(ItemKey.Purpose.choices).get(purpose, purpose): n for purpose, n in numbers.items()}
    editing.record(by, project, SettingsChange.What.KEYS, {}, after)


def _copy(item: Item, purpose: str) -> Item:
    if purpose != ItemKey.Purpose.CHECK:
        raise ApartError("This item has answers of people, so it can only be a check")
    left = item.assignments.filter(state__in=[Assignment.State.OPEN, Assignment.State.LEASED])
    if left.exists():
        raise ApartError("This item still lacks answers; it can be a check once it has all of them")
    copied = Item.objects.filter(item_key__original=item).first()
    if copied is not None:
        return copied
    position = position_of(0, item.position)  # after all work
    while Item.objects.filter(project=item.project_id, position=position).exists():
        position += 1
    units = list(item.item_units.order_by("index").values_list("unit", "index"))
    copied = Item.objects.create(
        project_id=item.project_id,
        anchor_id=item.anchor_id,
        key=item.key,
        state=Item.State.APART,
        position=position,
        planned=0,
        is_multiple=item.is_multiple,
        unit_count=item.unit_count,
    )
    ItemUnit.objects.bulk_create(ItemUnit(item=copied, unit_id=unit, index=index) for unit, index in units)
    return copied


def _leave_work(item: Item) -> None:
    if item.assignments.filter(state=Assignment.State.LEASED).exists():
        raise ApartError("This item is assigned to an annotator now; release it first")
    item.assignments.filter(state=Assignment.State.OPEN).update(state=Assignment.State.CANCELLED, returned=False)
    Item.objects.filter(pk=item.pk).update(state=Item.State.APART)
    Case.objects.filter(item=item).delete()
    Project.objects.filter(pk=item.project_id).update(label_version=F("label_version") + 1)


def put_back(project: Project, item: Item, by: User | None = None) -> bool:
    """The item is no longer used for training, qualification or checks. True where it is work again; False where it
    has answers or is a copy, and stays set apart with its results."""
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        cases.lock(project.pk)
        key = ItemKey.objects.get(item=item)
        is_work = key.original_id is None and not item.annotations.exists()
        key.delete()
        if is_work:
            mine = item.assignments.filter(reason__in=Assignment.NO_WORK)
            mine.delete()  # given to people who have not answered it
            places = item.assignments.filter(state=Assignment.State.CANCELLED)
            chosen = list(places.order_by("pk").values_list("pk", flat=True)[: item.planned])
            Assignment.objects.filter(pk__in=chosen).update(state=Assignment.State.OPEN, returned=True)
            Item.objects.filter(pk=item.pk).update(state=Item.State.ACTIVE)
            Project.objects.filter(pk=project.pk).update(label_version=F("label_version") + 1)
        _update_learning(project)
        note(project, by, {"Put back": 1})
    return is_work


def _update_learning(project: Project) -> None:
    """Who has worked before the project had training or qualification does not do it afterwards."""
    has_learning = ItemKey.objects.filter(project=project, purpose__in=LEARNING).exists()
    if has_learning and not project.has_learning:
        work = Assignment.objects.filter(project=project, state=Assignment.State.DONE)
        workers = work.exclude(reason__in=Assignment.NO_WORK).values("rater")
        project.raters.filter(pk__in=workers, admitted_at=None).update(admitted_at=timezone.now())
    Project.objects.filter(pk=project.pk).update(has_learning=has_learning)
    project.has_learning = has_learning


def propose_key(project: Project, item: Item) -> list[dict]:
    """The right answers as decisions say, and else as all answers agree: what a key can begin with."""
    units = {row.unit_id: row.unit.key for row in item.item_units.select_related("unit").order_by("index")}
    found: dict[tuple[int, str], dict] = {}
    judgements = Judgement.objects.filter(
        revision__is_latest=True, revision__annotation__is_surplus=False, revision__annotation__item=item
    )
    votes = defaultdict(set)
    for unit, dimension, label in judgements.values_list("unit", "dimension", "label"):
        votes[unit, dimension].add(label)
    for place, labels in votes.items():
        if len(labels) == 1:
            found[place] = {"label": labels.pop(), "spans": []}
    decisions = Decision.objects.in_force().filter(project=project, unit__in=units, outcome=Decision.Outcome.LABEL)
    for one in sorted(decisions, key=lambda row: -ORDER.index(row.method)):
        found[one.unit_id, one.dimension] = {"label": one.label, "spans": one.spans}
    return [
        {"unit": key, "dimension": dimension.slug} | found[unit, dimension.slug]
        for unit, key in units.items()
        for dimension in project.type.asked_dimensions
        if (unit, dimension.slug) in found and not dimension.takes_text
    ]
