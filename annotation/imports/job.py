"""The import as a job: one chunk stages the file, the end publishes it (`staged_job`) and fills the project.

The project's part comes after publishing and can be repeated. From the publishing on until it ends, the project is in
preparation: content and labels become visible together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from django.db import transaction

from annotation.datasets.managing import update_dataset
from annotation.formats import FORMATS, FormatError, get_format
from annotation.imports import external_labels, importing, left_out, outside_runs, release_frames, stored_labels
from annotation.imports.guided.samples import sample_of
from annotation.imports.importing import ImportProblem, ImportRequest, ImportUnderWay
from annotation.imports.labels import LabelCheck
from annotation.imports.staged_job import (
    close_staging,
    found_in,
    guard_of,
    make_items,
    open_batch,
    publish_staged,
    take_back,
)
from annotation.imports.staging import ContentPass, read_all
from annotation.jobs.lifecycle import JobError, Lease
from annotation.models import Chunk, Job, Project
from annotation.projects import carried_settings, managing
from annotation.projects.guidelines import guidelines_template
from annotation.projects.label_sets import save_label_set
from annotation.task_types import TaskType
from annotation.task_types.label_sets import identifier_of
from models_runtime.contracts import UnavailableError


class ImportHandler:
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        job = Job.objects.select_related("dataset").get(pk=chunk.job_id)
        request = ImportRequest.from_json(job.parameters)
        try:
            request = _with_label_set(job, request)
            if job.parameters.get("is_dry_run"):
                findings = importing.dry_run(request, job.dataset, progress_of(lease, "Reading the file"), lease.beat)
                result = findings.as_json() | {"fitting": _fitting(request)}
                result |= sample_of(request) if request.is_guided else {}
            else:
                result = _stage(job, request, lease)
        except (FormatError, ImportProblem) as error:
            if request.waits and isinstance(error, ImportUnderWay):
                raise UnavailableError(str(error)) from error
            raise JobError(str(error)) from error
        close_staging(job, result, lease)

    def finish(self, job: Job, lease: Lease) -> dict:
        job = Job.objects.select_related("dataset", "created_by").get(pk=job.pk)
        if job.parameters.get("is_dry_run"):
            return job.result
        request = ImportRequest.from_json(job.parameters)
        try:
            wanted = importing.wanted_task_type(request, job.dataset)
            publish_staged(job, request.on_judged, lease, lambda: _begin(job, request, wanted))
            job.refresh_from_db(fields=["result"])
            if request.project is not None:
                job.result["labels_stored"] = fill_project(job, request, lease)
            if package := FORMATS.package_of(request.format):
                job.result["package"] = str(package)
        except (FormatError, ImportProblem, managing.ProjectError) as error:
            if request.waits and isinstance(error, ImportUnderWay):
                raise UnavailableError(str(error)) from error
            raise JobError(str(error)) from error
        return job.result

    def clean_up(self, job: Job) -> None:
        """Take back what is not published, the labels, and the project that this job made and did not finish."""
        take_back(job)
        for project in Project.objects.filter(filled_by=job):
            stored_labels.take_back(project)


HANDLER = ImportHandler()


def progress_of(lease: Lease, message: str):
    return lambda done, total: lease.progress(done, total, message)


def _with_label_set(job: Job, request: ImportRequest) -> ImportRequest:
    """With the label set of the file, which is kept with the job: the web process never reads a file for it."""
    known = request
    request = importing.with_label_set(known)
    if request is known:
        return request
    job.parameters = job.parameters | {"choices": request.choices.as_json()}
    Job.objects.filter(pk=job.pk).update(parameters=job.parameters)
    return request


def _fitting(request: ImportRequest) -> str | None:
    """The task type that the labels fit, for the page of the dry run, which reads no file; None where that cannot be
    found out."""
    try:
        return importing.fitting_task_type(request)
    except (FormatError, ImportProblem):
        return None


def _stage(job: Job, request: ImportRequest, lease: Lease) -> dict:
    batch = open_batch(job, lease)
    wanted = importing.wanted_task_type(request, job.dataset)
    content = ContentPass(
        job.dataset,
        batch=batch,
        guard=guard_of(lease),
        labels=LabelCheck(wanted, piece_set=importing.piece_set_of(request)),
        leaves_out=request.leaves_out,
    )
    not_taken = left_out.LeftOutRows()
    content.findings.left_out = not_taken.add
    records = importing.records_of(request, wanted, progress_of(lease, "Reading and staging"))
    findings = read_all(records, content, lease.beat)
    findings.read_as = importing.read_as(request, findings)
    result = found_in(job, findings, request.on_judged, "imported", leaves_out=request.leaves_out)
    result["fitting"] = wanted and wanted.identifier
    importing.refuse_other_runs(request, wanted)
    not_taken.store(job)
    return result


# --- the project's part ---------------------------------------------------------------------------------------------


def fill_project(job: Job, request: ImportRequest, lease: Lease) -> dict:
    """Project, items, labels of the file. May be repeated; a project that this job made opens at the end."""
    wanted = importing.wanted_task_type(request, job.dataset)
    project = Project.objects.get(slug=request.project.slug, dataset=job.dataset)
    journal = None if job.result["project"]["is_new"] else stored_labels.Journal(job)
    made = make_items(project, lease)
    done = external_labels.LabelsDone()
    if job.result["annotations"] or job.result["decisions"]:
        done = external_labels.bring_in(
            project,
            _sound(job, request, wanted, progress_of(lease, "Importing labels")),
            names_are_pseudonyms=get_format(request.format).carries_settings,
            guard=guard_of(lease),
            beat=lease.beat,
            journal=journal,
        )
    if job.result.get("from_checkers"):
        job.result["outside_runs"] = asdict(
            outside_runs.bring_in(
                project,
                importing.records_of(request, wanted),
                job.created_by,
                guard_of(lease),
                lease.beat,
                leaves_out=request.leaves_out,
                checkers=request.choices.checkers,
                journal=journal,
            )
        )
    frames = importing.frames_of(request)
    is_this_version = importing.other_version(request, wanted) is None
    if frames is not None and is_this_version and job.result["project"]["is_new"]:
        release_frames.bring_in(project, frames, job.created_by, guard_of(lease))
    with transaction.atomic():
        guard_of(lease)()
        stored_labels.end(project, job)
        Project.objects.filter(pk=project.pk, state=Project.State.PREPARING).update(state=Project.State.OPEN)
    return asdict(done) | {"items": made.items}


def _sound(job: Job, request: ImportRequest, wanted: TaskType, progress) -> Iterator:
    """The file's records, without labels that do not fit where such are left out."""
    records = importing.records_of(request, wanted, progress)
    check = LabelCheck(wanted, piece_set=importing.piece_set_of(request))
    return check.sound(records, job.dataset) if request.leaves_out else records


