"""`manage.py restore`: a backup into an empty database and an empty data directory."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from config.backup.archive import BackupError
from config.backup.restoring import restore_backup


class Command(BaseCommand):
    help = "Restore a backup into an empty database (DATABASE_URL) and an empty data directory (ASSAY_DATA_DIR)."

    def add_arguments(self, parser) -> None:
        parser.add_argument("path", type=Path, help="the file that `backup` made")

    def handle(self, *, path: Path, **options) -> None:
        try:
            manifest = restore_backup(path)
        except BackupError as error:
            raise CommandError(str(error)) from error
        rows, files = sum(manifest.rows.values()), sum(name.startswith("files/") for name in manifest.files)
        self.stdout.write(f"Restored {rows:,} rows and {files:,} files of {manifest.made_at}, Assay {manifest.assay}.")
