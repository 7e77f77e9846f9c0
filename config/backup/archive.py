"""The file of a backup: a tar whose last member, the manifest, has the hash of every other one.

A backup that was cut off has no manifest, and none that was changed fits its own.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import tarfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

MANIFEST = "manifest.json"
FORMAT = 1
VENDORS = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
BLOCK = 1024 * 1024
MOST_MANIFEST_BYTES = 1024**3


class BackupError(Exception):
    """The backup cannot be made, read or restored; the message says why and what to do."""


@dataclass(frozen=True)
class Manifest:
    assay: str  # the version that made it
    made_at: str  # ISO 8601, UTC
    vendor: str  # of the database: sqlite or postgresql
    migrations: list[list[str]]  # app and name of those that were applied
    rows: dict[str, int]  # by table
    columns: dict[str, list[str]]  # by table, in the order of its file; empty for SQLite
    files: dict[str, dict]  # by member: size in bytes, sha256
    format: int = FORMAT

    def check(self) -> None:
        """ValueError unless everything is of its kind: another tool may have written or changed the file."""
        kinds = [(self.assay, str), (self.made_at, str), (self.migrations, list)]
        kinds += [(one, dict) for one in (self.rows, self.columns, self.files)]
        kinds += [(one, dict) for one in self.files.values()] + [(one, list) for one in self.columns.values()]
        kinds += [(one, list) for one in self.migrations] + [(one, int) for one in self.rows.values()]
        if self.vendor not in VENDORS or not all(isinstance(value, kind) for value, kind in kinds):
            raise ValueError("the manifest is damaged")


class HashedFile:
    """A file that is read through, with the hash and size of what was read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._hash, self.size = file, hashlib.sha256(), 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._hash.update(data)
        self.size += len(data)
        return data

    def result(self) -> dict:
        return {"size": self.size, "sha256": self._hash.hexdigest()}


class ArchiveWriter:
    def __init__(self, file: IO[bytes]) -> None:
        self._tar = tarfile.TarFile(fileobj=file, mode="w", format=tarfile.PAX_FORMAT)
        self._files: dict[str, dict] = {}

    def add(self, path: Path, name: str) -> None:
        with path.open("rb") as file:
            hashed = HashedFile(file)
            info = self._tar.gettarinfo(arcname=name, fileobj=file)
            info.uid = info.gid = 0
            info.uname = info.gname = ""
            self._tar.addfile(info, hashed)
        self._files[name] = hashed.result()

    def finish(self, **described) -> Manifest:
        manifest = Manifest(files=self._files, **described)
        data = json.dumps(asdict(manifest), indent=1, sort_keys=True).encode()
        info = tarfile.TarInfo(MANIFEST)
        info.size, info.mode = len(data), 0o600
        self._tar.addfile(info, io.BytesIO(data))
        self._tar.close()
        return manifest


@contextlib.contextmanager
def _members(path: Path) -> Iterator[Iterator[tuple[tarfile.TarInfo, HashedFile]]]:
    """Each with its content, which is read before the next is asked for."""
    try:
        with tarfile.open(path, "r:") as tar:
            yield ((info, HashedFile(tar.extractfile(info))) for info in tar if info.isreg())
    except (tarfile.TarError, EOFError) as error:
        raise BackupError(f"{path} is no backup, or only a part of one: {error}") from None
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error}") from None


def verify(path: Path) -> Manifest:
    """Read all of a backup and compare it with its manifest; BackupError says what differs."""
    found, manifest = {}, None
    with _members(path) as members:
        for info, file in members:
            if info.name == MANIFEST:
                manifest = _parse(path, file.read(MOST_MANIFEST_BYTES))
                continue
            while file.read(BLOCK):
                pass
            found[info.name] = file.result()
    if manifest is None:
        raise BackupError(f"{path} is not complete: it has no {MANIFEST}. Make the backup again")
    wrong = sorted(name for name in found.keys() | manifest.files if found.get(name) != manifest.files.get(name))
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise BackupError(f"{path} is damaged: {wrong[0]}{more} is not as it was. Use another backup")
    return manifest


def _parse(path: Path, data: bytes) -> Manifest:
    try:
        values = json.loads(data)
        version = values.get("format")
        if version != FORMAT:
            raise BackupError(f"{path} has the format {version}, which this version of Assay does not know")
        manifest = Manifest(**values)
        manifest.check()
        return manifest
    except (ValueError, TypeError, AttributeError):
        raise BackupError(f"{path} is damaged: its {MANIFEST} cannot be read. Use another backup") from None


def extract(path: Path, start: str, folder: Path) -> None:
    """The members whose names begin with `start`, into a folder, without that beginning."""
    root = folder.resolve()
    with _members(path) as members:
        for info, file in members:
            if not info.name.startswith(start):
                continue
            place = (root / info.name.removeprefix(start)).resolve()
            if not place.is_relative_to(root):
                raise BackupError(f"{path} is damaged: {info.name} leads out of its folder")
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("wb") as out:
                while data := file.read(BLOCK):
                    out.write(data)