def _make_project(job: Job, request: ImportRequest, wanted: TaskType) -> Project:
    wish = request.project
    if not wish.with_settings:
        brought = importing.label_set_in(request)
        if brought is not None and wanted.identifier == identifier_of(brought):
            save_label_set(job.created_by, brought)
        return managing.create_project(
            job.created_by,
            title=wish.title or wish.slug,
            slug=wish.slug,
            dataset=job.dataset,
            task_type=wanted.identifier,
            piece_set=wish.piece_set,
            overlap=wish.overlap,
            guidelines=guidelines_template(wanted) if request.is_guided else "",
        )
    settings = importing.settings_in(request)
    if settings is None:
        raise ImportProblem("The manifest of this import is no longer on the server; upload it again")
    return carried_settings.make_project(
        job.created_by, settings, job.dataset, slug=wish.slug, title=wish.title, overlap=wish.overlap
    )


def _begin(job: Job, request: ImportRequest, wanted: TaskType | None) -> None:
    """In the publishing transaction: the project, made if there is none, is in preparation until it has its labels.
    Texts get the formats that were chosen, else those of the data set, else those of the file."""
    formats = importing.formats_in(request) | job.dataset.text_formats | request.text_formats
    formats = {name: slug for name, slug in formats.items() if slug}
    if formats != job.dataset.text_formats:
        update_dataset(job.dataset, job.created_by, text_formats=formats)
    wish = request.project
    if wish is None:
        return
    job.refresh_from_db(fields=["result"])
    projects = Project.objects.select_for_update(no_key=True, of=("self",))
    project = projects.filter(slug=wish.slug, dataset=job.dataset).first()
    if project is None:
        project = _make_project(job, request, wanted)
        _remember_project(job, project, is_new=True)
    elif "project" not in job.result:
        if wish.with_settings:
            raise ImportProblem(
                f"A project with the short name {wish.slug} was created in the meantime; choose another"
            )
        _remember_project(job, project, is_new=False)
    if project.filled_by_id not in (None, job.pk):
        raise ImportUnderWay(f"{project.why_not_ready}")
    brings = any(job.result.get(name) for name in ("annotations", "decisions", "from_checkers"))
    if brings or job.result["project"]["is_new"]:
        Project.objects.filter(pk=project.pk).update(filled_by=job)


def _remember_project(job: Job, project: Project, *, is_new: bool) -> None:
    job.result["project"] = {"uuid": str(project.uuid), "slug": project.slug, "is_new": is_new}
    Job.objects.filter(pk=job.pk).update(result=job.result)
