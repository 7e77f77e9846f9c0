"""Who works on what: taking, showing, giving back, skipping.

An item has its planned number of assignment rows from birth, and a person can hold one row per item (the database
forbids a second), so nothing here counts judgements. Taking locks the person's rater row, then claims one open row
that nobody else is claiming. Each annotator has a cursor: the position of the last row taken from the queue. Work ahead
of it is found in one index step however much lies done behind it; rows that come back are searched first, since they
may lie behind everybody's cursor.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext

from annotation import statements
from annotation.models import Annotation, Assignment, Case, Item, Project, Rater
from annotation.projects import cases, reach
from annotation.projects.item_making import BAND, MAX_PRIORITY, reopen
from annotation.projects.limits import quotas
from annotation.projects.prefill import arm_of
from annotation.projects.raters import rater_of
from annotation.work import reserving, threads
from annotation.work.learning import giving

ATTEMPTS = 5
# What was fetched ahead and never looked at soon goes to another annotator: for each item that may be ready so long.
AHEAD_LEASE = timedelta(minutes=10)
# How often a process looks for expired leases of a project while people take work from it.
EXPIRY_CHECK_SECONDS = 5.0
START = -1

_last_expiry_check: dict[tuple[str, int], float] = {}


class AssigningError(Exception):
    """What was asked for cannot be done; the message is for the person who asked."""


class NoReason(Exception):
    """A flag without a reason."""


def take(
    project: Project, user, *, ahead: bool = False, after=None, holds=(), shown_at=None, takes_new: bool = True
) -> Assignment | None:
    """The next assignment for this person, leased to them, or None where there is nothing for them now.

    What they hold already comes first, an item they have seen before one they have not. `ahead` is for fetching while
    another item is on the screen: `after` is that item's assignment, which is not given again and was shown at
    `shown_at`, and `holds` are those that the page has ready; the lease is short until the item is shown. Without
    `takes_new`, only what they hold is given.
    """
    has = [one for one in (after, *holds) if one is not None]
    for attempt in range(ATTEMPTS):
        try:
            with transaction.atomic():
                rater = _locked_rater(project, user)
                if after is not None and shown_at is not None:
                    _note_shown(project, "uuid = %s AND rater_id = %s", [_uuid_value(after), rater.pk], shown_at)
                assignment = _take(rater, project, ahead=ahead, has=has, takes_new=takes_new, check_leases=attempt == 0)
            break
        except IntegrityError:
            continue  # the same person took a row of the same item in another tab
    else:
        return None
    if assignment is None and takes_new and return_expired_leases(project):
        with transaction.atomic():
            return _take(
                _locked_rater(project, user), project, ahead=ahead, has=has, takes_new=True, check_leases=False
            )
    return assignment


def _locked_rater(project: Project, user) -> Rater:
    """The person's rater. The lock puts one person's tabs in a row, nobody else. `project` is brought up to date with
    what taking depends on."""
    lock = "FOR NO KEY UPDATE OF r" if connection.features.has_select_for_update else ""
    for attempt in range(2):
        rater = statements.first(Rater, _RATER.format(lock=lock), [project.pk, user.pk])
        if rater is not None:
            for name in _PROJECT_NOW:
                setattr(project, name, getattr(rater, f"project_{name}"))
            return rater
        if attempt == 0:
            rater_of(project, user)
    raise Rater.DoesNotExist


def _take(
    rater: Rater, project: Project, *, ahead: bool, has: Sequence, takes_new: bool, check_leases: bool
) -> Assignment | None:
    if project.state != Project.State.OPEN or rater.standing in Rater.NO_WORK:
        return None
    if giving.learns_first(project, rater):
        lesson = giving.take_lesson(project, rater, has=has)
        if lesson is not None or giving.learns_first(project, rater):
            if lesson is not None:
                lesson.project = project
            return lesson
    if check_leases and _is_expiry_check_due(project):
        return_expired_leases(project)
    now = timezone.now()
    assignment = _held(rater, now, ahead=ahead, has=has)
    if assignment is None and takes_new and (not quotas.are_set(project) or quotas.may_take(project, rater)):
        assignment = _next(rater, project)
        assignment = assignment or _parked(rater, project, has)
    if assignment is not None:
        assignment.rater, assignment.project = rater, project
        _lease(assignment, project, now, ahead=ahead)
    return assignment


# The statements of every single take, written by hand: building them anew each time costs more than running them.
_PROJECT_NOW = ("state", "queue_epoch", "prefill", "prefill_shown_percent", "prefill_after_percent")
_PROJECT_NOW += ("reserves_items", "lease_minutes", "items_ahead", "has_learning", "check_every", *quotas.SETTINGS)
_RATER = f"""
SELECT r.*, {", ".join(f"p.{name} AS project_{name}" for name in _PROJECT_NOW)}
FROM annotation_rater r JOIN annotation_project p ON p.id = r.project_id
WHERE r.project_id = %s AND r.user_id = %s {{lock}}
"""
_HELD = """
SELECT a.* FROM annotation_assignment a
WHERE a.rater_id = %s AND a.state = 'leased' AND a.lease_expires_at > %s {conditions}
ORDER BY a.shown_at DESC NULLS LAST, a.leased_at LIMIT 1
"""
ITEM_KEY = ", (SELECT item.key FROM annotation_item item WHERE item.id = a.item_id) AS item_key"
# A late answer that was kept as surplus has no row, so both are asked for.
_FREE = """
SELECT a.* {columns} FROM annotation_assignment a
WHERE a.project_id = %s AND a.state = 'open' AND {condition}
AND NOT EXISTS (SELECT 1 FROM annotation_assignment own WHERE own.item_id = a.item_id AND own.rater_id = %s)
AND NOT EXISTS (SELECT 1 FROM annotation_annotation said WHERE said.item_id = a.item_id AND said.rater_id = %s)
{more} ORDER BY a.position, a.id LIMIT 1 {lock}
"""


def _uuid_value(uuid):
    return Assignment._meta.get_field("uuid").get_db_prep_value(uuid, connection)


def _held(rater: Rater, now: datetime, *, ahead: bool, has: Sequence) -> Assignment | None:
    conditions, values = "", [rater.pk, connection.ops.adapt_datetimefield_value(now)]
    if has:
        conditions = f"AND a.uuid NOT IN ({', '.join(['%s'] * len(has))})"
        values += [_uuid_value(one) for one in has]
        if ahead:
            conditions += " AND a.shown_at IS NULL"  # what is shown may be on the screen of another tab
    return statements.first(Assignment, _HELD.format(conditions=conditions), values)


def _next(rater: Rater, project: Project) -> Assignment | None:
    """What the person is given anew: a check where one is due, or work."""
    if not project.check_every:
        return _free(rater, project)
    check = giving.give_check(project, rater) if giving.is_check_due(project, rater) else None
    assignment = check or _free(rater, project)
    if assignment is not None:
        statements.store(rater, turn=rater.turn + 1)
    return assignment


def _free(rater: Rater, project: Project) -> Assignment | None:
    """The next open row: one that came back, or the first ahead of the cursor, or else the first of all."""
    assignment = _first_free(rater, project, "a.returned", [])
    if assignment is not None:
        return assignment
    cursor = rater.cursor if rater.cursor_epoch == project.queue_epoch else START
    assignment = _first_free(rater, project, "a.position > %s", [cursor])
    if assignment is None and cursor != START:
        assignment = _first_free(rater, project, "a.position > %s", [START])
    if assignment is not None:
        statements.store(rater, cursor=assignment.position, cursor_epoch=project.queue_epoch)
    return assignment


def parked(rater_id: int) -> QuerySet[Assignment]:
    """What the person skipped for later and can get: its item has a place for them, or is a check."""
    places = Assignment.objects.filter(reserving.takeable_by(rater_id), item=OuterRef("item"))
    rows = Assignment.objects.filter(rater=rater_id, state=Assignment.State.SKIPPED, is_parked=True)
    return rows.filter(Exists(places.filter(state=Assignment.State.OPEN)) | Q(reason=Assignment.Reason.CHECK))


def _parked(rater: Rater, project: Project, has: Sequence) -> Assignment | None:
    """What the person parked first comes first, when there is nothing else; what the page has is not given."""
    for row in parked(rater.pk).exclude(uuid__in=has).order_by("done_at", "pk")[:ATTEMPTS]:
        cases.lock(project.pk, row.item_id)
        place = open_place(row.item_id, rater.pk)
        if place is not None or row.reason == Assignment.Reason.CHECK:
            row.shown_at = None
            _lease_again(row, place, timezone.now(), project)
            reach.check([row.item_id])
            return row
    return None


def _first_free(rater: Rater, project: Project, condition: str, values: list) -> Assignment | None:
    lock = "FOR NO KEY UPDATE OF a SKIP LOCKED" if connection.features.has_select_for_update_skip_locked else ""
    columns, more, first, last = "", "", [], []
    if project.prefill == Project.Prefill.DRAWN:
        columns = ITEM_KEY
    if project.reserves_items:
        columns, more = columns + reserving.HAS_OWN_PLACE, reserving.TAKEABLE
        first, last = [rater.pk, rater.group], [rater.pk, rater.group, rater.pk]
    statement = _FREE.format(columns=columns, condition=condition, lock=lock, more=more)
    values = [*first, rater.project_id, *values, rater.pk, rater.pk, *last]
    return statements.first(Assignment, statement, values)


def _lease(assignment: Assignment, project: Project, now: datetime, *, ahead: bool) -> None:
    """Store the lease: long for what is being worked on, short for what was only fetched. A row that changes hands
    starts anew: what its last holder saw does not count for this one."""
    whole = timedelta(minutes=project.lease_minutes)
    until = now + whole
    if ahead:
        most = project.items_ahead
        until = now + (max(whole, most * AHEAD_LEASE) if most > 1 else min(whole, AHEAD_LEASE))
    if assignment.state == Assignment.State.LEASED and assignment.lease_expires_at:
        until = max(until, assignment.lease_expires_at)  # their page may have no connection until then
    changes = {"lease_expires_at": until}
    if assignment.state == Assignment.State.OPEN:
        if getattr(assignment, "has_own_place", False):
            reserving.take_own_place(assignment, assignment.rater)
        changes |= {
            "state": Assignment.State.LEASED,
            "rater": assignment.rater,
            "leased_at": now,
            "returned": False,
            "prefill_arm": _arm(assignment, project),
            "shown_at": None,
            "suggestions_shown_at": None,
            "exposure": [],
        }
    statements.store(assignment, **changes)


def _arm(assignment: Assignment, project: Project) -> str:
    """Nobody but a trial needs the item's key, which the statement of taking brings then."""
    is_drawn = project.prefill == Project.Prefill.DRAWN
    return arm_of(project, assignment.item_key, assignment.rater.pseudonym) if is_drawn else project.prefill


