"""WMT's error annotations (MQM): tab-separated, a row for each error of a segment, or one that says there is none.

    system  doc  doc_id  seg_id  rater  source  target  category  severity  comment
    Nemo    talk.1  1  1  rater4  The <v>…</v>  …  Accuracy/Mistranslation  Minor

`<v>` and `</v>` are around the error, in the target or in the source. Segments are answers of the systems to their
sources, and errors are highlights with a category, a severity and the comment as a reason. The weights are those of
Freitag et al. 2021 (Experts, Errors, and Context), and stand in the label set.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from annotation.formats.cells import BadCell, SeenParents, required_text, to_key, to_text
from annotation.formats.files.tables import open_tables
from annotation.formats.info import Format, Writer, has_columns
from annotation.formats.names import TITLE_CHARS, highlight_value, shown
from annotation.formats.records import (
    AnnotationRecord,
    FormatError,
    JudgementRecord,
    LostRecord,
    QuestionRecord,
    Record,
    ResponseRecord,
    SpanRecord,
    place_of_span,
)
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tools.tasks import FORM_MARKS, MARKED, NONE
from annotation.formats.tools.tool_tasks import WrittenQuestion, WrittenTask
from annotation.task_types.base import MAX_OWN_LABELS, REASON_CHARS

QUESTION = "errors"
NO_ERROR = "No-error"
OPEN, CLOSE = "<v>", "</v>"
COLUMNS = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
OF_TEXTS = ("doc", "doc_id", "seg_id")
FIELDS = {"source": "question", "target": "response"}  # column -> the text that it is on the page
SEVERITIES = {"Neutral": 0.0, "Minor": 1.0, "Major": 5.0, "Critical": 5.0}
PUNCTUATION, NON_TRANSLATION = "fluency/punctuation", "non-translation"
UNMARKED = "is an error without a marked place: put <v> and </v> around it, in the target or in the source"
ENDLESS = "Marks that do not end, which reach to the end of the text"
DOUBLE = "Errors that one rater marked twice at the same place"


@dataclass(slots=True)
class _Answer:
    """What one rater found in one segment."""

    spans: dict[tuple, SpanRecord] = field(default_factory=dict)
    is_bad: bool = False  # a row of it could not be read, and the rest would be half an answer


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    """Sources and targets in the order of the file, then raters' answers. Rows of one answer may stand apart."""
    reading = _Reading(options)
    for table in open_tables(sources, replace(options, plain_quotes=True)):
        for seen in (reading.questions, reading.responses):
            seen.start(table.name)
        yield from table.parsed(partial(reading.records_of, table.name))
    yield from reading.annotations()


