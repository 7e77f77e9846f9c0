"""The rows that an import left out, whole and with the reason, as a file that is kept with it.

The list with the job is for looking: it is cut off, and its values are shortened. This one is for bringing the rows in
once they are right.
"""

from __future__ import annotations

import csv
import hashlib
import json
import tempfile
from pathlib import Path

from annotation.formats.cells import to_text
from annotation.formats.files.spreadsheets import needs_escape
from annotation.formats.records import RowError
from annotation.models import Artifact, Job

FILE_NAME = "left-out-rows.csv"
ABOUT = ("left out of", "on line", "because of", "reason")


class LeftOutRows:
    """Give it every row as it comes, then `store` the file."""

    def __init__(self) -> None:
        self.lines = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115, closed with the last reference
        self.columns: dict[str, None] = {}
        self.number = 0

    def add(self, row: RowError) -> None:
        cells = row.cells or {}
        self.columns.update(dict.fromkeys(cells))
        about = (row.file, row.line or "", row.column, row.reason if row.cells else f"{row.value} {row.reason}")
        self.lines.write(json.dumps([about, {name: _text(value) for name, value in cells.items()}]) + "\n")
        self.number += 1

    def store(self, job: Job) -> None:
        """Once: a worker that takes the job up again writes the file anew."""
        remove(job)
        if not self.number:
            return
        artifact = Artifact(job=job, file_name=FILE_NAME, media_type="text/csv", size=0, sha256="")
        path = path_of(artifact)
        path.parent.mkdir(parents=True, exist_ok=True)
        self.lines.seek(0)
        with open(path, "w", encoding="utf-8", newline="") as out:
            rows = csv.writer(out)
            rows.writerow([*ABOUT, *map(_safe, self.columns)])
            for about, cells in map(json.loads, self.lines):
                rows.writerow([_safe(str(one)) for one in (*about, *(cells.get(name, "") for name in self.columns))])
        raw = path.read_bytes()
        artifact.size, artifact.sha256 = len(raw), hashlib.sha256(raw).hexdigest()
        artifact.save()


def artifact_of(job: Job) -> Artifact | None:
    """The file of an import that left rows out."""
    return job.artifacts.filter(file_name=FILE_NAME).first()


def path_of(artifact: Artifact) -> Path:
    return artifact.stored_at


def remove(job: Job) -> None:
    for artifact in job.artifacts.filter(file_name=FILE_NAME):
        artifact.delete()


def _text(value: object) -> str:
    is_plain = not isinstance(value, dict | list | bytes)
    return to_text(value, "") if is_plain else json.dumps(value, ensure_ascii=False, default=str)


def _safe(text: str) -> str:
    return f"'{text}" if needs_escape(text) else text
