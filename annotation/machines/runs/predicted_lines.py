"""The lines in which a checker elsewhere says what it thinks of a project's units, one by one: what each may hold, and
what is wrong with those that cannot be taken."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType

import msgspec

from annotation import incoming
from annotation.formats.cells import shorten
from annotation.formats.content.assay import cells_of_span
from annotation.formats.records import SPAN_VALUES, RowError
from annotation.imports.rows import Findings
from annotation.imports.span_texts import texts_by_unit
from annotation.jobs.lifecycle import JobError
from annotation.machines.runs.storing import TEXT_LIMIT
from annotation.models import Project, Score
from annotation.task_types import Dimension
from annotation.work.answer_rules import MAX_SPANS, checked_span

LINE_BYTES = 1024 * 1024
AT_ONCE = 1_000
SCORE_CHARS = Score._meta.get_field("name").max_length
SPAN_PARTS = {*SPAN_VALUES, "score"}
_DECODER = msgspec.json.Decoder()  # a tenth of the time of the standard library's
Place = tuple[int, str]  # a unit, and the question or the name of the score
Stated = tuple  # what stands in the row after its place


class BadLine(Exception):
    """A line that cannot be taken."""

    def __init__(self, column: str, value: object, reason: str):
        super().__init__(reason)
        self.column, self.value, self.reason = column, value, reason


class PredictedLabels:
    columns = ("dimension", "label", "probability", "probabilities", "explanation", "spans")

    def __init__(self, project: Project):
        self.project = project
        self.known: dict[str, Dimension] = {one.slug: one for one in project.type.dimensions}
        self.values = {slug: frozenset(one.values) for slug, one in self.known.items()}
        self.only = next(iter(self.known)) if len(self.known) == 1 else None

    def __call__(self, row: dict) -> tuple:
        slug = row.get("dimension", self.only)
        dimension = self.known.get(slug) if isinstance(slug, str) else None
        if dimension is None:
            raise BadLine("dimension", slug, f"is not one of the questions {', '.join(self.known)}")
        label = self._label(dimension, row.get("label"))
        shares = row.get("probabilities") or {}
        if not isinstance(shares, dict) or not shares.keys() <= self.values[slug]:
            raise BadLine("probabilities", shares, "is not an object with a number for labels of the question")
        shares = {name: _share("probabilities", share) for name, share in shares.items()}
        stated = row.get("probability", shares.get(label))
        spans = row.get("spans") or []
        if spans:
            _refuse_spans(dimension, label, spans)
        explanation = row.get("explanation") or ""
        if not isinstance(explanation, str) or len(explanation) > TEXT_LIMIT:
            raise BadLine("explanation", explanation, f"is not a text of at most {TEXT_LIMIT:,} characters")
        return slug, label, None if stated is None else _share("probability", stated), shares, explanation, spans

    def _label(self, dimension: Dimension, stated: object) -> str:
        label = stated
        if isinstance(label, str) and label in self.values[dimension.slug]:
            return label
        if isinstance(label, list) and dimension.takes_several and all(isinstance(one, str) for one in label):
            label = dimension.answer_of(label) if set(label) <= self.values[dimension.slug] else ""
        if isinstance(label, int | float) and not isinstance(label, bool):
            label = str(int(label)) if float(label).is_integer() else repr(label)
        if not isinstance(label, str) or not dimension.takes(label):
            raise BadLine("label", stated, f"is not one of {dimension.known_answers}")
        return label

    def with_texts(self, rows: list[tuple[str, Stated]]) -> list[Stated | BadLine]:
        """What was said of each unit (by its key), its spans held against the texts of the unit's page."""
        wanted = defaultdict(set)
        for unit, stated in rows:
            for span in stated[-1]:
                wanted[span["field"]].add(unit)
        kind, dataset = self.project.type, self.project.dataset
        texts = {field: texts_by_unit(kind, dataset, None, field, units) for field, units in wanted.items()}
        return [self._checked(unit, stated, texts) for unit, stated in rows]

    def _checked(self, unit: str, stated: Stated, texts: dict[str, dict | None]) -> Stated | BadLine:
        slug, *rest, spans = stated
        own = {field: found[unit] for field, found in texts.items() if found and unit in found}
        checked = []
        for span in spans:
            problem, good = checked_span(span, self.known[slug].spans, own)
            if good is None:
                return BadLine("spans", span, problem)
            kept = cells_of_span(good)
            kept |= {"score": float(span["score"])} if span.get("score") is not None else {}
            checked.append(kept)
        checked.sort(
            key=lambda one: (one["field"], one["start"], one["end"], one.get("label", ""), one.get("severity", ""))
        )
        return (slug, *rest, checked)


