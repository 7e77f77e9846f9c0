"""The import as a job: one chunk stages the file, the end publishes it and fills the project.

A worker that dies while staging leaves rows that nobody sees; whoever takes the chunk next deletes them and starts
again. Publishing is one transaction and happens once. The project's part comes after it and can be repeated.
"""

from __future__ import annotations

from dataclasses import asdict

from django.db import IntegrityError, transaction
from django.db.models import F

from annotation.formats import FormatError
from annotation.models import Chunk, ContentBatch, Job, Project
from annotation.services import external_labels, importing, item_making, jobs, projects
from annotation.services.import_labels import LabelCheck
from annotation.services.import_publish import (
    REFUSE,
    delete_staged_rows,
    discard,
    projects_with_retired_items,
    publish,
    refresh_statistics,
)
from annotation.services.import_staging import ContentPass, read_all
from annotation.services.importing import ImportProblem, ImportRequest
from annotation.services.jobs import JobError, Lease, LeaseLost
from annotation.services.project_removal import remove_project
from annotation.task_types import task_type

MANY_ROWS = 5000


class ImportHandler:
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        job = Job.objects.select_related("dataset").get(pk=chunk.job_id)
        request = ImportRequest.from_json(job.parameters)
        try:
            if job.parameters.get("is_dry_run"):
                findings = importing.dry_run(request, job.dataset, progress_of(lease, "Reading the file"), lease.beat)
                result = findings.as_json()
            else:
                result = _stage(job, request, lease)
        except (FormatError, ImportProblem) as error:
            raise JobError(str(error)) from error
        with transaction.atomic():
            Job.objects.filter(pk=job.pk).update(result=result, progress_done=F("progress_total"))
            lease.complete()

    def finish(self, job: Job, lease: Lease) -> dict:
        job = Job.objects.select_related("dataset", "created_by").get(pk=job.pk)
        if job.parameters.get("is_dry_run"):
            return job.result
        request = ImportRequest.from_json(job.parameters)
        guard = guard_of(lease)
        batch = job.batch
        if job.result["is_unchanged"]:
            discard(batch, lease.beat)
        else:
            publish(batch, request.on_judged, guard)
            if sum(counts.get("created", 0) for counts in job.result["content"].values()) >= MANY_ROWS:
                refresh_statistics()
            for project in projects_with_retired_items(batch):
                make_items(project, lease)
        job.refresh_from_db(fields=["result"])
        if request.project is not None:
            try:
                job.result["labels_stored"] = fill_project(job, request, lease)
            except (FormatError, ImportProblem, projects.ProjectError) as error:
                raise JobError(str(error)) from error
        return job.result

    def clean_up(self, job: Job) -> None:
        """Take back what is not published, and the project that this job made and did not finish."""
        job.refresh_from_db()
        batch = ContentBatch.objects.filter(job=job).first()
        if batch is not None and batch.state == ContentBatch.State.STAGED:
            discard(batch)
        if batch is None or batch.state != ContentBatch.State.PUBLISHED:
            # Should somebody resume the job, it has to stage again.
            job.chunks.exclude(index=jobs.FINISH_INDEX).update(state=Chunk.State.OPEN, done_at=None)
        made = job.result.get("project", {})
        if made.get("is_new"):
            project = Project.objects.filter(uuid=made["uuid"], state=Project.State.PREPARING).first()
            if project is not None:
                remove_project(project)
                job.result.pop("project")
                Job.objects.filter(pk=job.pk).update(result=job.result)


HANDLER = ImportHandler()


def progress_of(lease: Lease, message: str):
    return lambda done, total: lease.progress(done, total, message)


def guard_of(lease: Lease):
    """To be called in every writing transaction: a worker that lost its chunk must not write beside the next one."""

    def guard() -> None:
        lease.beat()
        held = Chunk.objects.select_for_update().filter(
            pk=lease.chunk.pk, lease_token=lease.token, state=Chunk.State.LEASED
        )
        if not list(held.values_list("pk", flat=True)):
            raise LeaseLost

    return guard


def _stage(job: Job, request: ImportRequest, lease: Lease) -> dict:
    batch = _open_batch(job, lease)
    wanted = importing.wanted_task_type(request, job.dataset)
    content = ContentPass(job.dataset, batch=batch, guard=guard_of(lease), labels=LabelCheck(wanted))
    records = importing.records_of(request, wanted, progress_of(lease, "Reading and staging"))
    findings = read_all(records, content, lease.beat)
    result = findings.as_json()
    refused = findings.judged_count if request.on_judged == REFUSE else 0
    if findings.error_count or refused:
        Job.objects.filter(pk=job.pk).update(result=result)
        if findings.error_count:
            raise JobError(f"{_many(findings.error_count, 'bad row')}; nothing was imported")
        raise JobError(
            f"{_many(refused, 'changed row')} already judged; nothing was imported. Say whether such rows are "
            "replaced by a new version (their judgements stay with the old one) or kept as they are."
        )
    return result


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _open_batch(job: Job, lease: Lease) -> ContentBatch:
    """The job's batch, empty and staged. Leftovers of earlier attempts and of finished jobs are deleted first."""
    importing.refuse_second(job.dataset, but=job)
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


# --- the project's part ---------------------------------------------------------------------------------------------


def fill_project(job: Job, request: ImportRequest, lease: Lease) -> dict:
    """Project, items, labels of the file. May be repeated; a project that this job made opens at the end."""
    wanted = importing.wanted_task_type(request, job.dataset)
    wish = request.project
    project = Project.objects.filter(slug=wish.slug, dataset=job.dataset).first()
    if project is None:
        with transaction.atomic():
            guard_of(lease)()
            project = projects.create_project(
                job.created_by,
                title=wish.title or wish.slug,
                slug=wish.slug,
                dataset=job.dataset,
                task_type=wanted.identifier,
                overlap=wish.overlap,
            )
            _remember_project(job, project, is_new=True)
    elif "project" not in job.result:
        _remember_project(job, project, is_new=False)
    made = make_items(project, lease)
    done = external_labels.LabelsDone()
    if job.result["annotations"] or job.result["decisions"]:
        done = external_labels.bring_in(
            project,
            importing.records_of(request, wanted, progress_of(lease, "Bringing in labels")),
            names_are_pseudonyms=request.format == "assay",
            guard=guard_of(lease),
            beat=lease.beat,
        )
    Project.objects.filter(pk=project.pk, state=Project.State.PREPARING).update(state=Project.State.OPEN)
    return asdict(done) | {"items": made.items}


def _remember_project(job: Job, project: Project, *, is_new: bool) -> None:
    job.result["project"] = {"uuid": str(project.uuid), "slug": project.slug, "is_new": is_new}
    Job.objects.filter(pk=job.pk).update(result=job.result)


def make_items(project: Project, lease: Lease) -> item_making.Made:
    total = item_making.count_anchors(project)
    unit = task_type(project.task_type).anchor_kind
    made = item_making.plan(
        project, on_progress=lambda seen: lease.progress(seen, total, f"Making items: {seen:,} of {total:,} ({unit})")
    )
    if made.items:
        Project.objects.filter(pk=project.pk).update(
            queue_epoch=F("queue_epoch") + 1, label_version=F("label_version") + 1
        )
    return made
