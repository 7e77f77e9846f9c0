"""Exports: what people said, in files that others can trust.

The content comes in the layout that the task type names, with one decided label per unit; every single annotation comes
beside it as JSON Lines. Both are in the byte order of keys and carry no row numbers, so the same labels give the same
bytes on any database, and an export imported into an empty Assay comes out the same.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from django.conf import settings
from django.db import transaction

from annotation.decisions.moments import ExportedPart, Moment
from annotation.exports.layouts import ExportLayout, kinds_for, layout_of
from annotation.exports.queries import exported_decisions, exported_items
from annotation.exports.tools import TOOLS, lost_in
from annotation.formats.content import assay
from annotation.formats.files.spreadsheets import write_json_lines
from annotation.jobs.lifecycle import JobError, Lease, create_job
from annotation.models import Artifact, Chunk, Item, Job, Project
from annotation.projects.carried_settings import settings_of
from annotation.projects.label_sets import find_description
from annotation.task_types import Label, TaskType, task_type

ANNOTATIONS = "annotations.jsonl"
DECISIONS = "decisions.jsonl"  # where there are any
MANIFEST = "manifest.json"
MEDIA_TYPES = {
    ".tsv": "text/tab-separated-values; charset=utf-8",
    ".jsonl": "application/x-ndjson; charset=utf-8",
    ".parquet": "application/vnd.apache.parquet",
    ".json": "application/json",
    ".xml": "application/xml",
    ".zip": "application/zip",
}


def write_export(
    project: Project,
    folder: Path,
    kinds: Iterable[str] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    part: ExportedPart | None = None,
    layout: ExportLayout | None = None,
) -> dict:
    """Write the project's content (in `kinds`, default all that its layout has), annotations and manifest to `folder`;
    and files for other tools, where `kinds` names them.

    Returns the manifest. Unknown kinds raise JobError.
    """
    kind = project.type
    layout = layout or layout_of(project)
    kinds = tuple(dict.fromkeys(kinds or layout.kinds))
    unknown = [name for name in kinds if name not in layout.kinds and name not in TOOLS]
    if unknown:
        known = ", ".join((*layout.kinds, *TOOLS))
        raise JobError(f"{project.title} is exported as {known}, not as {', '.join(unknown)}")
    tools, kinds = [name for name in kinds if name in TOOLS], [name for name in kinds if name in layout.kinds]
    folder.mkdir(parents=True, exist_ok=True)
    total = Item.objects.filter(project=project).exclude(state=Item.State.RETIRED).count()
    counts: Counter[str] = Counter(dict.fromkeys(("annotations", "items", "revisions", "units"), 0))

    moment = Moment.now(project, part)

    with open(folder / ANNOTATIONS, "w", encoding="utf-8", newline="") as annotations:

        def objects() -> Iterator[dict]:
            for items in exported_items(project, moment):
                for item in items:
                    annotations.writelines(assay.line_of(annotation) + "\n" for annotation in item.annotations)
                    counts["units"] += len(item.unit_keys)
                    counts["revisions"] += len(item.annotations)
                    counts["annotations"] += item.raters
                yield from layout.objects(kind, items)
                counts["items"] += len(items)
                progress(counts["items"], total)

        lines = folder / f"{layout.stem}.jsonl"
        write_json_lines(lines, objects())

    decisions = exported_decisions(project, moment)
    counts["decisions"] = len(decisions)
    if decisions:
        with open(folder / DECISIONS, "w", encoding="utf-8", newline="") as out:
            out.writelines(assay.line_of_decision(decision) + "\n" for decision in decisions)

    for name in kinds:
        convert = layout.kinds[name]
        if convert is not None:
            convert(lines, folder / f"{layout.stem}.{name}")
            progress(total, total)
    if "jsonl" not in kinds:
        lines.unlink()
    for name in tools:
        TOOLS[name].write(project, moment, folder, lambda done: progress(done, total))
    manifest = {
        "assay_export": 1,
        "project": project.slug,
        "task_type": project.task_type,
        "labels": _label_set(task_type(project.task_type)),  # as it is stored, whatever the project calls it
        **_description(project),
        **_options(project),
        "settings": settings_of(project),
        **({"lost": {name: [list(one) for one in lost_in(project, name)] for name in tools}} if tools else {}),
        "counts": dict(sorted(counts.items())),
        "files": {path.name: _digest(path) for path in sorted(folder.iterdir())},
    }
    text = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")
    return manifest


def _description(project: Project) -> dict:
    """The label set that the project asks, where it is not a task type that Assay ships."""
    description = find_description(project.task_type)
    return {} if description is None else {"label_set": description}


def _options(project: Project) -> dict:
    """What the project changes about its task; the versions are those that annotations name."""
    if not project.options_version:
        return {}
    versions = dict(project.options_versions.order_by("version").values_list("version", "options"))
    return {
        "options": project.options,
        "options_versions": {str(number): options for number, options in versions.items()},
    }


def _label_set(description: TaskType) -> list[dict]:
    """The dimensions with what their labels mean, so that the files can be read without Assay."""
    return [
        {
            "dimension": dimension.slug,
            "title": dimension.title,
            "question": dimension.question,
            "level": dimension.level,
            **({"answer": dimension.answer} if dimension.answer != "label" else {}),
            **({"optional": True} if dimension.is_optional else {}),
            **({"number": asdict(dimension.number)} if dimension.number else {}),
            "asked_when": {dimension.asked_when.dimension: dimension.asked_when.labels} if dimension.asked_when else {},
            "labels": [_as_json(label) for label in dimension.labels],
            "derived": [
                {
                    "name": derived.slug,
                    "title": derived.title,
                    "labels": [_as_json(label) for label in derived.labels],
                    "from": dict(derived.of),
                }
                for derived in dimension.derived
            ],
        }
        for dimension in description.dimensions
    ]


def _as_json(label: Label) -> dict:
    return {"value": label.value, "title": label.title, "hint": label.hint}


def retired_items(project: Project) -> int:
    """Items that no export holds, because their content was superseded."""
    return Item.objects.filter(project=project, state=Item.State.RETIRED).count()


def _digest(path: Path) -> dict:
    with open(path, "rb") as file:
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest(), "bytes": path.stat().st_size}


def start_export(project: Project, user, kinds: Iterable[str] | None = None) -> Job:
    """A job that writes the files for downloading. One that already does the same is returned instead."""
    kinds = sorted(kinds or kinds_for(project))
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)  # two clicks start one job
        for job in project.jobs.filter(kind=Job.Kind.EXPORT, state__in=[Job.State.QUEUED, Job.State.RUNNING]):
            if job.parameters["kinds"] == kinds and not job.cancel_requested:
                return job
        return create_job(Job.Kind.EXPORT, user, chunks=[({}, 0)], project=project, parameters={"kinds": kinds})


def artifact_path(artifact: Artifact) -> Path:
    """Where the file lies: below names that the server chose, whatever it is called when downloaded."""
    return _folder(artifact.job) / str(artifact.uuid)


def _folder(job: Job) -> Path:
    return Path(settings.MEDIA_ROOT) / "exports" / str(job.uuid)


class ExportHandler:
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        job = chunk.job
        # Before the chunk is done nothing in the folder counts; what is there was left by a worker that died.
        shutil.rmtree(_folder(job), ignore_errors=True)
        # Of its own, so that a worker thought dead does not write into another's files.
        working = _folder(job) / f"working-{lease.token}"
        try:
            write_export(
                job.project,
                working,
                job.parameters["kinds"],
                lambda done, total: lease.progress(done, total, "Writing"),
            )
            self._keep(job, working, lease)
        finally:
            shutil.rmtree(working, ignore_errors=True)

    def _keep(self, job: Job, working: Path, lease: Lease) -> None:
        with transaction.atomic():
            lease.complete()  # first: whoever has lost the lease keeps nothing
            for path in sorted(working.iterdir()):
                digest = _digest(path)
                artifact = Artifact.objects.create(
                    job=job,
                    file_name=f"{job.project.slug}-{path.name}",
                    media_type=MEDIA_TYPES[path.suffix],
                    size=digest["bytes"],
                    sha256=digest["sha256"],
                )
                path.rename(artifact_path(artifact))

    def finish(self, job: Job, lease: Lease) -> dict:
        manifest = job.artifacts.get(file_name=f"{job.project.slug}-{MANIFEST}")
        counts = json.loads(artifact_path(manifest).read_text(encoding="utf-8"))["counts"]
        return {"counts": counts, "retired_items_left_out": retired_items(job.project)}

    def clean_up(self, job: Job) -> None:
        shutil.rmtree(_folder(job), ignore_errors=True)
        job.artifacts.all().delete()


HANDLER = ExportHandler()
