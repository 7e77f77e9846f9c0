"""Every single annotation as canonical JSON Lines, read together with the file of the content that it is about.

One line per revision: keys sorted, no spaces, text as UTF-8, instants in UTC as ISO 8601 with `Z` and microseconds only
where there are any. The caller sorts lines by `sort_key`. Writing what was read gives the same bytes.

The sources may hold content (DRUID's layout, RefChecker's, or Assay's own) and annotations in any order: each file is
recognised by its columns, and content is read first. The manifest may be among them, and a release's zip may be all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from annotation import incoming

from .cells import BadCell, SeenKeys, row_error, to_key
from .detection import detect
from .manifests import data_files, read_manifest
from .records import AnnotationRecord, FormatError, JudgementRecord, Record, RowError, SpanRecord
from .sources import Options, Source
from .tables import open_tables

CONTENT_FORMATS = ("druid", "refchecker", "content")
RATER_KINDS = ("person", "slot")
KIND_TITLES = {str: "a text", bool: "true or false"}
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False).encode


def read(sources: list[Source], options: Options) -> Iterator[Record]:
    """Content records, then annotations. `options` are handed to the content's format.

    Labels are not compared with a task type here, since the line names its own. Raises FormatError for a file that is
    neither, yields RowError for a bad line.
    """
    from . import get_format

    by_format: dict[str, list[Source]] = {}
    for source in data_files(sources):
        slug = detect(source)
        if slug is None:
            next(open_tables([source], options))  # says what is wrong with the file, where something is
            raise FormatError(f"{source.label}: has no row that can be read")
        if slug != "assay" and slug not in CONTENT_FORMATS:
            raise FormatError(f"{source.label}: is neither annotations nor content in the layout of an Assay export")
        by_format.setdefault(slug, []).append(source)
    for slug in CONTENT_FORMATS:
        if slug in by_format:
            yield from get_format(slug).read(by_format[slug], options)
    if "assay" in by_format:
        yield from read_annotations(by_format["assay"], options)


def task_type_of(sources: list[Source]) -> str:
    """The identifier of the task type that the annotations name, or else the manifest; "" where neither is there."""
    annotations = [source for source in data_files(sources) if detect(source) == "assay"]
    for record in read_annotations(annotations, Options()):
        if getattr(record, "task_type", ""):
            return record.task_type
    named = (read_manifest(sources) or {}).get("task_type")
    return named if isinstance(named, str) else ""


def read_annotations(sources: list[Source], options: Options) -> Iterator[AnnotationRecord | RowError]:
    """The annotation files alone."""
    seen = SeenKeys()
    for table in open_tables(sources, options):
        seen.start(table.name)
        for row in table.rows:
            if isinstance(row, RowError):
                yield row
                continue
            line, cells = row
            try:
                annotation = _annotation(cells, options.limits.key_chars)
                seen.add(f"{annotation.item}\n{annotation.rater}\n{annotation.revision}", "revision", line)
            except BadCell as problem:
                yield row_error(table.name, line, problem)
            else:
                yield annotation


def _annotation(cells: dict, limit: int) -> AnnotationRecord:
    judgements = cells.get("judgements")
    if not isinstance(judgements, list):
        raise BadCell("judgements", judgements, "is not a list")
    kind = _take(cells, "annotator_kind", str, "person")
    if kind not in RATER_KINDS:
        raise BadCell("annotator_kind", kind, f"is not one of {', '.join(RATER_KINDS)}")
    revision = _whole(cells, "revision", 1)
    if revision < 1:
        raise BadCell("revision", revision, "is less than 1")
    return AnnotationRecord(
        item=to_key(cells.get("item"), "item", limit),
        rater=to_key(cells.get("annotator"), "annotator", limit),
        judgements=tuple(_judgement(entry, f"judgements[{at}]", limit) for at, entry in enumerate(judgements)),
        rater_kind=kind,
        revision=revision,
        shown_at=_instant(cells, "shown_at"),
        submitted_at=_instant(cells, "submitted_at"),
        active_ms=_whole(cells, "active_ms", None, incoming.MAX_ACTIVE_MS),
        guideline_version=_whole(cells, "guideline_version", None),
        suggestion_shown=_take(cells, "suggestion_shown", bool, None),
        comment=_take(cells, "comment", str, ""),
        metadata={name: value for name, value in cells.items() if name not in LINE_KEYS},
        task_type=_take(cells, "task_type", str, ""),
        surplus=_take(cells, "surplus", bool, False),
    )


def _judgement(entry: object, path: str, limit: int) -> JudgementRecord:
    if not isinstance(entry, dict):
        raise BadCell(path, entry, "is not a JSON object")
    spans = entry.get("spans", [])
    if not isinstance(spans, list):
        raise BadCell(f"{path}.spans", spans, "is not a list")
    return JudgementRecord(
        to_key(entry.get("unit"), f"{path}.unit", limit),
        to_key(entry.get("dimension"), f"{path}.dimension", limit),
        to_key(entry.get("label"), f"{path}.label", limit),
        tuple(_span(span, f"{path}.spans[{at}]") for at, span in enumerate(spans)),
    )


def _span(span: object, path: str) -> SpanRecord:
    if not isinstance(span, dict):
        raise BadCell(path, span, "is not a JSON object")
    start, end = _whole(span, "start", -1), _whole(span, "end", -1)
    quote = _take(span, "quote", str, "")
    if start < 0 or end <= start or len(quote) != end - start:
        raise BadCell(path, span, "is not a span whose quote is as long as end - start")
    return SpanRecord(_take(span, "field", str, ""), start, end, quote)


def _take(cells: dict, name: str, kind: type, default):
    value = cells.get(name)
    if value is None:
        return default
    if not isinstance(value, kind):
        raise BadCell(name, value, f"is not {KIND_TITLES[kind]}")
    return value


def _instant(cells: dict, name: str) -> datetime | None:
    text = _take(cells, name, str, "")
    if not text:
        return None
    try:
        return incoming.instant(text)
    except incoming.Refused as refused:
        raise BadCell(name, text, str(refused)) from None


def _whole(cells: dict, name: str, default: int | None, highest: int = incoming.MAX_INTEGER) -> int | None:
    value = cells.get(name)
    try:
        return default if value is None else incoming.whole(value, 0, highest)
    except incoming.Refused as refused:
        raise BadCell(name, value, str(refused)) from None


LINE_KEYS = frozenset(
    {
        "item",
        "task_type",
        "annotator",
        "annotator_kind",
        "revision",
        "shown_at",
        "submitted_at",
        "active_ms",
        "guideline_version",
        "suggestion_shown",
        "surplus",
        "comment",
        "judgements",
    }
)


def instant_text(instant: datetime | None) -> str | None:
    """UTC as ISO 8601 with `Z`; microseconds only where there are any. A naive instant raises ValueError."""
    if instant is None:
        return None
    if instant.tzinfo is None:
        raise ValueError("an instant without time zone cannot be written")
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def line_of(annotation: AnnotationRecord) -> str:
    """The canonical line of one revision, without line feed."""
    return _ENCODE(
        annotation.metadata
        | {
            "item": annotation.item,
            "task_type": annotation.task_type,
            "annotator": annotation.rater,
            "annotator_kind": annotation.rater_kind,
            "revision": annotation.revision,
            "shown_at": instant_text(annotation.shown_at),
            "submitted_at": instant_text(annotation.submitted_at),
            "active_ms": annotation.active_ms,
            "guideline_version": annotation.guideline_version,
            "suggestion_shown": annotation.suggestion_shown,
            "surplus": annotation.surplus,
            "comment": annotation.comment,
            "judgements": [
                {
                    "unit": judgement.unit,
                    "dimension": judgement.dimension,
                    "label": judgement.label,
                    "spans": [
                        {"field": span.field, "start": span.start, "end": span.end, "quote": span.quote}
                        for span in judgement.spans
                    ],
                }
                for judgement in annotation.judgements
            ],
        }
    )


def sort_key(annotation: AnnotationRecord) -> tuple[bytes, bytes, int]:
    """The order of lines in an export: by the bytes of the item's key, then of the annotator, then by revision."""
    return annotation.item.encode(), annotation.rater.encode(), annotation.revision


def write(annotations: Iterable[AnnotationRecord], path: str | Path) -> int:
    """Write annotations in the order given, one line each. Returns their number."""
    count = 0
    with open(path, "w", encoding="utf-8", newline="") as out:
        for annotation in annotations:
            out.write(line_of(annotation) + "\n")
            count += 1
    return count
