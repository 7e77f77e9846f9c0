"""Freezing a project's labels: one moment, written as files, hashed, and kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from analysis.models import Release
from analysis.releases.cards.several import ReleasePart
from analysis.releases.cards.writing import write_beside, write_manifest
from analysis.releases.chosen import ChosenSource
from analysis.releases.kept import file_stem, keep_file
from analysis.releases.several import folder_of, software_of, write_whole
from analysis.releases.writing import release_memory, write_frames
from analysis.sources.database import DatabaseSource
from analysis.sources.releases.files import (
    ANNOTATIONS,
    MANIFEST,
    TERMS,
    VERSION,
    ZIP,
    combined,
    digest_of,
    names_of,
    terms_of,
    zipped,
)
from analysis.sources.wrong import WrongChoice
from annotation import __version__
from annotation.exports import releasing
from annotation.exports.layouts import layout_of
from annotation.jobs.leftovers import working_folder
from annotation.jobs.lifecycle import JobError, Lease
from annotation.models import Chunk, Job, Project
from plugins import packages_of


@contextmanager
def one_moment() -> Iterator[None]:
    """Everything read inside is as it was at the start, while others go on writing.

    PostgreSQL: a repeatable read. SQLite: a deferred transaction, which takes no lock as long as it only reads;
    Django's own would lock out every annotator. Nothing may be written inside.
    """
    if connection.in_atomic_block:  # the caller's transaction, such as a test's, decides
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield
    else:
        connection.ensure_connection()
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            with connection.cursor() as cursor:
                cursor.execute("ROLLBACK")
            connection.close()  # which frees its cache: what follows is made from files


def write_release(
    project: Project,
    folder: Path,
    number: int = 0,
    note: str = "",
    beat: Callable[[], None] = lambda: None,
    version: str = "",
    others: Sequence[Project] = (),
    filters: Mapping[str, str] | None = None,
    decisions: str = "",
) -> dict:
    """Write the project's labels as they are now to an empty `folder`; returns the manifest, which is written too. With
    `others`, projects on the same data set, the labels of each stand in a folder of their own. `filters` (conditions of
    a `Selection`) leave out the rest, as if it were not there. `decisions` names the set that units'
    one labels come from; without it, they are what stands.

    `beat` is called between the parts; where the lease was lost it raises, and the folder is worth nothing.
    """
    ids = [project.pk, *(one.pk for one in others)]
    exported: list[tuple[str, Project, dict]] = []
    with one_moment():
        moment = timezone.now()
        for place, pk in enumerate(ids, start=1):
            one = Project.objects.select_related("dataset").get(pk=pk)
            name = folder_of(place, one.slug) if others else ""
            source = ChosenSource(one, dict(filters)) if filters else DatabaseSource(one)
            part = source.part() if isinstance(source, ChosenSource) else None
            exported.append(
                (name, one, releasing.write_export(one, folder / name, None, part=part, decisions=decisions))
            )
            beat()
            release_memory()
            write_frames(source, folder / name)
            del source  # it keeps what it has read
            beat()
        changes = changes_of(project, number, version, note, moment)
    release_memory()
    parts = []
    for name, one, exported_settings in exported:
        manifest = finished_manifest(one, folder / name, exported_settings, number, note, moment)
        manifest["release"]["release_version"] = version
        manifest["release"] |= {"filters": dict(filters)} if filters else {}
        manifest["changes"] = changes
        write_manifest(folder / name, manifest)
        beat()
        card = write_beside(folder / name, changes)
        manifest["beside"] = card.digests
        write_manifest(folder / name, manifest)
        parts.append(ReleasePart(name, manifest, card))
    if not others:
        return parts[0].manifest
    beat()
    return write_whole(folder, parts, exported[0][1].dataset.title)


def changes_of(project: Project, number: int, version: str, note: str, moment: datetime) -> list[dict]:
    """The changelog up to this release, newest first; files of the command have no place in it."""
    changes = [{"number": number, "version": version, "date": moment.date().isoformat(), "note": note}]
    before = Release.objects.filter(project=project, number__lt=number).exclude(sha256="").order_by("-number")
    return (changes if number or version or note else []) + [
        {
            "number": one.number,
            "version": one.version,
            "date": one.moment.date().isoformat(),
            "note": one.note,
        }
        for one in before
    ]


def finished_manifest(project: Project, folder: Path, exported: dict, number: int, note: str, moment: datetime) -> dict:
    (folder / TERMS).write_bytes(terms_of(exported))
    files = {name: digest_of(folder / name) for name in names_of(folder)}
    labels = [name for name in (ANNOTATIONS, f"{layout_of(project).stem}.jsonl") if name in files]
    return exported | {
        "files": files,
        "release": {
            "version": VERSION,
            "number": number,
            "note": note,
            "title": project.title,
            "moment": moment.isoformat().replace("+00:00", "Z"),
            **software_of(f"Assay {__version__}", packages_behind(project)),
            "overlap": project.planned_overlap,
            "multiple_share": project.multiple_share,
            "prefill": project.prefill,
            # Of all files; and of the labels alone, which do not depend on runs, arms or who is a member.
            "sha256": combined(files, files),
            "labels_sha256": combined(files, labels),
        },
    }


def packages_behind(project: Project) -> list[str]:
    """The installed packages, with versions, that have the project's task type, its runs' checkers and the formats of
    imports into its data set."""
    imports = Job.objects.filter(dataset=project.dataset_id, kind=Job.Kind.IMPORT, state=Job.State.DONE)
    found = [
        *packages_of({"assay.task_types": project.task_type}),
        *project.checker_runs.values_list("provenance__package", flat=True),
        *imports.values_list("result__package", flat=True),
    ]
    return sorted({one for one in found if one})


class FreezeHandler:
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        release = Release.objects.select_related("project", "job").get(job_id=chunk.job_id)
        working = working_folder(Path(settings.MEDIA_ROOT) / "releases", lease.token)
        try:
            folder = working / "files"
            folder.mkdir(parents=True)
            arguments = (release.number, release.note, lease.beat, release.version)
            others = list(release.others.order_by("slug"))
            try:
                manifest = write_release(
                    release.project, folder, *arguments, others, release.filters, release.decisions
                )
            except WrongChoice as error:
                raise JobError(str(error)) from None
            archive = working / f"{file_stem(release)}.zip"
            zipped(folder, archive)
            lease.beat()
            self._keep(release, manifest, archive, folder / MANIFEST, lease)
        finally:
            shutil.rmtree(working, ignore_errors=True)

    def _keep(self, release: Release, manifest: dict, archive: Path, listing: Path, lease: Lease) -> None:
        frozen = manifest["release"]
        with transaction.atomic():
            lease.complete()  # first: a worker that has lost the lease keeps nothing
            keep_file(release.job, archive, ZIP)
            keep_file(release.job, listing, "application/json", f"{file_stem(release)}.json")
            Release.objects.filter(pk=release.pk).update(
                manifest=manifest,
                sha256=frozen["sha256"],
                labels_sha256=frozen["labels_sha256"],
                moment=datetime.fromisoformat(frozen["moment"]),
            )

    def finish(self, job: Job, lease: Lease) -> dict:
        release = Release.objects.get(job=job)
        return {"number": release.number, "sha256": release.sha256}

    def clean_up(self, job: Job) -> None:
        """A release that never came to be keeps its number and its reason, and no files."""
        for artifact in job.artifacts.all():
            releasing.artifact_path(artifact).unlink(missing_ok=True)
        job.artifacts.all().delete()


HANDLER = FreezeHandler()
