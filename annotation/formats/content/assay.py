"""Every single annotation as canonical JSON Lines, read together with the file of the content that it is about.

One line per revision: keys sorted, no spaces, text as UTF-8, instants in UTC as ISO 8601 with `Z` and microseconds only
where there are any. The caller sorts lines by `sort_key`. Writing what was read gives the same bytes.

The sources may hold content (DRUID's layout, RefChecker's, or Assay's own) and annotations in any order: each file is
recognised by its columns, and content is read first. The manifest may be among them, and a release's zip may be all.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from annotation import incoming
from annotation.formats.cells import BadCell, SeenKeys, to_key, to_list, to_object, to_text
from annotation.formats.content.frames import frames_in, read_content
from annotation.formats.detection import detect
from annotation.formats.files.manifests import data_files, read_manifest
from annotation.formats.files.tables import open_tables
from annotation.formats.info import SURE, TEXT_TABLES, Format, has_columns
from annotation.formats.records import (
    SPAN_VALUES,
    AnnotationRecord,
    DecisionRecord,
    FormatError,
    JudgementRecord,
    Record,
    RowError,
    SpanRecord,
)
from annotation.formats.sources import Options, SourceFile
from annotation.task_types.base import trimmed

RATER_KINDS = ("person", "slot")
GROUP, GROUP_CHARS = "annotator_group", 200
DECISION_SIGN = "method"
OUTCOMES = ("no-answer", "dropped")  # of decisions, in addition to a label
REASONS = ("guideline-unclear", "slip", "ambiguous", "bad-item")  # why an adjudicator had to decide
KINDS_ABOVE = ("claim", "response")  # of units that decisions about others were lifted to
ANSWER_CHARS = 10_000
KIND_TITLES = {str: "a text", bool: "true or false"}
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False).encode


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    """Content records, then annotations. `options` are handed to the content's format.

    Labels are not compared with a task type here, since the line names its own. Raises FormatError for a file that is
    neither, yields RowError for a bad line.
    """
    from annotation.formats import FORMATS

    by_format: dict[str, list[SourceFile]] = {}
    for source in data_files(sources):
        slug = detect(source)
        if slug is None:
            next(open_tables([source], options))  # says what is wrong with the file, where something is
            raise FormatError(f"{source.label}: has no row that can be read")
        if slug != INFO.slug and not FORMATS[slug].is_of_exports:
            raise FormatError(f"{source.label}: is neither annotations nor content in the layout of an Assay export")
        by_format.setdefault(slug, []).append(source)
    annotated = by_format.pop(INFO.slug, [])
    frames = frames_in(sources)
    if frames is not None:
        yield from read_content(frames, options)
        yield from read_labels(annotated, options)
        return
    is_decision = _told_by_labels(annotated, options)
    for slug in filter(by_format.__contains__, FORMATS):
        for record in FORMATS[slug].read(by_format[slug], options):
            if not isinstance(record, DecisionRecord) or is_decision(record):
                yield record
    if annotated:
        yield from read_labels(annotated, options)


def _told_by_labels(sources: list[SourceFile], options: Options) -> Callable[[DecisionRecord], bool]:
    """Which of the content's decided labels are decisions: none where the decisions have a file of their own. In an
    export without one, a label that is the majority of the annotations is nobody's decision."""
    votes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    latest: dict[tuple[str, str], AnnotationRecord] = {}
    for record in read_labels(sources, options):
        if isinstance(record, DecisionRecord):
            return lambda decided: False
        if isinstance(record, AnnotationRecord):
            known = latest.get((record.item, record.rater))
            if known is None or known.revision < record.revision:
                latest[record.item, record.rater] = record
    for annotation in latest.values():
        for judgement in () if annotation.surplus else annotation.judgements:
            votes[judgement.unit, judgement.dimension][judgement.label] += 1
    majorities = {
        place: most[0][0]
        for place, counted in votes.items()
        for most in (counted.most_common(2),)
        if len(most) == 1 or most[0][1] > most[1][1]
    }
    return lambda decided: majorities.get((decided.unit, decided.dimension)) != decided.label


