"""Further judgements where answers differ or a label is uncertain, as a project's settings ask for them.

An item gets one more place as soon as it has all judgements that were asked for and their answers differ. This is
decided in the transaction that stores an answer, while the item is locked, so of two people who answer an item at the
same moment the second one sees what the first one said, and one place is made. The place waits where its item stands in
the queue, not at the front: nobody can tell it from others.

How certain labels are follows from all answers of the project, so a job asks where they are not, once an hour while
there are new answers (`analysis.rules.certainty`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from datetime import timedelta

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from annotation.jobs import lifecycle
from annotation.models import Assignment, Chunk, Disagreement, Job, Project, Revision
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
{conditions}
"""
_DIFFERS = """AND EXISTS (SELECT 1 FROM annotation_disagreement one
    WHERE one.case_id = item.id AND NOT one.is_settled {conditions})
"""
EVERY = timedelta(hours=1)


def questions_of(project: Project) -> list[str]:
    """Short names of the questions on which answers have to differ; none: any question."""
    return [name for name in map(str.strip, project.further_questions.split(",")) if name]


def ask(project: Project, item_id: int, *, is_uncertain: bool = False) -> bool:
    """Ask for one more judgement of the item where its answers differ and the limits allow it; whether it was done.
    The item is locked, and its case counts all answers. Comes last in a transaction: it may wait for the budget.
    `is_uncertain`: its label is, which is then asked for whether or not answers differ."""
    if project.further == Project.Further.OFF or is_uncertain != (project.further == Project.Further.UNCERTAIN):
        return False
    conditions, values = "", [item_id]
    if project.further == Project.Further.TIED:
        conditions = "AND one.is_tied"
    if not is_uncertain and (names := questions_of(project)):
        conditions += f" AND one.dimension IN ({', '.join(['%s'] * len(names))})"
        values += names
    with connection.cursor() as cursor:
        differs = "" if is_uncertain else _DIFFERS.format(conditions=conditions)
        cursor.execute(_STANDING.format(conditions=differs), values)
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

    def items_of(self, project: Project) -> tuple[list[int], dict]:
        """The items to ask for, in the order of work, and what the result of the job says of them."""
        rows = Disagreement.objects.filter(project=project, is_settled=False).order_by()
        places = dict(rows.values_list("case__item__position", "case").distinct())
        return [places[position] for position in sorted(places)], {}

    def run_chunk(self, chunk: Chunk, lease: lifecycle.Lease) -> None:
        project, asked = chunk.job.project, 0
        items, found = self.items_of(project)
        is_uncertain = project.further == Project.Further.UNCERTAIN
        for start in range(0, len(items), ITEMS_AT_ONCE):
            asked += ask_each(project, items[start : start + ITEMS_AT_ONCE], is_uncertain=is_uncertain)
            lease.progress(start, len(items), f"{asked:,} further judgements asked for")
        if is_uncertain and found and (withdrawn := withdraw(project, set(items))):
            found["withdrawn"] = withdrawn
        with transaction.atomic():
            Job.objects.filter(pk=chunk.job_id).update(result={"asked": asked} | found)
            lease.complete()

    def finish(self, job: Job, lease: lifecycle.Lease) -> dict:
        job.refresh_from_db(fields=["result"])
        return job.result

    def clean_up(self, job: Job) -> None:
        """What was asked for stays: each place is complete."""


def ask_each(project: Project, items: Collection[int], *, is_uncertain: bool = False) -> int:
    """`ask` for each item, in a transaction of its own; for how many it was done."""
    asked = 0
    for item in items:
        with transaction.atomic():
            cases.lock(project.pk, item)
            asked += ask(project, item, is_uncertain=is_uncertain)
    return asked


def withdraw(project: Project, items: Collection[int]) -> int:
    """Ask no longer for further judgements of other items than these, where nobody has begun: how many places."""
    places = Assignment.objects.filter(
        project=project, state=Assignment.State.OPEN, reason=Assignment.Reason.FURTHER
    ).order_by("item")
    withdrawn = 0
    for item in dict.fromkeys(places.values_list("item", flat=True)):
        if item not in items:
            with transaction.atomic():
                cases.lock(project.pk, item)
                here = places.filter(item=item).order_by()
                withdrawn += here.update(state=Assignment.State.CANCELLED, returned=False)
                reach.check([item])
    return withdrawn


def ask_now_and_then() -> None:
    """A job for each open project that asks where labels are uncertain and has answers that no job has seen."""
    for project in Project.objects.filter(further=Project.Further.UNCERTAIN, state=Project.State.OPEN):
        newest = project.jobs.filter(kind=Job.Kind.FURTHER).order_by("-pk").first()
        since = newest.created_at if newest else project.created_at
        answers = Revision.objects.filter(annotation__item__project=project, received_at__gt=since)
        if since < timezone.now() - EVERY and answers.exists():
            with contextlib.suppress(lifecycle.SameJob, lifecycle.TooManyJobs):
                lifecycle.create_job(Job.Kind.FURTHER, project.created_by, chunks=[({}, 0)], project=project)
