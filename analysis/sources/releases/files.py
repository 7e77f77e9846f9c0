"""The files of a release: what stands where, their hashes, and opening them in a folder or a zip.

In addition to the files of an export (the content in its layout, `annotations.jsonl`), `frames/` holds what figures
need and labels do not say: units with what they come in, people's arms, decisions, and checkers' answers. Every file is
JSON Lines with sorted keys, its lines in the byte order of keys, without row numbers; numbers as Python writes them,
which reads back the same. `manifest.json` lists every file with its SHA-256, and is not hashed itself, since it names
the moment.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from annotation.formats.files.manifests import MANIFEST, digest_of

ANNOTATIONS = "annotations.jsonl"
DECISIONS = "decisions.jsonl"
SKIPS = "frames/skips.jsonl"
TERMS = "frames/terms.json"
VERSION = 1
# Zip knows no time before; every file gets this one, so that the same files make the same zip.
ZIP = "application/zip"
EPOCH = (1980, 1, 1, 0, 0, 0)
AT_ONCE = 1 << 20

line_of = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False).encode


class ReleaseError(ValueError):
    """A release that is incomplete, changed or unreadable. The message says which file and what to do."""


def combined(digests: dict[str, dict], names: Iterable[str]) -> str:
    """One hash of several files: SHA-256 of lines ``<sha256>  <name>``, sorted by name, as `sha256sum` prints them."""
    lines = "".join(f"{digests[name]['sha256']}  {name}\n" for name in sorted(names))
    return hashlib.sha256(lines.encode()).hexdigest()


def names_of(folder: Path) -> list[str]:
    """All files below the folder but the manifest, as the manifest names them."""
    found = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    return sorted(name for name in found if name != MANIFEST)


def zipped(folder: Path, target: Path) -> None:
    """The folder's files in one zip whose bytes depend on nothing but them."""
    with zipfile.ZipFile(target, "w") as archive:
        for name in [MANIFEST, *names_of(folder)]:
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            with archive.open(entry, "w", force_zip64=True) as out, open(folder / name, "rb") as source:
                while part := source.read(AT_ONCE):
                    out.write(part)


