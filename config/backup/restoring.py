"""Restoring a backup into an empty place: an empty database and a data directory without files."""

from __future__ import annotations

import shutil
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connection

from annotation import __version__
from annotation.jobs.versions import unknown_migrations
from config.backup import databases
from config.backup.archive import VENDORS, BackupError, Manifest, extract, verify


def restore_backup(path: Path) -> Manifest:
    """Nothing is changed unless all of the backup is there and fits. Migrations that came later are applied."""
    manifest = verify(path)
    _check_fit(manifest)
    media = Path(settings.MEDIA_ROOT)
    _check_empty(media)
    coming = settings.DATA_DIR / "restoring"
    shutil.rmtree(coming, ignore_errors=True)
    try:
        for part in ("files", "database"):
            (coming / part).mkdir(parents=True)
            extract(path, f"{part}/", coming / part)
        shutil.rmtree(media, ignore_errors=True)  # it has no files
        # Before the rows that name them.
        (coming / "files").rename(media)
        try:
            snapshot = databases.Snapshot(manifest.migrations, manifest.rows, manifest.columns)
            databases.current().restore(coming / "database", snapshot)
        except BaseException:
            shutil.rmtree(media, ignore_errors=True)
            raise
    except OSError as error:
        raise BackupError(f"The backup could not be restored: {error}. Empty the place and try again") from error
    finally:
        shutil.rmtree(coming, ignore_errors=True)
    call_command("migrate", verbosity=0)
    return manifest


def _check_fit(manifest: Manifest) -> None:
    if manifest.vendor != connection.vendor:
        there, here = VENDORS[manifest.vendor], VENDORS[connection.vendor]
        raise BackupError(f"The backup is of {there}, and DATABASE_URL names {here}. Name an empty {there} database")
    if unknown := unknown_migrations(frozenset(map(tuple, manifest.migrations))):
        raise BackupError(
            f"The backup is from a newer Assay ({manifest.assay}; this is {__version__}): it has the migration "
            f"{'.'.join(unknown[-1])}. Restore it with that version or a later one"
        )


def _check_empty(media: Path) -> None:
    if not databases.is_empty():
        raise BackupError(
            f"The database {connection.settings_dict['NAME']} has tables. Restore into an empty one (DATABASE_URL, or "
            "a new folder in ASSAY_DATA_DIR)"
        )
    if first := next((path for path in media.rglob("*") if path.is_file()), None):
        raise BackupError(f"There are files already, such as {first}. Restore into an empty ASSAY_DATA_DIR")
