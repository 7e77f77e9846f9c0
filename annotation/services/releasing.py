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
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotation.formats import assay, druid, refchecker
from annotation.formats.records import ClaimRecord, EvidenceRecord
from annotation.models import Artifact, Chunk, Evidence, Item, Job, Project
from annotation.queries.exports import ExportedItem, Moment, exported_items
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


def _druid_objects(project: Project, items: Iterable[ExportedItem]) -> Iterator[dict]:
    for entry in items:
        evidence = entry.item.anchor.evidence
        yield druid.as_object(
            druid.druid_row(
                _claim_record(evidence),
                _evidence_record(evidence),
                entry.label(evidence.key, "relevance"),
                entry.label(evidence.key, "stance"),
            )
        )


def _claim_record(evidence: Evidence) -> ClaimRecord:
    claim = evidence.claim
    return ClaimRecord(
        claim.key, claim.text, claim.claimant, claim.date, claim.source, claim.verdict, claim.metadata
    )


def _evidence_record(evidence: Evidence) -> EvidenceRecord:
    return EvidenceRecord(
        evidence.key,
        evidence.text,
        evidence.claim.key,
        None,
        evidence.url,
        evidence.publisher,
        evidence.date,
        evidence.is_gold,
        evidence.rank,
        evidence.metadata,
    )


def _response_objects(project: Project, items: Iterable[ExportedItem]) -> Iterator[dict]:
    for entry in items:
        response = entry.item.anchor.response
        question = response.question
        passages = Evidence.objects.published().filter(question=question).order_by("rank", "key")
        prefix = f"{response.context_setting}/{response.model}/"
        metadata = dict(response.metadata)
        units = entry.item.item_units.select_related("unit__triplet").order_by("index")
        yield refchecker.as_object(
            refchecker.RefCheckerRow(
                setting=response.context_setting,
                model=response.model,
                id=response.key.removeprefix(prefix),
                response=response.text,
                dataset=metadata.pop("dataset", ""),
                question=question.text if question else "",
                context=tuple(passages.values_list("text", flat=True)) if question else (),
                extractor=metadata.pop("extractor", "claude2"),
                triplets=[_triplet(entry, row.unit.triplet) for row in units],
                metadata=metadata,
            )
        )


def _triplet(entry: ExportedItem, triplet) -> tuple:
    """The decided label goes under a name of its own: `human_label` would come back as one more rater."""
    label = entry.label(triplet.key, "entailment")
    decided = {refchecker.DECIDED: label} if label else {}
    return triplet.head, triplet.relation, triplet.tail, None, triplet.metadata | decided


@dataclass(frozen=True, slots=True)
class Layout:
    stem: str
    objects: Callable[[Project, Iterable[ExportedItem]], Iterator[dict]]
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
    retired = Item.objects.filter(project=project, state=Item.State.RETIRED).count()
    counts: Counter[str] = Counter()

    with open(folder / ANNOTATIONS, "w", encoding="utf-8", newline="") as annotations:

        def with_annotations() -> Iterator[ExportedItem]:
            for entry in exported_items(project, Moment.now(project)):
                for annotation in entry.annotations:
                    annotations.write(assay.line_of(annotation) + "\n")
                counts["items"] += 1
                counts["units"] += len(entry.unit_keys)
                counts["revisions"] += len(entry.annotations)
                counts["annotations"] += len(entry.latest)
                if counts["items"] % 500 == 0:
                    progress(counts["items"], total)
                yield entry

        lines = folder / f"{layout.stem}.jsonl"
        write_objects(lines, layout.objects(project, with_annotations()))

    for name in kinds:
        convert = layout.kinds[name]
        if convert is not None:
            convert(lines, folder / f"{layout.stem}.{name}")
    if "jsonl" not in kinds:
        lines.unlink()
    manifest = {
        "assay_export": 1,
        "project": project.slug,
        "task_type": project.task_type,
        "counts": dict(sorted(counts.items())) | {"retired_items_left_out": retired},
        "files": {path.name: _digest(path) for path in sorted(folder.iterdir()) if path.name != MANIFEST},
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    return manifest


def write_objects(path: Path, rows: Iterable[dict]) -> int:
    from annotation.formats.spreadsheets import write_json_lines

    return write_json_lines(path, rows)


def _digest(path: Path) -> dict:
    with open(path, "rb") as file:
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest(), "bytes": path.stat().st_size}


def start_export(project: Project, user, kinds: Iterable[str] | None = None) -> Job:
    """A job that writes the files for downloading."""
    kinds = list(kinds or kinds_for(task_type(project.task_type)))
    return create_job(
        Job.Kind.EXPORT, user, chunks=[({}, 0)], project=project, parameters={"kinds": kinds}
    )


def artifact_path(artifact: Artifact) -> Path:
    """Where the file lies: below names that the server chose, whatever it is called when downloaded."""
    return Path(settings.MEDIA_ROOT) / "exports" / str(artifact.job.uuid) / str(artifact.uuid)


class ExportHandler:
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        job = chunk.job
        folder = _working_folder(job)
        shutil.rmtree(folder, ignore_errors=True)
        write_export(
            job.project,
            folder,
            job.parameters["kinds"],
            lambda done, total: lease.progress(done, total, "Writing"),
        )
        target = folder.parent
        with transaction.atomic():
            job.artifacts.all().delete()
            for path in sorted(folder.iterdir()):
                digest = _digest(path)
                artifact = Artifact.objects.create(
                    job=job,
                    file_name=f"{job.project.slug}-{path.name}",
                    media_type=MEDIA_TYPES[path.suffix],
                    size=digest["bytes"],
                    sha256=digest["sha256"],
                )
                path.rename(target / str(artifact.uuid))
            lease.complete()
        shutil.rmtree(folder, ignore_errors=True)

    def finish(self, job: Job, lease: Lease) -> dict:
        manifest = job.artifacts.get(file_name=f"{job.project.slug}-{MANIFEST}")
        counts = json.loads(artifact_path(manifest).read_text())["counts"]
        return {"counts": counts, "finished": timezone.now().isoformat()}

    def clean_up(self, job: Job) -> None:
        shutil.rmtree(_working_folder(job).parent, ignore_errors=True)
        job.artifacts.all().delete()


def _working_folder(job: Job) -> Path:
    return Path(settings.MEDIA_ROOT) / "exports" / str(job.uuid) / "working"


HANDLER = ExportHandler()
