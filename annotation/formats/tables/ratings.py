"""A table of texts with labels, ratings and scores: each column has a role that the user names (`tables.roles`).

Other columns are kept with the text. A text with a system is an answer of a model to its context; with a context alone,
a pair of premise and hypothesis; alone, a claim. One text may stand on several rows. What one rater says twice is once
where it is the same, and else a revision; rows of no named rater are exchangeable places where a text has several, and
decisions where every text has one. Empty cells are missing labels. Labels stay as they are written: those that differ
in case, spaces and hyphens alone are one only where that is chosen; 1 and 1.0 are one number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import chain

from annotation.formats.cells import (
    BadCell,
    LeftOut,
    guess_label,
    number_in,
    required_text,
    row_error,
    to_date,
    to_key,
    to_text,
)
from annotation.formats.files.json_streams import decode_json
from annotation.formats.info import TEXT_TABLES, Format
from annotation.formats.names import chosen_value, find_label, label_key, label_value, question_slug
from annotation.formats.records import (
    AnnotationRecord,
    ClaimRecord,
    DecisionRecord,
    JudgementRecord,
    LostRecord,
    OddRecord,
    PairRecord,
    QuestionRecord,
    Record,
    ResponseRecord,
    RowError,
    ScoreRecord,
    SpanRecord,
    SuggestionRecord,
)
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.guessing.roles import check_roles
from annotation.formats.tables.highlights import TablePlaces, spans_in_cell, spans_of_marks, spans_of_row, unmarked
from annotation.formats.tables.keys import TextKeys
from annotation.formats.tables.mapping_file import RATINGS
from annotation.formats.tables.nested import NESTED
from annotation.formats.tables.oddities import (
    DATES,
    FOLD,
    IDENTICAL,
    LEAVE_OUT,
    MERGED,
    ODDITIES,
    PLACES,
    REVISIONS,
    SPELLINGS,
    UNMAPPED,
    UNNAMED,
    ZONE,
    check_treatment,
)
from annotation.formats.tables.opening import Opening
from annotation.formats.tables.questions import (
    FIELD_OF_PAGE,
    HIGHLIGHTS,
    MARKED,
    NOTHING,
    chosen_of,
    in_order,
    made_of,
    parts_of,
    range_in,
)
from annotation.formats.tables.rows import hashed, plain
from annotation.formats.tables.summary import sentences
from annotation.formats.tables.times import Times
from annotation.task_types.base import NONE_CHOSEN, SEPARATOR, number_text

MISSING_NUMBERS = ("nan", "na", "none", "null")


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    """Content as it comes, then what raters and checkers said. FormatError for roles that do not fit the file."""
    rows = RatingRows(options)
    yield from _content(sources, options, rows)
    yield from rows.said()


def read_whole(sources: list[SourceFile], options: Options, name: str) -> tuple[list[Record], dict]:
    """What `read` and `label_set_of` give, in one pass."""
    rows = RatingRows(options)
    content = list(_content(sources, options, rows))
    description = made_of(rows, name)
    rows.write_numbers({one["slug"] for one in description.get("questions", ()) if one.get("answer") == "number"})
    return [*content, *rows.said()], description


def label_set_of(sources: list[SourceFile], options: Options, name: str) -> dict:
    """The label set of the file's labels: a question for each that it names, with the values that occur. Numbers are at
    the interval level, in their order, or any number where more than 40 occur; others are nominal. {} where the file
    has no labels.

    Raises FormatError where a question has more than 40 different values that are not numbers.
    """
    rows = RatingRows(options)
    for _ in _content(sources, options, rows):
        pass
    return made_of(rows, name)


def _content(sources: list[SourceFile], options: Options, rows: RatingRows) -> Iterator[Record]:
    if rows.is_read_twice:
        rows.see(Opening(sources, options.quiet(), rows.has_places))
    yield from rows.places.odd()
    opening = Opening(sources, options, rows.has_places)
    for file, line, row in opening:
        if isinstance(row, RowError):
            yield row
            continue
        try:
            rows.places.at(file, line)
            yield from rows.records_of(file, line, row.cells, row.place)
        except BadCell as problem:
            error = row_error(file, line, problem)
            yield replace(error, cells=row.cells, is_chosen=isinstance(problem, LeftOut))
    for name, (number, first) in opening.without.items():
        yield LostRecord(f"Rows whose list of texts is empty: {name[:-2]}", number, first)


@dataclass(slots=True)
class _Answer:
    """What one rater says on one row, or on several that go together."""

    labels: dict[str, str]
    comment: str = ""
    at: datetime | None = None
    spans: dict[str, dict[SpanRecord, None]] = field(default_factory=dict)  # by question; a dict keeps their order
    kept: dict[str, list] = field(default_factory=dict)  # by column, a value for each of the rows
    about: dict[str, object] = field(default_factory=dict)  # what describes the rater


class RatingRows:
    """Texts by key, and what was said of each, gathered until the end: a text may stand on many rows."""

    def __init__(self, options: Options):
        check_roles(options.mapping)
        check_treatment(options.treat)
        self.mapping, self.limit = dict(options.mapping), options.limits.key_chars
        self.treat = {kind: options.treat.get(kind, oddity.default) for kind, oddity in ODDITIES.items()}
        self.meant = {
            question: {label_key(value): label for value, label in values.items()} | dict(values)
            for question, values in options.values.items()
        }
        self.accepted = {question: labels for question, labels in options.labels.items() if labels}
        self.caption_of = {
            question: {value: options.titles.get(question, {}).get(value, value) for value in labels}
            for question, labels in self.accepted.items()
        }
        self.unlisted = options.labels.keys() - self.accepted.keys()  # questions that numbers answer
        self.ranges = {question: range_in(text, question) for question, text in options.ranges.items()}
        self.is_marked = "marked" in self.mapping
        if self.is_marked:
            self.mapping["text"] = self.mapping.pop("marked")
        self.mapped = frozenset(self.mapping.values())
        self.texts: dict[str, tuple[int, int]] = {}  # key -> hash of what the text is, and its first line
        self.contexts: dict[str, str] = {}
        self.labels: dict[tuple[str, str], list[_Answer]] = {}  # by key and rater: the row's answers, in their order
        self.rows: dict[int, int] = {}  # hash of a row -> its line
        self.n_unnamed: Counter = Counter()
        self.decided: dict[tuple[str, str], tuple[str, datetime | None]] = {}  # of rows that no rater of the file gave
        self.groups: dict[str, str] = {}  # rater -> group, of those who have one
        self.first_unnamed: dict[str, dict[str, str]] = {}  # key -> labels of the first row of nobody
        self.titles: dict[str, str] = {}  # of labels, where they are not stored as they stand
        self.question_titles: dict[str, str] = {}
        self.written: dict[tuple[str, str], Counter] = {}  # question and label's key -> how it is written, how often
        self.odd: dict[tuple[str, str], list] = {}  # kind and what -> how many, and where the first one stands
        self.noted: list[tuple[str, str, str]] = []  # of the row that is read
        self.scores: dict[tuple[str, str], tuple[float, int]] = {}
        self.predictions: dict[tuple[str, str, str], tuple[str, int]] = {}
        self.predicted_spans: dict[tuple[str, str, str], dict[SpanRecord, None]] = {}
        self.probabilities: dict[tuple[str, str, str], dict[str, float]] = {}  # "" stands for the label that was given
        parts = [(role.split("/"), column) for role, column in self.mapping.items()]

        def of(kind: str) -> list[tuple[list[str], str]]:
            return [(names, column) for (name, *names), column in parts if name == kind]

        self.of_label, self.of_score, self.of_prediction = of("label") + of("labels"), of("score"), of("prediction")
        self.several = {names[0] for names, _ in of("labels")}  # questions
        self.of_probability, self.of_spans, self.of_row = of("probability"), of("spans"), of("row")
        self.of_rater = of("about")
        self.slots: set[str] = set()  # raters that are places in a list
        nothing = {label_key(value) for values in self.meant.values() for value, label in values.items() if label == ""}
        self.places = TablePlaces(options.treat, nothing)
        self.keys = TextKeys("id" in self.mapping, "document" in self.mapping)
        self.has_row_spans = bool({"start", "quote"} & self.mapping.keys())
        self.has_spans = self.has_row_spans or bool(self.of_spans) or self.is_marked
        self.has_places = self.has_spans
        self.times = Times(self.treat[DATES], self.treat[ZONE])
        self.is_counted = (self.has_row_spans or bool(self.of_spans)) and not self.is_marked
        self.is_read_twice = self.is_counted or "time" in self.mapping
        self.page = "response" if "system" in self.mapping else "pair" if "context" in self.mapping else "claim"

    def cell(self, cells: dict, role: str) -> str:
        column = self.mapping.get(role)
        return to_text(cells.get(column), column).strip() if column else ""

    def _named(self, question: str, text: str) -> str:
        """A label as it is stored. Where the question's labels are known, it is one of them if it means one."""
        known = self.caption_of.get(question)
        if known is not None and (label := find_label(text, known)) is not None:
            return label
        if question in self.unlisted and (number := number_in(text)) is not None:
            return number_text(number)
        label = (chosen_value if question in self.several else label_value)(text)
        if label != text:
            self.titles.setdefault(label, text)
        return label

    def _asked(self, cells: dict) -> str:
        title = self.cell(cells, "question")
        slug = question_slug(title)
        if slug != title:
            self.question_titles.setdefault(slug, title)
        return slug

    def _note(self, kind: str, what: str, file: str, line: int | None) -> None:
        self.noted.append((kind, what, f"{file}, line {line:,}" if line else file))

    def records_of(self, file: str, line: int, cells: dict, place: tuple[int, ...] = ()) -> list[Record]:
        self.noted.clear()
        if not self.texts:
            # Questions stand in the order of the columns: a database may store the mapping in another.
            order = {column: number for number, column in enumerate(cells)}
            self.of_label.sort(key=lambda one: order.get(one[1], len(order)))
        row, marks = cells, {}
        if self.is_marked:
            cells, marks = self._unmarked(cells)
        key, content = self._content(cells, line, place)
        words = hash(_said_by(content[-1]))
        known = self.texts.get(key)
        if known is not None and known[0] != words:
            raise BadCell(
                self.mapping.get("id") or self.mapping.get("text") or self.mapping["document"],
                key,
                f"is the id of another text on line {known[1]}",
            )
        checker = self.cell(cells, "checker")
        answers = self._answers(key, cells, file, line, checker, marks)
        self._check_repeat(key, row, answers, file, line)
        self._checked(key, file, line, cells, checker, answers)
        if not checker:
            self._say(key, cells, answers, file, line)
        for kind, what, first in self.noted:
            self.odd.setdefault((kind, what), [0, first])[0] += 1
        if known is not None:
            return []
        self.texts[key] = words, line
        return content

    def _unmarked(self, cells: dict) -> tuple[dict, dict[str, list]]:
        """The row without marks in its texts, and the places of marks by role of their column."""
        plain_cells, places = dict(cells), {}
        for role in ("text", "context"):
            if role in self.mapping:
                column = self.mapping[role]
                plain_cells[column], places[role] = unmarked(cells.get(column), column)
        return plain_cells, places

    def _content(self, cells: dict, line: int, place: tuple[int, ...]) -> tuple[str, list[Record]]:
        """The key of the judged text, and its records; parents that came before are left out."""
        own = to_key(cells.get(self.mapping["id"]), self.mapping["id"], self.limit) if "id" in self.mapping else ""
        context = self._context(cells)
        system, document = (self.cell(cells, role) for role in ("system", "document"))
        is_known_answer = "system" in self.mapping and bool(own and document)  # it may be empty, and of no named model
        text = own or f"{document} {system}"
        if column := self.mapping.get("text", ""):
            text = (to_text if is_known_answer else required_text)(cells.get(column), column)
        kept = {
            name: self._plain(value)
            for name, value in cells.items()
            if name not in self.mapped and value is not None and value != ""
        }
        date = to_date(cells.get(self.mapping["date"]), self.mapping["date"]) if "date" in self.mapping else None
        of_text = {role: said for role in ("url", "source", "split") if (said := self.cell(cells, role))}
        if "system" in self.mapping:
            if not system and not is_known_answer:
                raise BadCell(self.mapping["system"], system, "is empty, and says which system wrote the text")
            parent = document or (hashed("q", context) if context else own)
            if not parent:
                raise BadCell(
                    self.mapping.get("document", self.mapping["system"]),
                    "",
                    "is missing: it names what the text is about",
                )
            records: list[Record] = []
            if parent not in self.contexts:
                self.contexts[parent] = context
                records.append(QuestionRecord(parent, context))
            elif context and self.contexts[parent] != context:
                raise BadCell(self.mapping["context"], parent, "is the id of another context above")
            key = self.keys.at(own or f"{parent}/{system}", line, place)
            kept |= of_text | ({"date": date.isoformat()} if date else {})
            return key, [*records, ResponseRecord(key, text, question=parent, model=system, metadata=kept)]
        if "context" in self.mapping:
            key = self.keys.of_text(own or hashed("p", context, text), "", (context, text), line, place)
            kept |= of_text | ({"date": date.isoformat()} if date else {})
            return key, [PairRecord(key, context, text, metadata=kept)]
        key = self.keys.of_text(own or hashed("c", text), document, (context, text), line, place)
        source = of_text.pop("source", "")
        return key, [ClaimRecord(key, text, date=date, source=source, metadata=kept | of_text)]

    def _context(self, cells: dict) -> str:
        """A list of texts, such as the passages behind an answer, is one context."""
        value = cells.get(self.mapping.get("context"))
        if isinstance(value, list):
            column = self.mapping["context"]
            return "\n\n".join(filter(None, (to_text(one, column).strip() for one in value)))
        return self.cell(cells, "context")

    def _plain(self, value: object) -> object:
        found = plain(value)
        return found.replace("\r\n", "\n") if self.has_places and isinstance(found, str) else found

    def _answers(
        self, key: str, cells: dict, file: str, line: int, checker: str, marks: dict[str, list]
    ) -> dict[str, _Answer]:
        """What the row says, by rater; of nobody under the empty name, and under it what a checker says."""
        found: dict[str, _Answer] = {}
        rater = "" if checker else self._rater(self.cell(cells, "group"), self.cell(cells, "rater"))
        scale = self._scale(cells)
        for names, column in self.of_label:
            if names and names[0] in self.several:
                question, label = names[0], self._several(names[0], cells.get(column), column, file, line)
            elif text := to_text(cells.get(column), column).strip():
                question = names[0] if names else self._asked(cells)
                label = self._label(question, text, column, file, line, scale)
            else:
                continue
            if label is not None:
                who = self._rater("" if len(names) == 2 else names[1], names[-1]) if names[1:] else rater
                if len(names) == 3 and NESTED.match(column):
                    self.slots.add(who)
                found.setdefault(who, _Answer({})).labels[question] = label
        if self.has_spans:
            self._highlight(found, rater, cells, marks, is_checker=bool(checker))
        comment = self.cell(cells, "comment")
        kept = {names[0]: plain(cells.get(column)) for names, column in self.of_row if cells.get(column)}
        if marks.get("context"):  # no page has highlights there
            kept[self.mapping["context"]] = [list(place) for place in marks["context"]]
        if not found and rater and (comment or kept):
            found[rater] = _Answer({})
        about = {names[0]: plain(cells.get(column)) for names, column in self.of_rater if cells.get(column)}
        for answer in found.values():
            answer.kept, answer.about = {name: [value] for name, value in kept.items()}, about
        if comment or "time" in self.mapping:
            column = self.mapping.get("time", "")
            at = self.times.instant(cells.get(column), column, file, line) if column else None
            for answer in found.values():
                answer.comment, answer.at = comment, at
        return found

    def _rater(self, group: str, name: str) -> str:
        """Raters of two groups are never one, so a group is part of their name."""
        who = f"{group}/{name}" if group and name else group or name
        if group:
            self.groups[who] = group
        return who

    def _scale(self, cells: dict) -> tuple[float, float] | None:
        if "least" not in self.mapping:
            return None
        ends = [number_in(self.cell(cells, role)) for role in ("least", "most")]
        if None in ends:
            return None
        if not ends[0] < ends[1]:
            raise BadCell(self.mapping["most"], self.cell(cells, "most"), "is not above the lowest value of the scale")
        return ends[0], ends[1]

    def _label(
        self, question: str, text: str, column: str, file: str, line: int, scale: tuple[float, float] | None
    ) -> str | None:
        """The label that a cell holds, as it is stored; None where it means no label, or none that there is."""
        values = self.meant.get(question, {})
        meant = values.get(text, values.get(label_key(text)))
        if meant == "":
            return None
        accepted = self.accepted.get(question)
        if meant is None and accepted and self._named(question, text) not in accepted:
            meant = guess_label(text, question, accepted)
            if meant is None:
                if self.treat[UNMAPPED] == LEAVE_OUT:
                    raise LeftOut(column, text, "is not a label of the question")
                self._note(UNMAPPED, f"{question}: {text}", file, line)
                return None
        if scale is not None:
            known = self.ranges.setdefault(question, scale)
            self.ranges[question] = min(known[0], scale[0]), max(known[1], scale[1])
        if question in self.ranges:
            least, most = self.ranges[question]
            number = number_in(text)
            if number is None or not least <= number <= most:
                raise BadCell(column, text, f"is outside the scale from {number_text(least)} to {number_text(most)}")
        label = meant if meant is not None else self._named(question, text)
        written = self.written.setdefault((question, label_key(text)), Counter())
        first = next(iter(written), text)
        is_other = self._named(question, first) != label if number_in(text) is not None else first != text
        if is_other and meant is None and self.treat[SPELLINGS] == LEAVE_OUT:
            raise LeftOut(column, text, f"is spelt differently from {first!r}")
        written[text] += 1
        return self._named(question, first) if meant is None and self.treat[SPELLINGS] == FOLD else label

    def _several(self, question: str, cell: object, column: str, file: str, line: int) -> str | None:
        """The labels in a cell as one answer; None where it is empty, or holds none that means anything."""
        parts = parts_of(cell, column)
        if parts is None:
            return None
        labels = {self._label(question, part, column, file, line, None) for part in parts} - {None}
        return self._together(question, labels) if labels or not parts else None

    def _together(self, question: str, labels: set[str]) -> str:
        """As `Dimension.answer_of` writes it; a label set of the file has its labels in the order of the alphabet."""
        order = self.accepted.get(question) or sorted(labels, key=in_order)
        return SEPARATOR.join(label for label in order if label in labels) or NONE_CHOSEN

    def _highlight(
        self, found: dict[str, _Answer], rater: str, cells: dict, marks: dict[str, list], is_checker: bool
    ) -> None:
        """Whoever labels the row looked for highlights, so that none is an answer, too; not so a checker."""
        raw = cells.get(self.mapping["text"])
        raw = raw if isinstance(raw, str) else to_text(raw, self.mapping["text"])
        field = FIELD_OF_PAGE[self.page]
        marked, none = {}, set()  # by the names of the column; those that say that nothing is marked
        if self.has_row_spans:
            marked[()] = list(spans_of_row(self.mapping, cells, raw, field, self.places))
            none |= {()} if self.places.takes_none() else set()
        if self.is_marked:
            if not is_checker:
                found.setdefault(rater, _Answer({}))
            if marks["text"] or not marks.get("context"):
                marked[()] = list(spans_of_marks(marks["text"], self.mapping, cells, raw, field))
        for names, column in self.of_spans:
            marked[tuple(names)] = list(spans_in_cell(cells.get(column), column, raw, field, self.places))
            none |= {tuple(names)} if self.places.takes_none() else set()
        for names, spans in marked.items():
            question = names[0] if names else HIGHLIGHTS
            if not spans and (is_checker or (rater not in found and names not in none)):
                continue
            answer = found.setdefault(rater, _Answer({}))
            if question not in self.labelled:
                answer.labels[question] = MARKED if spans else NOTHING
            elif spans and question not in answer.labels:
                raise BadCell(self.mapping["spans/" + question], spans[0][1], f"is a highlight without {question}")
            for span, title in spans:
                answer.spans.setdefault(question, {})[span] = None
                if title and title != span.label:
                    self.titles.setdefault(span.label, title)

    @cached_property
    def labelled(self) -> frozenset[str]:
        """Questions that columns of labels answer."""
        return frozenset(names[0] for names, _ in self.of_label if names)

    def see(self, rows: Opening) -> None:
        """Find out how the files count the places of highlights, and how they write dates; what is invalid becomes an
        error later."""
        self.places.is_counting = True
        column = self.mapping.get("time", "")
        for file, line, row in rows:
            if isinstance(row, RowError):
                continue
            if column:
                with suppress(BadCell):
                    self.times.see(row.cells.get(column), column, file, line)
            text = row.cells.get(self.mapping["text"]) if self.is_counted else None
            if isinstance(text, str):
                self.places.at(file, line)
                with suppress(BadCell):
                    self._highlight({}, "", row.cells, {"text": [], "context": []}, is_checker=True)
        self.places.is_counting = False

    def _check_repeat(self, key: str, cells: dict, answers: dict, file: str, line: int) -> None:
        """Whether the whole row stood there before."""
        try:
            mark = hash(tuple(cells.values()))
        except TypeError:
            mark = hash(repr(cells))
        first = self.rows.get(mark)
        if first is None:
            self.rows[mark] = line
            return
        if "" not in answers or self.cell(cells, "checker"):
            self._note(MERGED, "", file, line)
        elif self.treat[IDENTICAL] == LEAVE_OUT:
            raise LeftOut("", "", f"is the same row as on line {first:,}")
        else:
            self._note(IDENTICAL, "", file, line)

    def _say(self, key: str, cells: dict, answers: dict[str, _Answer], file: str, line: int) -> None:
        for who, answer in answers.items():
            if not who and "rater" in self.mapping:  # others are named
                if self.treat[UNNAMED] == LEAVE_OUT:
                    raise LeftOut(self.mapping["rater"], "", "is empty, and says who gave the labels")
                self._note(UNNAMED, "", file, line)
                if self.treat[UNNAMED] == "decisions":
                    self._decide(key, answer)
                    continue
            if not who:  # nobody is named: the row is a place of its own
                first = self.first_unnamed.setdefault(key, answer.labels)
                if first is not answer.labels and _contradict(first, answer.labels):
                    if self.treat[PLACES] == LEAVE_OUT:
                        raise LeftOut("", key, "has other labels than an earlier row for the same text")
                    self._note(PLACES, "", file, line)
                self.n_unnamed[key] += 1
                self.labels[key, f"\0{self.n_unnamed[key]}"] = [answer]
                continue
            revisions = self.labels.get((key, who))
            if revisions is None:
                self.labels[key, who] = [answer]
                continue
            newest = revisions[-1]
            said = newest.labels
            for earlier in revisions[-2::-1]:
                said = earlier.labels | said
            for question in self.several & said.keys() & answer.labels.keys() if answer.at == newest.at else ():
                # A row for each label of one answer.
                labels = {*chosen_of(said[question]), *chosen_of(answer.labels[question])}
                newest.labels[question] = answer.labels[question] = self._together(question, labels)
                said = said | newest.labels
            if _contradict(said, answer.labels):
                if self.treat[REVISIONS] == LEAVE_OUT:
                    raise LeftOut("", who, "has other labels than an earlier row by the same rater")
                self._note(REVISIONS, "", file, line)
                revisions.append(answer)
                continue
            spans = {one: MARKED for one in (*newest.spans, *answer.spans) if one not in self.labelled}
            newest.labels |= answer.labels | spans
            newest.about = newest.about | answer.about
            newest.comment, newest.at = answer.comment or newest.comment, answer.at or newest.at
            for question, spans in answer.spans.items():
                newest.spans.setdefault(question, {}).update(spans)
            for name, values in answer.kept.items():
                newest.kept.setdefault(name, []).extend(values)

    def _decide(self, key: str, answer: _Answer) -> None:
        for question, label in answer.labels.items():
            if self.decided.setdefault((key, question), (label, answer.at))[0] != label:
                raise BadCell(self.mapping["rater"], label, "differs from the final label on an earlier row")

    def _checked(self, key: str, file: str, line: int, cells: dict, checker: str, answers: dict[str, _Answer]) -> None:
        """What checkers say on the row, stored where nothing on it is wrong."""
        scores, predictions = {}, {}
        for names, column in self.of_score:
            name = names[0] if names else checker
            text = to_text(cells.get(column), column).strip()
            if not text or text.casefold() in MISSING_NUMBERS:
                continue
            number = number_in(text)
            if number is None:
                raise BadCell(column, text, "is not a number, which a score must be")
            if not name:
                raise BadCell(self.mapping["checker"], "", "is empty, and says which checker gave the score")
            value, before = self.scores.get((key, name), (number, line))
            if value != number:
                raise BadCell(column, text, f"differs from the score on line {before} for the same text")
            scores[key, name] = value, before
        said = {(checker, question): label for answer in answers.values() for question, label in answer.labels.items()}
        said = {place: (label, self.mapping["checker"]) for place, label in said.items()} if checker else {}
        for (name, question), column in self.of_prediction:
            if question in self.several:
                label = self._several(question, cells.get(column), column, file, line)
                said |= {(name, question): (label, column)} if label is not None else {}
            elif text := to_text(cells.get(column), column).strip():
                said[name, question] = self._named(question, text), column
        for (name, question), (said_here, column) in said.items():
            label, before = self.predictions.get((key, name, question), (said_here, line))
            if label_key(label) != label_key(said_here):
                raise BadCell(column, label, f"differs from the label on line {before} for the same text")
            predictions[key, name, question] = label, before
        probabilities = self._probabilities(key, cells, checker, said)
        for answer in answers.values() if checker else ():
            for question, spans in answer.spans.items():
                self.predicted_spans.setdefault((key, checker, question), {}).update(spans)
        self.scores.update(scores)
        self.predictions.update(predictions)
        for place, found in probabilities.items():
            self.probabilities.setdefault(place, {}).update(found)
            if place not in self.predictions and "" not in found:  # the most probable label is the one that is meant
                self.predictions[place] = max(found, key=found.__getitem__), line

    def _probabilities(self, key: str, cells: dict, checker: str, said: dict) -> dict:
        found: dict[tuple[str, str, str], dict[str, float]] = {}
        for names, column in self.of_probability:
            places = [(names[0], names[1])] if names else [place for place in said if place[0] == checker]
            value, label = cells.get(column), names[2] if len(names) == 3 else ""
            if isinstance(value, str) and value.lstrip().startswith("{"):
                try:
                    value = decode_json(value)
                except ValueError:
                    raise BadCell(column, value, "is not JSON: an object of labels and their probabilities") from None
            several = value if isinstance(value, dict) else {"": value}
            for title, one in several.items():
                text = to_text(one, column).strip()
                if not text or text.casefold() in MISSING_NUMBERS:
                    continue
                number = number_in(text)
                if number is None or not 0 <= number <= 1:
                    raise BadCell(column, text, "is not a probability from 0 to 1")
                for name, question in places:
                    of = self._named(question, title or label) if title or label else ""
                    found.setdefault((key, name, question), {})[of] = number
        return found

    def write_numbers(self, questions: set[str]) -> None:
        """Answers to these questions are numbers, which have one spelling."""

        def stored(question: str, label: str) -> str:
            return number_text(number_in(label)) if question in questions else label

        for answer in chain.from_iterable(self.labels.values()) if questions else ():
            answer.labels = {question: stored(question, label) for question, label in answer.labels.items()}
        self.decided = {place: (stored(place[1], label), at) for place, (label, at) in self.decided.items()}
        self.predictions = {place: (stored(place[2], label), line) for place, (label, line) in self.predictions.items()}

    def match_checkers(self) -> None:
        """A checker's labels are those of people that are spelt alike, where there is one."""
        people: dict[str, dict[str, str]] = {}
        for answer in chain.from_iterable(self.labels.values()):
            for question, label in answer.labels.items():
                people.setdefault(question, {}).update((one, one) for one in self._parts(question, label))
        for (_, question), (label, _) in self.decided.items():
            people.setdefault(question, {}).update((one, one) for one in self._parts(question, label))

        def meant(question: str, label: str) -> str:
            known = people.get(question, {})
            parts = [find_label(one, known) or one for one in self._parts(question, label)]
            return self._together(question, set(parts)) if question in self.several else parts[0]

        self.predictions = {place: (meant(place[2], label), line) for place, (label, line) in self.predictions.items()}
        for place, given in self.probabilities.items():
            self.probabilities[place] = {one and meant(place[2], one): number for one, number in given.items()}

    def _parts(self, question: str, label: str) -> list[str]:
        return chosen_of(label) if question in self.several else [label]

    def said(self) -> Iterator[Record]:
        self.match_checkers()
        for (key, question), (label, at) in self.decided.items():
            yield DecisionRecord(key, question, label, decided_at=at)
        has_several = any(number > 1 for number in self.n_unnamed.values())
        for (key, who), revisions in self.labels.items():
            is_decision = not has_several and "rater" not in self.mapping and not revisions[0].spans
            if who.startswith("\0") and is_decision:
                for question, label in revisions[0].labels.items():
                    yield DecisionRecord(key, question, label, decided_at=revisions[0].at)
                continue
            name, kind = (f"place {who[1:]}", "slot") if who.startswith("\0") else (who, "person")
            kind = "slot" if who in self.slots else kind
            if len(revisions) > 1 and None not in (times := [one.at for one in revisions]) and sorted(times) != times:
                revisions.sort(key=lambda one: one.at)
            labels: dict[str, str] = {}
            for number, answer in enumerate(revisions, 1):
                labels |= answer.labels
                yield AnnotationRecord(
                    key,
                    name,
                    tuple(
                        JudgementRecord(key, question, label, tuple(answer.spans.get(question, ())))
                        for question, label in labels.items()
                    ),
                    rater_kind=kind,
                    revision=number,
                    comment=answer.comment,
                    submitted_at=answer.at,
                    metadata={name: one for name, one in (("row", answer.kept), ("rater", answer.about)) if one},
                    rater_group=self.groups.get(who, ""),
                )
        for (key, name), (value, _) in self.scores.items():
            yield ScoreRecord(key, name, value)
        for place, (label, _) in self.predictions.items():
            given = dict(self.probabilities.get(place, ()))
            sure = given.pop("", None)
            marked = sorted(self.predicted_spans.get(place, ()), key=lambda one: (one.start, one.end, one.label))
            yield SuggestionRecord(*place, label, given.get(label, sure), given, spans=tuple(marked))
        yield from self._odd_records()

    def _odd_records(self) -> Iterator[OddRecord]:
        yield from self.times.odd()
        for (kind, what), (number, first) in self.odd.items():
            yield OddRecord(kind, what, number, first, is_open=not self.treat[kind])
        for (question, _), written in self.written.items():
            if len({self._named(question, text) if number_in(text) is not None else text for text in written}) > 1:
                spelt = ", ".join(f"{text} ({number:,})" for text, number in written.most_common(10))
                yield OddRecord(SPELLINGS, f"{question}: {spelt}", sum(written.values()), "")


def _contradict(said: dict[str, str], labels: dict[str, str]) -> bool:
    """Whether a question has two labels. One highlight more is none."""
    return any(
        said.get(one, label) != label and {said[one], label} != {MARKED, NOTHING} for one, label in labels.items()
    )


def _said_by(record: Record) -> tuple:
    return (getattr(record, "text", ""), getattr(record, "premise", ""), getattr(record, "hypothesis", ""))


INFO = Format(
    slug=RATINGS,
    title="Table of texts with labels, ratings and scores",
    extensions=TEXT_TABLES,
    reader=read,
    needs_mapping=True,
    read_as=sentences,
    label_set_of=label_set_of,
)