def exposure_with(exposure: list[dict], run, suggestions: int) -> list[dict]:
    """With so many suggestions of the run. Those of another run may have been seen, and so may more of this one: that
    stays."""
    before = [seen["suggestions"] for seen in exposure if seen["run"] == str(run.uuid)]
    others = [seen for seen in exposure if seen["run"] != str(run.uuid)]
    return [*others, {"run": str(run.uuid), "suggestions": max([*before, suggestions])}]


def expose(assignment: Assignment, run, suggestions: int) -> bool:
    """Note which suggestions a reply carries, before it leaves the server. False where the assignment has changed hands
    meanwhile."""
    exposure = exposure_with(assignment.exposure, run, suggestions)
    if assignment.exposure == exposure:
        return True
    assignment.exposure = exposure
    return bool(Assignment.objects.filter(pk=assignment.pk, rater=assignment.rater_id).update(exposure=exposure))


# Written by hand like those of taking: every item is shown once.
_SHOWN = """
UPDATE annotation_assignment SET
shown_at = CASE WHEN state = 'leased' THEN COALESCE(shown_at, {at}) ELSE shown_at END,
lease_expires_at = CASE WHEN state = 'leased' AND lease_expires_at < %s THEN %s ELSE lease_expires_at END {more}
WHERE state IN ({states}) AND {which}
"""
# By the browser's clock, which may be wrong: not before the person had the item.
_AT = "CASE WHEN leased_at > %s THEN leased_at ELSE %s END"
_HELD_BY = "id = %s AND rater_id = (SELECT r.id FROM annotation_rater r WHERE r.project_id = %s AND r.user_id = %s)"


