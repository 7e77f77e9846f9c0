"""Freezing a project's labels: one moment, written as files, hashed, and kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from analysis.models import Release
from analysis.releases.cards.writing import write_beside, write_manifest
from analysis.releases.files import ANNOTATIONS, MANIFEST, VERSION, combined, digest_of, names_of, zipped
from analysis.releases.kept import file_stem
from analysis.releases.writing import write_frames
from analysis.sources.database import DatabaseSource
from annotation import __version__
from annotation.exports import releasing
from annotation.exports.layouts import layout_of
from annotation.jobs.lifecycle import Lease
from annotation.models import Artifact, Chunk, Job, Project

ZIP = "application/zip"


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


def write_release(
    project: Project,
    folder: Path,
    number: int = 0,
    note: str = "",
    beat: Callable[[], None] = lambda: None,
    version: str = "",
) -> dict:
    """Write the project's labels as they are now to an empty `folder`; returns the manifest, which is written too.

    `beat` is called between the parts; where the lease was lost it raises, and the folder is worth nothing.
    """
    with one_moment():
        moment = timezone.now()
        project = Project.objects.get(pk=project.pk)
        exported = releasing.write_export(project, folder, None)
        beat()
        write_frames(DatabaseSource(project), folder)
        changes = changes_of(project, number, version, note, moment)
    beat()
    manifest = finished_manifest(project, folder, exported, number, note, moment)
    manifest["release"]["release_version"] = version
    write_manifest(folder, manifest)
    beat()
    manifest["beside"] = write_beside(folder, changes)
    write_manifest(folder, manifest)
    return manifest


def changes_of(project: Project, number: int, version: str, note: str, moment: datetime) -> list[dict]:
    """The changelog up to this release, newest first; files of the command have no place in it."""
    said = [{"number": number, "version": version, "date": moment.date().isoformat(), "note": note}]
    before = Release.objects.filter(project=project, number__lt=number).exclude(sha256="").order_by("-number")
    return (said if number or version or note else []) + [
        {
            "number": one.number,
            "version": one.version,
            "date": one.moment.date().isoformat(),
            "note": one.note,
        }
        for one in before
    ]


def finished_manifest(project: Project, folder: Path, exported: dict, number: int, note: str, moment: datetime) -> dict:
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
            "software": f"Assay {__version__}",
            "overlap": project.planned_overlap,
            "multiple_share": project.multiple_share,
            "prefill": project.prefill,
            # Of all files; and of the labels alone, which do not depend on runs, arms or who is a member.
            "sha256": combined(files, files),
            "labels_sha256": combined(files, labels),
        },
    }


class FreezeHandler:
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        release = Release.objects.select_related("project").get(job_id=chunk.job_id)
        working = Path(settings.MEDIA_ROOT) / "releases" / f"working-{lease.token}"
        try:
            folder = working / "files"
            folder.mkdir(parents=True)
            manifest = write_release(release.project, folder, release.number, release.note, lease.beat, release.version)
            archive = working / f"{file_stem(release)}.zip"
            zipped(folder, archive)
            lease.beat()
            self._keep(release, manifest, archive, folder / MANIFEST, lease)
        finally:
            shutil.rmtree(working, ignore_errors=True)

    def _keep(self, release: Release, manifest: dict, archive: Path, listing: Path, lease: Lease) -> None:
        frozen = manifest["release"]
        with transaction.atomic():
            lease.complete()  # first: whoever has lost the lease keeps nothing
            names = ((archive, archive.name, ZIP), (listing, f"{file_stem(release)}.json", "application/json"))
            for path, name, media_type in names:
                digest = digest_of(path)
                artifact = Artifact.objects.create(
                    job_id=release.job_id,
                    file_name=name,
                    media_type=media_type,
                    size=digest["bytes"],
                    sha256=digest["sha256"],
                )
                target = releasing.artifact_path(artifact)
                target.parent.mkdir(parents=True, exist_ok=True)
                path.rename(target)
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
