"""Files that killed processes left in the data directory: nobody will finish or read them, and they fill the disk."""

from __future__ import annotations

import logging
import shutil
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core.cache import cache
from django.db.models import QuerySet

from annotation.models import Artifact, Chunk, Upload

log = logging.getLogger(__name__)

WORKING = "working-"
EVERY_SECONDS = 3600
# What nobody has written to for this long belongs to no request and no transaction that is under way.
LEFT_SECONDS = 24 * 3600


def working_folder(place: Path, token: uuid.UUID) -> Path:
    """Where a worker writes files under its lease, before they are complete."""
    return place / f"{WORKING}{token}"


def sweep_now_and_then() -> None:
    if cache.add("leftovers-swept", True, EVERY_SECONDS):
        sweep()


def sweep() -> int:
    """Remove what was left; the number of files and folders."""
    found = [*_working_folders(), *_unfinished_uploads(), *_without_rows()]
    for path in found:
        log.info("Removing %s, which a process that ended left behind", path)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return len(found)


def _working_folders() -> Iterator[Path]:
    """Those of leases that nobody holds any more."""
    media = Path(settings.MEDIA_ROOT)
    folders = [*media.glob(f"releases/{WORKING}*"), *media.glob(f"exports/*/{WORKING}*")]
    held = {str(token) for token in Chunk.objects.exclude(lease_token=None).values_list("lease_token", flat=True)}
    return (folder for folder in folders if folder.name.removeprefix(WORKING) not in held)


def _unfinished_uploads() -> Iterator[Path]:
    return filter(_is_old, Path(settings.MEDIA_ROOT).glob("uploads/*.part"))


def _without_rows() -> Iterator[Path]:
    """Complete files of transactions that never ended."""
    for pattern, rows in (
        ("uploads/*", Upload.objects),
        ("imports/*", Artifact.objects),
        ("exports/*/*", Artifact.objects),
    ):
        files = {name: path for path in Path(settings.MEDIA_ROOT).glob(pattern) if (name := _name(path)) is not None}
        known = _known(rows, list(files))
        yield from (path for name, path in files.items() if name not in known)


def _name(path: Path) -> uuid.UUID | None:
    try:
        return uuid.UUID(path.name) if path.is_file() and _is_old(path) else None
    except ValueError:
        return None


def _known(rows: QuerySet, names: list[uuid.UUID]) -> set[uuid.UUID]:
    return {
        name
        for start in range(0, len(names), 500)
        for name in rows.filter(uuid__in=names[start : start + 500]).values_list("uuid", flat=True)
    }


def _is_old(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > LEFT_SECONDS
    except OSError:  # it is gone
        return False
