"""Making a backup: the database and the files of one moment, while people and workers go on.

A file is complete before a row names it, and is removed after the row. So what there is before and after the snapshot
of the database holds every file of its rows. Files are kept by hard links meanwhile, whatever is removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.utils import timezone

from annotation import __version__
from annotation.jobs.leftovers import WORKING
from config.backup import databases
from config.backup.archive import ArchiveWriter, BackupError, Manifest, verify

UNFINISHED = ".part"


def make_backup(destination: Path) -> tuple[Path, Manifest]:
    """Write the backup and read it again. The file: `destination`, or a new one in it if it is a folder. It appears
    under its name only when it is complete."""
    moment = timezone.now()
    if destination.is_dir():
        destination = destination / f"assay-{moment:%Y-%m-%dT%H%M%SZ}.tar"
    if destination.exists():
        raise BackupError(f"{destination} exists already; name another file")
    part = destination.with_name(destination.name + UNFINISHED)
    try:
        with _scratch() as scratch:
            described = _collect(scratch)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                writer = ArchiveWriter(file)
                for path in _files(scratch):
                    writer.add(path, path.relative_to(scratch).as_posix())
                writer.finish(
                    assay=__version__,
                    made_at=moment.isoformat(timespec="seconds"),
                    vendor=connection.vendor,
                    migrations=described.migrations,
                    rows=described.rows,
                    columns=described.columns,
                )
                file.flush()
                os.fsync(file.fileno())
        manifest = verify(part)
        part.rename(destination)
        _sync_folder(destination.parent)
    except (OSError, sqlite3.Error) as error:  # SQLite writes its copy itself
        raise BackupError(f"The backup could not be written: {error}") from error
    finally:
        part.unlink(missing_ok=True)
    return destination, manifest


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    """An empty folder on the file system of the data, which only one backup has at a time."""
    folder = settings.DATA_DIR / "backup"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupError("Another backup is being made; wait until it has ended") from None
        scratch = folder / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)  # of one that was killed
        scratch.mkdir()
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _collect(scratch: Path) -> databases.Snapshot:
    database = scratch / "database"
    database.mkdir()
    _link_files(scratch / "files")
    snapshot = databases.current().snapshot(database)
    _link_files(scratch / "files")
    return snapshot


def _link_files(folder: Path) -> None:
    """Keep each file that is not kept yet; not those that a worker or an upload has not completed."""
    media = Path(settings.MEDIA_ROOT)
    for path in _files(media):
        inside = path.relative_to(media)
        kept = folder / inside
        if path.suffix == UNFINISHED or any(part.startswith(WORKING) for part in inside.parts) or kept.exists():
            continue
        kept.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # removed meanwhile
            try:
                os.link(path, kept)
            except FileNotFoundError:
                raise
            except OSError:
                shutil.copy2(path, kept)  # the file system has no hard links


def _files(folder: Path) -> list[Path]:
    """Plain files; a folder that is removed meanwhile had none that a row names."""

    def heed(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise error

    found = (Path(place) / name for place, _, names in os.walk(folder, onerror=heed) for name in names)
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