def shown(assignment: Assignment, user, at: datetime | None, *, suggestions: bool = False) -> bool:
    """The page came to the person's eyes: from now on its lease is a whole one. False if it is no longer theirs.

    `suggestions`: their browser painted a suggestion. That is kept after the answer, too: it may have come with the
    reply to it, or the note was on its way for long.
    """
    whose = [assignment.pk, assignment.project_id, user.pk]
    return _note_shown(assignment.project, _HELD_BY, whose, at, suggestions=suggestions and bool(assignment.exposure))


def _note_shown(project: Project, which: str, values: list, at: datetime | None, *, suggestions: bool = False) -> bool:
    now = timezone.now()
    at = min(at or now, now)
    until = now + timedelta(minutes=project.lease_minutes)
    moments = [at, at, until, until]
    more, states = "", "'leased'"
    if suggestions:
        more, states = f", suggestions_shown_at = COALESCE(suggestions_shown_at, {_AT})", "'leased', 'done', 'skipped'"
        moments += [at, at]
    moments = [connection.ops.adapt_datetimefield_value(moment) for moment in moments]
    with connection.cursor() as cursor:
        cursor.execute(_SHOWN.format(at=_AT, more=more, states=states, which=which), [*moments, *values])
        return bool(cursor.rowcount)