def task_type_of(sources: list[SourceFile], options: Options) -> str:
    """The identifier of the task type that the annotations name, or else the manifest; "" where neither is there."""
    annotated = [source for source in data_files(sources) if detect(source) == INFO.slug]
    for record in read_labels(annotated, Options()):
        if getattr(record, "task_type", ""):
            return record.task_type
    named = (read_manifest(sources) or {}).get("task_type")
    return named if isinstance(named, str) else ""


def read_labels(sources: list[SourceFile], options: Options) -> Iterator[AnnotationRecord | DecisionRecord | RowError]:
    """The files of annotations and of decisions alone; a line's columns tell which it is."""
    seen = SeenKeys()

    def label_of(line: int, cells: dict) -> list[AnnotationRecord | DecisionRecord]:
        if DECISION_SIGN in cells and "judgements" not in cells:
            record = _decision(cells, options.limits.key_chars)
            key = ("decision", record.unit, record.dimension, record.method, str(record.number))
            seen.add("\n".join(key), "number", line)
        else:
            record = _annotation(cells, options.limits.key_chars)
            seen.add(f"{record.item}\n{record.rater}\n{record.revision}", "revision", line)
        return [record]

    for table in open_tables(sources, options):
        seen.start(table.name)
        yield from table.parsed(label_of)


def _annotation(cells: dict, limit: int) -> AnnotationRecord:
    judgements = to_list(cells.get("judgements"), "judgements")
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
        labels_seen=_take(cells, "labels_seen", bool, None),
        comment=_take(cells, "comment", str, ""),
        metadata={name: value for name, value in cells.items() if name not in LINE_KEYS},
        task_type=_take(cells, "task_type", str, ""),
        surplus=_take(cells, "surplus", bool, False),
        rater_group=to_key(cells[GROUP], GROUP, GROUP_CHARS) if GROUP in cells else "",
    )


def _decision(cells: dict, limit: int) -> DecisionRecord:
    number, label, seen = _whole(cells, "number", 1), _take(cells, "label", str, ""), cells.get("seen")
    if number < 1:
        raise BadCell("number", number, "is less than 1")
    if label:
        _answer(label, "label")
    elif "number" not in cells:
        raise BadCell("label", label, "is missing")
    outcome, version, posterior = (
        _take(cells, "outcome", str, ""),
        _whole(cells, "version", None),
        cells.get("posterior"),
    )
    if outcome not in ("", *OUTCOMES) or (outcome and label):
        raise BadCell("outcome", outcome, f"is not one of {', '.join(OUTCOMES)}, which have no label")
    if version is not None and version < 1:
        raise BadCell("version", version, "is less than 1")
    if posterior is not None and (type(posterior) not in (int, float) or not 0 <= posterior <= 1):
        raise BadCell("posterior", posterior, "is not a number from 0 to 1")
    kind = _take(cells, "unit_kind", str, "")
    if kind not in ("", *KINDS_ABOVE):
        raise BadCell("unit_kind", kind, f"is not one of {', '.join(KINDS_ABOVE)}")
    reason = _take(cells, "reason", str, "")
    if reason not in ("", *REASONS):
        raise BadCell("reason", reason, f"is not one of {', '.join(REASONS)}")
    if seen is not None and not _is_seen(seen):
        raise BadCell("seen", seen, 'is not a JSON object with "runs", a list of objects with "run" and "checker"')
    return DecisionRecord(
        unit=to_key(cells.get("unit"), "unit", limit),
        dimension=to_key(cells.get("dimension"), "dimension", limit),
        label=label,
        method=to_key(cells.get(DECISION_SIGN), DECISION_SIGN, limit),
        number=number,
        rater=_take(cells, "rater", str, ""),
        note=_take(cells, "note", str, ""),
        seen=seen,
        decided_at=_instant(cells, "decided_at"),
        version=version,
        outcome=outcome,
        posterior=posterior,
        unit_kind=kind,
        reason=reason,
        spans=_spans(cells, "spans"),
        for_guidelines=_take(cells, "for_guidelines", bool, False),
    )