def _refuse_spans(dimension: Dimension, label: str, spans: object) -> None:
    if not isinstance(spans, list) or not all(isinstance(one, dict) for one in spans):
        raise BadLine("spans", spans, "is not a list of objects")
    if dimension.spans is None or not dimension.may_carry(label):
        raise BadLine("spans", spans, f"do not belong to {label}")
    if len(spans) > MAX_SPANS:
        raise BadLine("spans", len(spans), f"are more than {MAX_SPANS}")
    for span in spans:
        if unknown := sorted(set(span) - SPAN_PARTS):
            raise BadLine("spans", unknown[0], f"is not one of {', '.join(sorted(SPAN_PARTS))}")
        if not isinstance(span.get("field"), str):
            raise BadLine("spans", span, "has no field: the name of the text that it lies in")
        if span.get("score") is not None and not _is_number(span["score"]):
            raise BadLine("spans", span["score"], "has a score that is not a finite number")
    parts = ("start", "end", "label", "severity")
    places = [(one["field"], *(str(one.get(name)) for name in parts)) for one in spans]
    if len(set(places)) < len(places):
        raise BadLine("spans", spans, "name the same place twice")


class PredictedScores:
    columns = ("name", "value")

    def __init__(self, checker: str):
        self.checker = checker

    def __call__(self, row: dict) -> tuple:
        name, value = row.get("name", self.checker), row.get("value")
        if not isinstance(name, str) or not 0 < len(name) <= SCORE_CHARS:
            raise BadLine("name", name, f"is not a name of at most {SCORE_CHARS} characters")
        if "value" not in row or (value is not None and not _is_number(value)):
            raise BadLine("value", value, "is not a finite number, nor null for one that is undefined")
        return name, value if value is None else float(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _share(column: str, value: object) -> float:
    if not _is_number(value) or not 0 <= value <= 1:
        raise BadLine(column, value, "is not a number from 0 to 1")
    return float(value)


# ---- the file ----


def read_lines(
    path: Path,
    units: dict[str, int],
    take: PredictedLabels | PredictedScores,
    findings: Findings,
    beat: Callable[[], None] = lambda: None,
    items: Mapping[str, Sequence[int]] = MappingProxyType({}),
) -> dict[Place, Stated]:
    """What the file says, by place; its bad lines go to the findings. What is said of one of `items` is said of all of
    its units."""
    stated: dict[Place, Stated] = {}
    first: dict[Place, int] = {}
    allowed, lines = {"unit", *take.columns}, _lines(path)
    while block := list(islice(lines, AT_ONCE)):
        beat()
        rows = [_row(raw, units, items, take, allowed) for _, raw in block]
        spanned = [at for at, row in enumerate(rows) if isinstance(row, tuple) and len(row) > 3 and row[-1]]
        if spanned:
            checked = take.with_texts([(rows[at][0], rows[at][1:]) for at in spanned])
            for at, found in zip(spanned, checked, strict=True):
                rows[at] = found if isinstance(found, BadLine) else (rows[at][0], *found)
        for (line, raw), row in zip(block, rows, strict=True):
            if not isinstance(row, BadLine):
                key, name, *rest = row
                for unit in (units[key],) if key in units else items[key]:
                    place = unit, name
                    if place not in stated:
                        stated[place], first[place] = tuple(rest), line
                    elif stated[place] != tuple(rest):
                        row = BadLine("unit", raw.decode(errors="replace"), f"differs from line {first[place]:,}")
                        break
            if isinstance(row, BadLine):
                findings.add_error(RowError("", line, row.column, shorten(row.value), row.reason))
    return stated


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with open(path, "rb") as file:
        line = 0
        while raw := file.readline(LINE_BYTES + 1):
            line += 1
            if len(raw) > LINE_BYTES:
                raise JobError(f"Line {line:,} is longer than {LINE_BYTES:,} bytes; nothing was stored")
            if not raw.isspace():
                yield line, raw


def _row(
    raw: bytes,
    units: dict[str, int],
    items: Mapping[str, Sequence[int]],
    take: Callable[[dict], tuple],
    allowed: set[str],
) -> tuple | BadLine:
    """The unit's key and what is said of it; or why that cannot be taken."""
    try:
        try:
            row = _DECODER.decode(raw)
            # Bytes that are no text are refused by now, and NUL and halves of surrogate pairs must be written with \u.
            if b"\\u" in raw:
                incoming.check_json(row)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, incoming.Refused):
            row = _slowly(raw)
        if not isinstance(row, dict):
            raise BadLine("", row, "is not a JSON object")
        if not row.keys() <= allowed:
            unknown = sorted(row.keys() - allowed)[0]
            raise BadLine(unknown, row[unknown], f"is not one of unit, {', '.join(take.columns)}")
        unit = row.get("unit")
        if not isinstance(unit, str) or (unit not in units and unit not in items):
            raise BadLine("unit", unit, "is not a unit of the project")
        return unit, *take(row)
    except BadLine as bad:
        return bad


def _slowly(raw: bytes) -> object:
    """The line by the reader that says what is wrong with it."""
    try:
        return incoming.json_value(raw)
    except incoming.Refused as refused:
        raise BadLine(refused.place, raw.decode(errors="replace"), str(refused)) from None


def digest_rows(stated: Iterable[tuple[Place, Stated]]) -> list[list]:
    """What a run's identity is computed from: no spans, no reasons are as they were before there were any."""
    return sorted([*place, *_stated(rest)] for place, rest in stated)


def _stated(rest: Stated) -> Stated:
    if len(rest) < len(PredictedLabels.columns) - 1:  # a score
        return rest
    *rest, explanation, spans = rest
    return (*rest, *([spans] if spans or explanation else []), *([explanation] if explanation else []))
