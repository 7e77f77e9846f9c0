"""Items whose open places nobody is left for.

Such an item is stuck: it has an open place, and every active annotator has answered or skipped it, or holds another
place of it. Whatever can change that calls `check` in its own transaction, after it has locked the item
(`cases.lock`), or `check_project`, which locks all of them: an answer, a skip, a place that comes back or is added, a
member who joins or leaves.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection, transaction
from django.db.models import Count

from annotation.models import Annotation, Assignment, Membership, Rater
from annotation.projects import cases

ITEMS_AT_ONCE = 500

# A project without annotators has no stuck items where nobody has begun: it lacks people, not a way out.
OUT_OF_REACH = """
EXISTS (SELECT 1 FROM annotation_assignment place WHERE place.item_id = annotation_item.id AND place.state = 'open')
AND EXISTS (SELECT 1 FROM annotation_assignment held
    WHERE held.item_id = annotation_item.id AND held.state IN ('leased', 'done', 'skipped'))
AND NOT EXISTS (
    SELECT 1 FROM annotation_membership member JOIN annotation_user person ON person.id = member.user_id
    LEFT JOIN annotation_rater rater ON rater.project_id = member.project_id AND rater.user_id = member.user_id
    WHERE member.project_id = annotation_item.project_id AND member.role = 'annotator'
    AND member.is_active AND person.is_active
    AND NOT EXISTS (SELECT 1 FROM annotation_assignment own
        WHERE own.item_id = annotation_item.id AND own.rater_id = rater.id)
    AND NOT EXISTS (SELECT 1 FROM annotation_annotation said
        WHERE said.item_id = annotation_item.id AND said.rater_id = rater.id)
)
"""
_IS_WRONG = f"{{which}} AND state IN ('active', 'stuck') AND (state = 'stuck') <> ({OUT_OF_REACH})"
_WRONG = f"SELECT id FROM annotation_item WHERE {_IS_WRONG}"
_TURN = f"UPDATE annotation_item SET state = CASE WHEN state = 'stuck' THEN 'active' ELSE 'stuck' END WHERE {_IS_WRONG}"
# A row that nobody can take must not lie in everybody's way, at the front of the queue; who joins finds it behind.
_BACK = """
UPDATE annotation_assignment SET returned = %s WHERE {which} AND state = 'open' AND returned
AND item_id IN (SELECT id FROM annotation_item WHERE state = 'stuck' AND {of})
"""


def check(items: Iterable[int]) -> None:
    """Whether these items are stuck, as of now."""
    ids = sorted(items)
    for start in range(0, len(ids), ITEMS_AT_ONCE):
        part = ids[start : start + ITEMS_AT_ONCE]
        marks = f"({', '.join(['%s'] * len(part))})"
        _check(f"id IN {marks}", f"item_id IN {marks}", part)


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
    _check("project_id = %s AND state = 'stuck'", "project_id = %s", [project_id])
    active = {"role": Membership.Role.ANNOTATOR, "is_active": True, "user__is_active": True}
    people = list(Membership.objects.filter(project=project_id, **active).values_list("user", flat=True))
    if not people:
        return _check("project_id = %s AND state = 'active'", "project_id = %s", [project_id])
    raters = Rater.objects.filter(project=project_id, user__in=people)
    ranked = list(raters.annotate(n=Count("assignments")).order_by("n", "pk").values_list("pk", flat=True))
    if len(ranked) == len(people):  # who has no rater yet has had nothing
        rows = (Assignment.objects.filter(rater=ranked[0]), Annotation.objects.filter(rater=ranked[0], assignment=None))
        check({item for own in rows for item in own.values_list("item", flat=True)})


def _check(items: str, places: str, values: list[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_TURN.format(which=items), values)
        if cursor.rowcount:
            cursor.execute(_BACK.format(which=places, of=items), [False, *values, *values])
