"""`manage.py backup`: the database and the files of one moment, in one file."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from config.backup.archive import BackupError, Manifest, verify
from config.backup.making import make_backup


class Command(BaseCommand):
    help = "Back up the database and the files of one moment, while Assay runs, or verify a backup."

    def add_arguments(self, parser) -> None:
        parser.add_argument("path", type=Path, help="the new file, or a folder for it")
        parser.add_argument("--verify", action="store_true", help="read the backup in this file and check it")

    def handle(self, *, path: Path, verify: bool, **options) -> None:
        try:
            path, manifest = (path, _verified(path)) if verify else make_backup(path)
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{path}: {describe(manifest)}")


def _verified(path: Path) -> Manifest:
    return verify(path)


def describe(manifest: Manifest) -> str:
    files = sum(1 for name in manifest.files if name.startswith("files/"))
    size = sum(one["size"] for one in manifest.files.values()) / 1e6
    return (
        f"{sum(manifest.rows.values()):,} rows and {files:,} files of {manifest.made_at}, Assay {manifest.assay}, "
        f"{size:,.1f} MB, complete"
    )
