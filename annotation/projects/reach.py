"""Items whose open places nobody is left for.

Such an item is stuck: it has an open place that no active annotator can take, since each has answered or skipped it
(and not for later), holds another place of it, is kept from it, or is not whom the place is reserved for, and
adjudicators have not decided all its questions. Whatever can change that calls `check` in its own transaction, after it
has locked the item (`cases.lock`), or `check_project`, which locks all of them: an answer, a skip, a place that comes
back or is added or reserved, a decision, a member who joins or leaves, other questions. An account may be deactivated
in any way, also by a query, so the sweep calls `check_accounts`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from django.db import connection, transaction
from django.db.models import Count, Q

from annotation.models import (
    Annotation,
    Assignment,
    Decision,
    Item,
    ItemExclusion,
    ItemUnit,
    Membership,
    Participation,
    Project,
    Rater,
)
from annotation.projects import cases

ITEMS_AT_ONCE = 500
# Open places that are not for anybody.
RESERVED = Q(reserved_rater__isnull=False) | ~Q(reserved_group="")

# Annotators with a deactivated account, by project, as the last sweep of this process found them.
_absent: dict[str, set[tuple[int, int]]] = {}

# A project without annotators has no stuck items where nobody has begun: it lacks people, not a way out.
OUT_OF_REACH = """
EXISTS (SELECT 1 FROM annotation_assignment held
    WHERE held.item_id = annotation_item.id AND held.state IN ('leased', 'done', 'skipped'))
