"""Content that a job brings: one chunk stages it, the end publishes it. Imports do so, and the making of pairs.

A worker that dies while staging leaves rows that nobody sees; the next worker deletes them and starts again. Publishing
is one transaction and happens once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F

from annotation.bulk import MANY_ROWS, refresh_statistics
from annotation.datasets.kinds import KINDS
from annotation.formats.records import Record, RowError
from annotation.formats.tables.oddities import ODDITIES
from annotation.imports import importing, stored_labels
from annotation.imports.publishing import REFUSE, delete_staged_rows, discard, projects_with_retired_items, publish
from annotation.imports.rows import Findings, counted
from annotation.imports.staging import ContentPass, read_all
from annotation.jobs import lifecycle
from annotation.jobs.lifecycle import JobError, Lease, LeaseLost
from annotation.models import Chunk, ContentBatch, Job, Project, Unit, User
from annotation.projects import item_making


class PublishingProblem(Exception):
    """What was proposed cannot be published; the message says why and what to do."""


def start_publishing(
    kind: str, user: User, project: Project, parameters: dict[str, Any], *, wake_workers: bool = True
) -> Job:
    """A job that brings content into the project's data set. PublishingProblem while another one changes that."""
    try:
        importing.refuse_second(project.dataset)
    except importing.ImportProblem as problem:
        raise PublishingProblem(str(problem)) from None
    return lifecycle.create_job(
        kind,
        user,
        chunks=[({}, 0)],
        project=project,
        dataset=project.dataset,
        parameters=parameters,
        wake_workers=wake_workers,
    )


def guard_of(lease: Lease):
    """To be called in every writing transaction: a worker that lost its chunk must not write at the same time as the
    next one."""

    def guard() -> None:
        lease.beat()
        held = Chunk.objects.select_for_update().filter(
            pk=lease.chunk.pk, lease_token=lease.token, state=Chunk.State.LEASED
        )
        if not list(held.values_list("pk", flat=True)):
            raise LeaseLost

    return guard


def open_batch(job: Job, lease: Lease) -> ContentBatch:
    """The job's batch, empty and staged. Leftovers of earlier attempts and of finished jobs are deleted first."""
    importing.refuse_second(job.dataset, but=job)
    for project in job.dataset.projects.filter(filled_by__isnull=False):
        stored_labels.take_back(project, lease.beat)
    for left in ContentBatch.objects.filter(dataset=job.dataset, state=ContentBatch.State.STAGED).exclude(job=job):
        discard(left, lease.beat)
    batch = ContentBatch.objects.filter(job=job).first()
    if batch is not None:
        delete_staged_rows(batch, lease.beat)
    try:
        with transaction.atomic():
            guard_of(lease)()
            if batch is None:
                return ContentBatch.objects.create(dataset=job.dataset, job=job)
            batch.state = ContentBatch.State.STAGED
            batch.save(update_fields=["state"])
            return batch
    except IntegrityError:
        importing.refuse_second(job.dataset, but=job)
        raise


def stage(job: Job, records: Iterable[Record | RowError], lease: Lease, *, is_dry_run: bool = False) -> Findings:
    """Put the records into the job's batch, or only look at them."""
    try:
        batch = None if is_dry_run else open_batch(job, lease)
    except importing.ImportProblem as error:
        raise JobError(str(error)) from error
    return read_all(records, ContentPass(job.dataset, batch=batch, guard=guard_of(lease)), lease.beat)


def close_staging(job: Job, result: dict, lease: Lease) -> None:
    """End the chunk that staged, with what it found."""
    with transaction.atomic():
        Job.objects.filter(pk=job.pk).update(result=result, progress_done=F("progress_total"))
        lease.complete()


def found_in(job: Job, findings: Findings, on_judged: str, done: str, *, leaves_out: bool = False) -> dict:
    """What was found, as the job's result; JobError where it may not be published. `done` says what was not done; with
    `leaves_out` bad rows are no reason."""
    result = findings.as_json()
    refused = findings.judged_count if on_judged == REFUSE else 0
    is_bad = findings.error_count and not leaves_out
    unsaid = dict.fromkeys(one.kind for one in findings.odd if one.is_open)
    if unsaid:
        Job.objects.filter(pk=job.pk).update(result=result)
        raise JobError(f"{'; '.join(map(question_about, unsaid))}; nothing was {done}")
    if is_bad or refused:
        Job.objects.filter(pk=job.pk).update(result=result)
        if is_bad:
            raise JobError(f"{counted(findings.error_count, 'bad row')}; nothing was {done}")
        raise JobError(
            f"{counted(refused, 'changed row')} already judged; nothing was {done}. Say whether such rows are "
            "replaced by a new version (their judgements stay with the old one) or kept as they are."
        )
    return result


def question_about(kind: str) -> str:
    """What the user has to choose about odd rows, for an error."""
    oddity = ODDITIES[kind]
    return f"{oddity.title}: say what to do with them ({kind}: {', '.join(oddity.answers)})"


def publish_staged(job: Job, on_judged: str, lease: Lease, and_then: Callable[[], None] = lambda: None) -> None:
    """Make what the job staged visible, with pages for what replaces something. Does nothing a second time. `and_then`
    is called in the publishing transaction, again at each attempt."""
    batch = job.batch
    if job.result["is_unchanged"]:
        discard(batch, lease.beat)
        with transaction.atomic():
            guard_of(lease)()
            and_then()
        return
    publish(batch, on_judged, guard_of(lease), and_then)
    if sum(counts.get("created", 0) for counts in job.result["content"].values()) >= MANY_ROWS:
        refresh_statistics(ContentBatch, Unit, *(kind.model for kind in KINDS))
    for project in projects_with_retired_items(batch):
        make_items(project, lease)


def take_back(job: Job) -> None:
    """After a cancelled or failed job: delete what is staged. A resumed job has to stage again."""
    job.refresh_from_db()
    batch = ContentBatch.objects.filter(job=job).first()
    if batch is not None and batch.state == ContentBatch.State.STAGED:
        discard(batch)
    if batch is None or batch.state != ContentBatch.State.PUBLISHED:
        job.chunks.exclude(index=lifecycle.FINISH_INDEX).update(state=Chunk.State.OPEN, done_at=None)


def make_items(project: Project, lease: Lease) -> item_making.Made:
    total = item_making.count_anchors(project)
    unit = project.type.anchor_kind
    made = item_making.plan(
        project, on_progress=lambda seen: lease.progress(seen, total, f"Making items: {seen:,} of {total:,} ({unit})")
    )
    if made.items:
        Project.objects.filter(pk=project.pk).update(
            queue_epoch=F("queue_epoch") + 1, label_version=F("label_version") + 1
        )
    return made
