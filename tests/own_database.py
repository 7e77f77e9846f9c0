"""SQLite databases with tables and nothing in them, for processes that have one of their own."""

import os
import subprocess
import sys
from pathlib import Path

from django.conf import settings
from filelock import FileLock

ROOT = Path(__file__).resolve().parent.parent


def empty_database() -> Path:
    """The file to copy. It is migrated once for all processes of a run, which share the folder of data."""
    path = settings.DATA_DIR / "empty.sqlite3"
    with FileLock(f"{path}.lock"):
        if not path.exists():
            making = path.with_suffix(".new")
            environment = os.environ | {
                "DJANGO_SETTINGS_MODULE": "config.settings",
                "DATABASE_URL": f"sqlite:///{making}",
            }
            migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
            subprocess.run(migrate, cwd=ROOT, env=environment, check=True)
            making.rename(path)
    return path