def _is_seen(seen: object) -> bool:
    runs = seen.get("runs", []) if isinstance(seen, dict) else None
    return isinstance(runs, list) and all(
        isinstance(one, dict) and isinstance(one.get("run"), str) and isinstance(one.get("checker"), str)
        for one in runs
    )


def _judgement(entry: object, path: str, limit: int) -> JudgementRecord:
    entry = to_object(entry, path)
    return JudgementRecord(
        to_key(entry.get("unit"), f"{path}.unit", limit),
        to_key(entry.get("dimension"), f"{path}.dimension", limit),
        _answer(entry.get("label"), f"{path}.label"),
        _spans(entry, f"{path}.spans"),
    )


def _spans(cells: dict, path: str) -> tuple[SpanRecord, ...]:
    spans = to_list(cells.get("spans", []), path)
    return tuple(_span(span, f"{path}[{at}]") for at, span in enumerate(spans))


def _answer(value: object, path: str) -> str:
    """A label, several with marks between them, a number or a text: what it may be, the question says."""
    text = to_text(value, path)
    if not text or text != trimmed(text):
        raise BadCell(path, text, "is empty" if not trimmed(text) else "has spaces or line breaks around it")
    if len(text) > ANSWER_CHARS:
        raise BadCell(path, text, f"has {len(text):,} characters; at most {ANSWER_CHARS:,} are stored")
    return text


def _span(span: object, path: str) -> SpanRecord:
    span = to_object(span, path)
    start, end = _whole(span, "start", -1), _whole(span, "end", -1)
    quote = _take(span, "quote", str, "")
    if start < 0 or end <= start or len(quote) != end - start:
        raise BadCell(path, span, "is not a span whose quote is as long as end - start")
    more = (_take(span, name, str, "") for name in SPAN_VALUES[4:])
    return SpanRecord(_take(span, "field", str, ""), start, end, quote, *more)


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
        GROUP,
        "revision",
        "shown_at",
        "submitted_at",
        "active_ms",
        "guideline_version",
        "suggestion_shown",
        "labels_seen",
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
    # Files from before these were stored do not have them, and come out as they went in.
    more = {} if annotation.labels_seen is None else {"labels_seen": annotation.labels_seen}
    more |= {GROUP: annotation.rater_group} if annotation.rater_group else {}
    return _ENCODE(
        annotation.metadata
        | more
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
                    "spans": [cells_of_span(span) for span in judgement.spans],
                }
                for judgement in annotation.judgements
            ],
        }
    )


def cells_of_span(span: SpanRecord) -> dict:
    """Without what the span does not have, so that lines of before stay as they were."""
    cells = {name: getattr(span, name) for name in SPAN_VALUES}
    return {name: value for name, value in cells.items() if value or name in SPAN_VALUES[:4]}


def line_of_decision(decision: DecisionRecord) -> str:
    """The canonical line of one decision, without line feed. What is not known is left out."""
    more = {"rater": decision.rater or None, "note": decision.note or None, "seen": decision.seen}
    more |= {"label": decision.label or None, "decided_at": instant_text(decision.decided_at)}
    more |= {"version": decision.version, "posterior": decision.posterior}
    more |= {"outcome": decision.outcome or None, "unit_kind": decision.unit_kind or None}
    more |= {"reason": decision.reason or None, "for_guidelines": decision.for_guidelines or None}
    more |= {"spans": [cells_of_span(span) for span in decision.spans] or None}
    return _ENCODE(
        {"unit": decision.unit, "dimension": decision.dimension, "method": decision.method, "number": decision.number}
        | {name: value for name, value in more.items() if value is not None}
    )


def decision_key(decision: DecisionRecord) -> tuple[bytes, str, str, int]:
    """The order of decisions in an export."""
    return decision.unit.encode(), decision.dimension, decision.method, decision.number or 1


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


has_lines = has_columns("item annotator judgements", "unit dimension method number")

INFO = Format(
    slug="assay",
    title="Assay export",
    extensions=TEXT_TABLES,
    reader=read,
    detect=lambda head: SURE if read_manifest([head.source]) is not None else has_lines(head),
    has_content_file=True,
    task_type_of=task_type_of,
    carries_settings=True,
)