def release(assignment: Assignment, user) -> bool:
    """Give back what was fetched ahead and never shown; not a lesson, which nobody waits for and another tab has."""
    held = Assignment.objects.filter(pk=assignment.pk, rater__user=user, state=Assignment.State.LEASED, shown_at=None)
    held = held.exclude(reason__in=Assignment.LEARNING)
    with transaction.atomic():
        released = bool(reopen(held))
        if released:
            reach.check_after_commit([(assignment.project_id, assignment.item_id)])
    return released


def release_item(item: Item) -> int:
    """Take the item back from its present holder: others get it. An answer that still comes is kept."""
    with transaction.atomic():
        cases.lock(item.project_id, item.pk)
        released = reopen(Assignment.objects.filter(item=item, state=Assignment.State.LEASED))
        reach.check([item.pk])
        return released


def return_held(project: Project) -> int:
    """Take all items of the project back from those who hold them: others get them, and answers that still come are
    kept. How many came back; an item that is being answered at this moment does not."""
    rows = Assignment.objects.filter(project=project, state=Assignment.State.LEASED)
    with transaction.atomic():
        held = list(rows.select_for_update(skip_locked=True, no_key=True, of=("self",)).values_list("pk", "item"))
        returned = sum(
            reopen(Assignment.objects.filter(pk__in=[pk for pk, _ in held[start : start + 1000]]))
            for start in range(0, len(held), 1000)
        )
        reach.check_after_commit({(project.pk, item) for _, item in held})
    return returned


def return_expired_leases(project: Project | None = None) -> int:
    """Open again what was leased for too long: of one project, or of all. Returns how many rows came back."""
    rows = Assignment.objects.filter(state=Assignment.State.LEASED, lease_expires_at__lt=timezone.now())
    rows = rows.exclude(reason__in=Assignment.LEARNING)  # nobody else waits for these
    if project is not None:
        rows = rows.filter(project=project)
        _last_expiry_check[connection.alias, project.pk] = time.monotonic()
    if not rows.exists():  # on SQLite a transaction would wait for the writer's turn
        return 0
    with transaction.atomic():
        # What is locked is being answered at this moment.
        unlocked = rows.select_for_update(skip_locked=True, no_key=True, of=("self",))
        expired = list(unlocked.values_list("pk", "item", "project")[:1000])
        returned = reopen(Assignment.objects.filter(pk__in=[pk for pk, _, _ in expired]))
        reach.check_after_commit({(of_project, item) for _, item, of_project in expired})
        return returned


def _is_expiry_check_due(project: Project) -> bool:
    last = _last_expiry_check.get((connection.alias, project.pk))
    return last is None or time.monotonic() - last > EXPIRY_CHECK_SECONDS


