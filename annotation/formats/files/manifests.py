"""The manifest of an Assay export or release, and which of the files that come with it are read.

A release's zip holds the content in several layouts, and frames for reports; only one file of the content and
the single annotations are read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from zipfile import is_zipfile

from annotation import incoming
from annotation.formats.files.containers import entries_of, open_blobs
from annotation.formats.records import FormatError
from annotation.formats.sources import Options, SourceFile

MANIFEST = "manifest.json"
UNDECIDED = "undecided.tsv"  # units without a label, and why
LABELS, RATINGS = "labels", "ratings"  # tables of an export
SIGN = b'"assay_export"'
HEAD_BYTES = 4096
CONTENT_ENDINGS = (".jsonl", ".tsv", ".parquet")  # the first of them that there is
# What says again what other files say.
NOT_READ = frozenset({UNDECIDED, *(f"{table}{ending}" for table in (LABELS, RATINGS) for ending in CONTENT_ENDINGS)})


def digest_of(path: Path) -> dict:
    """What a manifest says of a file."""
    with open(path, "rb") as file:
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest(), "bytes": path.stat().st_size}


def read_manifest(sources: Iterable[SourceFile]) -> dict | None:
    """The first manifest among the sources or in an archive of them; FormatError where it cannot be read."""
    for source in sources:
        manifest, _ = _opened(source)
        if manifest is not None:
            return manifest
    return None


def data_files(sources: Iterable[SourceFile]) -> list[SourceFile]:
    """The sources without manifests; an archive with one is replaced by those of its files that are read, and so are
    files that come with a manifest as a folder's do."""
    files, loose, folders = [], [], set()
    for source in sources:
        manifest, members = _opened(source)
        if manifest is None:
            loose.append(source)
        elif not members:
            folders.add(_folder_of(source))
        files += members
    if folders:
        read = _read_of([source.label for source in loose if _folder_of(source) in folders])
        loose = [source for source in loose if source.label in read]
    return [*loose, *files]


def _folder_of(source: SourceFile) -> str:
    return source.label.rpartition("/")[0]


def _read_of(names: Iterable[str]) -> list[str]:
    """Of an export's files its content in one layout, and its labels; files for other tools are left out."""
    chosen: dict[str, str] = {}
    for ending in CONTENT_ENDINGS:
        for one in names:
            if one.endswith(ending) and one.rsplit("/", 1)[-1] not in NOT_READ:
                chosen.setdefault(one.removesuffix(ending), one)
    return list(chosen.values())


def _opened(source: SourceFile) -> tuple[dict | None, list[SourceFile]]:
    if source.entry:
        return None, []
    entries = {entry.filename: entry.file_size for entry in entries_of(source)}
    if not entries:  # an archive in which nothing is read has no manifest either, such as a tool's
        return None if is_zipfile(source.path) else _manifest_in(source), []
    # As Assay packs it, or packed again together with its folder.
    name = min((name for name in entries if name.rsplit("/", 1)[-1] == MANIFEST), key=len, default=None)
    manifest = _manifest_in(SourceFile(source.path, source.name, name)) if name else None
    if manifest is None:
        return None, []
    if isinstance(manifest.get("parts"), list):
        raise FormatError(
            f"{source.name}: is a release of several projects; import one after another: manage.py release --take "
            f"{source.name}/FOLDER NEW.zip writes one of them"
        )
    folder = name.removesuffix(MANIFEST)
    siblings = [
        one for one in entries if one.startswith(folder) and "/" not in one.removeprefix(folder) and entries[one]
    ]
    return manifest, [SourceFile(source.path, source.name, one) for one in _read_of(siblings)]


def _manifest_in(source: SourceFile) -> dict | None:
    limits = Options().limits
    for blob in open_blobs([source], Options()):
        head = blob.stream.peek(HEAD_BYTES)
        if not head.lstrip().startswith(b"{") or SIGN not in head[:HEAD_BYTES]:
            return None
        read = b""
        while block := blob.stream.read(HEAD_BYTES * 16):
            read += block
            if len(read) > limits.record_bytes:
                raise FormatError(f"{blob.name}: is longer than {limits.record_bytes:,} bytes, too long for a manifest")
        try:
            manifest = incoming.json_value(read)
        except incoming.Refused as refused:
            place = f"{refused.place} {refused}" if refused.place else f"is not a readable manifest ({refused})"
            raise FormatError(f"{blob.name}: {place}") from None
        return manifest if isinstance(manifest, dict) and "assay_export" in manifest else None
    return None
