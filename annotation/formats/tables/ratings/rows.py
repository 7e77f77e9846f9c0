"""The rows of a table of ratings: texts by key, and the answers about each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from annotation.formats.cells import (
    BadCell,
    LeftOut,
    number_in,
    required_text,
    to_date,
    to_key,
    to_text,
)
from annotation.formats.names import label_key, question_slug
from annotation.formats.records import (
    ClaimRecord,
    PairRecord,
    QuestionRecord,
    Record,
    ResponseRecord,
    RowError,
)
from annotation.formats.sources import Options
from annotation.formats.tables.guessing.raters import is_slot
from annotation.formats.tables.guessing.roles import check_roles
from annotation.formats.tables.highlights import TablePlaces, spans_in_cell, spans_of_marks, spans_of_row, unmarked
from annotation.formats.tables.oddities import (
    DATES,
    IDENTICAL,
    LEAVE_OUT,
    MERGED,
    ODDITIES,
    ZONE,
    check_treatment,
)
from annotation.formats.tables.questions import (
    FIELD_OF_PAGE,
    HIGHLIGHTS,
    MARKED,
    NOTHING,
)
from annotation.formats.tables.ratings.checkers import CheckerAnswers
from annotation.formats.tables.ratings.keys import TextKeys
from annotation.formats.tables.ratings.labels import OddRows, RatingLabels
from annotation.formats.tables.ratings.opening import Opening
from annotation.formats.tables.ratings.people import PeopleAnswers, RowAnswer
from annotation.formats.tables.rows import hashed, plain
from annotation.formats.tables.times import Times
from annotation.rendering.conversation import is_conversation
from annotation.task_types.base import number_text


class RatingRows:
    """Texts by key, and the answers about each, gathered until the end: a text may stand on many rows."""

    def __init__(self, options: Options):
        check_roles(options.mapping)
        check_treatment(options.treat)
        self.mapping, self.limit = dict(options.mapping), options.limits.key_chars
        self.is_marked = "marked" in self.mapping
        if self.is_marked:
            self.mapping["text"] = self.mapping.pop("marked")
        self.mapped = frozenset(self.mapping.values())
        self.texts: dict[str, tuple[int, int]] = {}  # key -> hash of what the text is, and its first line
        self.contexts: dict[str, str] = {}
        self.rows: dict[int, int] = {}  # hash of a row -> its line
        self.question_titles: dict[str, str] = {}
        parts = [(role.split("/"), column) for role, column in self.mapping.items()]

        def of(kind: str) -> list[tuple[list[str], str]]:
            return [(names, column) for (name, *names), column in parts if name == kind]

        self.of_label, self.of_spans = of("label") + of("labels"), of("spans")
        self.of_row, self.of_rater = of("row"), of("about")
        self.odd = OddRows({kind: options.treat.get(kind, oddity.default) for kind, oddity in ODDITIES.items()})
        self.labels = RatingLabels(options, {names[0] for names, _ in of("labels")}, self.odd)
        self.labelled = frozenset(names[0] for names, _ in self.of_label if names)
        self.people = PeopleAnswers(self.mapping.get("rater", ""), self.labels, self.labelled)
        columns = (of("score"), of("prediction"), of("probability"))
        self.checkers = CheckerAnswers(self.mapping.get("checker", ""), *columns, self.labels)
        meant = self.labels.meant.values()
        nothing = {label_key(value) for values in meant for value, label in values.items() if label == ""}
        self.places = TablePlaces(options.treat, nothing)
        self.keys = TextKeys("id" in self.mapping, "document" in self.mapping)
        self.has_row_spans = bool({"start", "quote"} & self.mapping.keys())
        self.has_spans = self.has_row_spans or bool(self.of_spans) or self.is_marked
        self.has_places = self.has_spans
        self.times = Times(self.odd.treat[DATES], self.odd.treat[ZONE])
        self.is_counted = (self.has_row_spans or bool(self.of_spans)) and not self.is_marked
        self.is_read_twice = self.is_counted or "time" in self.mapping
        self.page = "response" if "system" in self.mapping else "pair" if "context" in self.mapping else "claim"

    def cell(self, cells: dict, role: str) -> str:
        column = self.mapping.get(role)
        return to_text(cells.get(column), column).strip() if column else ""

    def _asked(self, cells: dict) -> str:
        title = self.cell(cells, "question")
        slug = question_slug(title)
        if slug != title:
            self.question_titles.setdefault(slug, title)
        return slug

    def records_of(self, file: str, line: int, cells: dict, place: tuple[int, ...] = ()) -> list[Record]:
        self.odd.start(file, line)
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
        self._check_repeat(key, row, answers, line)
        self.checkers.add(key, line, cells, checker, answers)
        if not checker:
            self.people.add(key, answers)
        self.odd.keep()
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
        of_text = {role: filled for role in ("url", "source", "split") if (filled := self.cell(cells, role))}
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
        if document and (own or "context" in self.mapping):
            kept["document"] = document  # which is in no key
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
        if isinstance(value, list) and not is_conversation(value):
            column = self.mapping["context"]
            return "\n\n".join(filter(None, (to_text(one, column).strip() for one in value)))
        return self.cell(cells, "context")

    def _plain(self, value: object) -> object:
        found = plain(value)
        return found.replace("\r\n", "\n") if self.has_places and isinstance(found, str) else found

    def _answers(
        self, key: str, cells: dict, file: str, line: int, checker: str, marks: dict[str, list]
    ) -> dict[str, RowAnswer]:
        """What the row says, by rater; of nobody under the empty name, and under it what a checker says."""
        found: dict[str, RowAnswer] = {}
        rater = "" if checker else self.people.named(self.cell(cells, "group"), self.cell(cells, "rater"))
        scale = self._scale(cells)
        for names, column in self.of_label:
            if names and names[0] in self.labels.several:
                question, label = names[0], self.labels.several_in(names[0], cells.get(column), column)
            elif text := to_text(cells.get(column), column).strip():
                question = names[0] if names else self._asked(cells)
                label = self.labels.label(question, text, column, scale)
            else:
                continue
            if label is not None:
                who = self.people.named("" if len(names) == 2 else names[1], names[-1]) if names[1:] else rater
                if is_slot(names, column):
                    self.people.slots.add(who)
                found.setdefault(who, RowAnswer({})).labels[question] = label
        if self.has_spans:
            self._highlight(found, rater, cells, marks, is_checker=bool(checker))
        comment = self.cell(cells, "comment")
        kept = {names[0]: plain(cells.get(column)) for names, column in self.of_row if cells.get(column)}
        if marks.get("context"):  # no page has highlights there
            kept[self.mapping["context"]] = [list(place) for place in marks["context"]]
        if not found and rater and (comment or kept):
            found[rater] = RowAnswer({})
        about = {names[0]: plain(cells.get(column)) for names, column in self.of_rater if cells.get(column)}
        for answer in found.values():
            answer.kept, answer.about = {name: [value] for name, value in kept.items()}, about
        if comment or "time" in self.mapping:
            column = self.mapping.get("time", "")
            at = self.times.instant(cells.get(column), column, file, line) if column else None
            for answer in found.values():
                answer.comment, answer.at = comment, at
        return found

    def _scale(self, cells: dict) -> tuple[float, float] | None:
        if "least" not in self.mapping:
            return None
        ends = [number_in(self.cell(cells, role)) for role in ("least", "most")]
        if None in ends:
            return None
        if not ends[0] < ends[1]:
            raise BadCell(self.mapping["most"], self.cell(cells, "most"), "is not above the lowest value of the scale")
        return ends[0], ends[1]

    def _highlight(
        self, found: dict[str, RowAnswer], rater: str, cells: dict, marks: dict[str, list], is_checker: bool
    ) -> None:
        """The rater of the row looked for highlights, so that none is an answer too; a checker did not."""
        raw = cells.get(self.mapping["text"])
        raw = raw if isinstance(raw, str) else to_text(raw, self.mapping["text"])
        field = FIELD_OF_PAGE[self.page]
        marked, none = {}, set()  # by the names of the column; those that say that nothing is marked
        if self.has_row_spans:
            marked[()] = list(spans_of_row(self.mapping, cells, raw, field, self.places))
            none |= {()} if self.places.takes_none() else set()
        if self.is_marked:
            if not is_checker:
                found.setdefault(rater, RowAnswer({}))
            if marks["text"] or not marks.get("context"):
                marked[()] = list(spans_of_marks(marks["text"], self.mapping, cells, raw, field))
        for names, column in self.of_spans:
            marked[tuple(names)] = list(spans_in_cell(cells.get(column), column, raw, field, self.places))
            none |= {tuple(names)} if self.places.takes_none() else set()
        for names, spans in marked.items():
            question = names[0] if names else HIGHLIGHTS
            if not spans and (is_checker or (rater not in found and names not in none)):
                continue
            answer = found.setdefault(rater, RowAnswer({}))
            if question not in self.labelled:
                answer.labels[question] = MARKED if spans else NOTHING
            elif spans and question not in answer.labels:
                raise BadCell(self.mapping["spans/" + question], spans[0][1], f"is a highlight without {question}")
            for span, title in spans:
                answer.spans.setdefault(question, {})[span] = None
                if title and title != span.label:
                    self.labels.titles.setdefault(span.label, title)

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

    def _check_repeat(self, key: str, cells: dict, answers: dict, line: int) -> None:
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
            self.odd.add(MERGED)
        elif self.odd.treat[IDENTICAL] == LEAVE_OUT:
            raise LeftOut("", "", f"is the same row as on line {first:,}")
        else:
            self.odd.add(IDENTICAL)

    def write_numbers(self, questions: set[str]) -> None:
        """Answers to these questions are numbers, which have one spelling."""

        def stored(question: str, label: str) -> str:
            return number_text(number_in(label)) if question in questions else label

        if questions:
            self.people.write_as(stored)
            self.checkers.write_as(stored)

    def match_checkers(self) -> None:
        known: dict[str, dict[str, str]] = {}
        for question, label in self.people.answered():
            known.setdefault(question, {}).update((one, one) for one in self.labels.parts(question, label))
        self.checkers.match(known)

    def label_records(self) -> Iterator[Record]:
        self.match_checkers()
        yield from self.people.records()
        yield from self.checkers.records()
        yield from self.times.odd()
        yield from self.odd.records()
        yield from self.labels.spellings()


def _said_by(record: Record) -> tuple:
    return (getattr(record, "text", ""), getattr(record, "premise", ""), getattr(record, "hypothesis", ""))
