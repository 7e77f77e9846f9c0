"""Which item that is set apart a person gets: training and qualification in order, and checks at drawn places.

Where a check comes follows from the project's seed, the person's pseudonym and the number of items that they were
given (`Rater.turn`), and which one it is from the seed, the pseudonym and the item's key: both can be recomputed.
"""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from annotation.models import Annotation, Assignment, Item, ItemKey, KeyResult, Project, Rater
from annotation.projects.item_making import seeded
from annotation.projects.prefill import arm_of
from annotation.projects.queries.projects import count_annotators
from annotation.work.learning.keys import LEARNING
from annotation.work.learning.results import finish_learning


def learns_first(project: Project, rater: Rater) -> bool:
    """Whether training or qualification comes before work for this person."""
    return project.has_learning and rater.admitted_at is None


def keys_of(project: Project, *purposes: str):
    """The keys that are in use, in the order in which they are learnt."""
    keys = ItemKey.objects.filter(project=project, purpose__in=purposes, item__state=Item.State.APART)
    return keys.order_by("created_at", "item")


def next_lesson(project: Project, rater: Rater) -> ItemKey | None:
    """The first training item that the person has not answered, and then the first of qualification in this try."""
    results = KeyResult.objects.filter(item=OuterRef("item"), rater=rater, purpose=OuterRef("purpose"))
    for purpose in LEARNING:
        is_tried = purpose == ItemKey.Purpose.QUALIFICATION
        answered = results.filter(attempt=rater.attempt) if is_tried else results
        key = keys_of(project, purpose).filter(~Exists(answered)).select_related("item").first()
        if key is not None:
            return key
    return None


def take_lesson(project: Project, rater: Rater, *, has=()) -> Assignment | None:
    """The assignment of the next training or qualification item; None while the page has one without an answer: what
    follows depends on it. The rater's row is locked."""
    held = Assignment.objects.filter(rater=rater, state=Assignment.State.LEASED, reason__in=Assignment.LEARNING).first()
    if held is not None:
        return None if held.uuid in has else held
    key = next_lesson(project, rater)
    if key is None:
        finish_learning(project, rater)
        return None
    now = timezone.now()
    values = {
        "uuid": uuid.uuid4(),  # another try has an address of its own
        "state": Assignment.State.LEASED,
        "reason": key.purpose,
        "rater": rater,
        "leased_at": now,
        "lease_expires_at": now + timedelta(minutes=project.lease_minutes),
        "shown_at": None,
        "done_at": None,
    }
    before = Q(rater=rater) | Q(annotation__rater=rater)
    row = Assignment.objects.filter(before, item=key.item).first()
    if row is None:
        return Assignment.objects.create(project=project, item=key.item, position=key.item.position, **values)
    for name, value in values.items():
        setattr(row, name, value)
    row.save(update_fields=list(values))
    return row


def is_check_due(project: Project, rater: Rater) -> bool:
    """Whether this person's next item is a check: one of each `check_every`, at a drawn place among them."""
    round_, place = divmod(rater.turn, project.check_every)
    return seeded(project.seed, f"check {rater.pseudonym}", str(round_)) % project.check_every == place


def checks_to_come(project: Project, rater: Rater, items: int) -> int:
    """How many checks will come among the person's next `items` items of work; no more than there are."""
    if not project.check_every or not items:
        return 0
    left = unseen_checks(project, rater).count()
    turn, work, found = Rater(pseudonym=rater.pseudonym, turn=rater.turn), items, 0
    while work and found < left:
        if is_check_due(project, turn):
            found += 1
        else:
            work -= 1
        turn.turn += 1
    return found


def expected_checks(project: Project, places: int) -> int:
    """How many checks all annotators get, as far as it depends on nothing that they do: each check goes to a person
    once, and one comes in so many items."""
    most = keys_of(project, ItemKey.Purpose.CHECK).count() * count_annotators(project)
    return min(most, -(-places // project.check_every))


def unseen_checks(project: Project, rater: Rater):
    """Keys of checks that the person has not had, neither as such nor as work."""
    rows = Assignment.objects.filter(Q(item=OuterRef("item")) | Q(item=OuterRef("original")), rater=rater)
    answers = Annotation.objects.filter(Q(item=OuterRef("item")) | Q(item=OuterRef("original")), rater=rater)
    return keys_of(project, ItemKey.Purpose.CHECK).filter(~Exists(rows), ~Exists(answers))


def give_check(project: Project, rater: Rater) -> Assignment | None:
    """An assignment of a check that the person has not had; None where there is none. To be leased by the caller."""
    columns = ("item_id", "item__key", "item__position")
    left = list(unseen_checks(project, rater).order_by().values_list(*columns))
    if not left:
        return None
    item, key, position = min(left, key=lambda row: seeded(project.seed, f"checks of {rater.pseudonym}", row[1]))
    now = timezone.now()
    return Assignment.objects.create(
        project=project,
        item_id=item,
        position=position,
        state=Assignment.State.LEASED,
        reason=Assignment.Reason.CHECK,
        rater=rater,
        leased_at=now,
        lease_expires_at=now + timedelta(minutes=project.lease_minutes),
        prefill_arm=arm_of(project, key, rater.pseudonym),
    )