def skip(
    assignment: Assignment, user, reason: str = "", *, flag: bool = False, park: bool = False, shown_at=None
) -> bool:
    """Close the row, which bars the person from the item, and open another one. Repeating it changes nothing. With
    `park` it is for later.

    False if the person has answered the item already. A lease that was lost does not matter: the refusal is kept.
    Raises NoReason for a flag without one: the researcher has nothing else to go by.
    """
    if flag and not reason.strip():
        raise NoReason(gettext("A flag needs a reason"))
    for _ in range(ATTEMPTS):
        try:
            with transaction.atomic():
                return _skip(assignment, user, reason, flag, park, shown_at)
        except IntegrityError:
            continue
    raise AssigningError(gettext("The item was reassigned repeatedly; try again"))


def is_skipped(assignment: Assignment, user) -> bool:
    """Whether the person has skipped its item."""
    own = Assignment.objects.filter(item=assignment.item_id, rater__user=user)
    return own.filter(state=Assignment.State.SKIPPED).exists()


def _skip(assignment: Assignment, user, reason: str, flag: bool, park: bool, shown_at: datetime | None) -> bool:
    rater = _locked_rater(assignment.project, user)
    item_id = assignment.item_id
    cases.lock(assignment.project_id, item_id)  # after the rater and before assignments, as answers do
    if Annotation.objects.filter(item=item_id, rater=rater).exists():
        return False
    rows = Assignment.objects.select_for_update(no_key=True, of=("self",))
    row = rows.filter(item=item_id, rater=rater).first()
    if row is not None and row.state == Assignment.State.SKIPPED:
        return True
    if assignment.reason in Assignment.LEARNING:
        raise AssigningError(gettext("Items of training and qualification cannot be skipped"))
    if row is None:
        row = rows.filter(pk=assignment.pk, state=Assignment.State.OPEN).first()
    if row is None:
        # Another annotator has the assignment now; a row outside the planned ones says that this person will not do the
        # item.
        row = Assignment(project_id=assignment.project_id, item_id=item_id, position=assignment.position)
        replaces = ""
    else:
        is_further = row.reason == Assignment.Reason.FURTHER  # so is what replaces it, for figures and the budget
        replaces = Assignment.Reason.FURTHER if is_further else Assignment.Reason.REPLACES_SKIP
    now = timezone.now()
    row.state, row.rater, row.done_at = Assignment.State.SKIPPED, rater, now
    if row.shown_at is None and shown_at is not None:
        row.shown_at = min(shown_at, now)
    row.lease_expires_at, row.returned = None, False
    row.skip_reason, row.is_flagged, row.is_parked = reason, flag, park
    row.save()
    if flag:
        threads.keep(assignment.project_id, item_id, rater.pk, reason)
    if row.reason == Assignment.Reason.CHECK:
        return True
    if flag:
        cases.count(assignment.project, assignment.project.type, [item_id])
    if replaces:
        Assignment.objects.create(
            project_id=row.project_id,
            item_id=item_id,
            position=row.position,
            reason=replaces,
            returned=True,
            reserved_rater_id=row.reserved_rater_id,  # where they alone were asked, the item is stuck
            reserved_group=row.reserved_group,
        )
    reach.check([item_id])
    return True


def open_place(item_id: int, rater_id: int, wanted: int | None = None) -> Assignment | None:
    """An open row of the item that the person may have, locked: the one wanted, or else one that replaces a skip. The
    item is locked."""
    rows = Assignment.objects.select_for_update(no_key=True, of=("self",)).filter(reserving.takeable_by(rater_id))
    found = list(rows.filter(item=item_id, state=Assignment.State.OPEN).order_by("pk"))
    found.sort(key=lambda row: (row.pk != wanted, row.reason != Assignment.Reason.REPLACES_SKIP))
    return found[0] if found else None


def give_way(place: Assignment | None, to: Assignment) -> None:
    """The skipped row counts again, in place of an open one; that of a check has none. `to` is to be stored by the
    caller."""
    if place is not None:
        Assignment.objects.filter(pk=place.pk).update(state=Assignment.State.CANCELLED, returned=False)
    to.skip_reason, to.is_flagged, to.is_parked = "", False, False


def _lease_again(row: Assignment, place: Assignment | None, now: datetime, project: Project) -> None:
    """The skip becomes an assignment of its person again."""
    give_way(place, row)
    row.state, row.done_at, row.leased_at = Assignment.State.LEASED, None, now
    row.lease_expires_at = now + timedelta(minutes=project.lease_minutes)
    row.save()


