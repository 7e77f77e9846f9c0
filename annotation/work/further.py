"""Further judgements where answers differ, as a project's settings ask for them.

An item gets one more place as soon as it has all judgements that were asked for and their answers differ. This is
decided in the transaction that stores an answer, while the item is locked, so of two people who answer an item at the
same moment the second one sees what the first one said, and one place is made. The place waits where its item stands in
the queue, not at the front: nobody can tell it from others.
"""

from __future__ import annotations

from collections.abc import Collection

from django.db import connection, transaction
from django.db.models import Q

from annotation.jobs import lifecycle
from annotation.models import Assignment, Chunk, Disagreement, Job, Project
from annotation.projects import cases, reach

BUDGETS = 1603  # the space of advisory locks next to those of `annotation.projects.cases`
ITEMS_AT_ONCE = 500
# Open, held or answered: what counts against the budget. A place that was skipped has one in its place.
COUNTS = Q(state__in=[Assignment.State.OPEN, Assignment.State.LEASED, Assignment.State.DONE])
_STANDING = """
SELECT item.position,
(SELECT COUNT(*) FROM annotation_assignment done WHERE done.item_id = item.id AND done.state = 'done')
FROM annotation_item item
WHERE item.id = %s AND item.state <> 'retired'
AND NOT EXISTS (SELECT 1 FROM annotation_assignment place
    WHERE place.item_id = item.id AND place.state IN ('open', 'leased'))
AND EXISTS (SELECT 1 FROM annotation_disagreement one
    WHERE one.case_id = item.id AND NOT one.is_settled {conditions})
"""


def questions_of(project: Project) -> list[str]:
    """Short names of the questions on which answers have to differ; none: any question."""
    return [name for name in map(str.strip, project.further_questions.split(",")) if name]


def ask(project: Project, item_id: int) -> bool:
    """Ask for one more judgement of the item where its answers differ and the limits allow it; whether it was done.
    The item is locked, and its case counts all answers. Comes last in a transaction: it may wait for the budget."""
    if project.further == Project.Further.OFF:
        return False
    conditions, values = "", [item_id]
    if project.further == Project.Further.TIED:
        conditions = "AND one.is_tied"
    if names := questions_of(project):
        conditions += f" AND one.dimension IN ({', '.join(['%s'] * len(names))})"
        values += names
    with connection.cursor() as cursor:
        cursor.execute(_STANDING.format(conditions=conditions), values)
        found = cursor.fetchone()
    if found is None or found[1] >= project.further_most or not _has_budget(project):
        return False
    Assignment.objects.create(
        project_id=project.pk, item_id=item_id, position=found[0], reason=Assignment.Reason.FURTHER
    )
    reach.check([item_id])
    return True


def _has_budget(project: Project) -> bool:
    """Whether one more place is within the project's budget. Until the transaction ends, nobody else asks for one."""
    if not project.further_budget:
        return True
    if connection.vendor == "postgresql":  # SQLite has one writer
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [BUDGETS, project.pk % 2**31])
    return count_asked(project) < project.further_budget


def count_asked(project: Project) -> int:
    return Assignment.objects.filter(COUNTS, project=project, reason=Assignment.Reason.FURTHER).count()


class FurtherHandler:
    """Asks for the items that have differing answers already when a project's settings change: one chunk, item by item
    in the order of work."""

    def run_chunk(self, chunk: Chunk, lease: lifecycle.Lease) -> None:
        project, asked = chunk.job.project, 0
        rows = Disagreement.objects.filter(project=project, is_settled=False).order_by()
        places = dict(rows.values_list("case__item__position", "case").distinct())
        items = [places[position] for position in sorted(places)]
        for start in range(0, len(items), ITEMS_AT_ONCE):
            asked += ask_each(project, items[start : start + ITEMS_AT_ONCE])
            lease.progress(start, len(items), f"{asked:,} further judgements asked for")
        with transaction.atomic():
            Job.objects.filter(pk=chunk.job_id).update(result={"asked": asked})
            lease.complete()

    def finish(self, job: Job, lease: lifecycle.Lease) -> dict:
        job.refresh_from_db(fields=["result"])
        return job.result

    def clean_up(self, job: Job) -> None:
        """What was asked for stays: each place is complete."""


def ask_each(project: Project, items: Collection[int]) -> int:
    """`ask` for each item, in a transaction of its own; for how many it was done."""
    asked = 0
    for item in items:
        with transaction.atomic():
            cases.lock(project.pk, item)
            asked += ask(project, item)
    return asked


HANDLER = FurtherHandler()
