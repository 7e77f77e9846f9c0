"""What a release's zip holds in addition to an export: the content as it was, checkers' answers, retrievals and the
plan.

An export's content file has what its items show; `frames/content/` has all of it, so a release is read from there, and
its decided labels from its decisions alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from datetime import date
from functools import partial

from annotation import incoming
from annotation.formats import records
from annotation.formats.cells import BadCell, SeenKeys, to_date, to_key, to_text
from annotation.formats.files.containers import entries_of
from annotation.formats.files.manifests import MANIFEST, read_manifest
from annotation.formats.files.tables import open_tables, parse_rows
from annotation.formats.records import DecisionRecord, FormatError, Record, RowError
from annotation.formats.sources import Options, SourceFile

FRAMES = "frames/"
# Parents before children, as files of `frames/content/` are called.
CONTENT: dict[str, type] = {
    "claim": records.ClaimRecord,
    "question": records.QuestionRecord,
    "response": records.ResponseRecord,
    "triplet": records.TripletRecord,
    "sub_sentence": records.SubSentenceRecord,
    "atomic_claim": records.AtomicClaimRecord,
    "aspect": records.AspectRecord,
    "evidence": records.EvidenceRecord,
    "pair": records.PairRecord,
    "comparison": records.ComparisonRecord,
}
PARENTS = ("claim", "question", "evidence", "response", "atomic_claim", "aspect")


class Frames:
    """The frames of a release among the sources of an import."""

    def __init__(self, source: SourceFile, folder: str, names: set[str], manifest: dict):
        self.source, self.folder, self.names, self.manifest = source, folder, names, manifest

    def rows(self, name: str, options: Options | None = None) -> Iterator[dict]:
        """Objects of `frames/<name>.jsonl`; none where there is no such file. FormatError for a line that is none."""
        for row in self.lines(name, options or Options()):
            if isinstance(row, RowError):
                raise FormatError(f"{row.file}, line {row.line}: {row.column} {row.reason}")
            yield row[1]

    def lines(self, name: str, options: Options) -> Iterator[tuple[int, dict] | RowError]:
        entry = f"{self.folder}{FRAMES}{name}.jsonl"
        if entry not in self.names:
            return
        for table in open_tables([SourceFile(self.source.path, self.source.name, entry)], options):
            yield from table.rows

    @property
    def old_decisions(self) -> bool:
        """Whether decisions have no history: they stand among the frames of releases of earlier versions."""
        return f"{self.folder}{FRAMES}decisions.jsonl" in self.names

    @property
    def has_decisions(self) -> bool:
        return f"{self.folder}decisions.jsonl" in self.names


def frames_in(sources: list[SourceFile]) -> Frames | None:
    """The frames of the release's zip among the sources; None where there is no release."""
    for source in sources:
        names = {entry.filename for entry in entries_of(source)} if not source.entry else set()
        if not any(f"/{FRAMES}" in f"/{name}" for name in names):
            continue
        manifest = read_manifest([source])
        if manifest is not None and isinstance(manifest.get("release"), dict):
            path = min((name for name in names if name.rsplit("/", 1)[-1] == MANIFEST), key=len)
            return Frames(source, path.removesuffix(MANIFEST), names, manifest)
    return None


def read_content(frames: Frames, options: Options) -> Iterator[Record]:
    """The content, parents before children, and the decisions of a release that has them among its frames."""
    for kind, record in CONTENT.items():
        seen = SeenKeys()
        seen.start(kind)
        parse = partial(_content, record, seen, options.limits.key_chars)
        yield from parse_rows(f"{FRAMES}content/{kind}.jsonl", frames.lines(f"content/{kind}", options), parse)
    if frames.old_decisions and not frames.has_decisions:
        parse = partial(_decision, options.limits.key_chars)
        yield from parse_rows(f"{FRAMES}decisions.jsonl", frames.lines("decisions", options), parse)


def _content(record: type, seen: SeenKeys, limit: int, line: int, cells: dict) -> Iterator[Record]:
    built = _record(record, cells, limit)
    seen.add(built.key, "key", line)
    yield built


def _decision(limit: int, line: int, cells: dict) -> Iterator[Record]:
    names = ("unit", "dimension", "label", "method")
    yield DecisionRecord(*(to_key(cells.get(name), name, limit) for name in names))


def _record(record: type, cells: dict, limit: int) -> Record:
    values = {}
    for field in fields(record):
        value = cells.get(field.name)
        if value is None:
            continue
        values[field.name] = _value(field.name, str(field.type), value, limit)
    try:
        return record(**values)
    except TypeError:
        raise BadCell("", cells, f"lacks what a {record.__name__.removesuffix('Record').lower()} must have") from None


def _value(name: str, kind: str, value: object, limit: int) -> object:
    if name in ("key", *PARENTS):
        return to_key(value, name, limit)
    wanted = kind.removesuffix(" | None")
    if wanted == "dict" and isinstance(value, dict) or wanted == "bool" and isinstance(value, bool):
        return value
    if wanted == "int":
        try:
            return incoming.whole(value, -incoming.MAX_INTEGER, incoming.MAX_INTEGER)
        except incoming.Refused as refused:
            raise BadCell(name, value, str(refused)) from None
    if wanted.startswith("tuple") and isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(to_text(one, name) for one in value)
    if not isinstance(value, str) or wanted not in ("str", "date"):
        raise BadCell(name, value, f"is not {_TITLES.get(wanted, 'a list of texts')}")
    value_read: str | date | None = to_date(value, name) if wanted == "date" else to_text(value, name)
    return value_read


_TITLES = {"dict": "a JSON object", "bool": "true or false", "str": "a text", "date": "a date"}