def _why_no_place(item_id: int) -> str:
    """Of an item without an open place: whether others fill those that were planned, or a researcher does without."""
    filled = Assignment.objects.filter(item=item_id, state__in=[Assignment.State.LEASED, Assignment.State.DONE])
    if filled.count() < Item.objects.get(pk=item_id).planned:
        return gettext("Another answer to this item is no longer needed")
    return gettext("Others have taken this item meanwhile: it has all its judgements, or soon will")


def take_back_skip(assignment: Assignment, user) -> Assignment:
    """The row that the person skipped, leased to them again in place of an open one. Repeating it changes nothing.

    Raises Http404 where the row is not theirs, and AssigningError where they have not skipped it, where no place is
    left, or where no work is given out.
    """
    project, item_id = assignment.project, assignment.item_id
    with transaction.atomic():
        rater = _locked_rater(project, user)
        cases.lock(project.pk, item_id)
        own = Assignment.objects.select_for_update(no_key=True, of=("self",)).filter(pk=assignment.pk, rater=rater)
        row = own.first()
        if row is None:
            raise Http404("No such assignment of yours")
        if row.state == Assignment.State.LEASED and row.leased_at == row.shown_at:  # as taking back leaves it
            return row
        if row.state == Assignment.State.DONE:
            raise AssigningError(gettext("You have answered this item; there is no skip to take back"))
        if row.state != Assignment.State.SKIPPED:
            raise AssigningError(gettext("You have not skipped this item"))
        if project.state != Project.State.OPEN:
            raise AssigningError(f"The project is {project.state}: no items are assigned")
        place = open_place(item_id, rater.pk)
        is_check = row.reason == Assignment.Reason.CHECK
        if place is None and not is_check:
            raise AssigningError(_why_no_place(item_id))
        was_flagged = row.is_flagged and not is_check
        if row.is_flagged:
            threads.keep(project.pk, item_id, rater.pk, "", row.skip_reason)
        now = timezone.now()
        row.shown_at = now
        _lease_again(row, place, now, project)
        if was_flagged:
            cases.count(project, project.type, [item_id])
        reach.check([item_id])
    return row


def ask_for_one_more(item: Item, note: str, by) -> Assignment:
    """One judgement more than planned, by an annotator who has not judged the item yet."""
    if item.state in Item.LEFT_OUT or item.unit_count == 0:
        raise AssigningError(gettext("This item no longer has anything to judge"))
    with transaction.atomic():
        cases.lock(item.project_id, item.pk)
        place = Assignment.objects.create(
            project_id=item.project_id,
            item=item,
            position=item.position,
            reason=Assignment.Reason.EXTRA,
            note=f"{by}: {note}" if note else str(by),
            returned=True,
        )
        reach.check([item.pk])
    return place


def set_priority(project: Project, items: Iterable[Item], priority: int) -> None:
    """Move items before all of lower priority; among equals the order stays as it was drawn."""
    if abs(priority) > MAX_PRIORITY:
        raise AssigningError(f"Priorities lie between {-MAX_PRIORITY} and {MAX_PRIORITY}")
    ids = [item.pk for item in items]
    for start in range(0, len(ids), 1000):
        with transaction.atomic():
            chosen = Item.objects.filter(project=project, pk__in=ids[start : start + 1000])
            try:
                with transaction.atomic():
                    chosen.update(position=F("position") + (F("priority") - priority) * BAND, priority=priority)
            except IntegrityError:  # two items on one place, once in a very long while
                for item in chosen:
                    _move_to_free_position(item, priority)
            position = Item.objects.filter(pk=OuterRef("item")).values("position")
            for rows in (Assignment, Case):
                rows.objects.filter(item__in=chosen).update(position=Subquery(position))
    Project.objects.filter(pk=project.pk).update(queue_epoch=F("queue_epoch") + 1)


def _move_to_free_position(item: Item, priority: int) -> None:
    position = item.position + (item.priority - priority) * BAND
    while Item.objects.filter(project=item.project_id, position=position).exclude(pk=item.pk).exists():
        position += 1
    Item.objects.filter(pk=item.pk).update(position=position, priority=priority)
