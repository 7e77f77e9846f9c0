"""A release for everybody: its files without what people wrote to each other, made by a job, and its page.

Comments, notes and reasons are left out unless a researcher chooses otherwise. What is left is a release of its own,
with hashes of its own where something was left out.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from analysis.models import Release
from analysis.releases.cards.several import ReleasePart
from analysis.releases.cards.writing import write_beside, write_manifest
from analysis.releases.kept import file_stem, keep_file
from analysis.releases.several import write_whole
from analysis.sources.releases.archives import archive_path
from analysis.sources.releases.files import (
    ANNOTATIONS,
    DECISIONS,
    MANIFEST,
    SKIPS,
    ZIP,
    line_of,
    rehashed,
    unpacked,
    zipped,
)
from annotation.exports import releasing
from annotation.formats.content.assay import LINE_KEYS
from annotation.jobs.leftovers import working_folder
from annotation.jobs.lifecycle import Lease
from annotation.models import Chunk, Job


def write_public(archive: Path, folder: Path, *, with_comments: bool) -> dict:
    """The release's files in the empty `folder`, as anybody may have them; returns the manifest."""
    unpacked(archive, folder)
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    if with_comments:
        return manifest
    if "parts" not in manifest:
        return _public_part(folder, "").manifest
    parts = [_public_part(folder, part["folder"]) for part in manifest["parts"]]
    return write_whole(folder, parts, manifest["release"]["title"], manifest["release"]["sha256"])


def _public_part(whole: Path, name: str) -> ReleasePart:
    """The files of one project, written again without what is left out."""
    folder = whole / name
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    _rewrite(folder / ANNOTATIONS, _without_comment)
    _rewrite(folder / DECISIONS, _without_note)
    _rewrite(folder / SKIPS, _without_note)
    public = rehashed(manifest, folder)
    if public["release"]["sha256"] != manifest["release"]["sha256"]:
        public["release"]["without_comments_of"] = manifest["release"]["sha256"]
    write_manifest(folder, public)
    card = write_beside(folder, public.get("changes", []))
    public["beside"] = card.digests
    write_manifest(folder, public)
    return ReleasePart(name, public, card)


def _rewrite(path: Path, changed: Callable[[dict], dict]) -> None:
    if not path.is_file():
        return
    target = path.with_suffix(".public")
    with open(path, encoding="utf-8") as lines, open(target, "w", encoding="utf-8", newline="") as out:
        out.writelines(line_of(changed(json.loads(line))) + "\n" for line in lines)
    target.replace(path)


def _without_comment(line: dict) -> dict:
    """Cells of other tools' files may be comments, too, so only what every answer has is kept."""
    return {name: value for name, value in line.items() if name in LINE_KEYS} | {"comment": ""}


def _without_note(line: dict) -> dict:
    return {name: value for name, value in line.items() if name not in ("note", "reason", "replies")}


class PublicHandler:
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        release = Release.objects.select_related("project", "job").get(uuid=chunk.job.parameters["release"])
        working = working_folder(Path(settings.MEDIA_ROOT) / "releases", lease.token)
        try:
            folder = working / "files"
            folder.mkdir(parents=True)
            chosen = bool(chunk.job.parameters["with_comments"])
            manifest = write_public(archive_path(release), folder, with_comments=chosen)
            lease.beat()
            archive = working / f"{file_stem(release)}-public.zip"
            zipped(folder, archive)
            self._keep(release, chunk.job, manifest, archive, lease)
        finally:
            shutil.rmtree(working, ignore_errors=True)

    def _keep(self, release: Release, job: Job, manifest: dict, archive: Path, lease: Lease) -> None:
        with transaction.atomic():
            lease.complete()
            keep_file(job, archive, ZIP)
            Job.objects.filter(pk=job.pk).update(result={"sha256": manifest["release"]["sha256"]})
            Release.objects.filter(pk=release.pk).update(public_job=job, public_since=timezone.now())

    def finish(self, job: Job, lease: Lease) -> dict:
        return job.result

    def clean_up(self, job: Job) -> None:
        """A page that never came to be has no files."""
        releasing.HANDLER.clean_up(job)


HANDLER = PublicHandler()