def unpacked(archive: Path, folder: Path) -> None:
    """All files of a release's zip, by the names in its manifest. ReleaseError where one leads out of the folder."""
    files = Files(archive)
    for name in [MANIFEST, *files.manifest["files"], *files.manifest.get("beside", {})]:
        target = folder / name
        if not target.resolve().is_relative_to(folder.resolve()):
            raise ReleaseError(f"{archive}: {name} leads out of the folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        with files.open(name) as source, open(target, "wb") as out:
            shutil.copyfileobj(source, out, AT_ONCE)


def terms_of(manifest: dict) -> bytes:
    """What people were asked and shown: label set, what the project changed about it, every version of the guidelines,
    and the formats of texts. A file of its own, since these are read from the manifest, which no hash covers."""
    terms = {name: manifest.get(name) for name in ("labels", "label_set", "options", "options_versions")}
    terms["guidelines"] = manifest.get("settings", {}).get("guidelines", [])
    if formats := manifest.get("text_formats"):
        terms["text_formats"] = formats
    return line_of(terms).encode()


def labels_in(names: Iterable[str]) -> list[str]:
    """Of a release's files those that the hash of the labels alone covers: content and annotations."""
    return [name for name in names if "/" not in name and name.endswith(".jsonl") and name != DECISIONS]


def rehashed(manifest: dict, folder: Path) -> dict:
    """The manifest for files that were written again under the same names."""
    names, release = manifest["files"], manifest["release"]
    files = {name: digest_of(folder / name) for name in names}
    hashes = {"sha256": combined(files, files), "labels_sha256": combined(files, labels_in(names))}
    return manifest | {"files": files, "release": release | hashes}


def archive_in(path: Path) -> Path | None:
    """The zip that the path is, or leads into: `release.zip/1-ports` is one project of a release of several."""
    return next((one for one in (path, *path.parents) if one.is_file()), None)


def is_release(path: Path) -> bool:
    """Whether the path looks like a release's folder or zip, or a part of one."""
    archive = archive_in(path)
    return (path / MANIFEST).is_file() if archive is None else archive.suffix == ".zip"


class Files:
    """A release's files in a folder or a zip, opened by the names in its manifest and no others."""

    def __init__(self, path: Path):
        self.path = path
        self._archive: zipfile.ZipFile | None = None
        archive = archive_in(path)
        self._prefix = f"{path.relative_to(archive).as_posix()}/" if archive not in (None, path) else ""
        if archive is not None:
            try:
                self._archive = zipfile.ZipFile(archive)
            except zipfile.BadZipFile:
                raise ReleaseError(
                    f"{path}: is not a zip file; give the zip of a release or its unpacked folder"
                ) from None
        elif not path.is_dir():
            raise ReleaseError(f"{path}: there is no such file or folder")
        self.manifest = self._read_manifest()

    def _read_manifest(self) -> dict:
        try:
            with self.open(MANIFEST) as file:
                manifest = json.load(io.TextIOWrapper(file, encoding="utf-8"))
        except (KeyError, FileNotFoundError):
            raise ReleaseError(f"{self.path}: contains no {MANIFEST}, so it is not a release") from None
        except (ValueError, zipfile.BadZipFile, zlib.error) as error:
            raise ReleaseError(f"{self.path}: {MANIFEST} cannot be read ({error})") from None
        if not isinstance(manifest, dict) or "release" not in manifest:
            raise ReleaseError(f"{self.path}: is an export, not a release; freeze one with manage.py release")
        if not isinstance(manifest["release"], dict) or not isinstance(manifest.get("files"), dict):
            raise ReleaseError(f"{self.path}: {MANIFEST} does not list the release's files; freeze it again")
        if manifest["release"].get("version") != VERSION:
            found = manifest["release"].get("version")
            raise ReleaseError(
                f"{self.path}: was written in version {found!r} of the layout; this Assay reads {VERSION}"
            )
        return manifest

    @property
    def parts(self) -> list[str]:
        """The folders of a release of several projects, each a release of its own; empty of others."""
        return [part["folder"] for part in self.manifest.get("parts", ())]

    def open(self, name: str):
        return self._archive.open(self._prefix + name) if self._archive else (self.path / name).open("rb")

    def verify(self) -> None:
        """Every file is there and is the one that was frozen; ReleaseError names the first that is not."""
        for name, known in sorted(self.manifest["files"].items()):
            try:
                found = self._sha256(name)
            except (KeyError, FileNotFoundError):
                raise ReleaseError(f"{self.path}: {name} is missing") from None
            except (zipfile.BadZipFile, zlib.error) as error:
                raise ReleaseError(f"{self.path}: {name} is damaged ({error})") from None
            if found != known["sha256"]:
                raise ReleaseError(f"{self.path}: {name} is not the file that was frozen; its SHA-256 differs")
        if combined(self.manifest["files"], self.manifest["files"]) != self.manifest["release"]["sha256"]:
            raise ReleaseError(f"{self.path}: the manifest's list of files is not the one that was frozen")
        # Releases of earlier versions have the hash alone, or neither.
        terms = self.manifest["files"].get(TERMS, {}).get("sha256", self.manifest["release"].get("terms_sha256"))
        if terms is not None and terms != hashlib.sha256(terms_of(self.manifest)).hexdigest():
            raise ReleaseError(f"{self.path}: the manifest's label set or guidelines are not those that were frozen")

    def _sha256(self, name: str) -> str:
        with self.open(name) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def changed_beside(self) -> list[str]:
        """Files that the hash does not cover, such as the card, that are gone or no longer what was written."""
        changed = []
        for name, known in sorted(self.manifest.get("beside", {}).items()):
            try:
                is_same = self._sha256(name) == known["sha256"]
            except (KeyError, FileNotFoundError, zipfile.BadZipFile, zlib.error):
                is_same = False
            if not is_same:
                changed.append(name)
        return changed

    def text(self, name: str) -> str:
        """A file that the hash does not cover. ReleaseError where the release has none of that name."""
        try:
            with self.open(name) as file:
                return file.read().decode("utf-8")
        except (KeyError, FileNotFoundError):
            raise ReleaseError(f"{self.path}: holds no {name}; releases of earlier versions have none") from None

    def __contains__(self, name: str) -> bool:
        return name in self.manifest["files"]

    def rows(self, name: str, lines_with: re.Pattern[str] | None = None) -> Iterator[dict]:
        """The objects of a JSON Lines file, or of those of its lines in which the pattern is found, which is faster
        than reading all of them; none where the release has no such file."""
        if name not in self:
            return
        with self.open(name) as file:
            for line in io.TextIOWrapper(file, encoding="utf-8", newline="\n"):
                if lines_with is None or lines_with.search(line):
                    yield json.loads(line)
