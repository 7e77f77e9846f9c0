"""Exports: what people said, in files that others can trust.

The content comes in the layout that the task type names, with one decided label per unit; every single annotation comes
beside it as JSON Lines. Both are in the byte order of keys and carry no row numbers, so the same labels give the same
bytes on any database, and an export imported into an empty Assay comes out the same.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import F

from annotation.formats import assay, druid, refchecker
from annotation.formats.records import ClaimRecord, EvidenceRecord
from annotation.formats.spreadsheets import write_json_lines
from annotation.models import Artifact, Chunk, Evidence, Item, Job, Project, Response, Triplet
from annotation.queries.exports import ExportedItem, exported_items
from annotation.services.jobs import JobError, Lease, create_job
from annotation.task_types import TaskType, task_type

ANNOTATIONS = "annotations.jsonl"
MANIFEST = "manifest.json"
MEDIA_TYPES = {
    ".tsv": "text/tab-separated-values; charset=utf-8",
    ".jsonl": "application/x-ndjson; charset=utf-8",
    ".parquet": "application/vnd.apache.parquet",
    ".json": "application/json",
}


def _druid_objects(kind: TaskType, items: list[ExportedItem]) -> Iterator[dict]:
    """Claim and evidence of every item, in DRUID's columns."""
    relevance, stance = (_dimension_of(kind, role) for role in ("relevance", "stance"))
    fields = ("text", "url", "publisher", "date", "is_gold", "rank", "metadata")
    of_claim = ("key", "text", "claimant", "date", "source", "verdict", "metadata")
    rows = Evidence.objects.filter(units__in=[item.anchor for item in items]).values_list(
        "units", *fields, *(f"claim__{name}" for name in of_claim)
    )
    content = {unit: (values[: len(fields)], ClaimRecord(*values[len(fields) :])) for unit, *values in rows}
    for item in items:
        (text, *more), claim = content[item.anchor]
        evidence = EvidenceRecord(item.key, text, claim.key, None, *more)
        labels = (item.label(kind, item.key, dimension) for dimension in (relevance, stance))
        yield druid.as_object(druid.druid_row(claim, evidence, *labels))


def _dimension_of(kind: TaskType, role: str):
    return next(dimension for dimension in kind.dimensions if dimension.role == role)


def _response_objects(kind: TaskType, items: list[ExportedItem]) -> Iterator[dict]:
    """Every response with its question, passages and triplets, in RefChecker's layout."""
    dimension = _dimension_of(kind, "entailment")
    anchors = [item.anchor for item in items]
    found = Response.objects.filter(units__in=anchors).select_related("question").annotate(unit=F("units"))
    responses = {response.unit: response for response in found}
    passages: dict[int, list[str]] = defaultdict(list)
    questions = {response.question_id for response in responses.values()} - {None}
    for question, text in (
        Evidence.objects.published().in_order().filter(question__in=questions).values_list("question", "text")
    ):
        passages[question].append(text)
    triplets = {
        unit: values
        for unit, *values in Triplet.objects.filter(
            units__in=[unit for item in items for unit in item.unit_keys]
        ).values_list("units", "head", "relation", "tail", "metadata")
    }
    for item in items:
        response = responses[item.anchor]
        metadata = dict(response.metadata)
        yield refchecker.as_object(
            refchecker.RefCheckerRow(
                setting=response.context_setting,
                model=response.model,
                id=response.key.removeprefix(f"{response.context_setting}/{response.model}/"),
                response=response.text,
                dataset=metadata.pop("dataset", ""),
                question=response.question.text if response.question else "",
                context=tuple(passages[response.question_id]),
                extractor=metadata.pop("extractor", "claude2"),
                triplets=[
                    _triplet(triplets[unit], item.label(kind, key, dimension)) for unit, key in item.unit_keys.items()
                ],
                metadata=metadata,
            )
        )


def _triplet(values: list, label: str | None) -> tuple:
    """The decided label goes under a name of its own: `human_label` would come back as one more rater."""
    head, relation, tail, metadata = values
    return head, relation, tail, None, metadata | ({refchecker.DECIDED: label} if label else {})


@dataclass(frozen=True, slots=True)
class Layout:
    stem: str
    objects: Callable[[TaskType, list[ExportedItem]], Iterator[dict]]
    # Kinds of file, each with what turns the JSON Lines into it; the JSON Lines themselves are always made first.
    kinds: dict[str, Callable[[Path, Path], int] | None]


def _druid_file(source: Path, target: Path) -> int:
    with open(source, encoding="utf-8") as lines:
        return druid.write((druid.from_object(json.loads(line)) for line in lines), target)


LAYOUTS: dict[str, Layout] = {
    "druid": Layout("claims", _druid_objects, {"jsonl": None, "tsv": _druid_file, "parquet": _druid_file}),
    "responses": Layout("responses", _response_objects, {"jsonl": None}),
}


def kinds_for(kind: TaskType) -> tuple[str, ...]:
    return tuple(LAYOUTS[kind.export_layout].kinds)


def write_export(
    project: Project,
    folder: Path,
    kinds: Iterable[str] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict:
    """Write the project's content (in `kinds`, default all that its layout has), annotations and manifest to `folder`.

    Returns the manifest. Unknown kinds raise JobError.
    """
    kind = task_type(project.task_type)
    layout = LAYOUTS[kind.export_layout]
    kinds = tuple(dict.fromkeys(kinds or layout.kinds))
    unknown = [name for name in kinds if name not in layout.kinds]
    if unknown:
        raise JobError(f"{kind.title} is exported as {', '.join(layout.kinds)}, not as {', '.join(unknown)}")
    folder.mkdir(parents=True, exist_ok=True)
    total = Item.objects.filter(project=project).exclude(state=Item.State.RETIRED).count()
    counts: Counter[str] = Counter(dict.fromkeys(("annotations", "items", "revisions", "units"), 0))

    with open(folder / ANNOTATIONS, "w", encoding="utf-8", newline="") as annotations:

        def objects() -> Iterator[dict]:
            for items in exported_items(project):
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

    for name in kinds:
        convert = layout.kinds[name]
        if convert is not None:
            convert(lines, folder / f"{layout.stem}.{name}")
            progress(total, total)
    if "jsonl" not in kinds:
        lines.unlink()
    manifest = {
        "assay_export": 1,
        "project": project.slug,
        "task_type": project.task_type,
        "counts": dict(sorted(counts.items())),
        "files": {path.name: _digest(path) for path in sorted(folder.iterdir())},
    }
    text = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")
    return manifest


def retired_items(project: Project) -> int:
    """Items that no export holds, because their content was superseded."""
    return Item.objects.filter(project=project, state=Item.State.RETIRED).count()


def _digest(path: Path) -> dict:
    with open(path, "rb") as file:
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest(), "bytes": path.stat().st_size}


def start_export(project: Project, user, kinds: Iterable[str] | None = None) -> Job:
    """A job that writes the files for downloading. One that already does the same is returned instead."""
    kinds = sorted(kinds or kinds_for(task_type(project.task_type)))
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
