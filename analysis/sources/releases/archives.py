"""Where the files of a release that this Assay keeps are."""

from __future__ import annotations

from pathlib import Path

from analysis.models import Release
from analysis.sources.releases.files import ReleaseError
from annotation.exports.releasing import artifact_path
from annotation.models import Artifact, Job, Project


def archive_of(job: Job) -> Artifact | None:
    return job.artifacts.select_related("job__project").filter(file_name__endswith=".zip").first()


def archive_path(release: Release) -> Path:
    """Where the release's zip lies. ReleaseError where it is gone or not written yet."""
    artifact = archive_of(release.job)
    path = artifact_path(artifact) if artifact else None
    if path is None or not path.is_file():
        raise ReleaseError(f"release {release.number} of {release.project.slug} has no files on this server")
    return path


def path_for(release: Release, project: Project) -> Path:
    """Where the files of one project of the release lie, as `Files` opens them."""
    path = archive_path(release)
    parts = {part["project"]: part["folder"] for part in release.manifest.get("parts", ())}
    return path / parts[project.slug] if parts else path