AND EXISTS (
    SELECT 1 FROM annotation_assignment place
    WHERE place.item_id = annotation_item.id AND place.state = 'open' AND NOT EXISTS (
        SELECT 1 FROM annotation_membership member JOIN annotation_user person ON person.id = member.user_id
        LEFT JOIN annotation_rater rater ON rater.project_id = member.project_id AND rater.user_id = member.user_id
        WHERE member.project_id = annotation_item.project_id AND member.role = 'annotator'
        AND member.is_active AND person.is_active AND NOT COALESCE(rater.is_excluded, FALSE)
        AND COALESCE(rater.standing, '') NOT IN ('failed', 'paused')
        AND NOT EXISTS (SELECT 1 FROM annotation_participation way
            WHERE way.project_id = member.project_id AND way.user_id = member.user_id AND way.state <> 'active')
        AND (place.reserved_rater_id IS NULL OR place.reserved_rater_id = rater.id)
        AND (place.reserved_group = '' OR place.reserved_group = rater."group")
        AND NOT EXISTS (SELECT 1 FROM annotation_assignment own
            WHERE own.item_id = annotation_item.id AND own.rater_id = rater.id AND NOT own.is_parked)
        AND NOT EXISTS (SELECT 1 FROM annotation_annotation said
            WHERE said.item_id = annotation_item.id AND said.rater_id = rater.id)
        AND NOT EXISTS (SELECT 1 FROM annotation_itemexclusion away
            WHERE away.item_id = annotation_item.id AND away.rater_id = rater.id)
    )
)
"""
_WRONG = f"""
SELECT id FROM annotation_item
WHERE {{which}} AND state IN ('active', 'stuck') AND (state = 'stuck') <> ({OUT_OF_REACH})
"""
_SUSPECTS = f"""
SELECT id, project_id, state, out_of_reach FROM (
    SELECT id, project_id, state, ({OUT_OF_REACH}) AS out_of_reach FROM annotation_item
    WHERE {{which}} AND state IN ('active', 'stuck')
) AS item WHERE state = 'stuck' OR out_of_reach
"""


def check(items: Iterable[int]) -> None:
    """Whether these items of one project are stuck, as of now."""
    ids = sorted(items)
    for start in range(0, len(ids), ITEMS_AT_ONCE):
        part = ids[start : start + ITEMS_AT_ONCE]
        _check(f"id IN ({', '.join(['%s'] * len(part))})", part)


def check_after_commit(places: Iterable[tuple[int, int]]) -> None:
    """The same of items, each after its project, that are not locked: leases that end lock places first."""
    transaction.on_commit(lambda: _check_wrong(sorted(places)))


def _check_wrong(places: list[tuple[int, int]]) -> None:
    ids = [item for _, item in places]
    wrong = set()
    for start in range(0, len(ids), ITEMS_AT_ONCE):
        part = ids[start : start + ITEMS_AT_ONCE]
        with connection.cursor() as cursor:
            cursor.execute(_WRONG.format(which=f"id IN ({', '.join(['%s'] * len(part))})"), part)
            wrong.update(pk for (pk,) in cursor.fetchall())
    for project, item in places:
        if item in wrong:
            with transaction.atomic():
                cases.lock(project, item)
                check([item])


def check_project(project_id: int) -> None:
    """Whether the project's items are stuck, after a change of who annotates: those that are, and those that the
    annotator who has had the fewest has had, since each annotator has had an item that nobody is left for."""
    cases.lock(project_id)
    _check("project_id = %s AND state = 'stuck'", [project_id])
    active = {"role": Membership.Role.ANNOTATOR, "is_active": True, "user__is_active": True}
    left = Participation.objects.filter(project=project_id).exclude(state=Participation.State.ACTIVE).values("user")
    barred = Rater.objects.filter(project=project_id, user__isnull=False)
    barred = barred.filter(Q(is_excluded=True) | Q(standing__in=Rater.NO_WORK)).values("user")
    members = Membership.objects.filter(project=project_id, **active).exclude(user__in=left).exclude(user__in=barred)
    people = list(members.values_list("user", flat=True))
    if not people:
        return _check("project_id = %s AND state = 'active'", [project_id])
    raters = Rater.objects.filter(project=project_id, user__in=people)
    ranked = list(raters.annotate(n=Count("assignments")).order_by("n", "pk").values_list("pk", flat=True))
    if len(ranked) == len(people):  # who has no rater yet has had nothing
        rows = [Assignment.objects.filter(rater=ranked[0]), Annotation.objects.filter(rater=ranked[0], assignment=None)]
        of_project = Q(item__project=project_id)
        rows.append(Assignment.objects.filter(RESERVED, of_project, state=Assignment.State.OPEN))
        rows.append(ItemExclusion.objects.filter(of_project))
        check({item for own in rows for item in own.values_list("item", flat=True)})


def check_accounts() -> None:
    """`check_project` where an annotator's account was deactivated or activated since this process last looked. At
    first: wherever one is deactivated, or an item is stuck."""
    annotators = Membership.objects.filter(role=Membership.Role.ANNOTATOR, is_active=True)
    now = set(annotators.filter(user__is_active=False).values_list("project", "user"))
    before = _absent.get(connection.alias)
    changed = {project for project, _ in now ^ (before or set())}
    if before is None:
        changed |= set(Item.objects.filter(state=Item.State.STUCK).values_list("project", flat=True).distinct())
    for project in Project.objects.filter(pk__in=changed).order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            check_project(project)
    _absent[connection.alias] = now


def _check(which: str, values: list[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_SUSPECTS.format(which=which), values)
        suspects = cursor.fetchall()
    for start in range(0, len(suspects), ITEMS_AT_ONCE):
        part = suspects[start : start + ITEMS_AT_ONCE]
        beyond = [pk for pk, _, _, out_of_reach in part if out_of_reach]
        stuck = set(beyond) - _decided(part[0][1], beyond) if beyond else set()
        for state, ids in (
            (Item.State.STUCK, [pk for pk, _, state, _ in part if state == Item.State.ACTIVE and pk in stuck]),
            (Item.State.ACTIVE, [pk for pk, _, state, _ in part if state == Item.State.STUCK and pk not in stuck]),
        ):
            if ids:
                Item.objects.filter(pk__in=ids).update(state=state)
        # A row that nobody can take must not lie in everybody's way, at the front of the queue; who joins finds it
        # behind.
        Assignment.objects.filter(item__in=beyond, state=Assignment.State.OPEN, returned=True).update(returned=False)


def _decided(project_id: int, items: list[int]) -> set[int]:
    """Those on which adjudicators have decided every question that is asked, for each unit."""
    units = ItemUnit.objects.filter(item__in=items)
    decided: dict[int, dict[str, str]] = defaultdict(dict)
    rows = Decision.objects.in_force().filter(
        project=project_id, method=cases.BY_PEOPLE, unit__in=units.order_by().values("unit")
    )
    for unit, dimension, label in rows.values_list("unit", "dimension", "label"):
        decided[unit][dimension] = label
    if not decided:
        return set()
    kind = Project.objects.get(pk=project_id).type
    asked = [one for one in kind.asked_dimensions if not one.takes_text]  # words are not decided
    found = set(items)
    for item, unit in units.values_list("item", "unit"):
        labels = decided.get(unit)
        if not labels or any(one.slug not in labels and kind.is_asked(one, labels) for one in asked):
            found.discard(item)
    return found
