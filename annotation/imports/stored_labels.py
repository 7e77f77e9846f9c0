"""What an import stores in a project step by step, so that it can be taken back.

Until all is there the project is in preparation (`Project.filled_by`), so nobody reads a part of it, and annotators go
on. Each step notes what it stored in its own transaction; the notes are rows of the import's batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

from django.db import transaction
from django.db.models import Exists, F, OuterRef

from annotation.models import (
    Annotation,
    CheckerRun,
    Decision,
    Item,
    Job,
    Judgement,
    Project,
    Rater,
    Revision,
    RuleRun,
    Score,
    Span,
    StagedChange,
    Suggestion,
)
from annotation.projects import cases
from annotation.projects.removal import remove_project

PAUSE_SECONDS = 0.02
AT_ONCE = 2000


class Journal:
    """`note` belongs into the transaction that stores the rows."""

    KIND: ClassVar[str] = "stored-labels"

    def __init__(self, job: Job):
        self.rows = StagedChange.objects.filter(batch__job=job, kind=self.KIND)
        self.batch = job.batch

    def note(self, **ids: list[int]) -> None:
        """Of annotations, revisions, decisions, raters, rule_runs and runs."""
        if any(ids.values()):
            key = f"{self.rows.count():08}"
            StagedChange.objects.create(batch=self.batch, kind=self.KIND, key=key, fields=ids)


def end(project: Project, job: Job) -> None:
    """The project's labels become visible. Belongs into a transaction."""
    Journal(job).rows.delete()
    Project.objects.filter(pk=project.pk, filled_by=job).update(filled_by=None)


def take_back(project: Project, beat: Callable[[], None] = lambda: None) -> None:
    """After a cancelled or failed import: delete what it stored in the project, newest first and in short
    transactions, then end its preparation. Goes on where a killed one stopped."""
    job = project.filled_by
    if project.state == Project.State.PREPARING and job.result.get("project", {}).get("is_new"):
        remove_project(project)
        job.result.pop("project")
        Job.objects.filter(pk=job.pk).update(result=job.result)
        return
    journal = Journal(job)
    while (noted := journal.rows.order_by("-key").first()) is not None:
        with transaction.atomic():
            _delete(project, noted.fields)
            noted.delete()
        beat()
        time.sleep(PAUSE_SECONDS)
    with transaction.atomic():
        end(project, job)


def _delete(project: Project, ids: dict[str, list[int]]) -> None:
    runs = CheckerRun.objects.filter(pk__in=ids.get("runs", ()))
    for model in (Score, Suggestion):
        model.objects.filter(run__in=runs).delete()
    jobs = list(runs.values_list("job_id", flat=True))
    runs.delete()
    Job.objects.filter(pk__in=jobs).delete()

    revisions, annotations = ids.get("revisions", []), ids.get("annotations", [])
    changed = set(Revision.objects.filter(pk__in=revisions).values_list("annotation_id", flat=True))
    items = set(Annotation.objects.filter(pk__in=changed).values_list("item_id", flat=True))
    Span.objects.filter(judgement__revision__in=revisions).delete()
    Judgement.objects.filter(revision__in=revisions).delete()
    Revision.objects.filter(pk__in=revisions).delete()
    # A person may have answered in the meantime: what is theirs stays, and so does its annotation.
    newer = Revision.objects.filter(annotation=OuterRef("pk"))
    Annotation.objects.filter(~Exists(newer), pk__in=annotations).delete()
    later = Revision.objects.filter(annotation=OuterRef("annotation"), number__gt=OuterRef("number"))
    Revision.objects.filter(~Exists(later), annotation__in=changed, is_latest=False).update(is_latest=True)

    decisions = Decision.objects.filter(pk__in=ids.get("decisions", ()))
    places = set(decisions.values_list("unit_id", "dimension", "method", "rule"))
    items |= set(
        Item.objects.filter(project=project, item_units__unit__in={unit for unit, *_ in places}).values_list(
            "pk", flat=True
        )
    )
    decisions.delete()
    for unit, dimension, method, rule in places:
        place = Decision.objects.filter(project=project, unit=unit, dimension=dimension, method=method, rule=rule)
        last = place.order_by("-number").first()
        if last is not None and not last.is_latest:
            Decision.objects.filter(pk=last.pk).update(is_latest=True)
    RuleRun.objects.filter(pk__in=ids.get("rule_runs", ()), decisions=None).delete()
    unused = Rater.objects.filter(pk__in=ids.get("raters", ()), annotations=None, decisions=None, assignments=None)
    unused.delete()
    Project.objects.filter(pk=project.pk).update(label_version=F("label_version") + 1)
    cases.recount(project, sorted(items))