class _Reading:
    def __init__(self, options: Options):
        self.limit = options.limits.key_chars
        made = (options.label_set or {}).get("questions", ())
        rule = next((one.get("spans", {}) for one in made if one["slug"] == QUESTION), {})
        self.categories = {one["title"].casefold(): one["value"] for one in rule.get("own_labels", ())}
        self.questions = SeenParents("source", ("source",))
        self.responses = SeenParents("segment", ("target",))
        self.answers: dict[tuple[str, str], _Answer] = {}
        self.counts: Counter[str] = Counter()
        self.first: dict[str, str] = {}

    def _note(self, what: str, file: str, line: int) -> None:
        self.counts[what] += 1
        self.first.setdefault(what, f"{file}, line {line:,}")

    def records_of(self, file: str, line: int, cells: dict) -> Iterator[Record]:
        doc, seg = (to_key(cells.get(name), name, self.limit) for name in ("doc", "seg_id"))
        system, rater = (to_key(cells.get(name), name, self.limit) for name in ("system", "rater"))
        item = to_key(f"{system}/{doc}/{seg}", "seg_id", self.limit)
        answer = self.answers.setdefault((item, rater), _Answer())
        try:
            yield from self._read(cells, answer, f"{doc}/{seg}", item, system, (file, line))
        except BadCell:
            answer.is_bad = True
            raise

    def _read(
        self, cells: dict, answer: _Answer, question: str, item: str, system: str, place: tuple[str, int]
    ) -> Iterator[Record]:
        texts = {column: _plain(required_text(cells.get(column), column), column) for column in FIELDS}
        about = {name: to_text(cells.get(name), name) for name in OF_TEXTS}
        if self.questions.is_new(question, (texts["source"][0],), place[1]):
            yield QuestionRecord(question, texts["source"][0], metadata=about)
        if self.responses.is_new(item, (texts["target"][0],), place[1]):
            yield ResponseRecord(item, texts["target"][0], question=question, model=system, metadata=about)
        for column in FIELDS:
            if to_text(cells.get(column), column).count(OPEN) > to_text(cells.get(column), column).count(CLOSE):
                self._note(ENDLESS, *place)
        for span in self._errors(cells, texts):
            if place_of_span(span) in answer.spans:
                self._note(DOUBLE, *place)
            answer.spans[place_of_span(span)] = span

    def _errors(self, cells: dict, texts: Mapping[str, tuple[str, list]]) -> Iterator[SpanRecord]:
        """The error of the row; none where it says that there is none."""
        category = required_text(cells.get("category"), "category")
        severity = _severity(cells.get("severity"))
        if not severity:
            if category.casefold() != NO_ERROR.casefold():
                raise BadCell("severity", severity, f"is missing; the category is {category}")
            return
        if category.casefold() == NO_ERROR.casefold():
            raise BadCell("severity", severity, f"is a severity, but the category is {category}")
        places = [(column, *place) for column in reversed(FIELDS) for place in texts[column][1]]
        if not places:
            raise BadCell("target", texts["target"][0], UNMARKED)
        if len(places) > 1:
            raise BadCell("target", texts["target"][0], "has several marked places; write one row for each error")
        [(column, start, end)] = places
        reason = to_text(cells.get("comment"), "comment").strip()
        if len(reason) > REASON_CHARS:
            raise BadCell("comment", reason, f"has {len(reason):,} characters; a reason has at most {REASON_CHARS:,}")
        named = self.categories.get(category.casefold(), highlight_value(category))
        yield SpanRecord(FIELDS[column], start, end, texts[column][0][start:end], named, severity, reason)

    def annotations(self) -> Iterator[Record]:
        for (item, rater), answer in self.answers.items():
            if answer.is_bad:
                continue
            spans = tuple(answer.spans[place] for place in sorted(answer.spans))
            judgement = JudgementRecord(item, QUESTION, MARKED if spans else NONE, spans)
            yield AnnotationRecord(item, rater, (judgement,))
        for what, number in self.counts.items():
            yield LostRecord(what, number, self.first[what])


def _plain(text: str, column: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without marks, and the places that they were around; a mark that never ends reaches to the end."""
    parts = re.split(f"({OPEN}|{CLOSE})", text)
    plain, places, start = "", [], None
    for part in parts:
        if part == OPEN and start is None:
            start = len(plain)
        elif part == CLOSE and start is not None:
            if start == len(plain):
                raise BadCell(column, text, f"has nothing between {OPEN} and {CLOSE}")
            places.append((start, len(plain)))
            start = None
        elif part in (OPEN, CLOSE):
            raise BadCell(column, text, f"has {OPEN} and {CLOSE} that do not match")
        else:
            plain += part
    if start is not None and start == len(plain):
        raise BadCell(column, text, f"has {OPEN} without {CLOSE}")
    if start is not None:
        places.append((start, len(plain)))
    return plain, places


def _severity(value: object) -> str:
    """As the label set has it; "" for a row without an error."""
    text = required_text(value, "severity")
    if text.casefold() == NO_ERROR.casefold():
        return ""
    if (known := text.capitalize()) not in SEVERITIES:
        raise BadCell("severity", text, f"is none of {', '.join(SEVERITIES)}, {NO_ERROR}")
    return known


def label_set_of(sources: list[SourceFile], options: Options, name: str) -> dict:
    """The categories and severities that occur, with the weights of Freitag et al. 2021."""
    categories: dict[str, str] = {}
    severities: set[str] = set()
    for table in open_tables(sources, replace(options, plain_quotes=True)):
        for _, cells in table.good_rows:
            with suppress(BadCell):  # the import says what is wrong with the row
                category, severity = (to_text(cells.get(name), name) for name in ("category", "severity"))
                if category.strip() and category.casefold() != NO_ERROR.casefold():
                    categories.setdefault(category.casefold(), category)
                severities.add(severity.capitalize())
    if not categories:
        return {}
    if len(categories) > MAX_OWN_LABELS:
        some = ", ".join(list(categories.values())[:3])
        raise FormatError(
            f"The file has {len(categories)} categories, such as {some}; highlights have at most {MAX_OWN_LABELS} "
            "labels. Merge categories"
        )
    found = [one for one in SEVERITIES if one in severities] or list(SEVERITIES)
    weights = [
        {"label": highlight_value(category), "severity": "Minor", "weight": 0.1}
        for category in categories.values()
        if category.casefold() == PUNCTUATION and "Minor" in found
    ] + [
        {"label": highlight_value(category), "weight": 25.0}
        for category in categories.values()
        if category.casefold().startswith(NON_TRANSLATION)
    ]
    spans = {
        "title": "Errors",
        "fields": list(FIELDS.values()),
        "required": True,
        "labels": [MARKED],
        "own_labels": [
            {"value": highlight_value(one), "title": shown(one).translate(FORM_MARKS)[:TITLE_CHARS]}
            for one in sorted(categories.values())
        ],
        "severities": [{"value": one, "title": one, "weight": SEVERITIES[one]} for one in found],
        "weights": weights,
        "reasons": True,
    }
    labels = [{"value": MARKED, "title": "Errors"}, {"value": NONE, "title": "No error"}]
    question = {"slug": QUESTION, "title": "Errors", "level": "nominal", "labels": labels, "spans": spans}
    described = {"name": shown(name)[:150] or "MQM", "version": 1, "page": "response", "summary": ""}
    return described | {"questions": [question]}


# --- writing --------------------------------------------------------------------------------------------------------

FILE = "mqm.tsv"
LOSES = (
    "Tabs and line breaks in texts and reasons, which become spaces",
    "Names: raters are called by their pseudonyms",
    "Texts other than the source and the target",
    "Times",
)
_UNSEEN = str.maketrans("\t\n\r", "   ")


def write(tasks: Iterable[WrittenTask], questions: list[WrittenQuestion], folder: Path) -> None:
    """A row for each error, and one for each answer that found none; none for segments without answers."""
    with open(folder / FILE, "w", encoding="utf-8", newline="") as out:
        out.write("\t".join([*COLUMNS, "comment"]) + "\n")
        for task in tasks:
            for answers in task.people:
                for question in questions:
                    for cells in _rows(task, answers.spans.get(question.slug, ())):
                        row = (*cells[:4], answers.who, *cells[4:])
                        out.write("\t".join(cell.translate(_UNSEEN) for cell in row) + "\n")


def _rows(task: WrittenTask, spans: Iterable[SpanRecord]) -> Iterator[tuple[str, ...]]:
    doc, doc_id, seg = (str(task.metadata.get(name, "")) for name in OF_TEXTS)
    about = task.key.removesuffix(f"/{doc}/{seg}"), doc, doc_id, seg
    plain = {column: task.texts.get(name, "") for column, name in FIELDS.items()}
    found = [span for span in spans if span.field in FIELDS.values()]
    for span in found:
        texts = plain | {column: _marked(plain[column], span) for column, name in FIELDS.items() if name == span.field}
        yield (*about, *texts.values(), span.label, span.severity, span.reason)
    if not found:
        yield (*about, *plain.values(), NO_ERROR, NO_ERROR, "")


def _marked(text: str, span: SpanRecord) -> str:
    return f"{text[: span.start]}{OPEN}{span.quote}{CLOSE}{text[span.end :]}"


INFO = Format(
    slug="wmt-mqm",
    title="WMT error annotations (MQM)",
    extensions=(".tsv",),
    reader=read,
    detect=has_columns("system seg_id rater source target category severity"),
    label_set_of=label_set_of,
    writers={
        "wmt-mqm": Writer(
            title="WMT error annotations (MQM)", write=write, loses=LOSES, holds=lambda one: one.has_severities
        )
    },
)
