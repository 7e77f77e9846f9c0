"""A table of texts with labels, ratings and scores: each column has a role that the user names (`tables.roles`).

Other columns are kept with the text. A text with a system is an answer of a model to its context; with a context alone,
a pair of premise and hypothesis; alone, a claim. One text may stand on several rows. What one rater says twice is once
where it is the same, and else a revision; rows of no named rater are exchangeable places where a text has several, and
decisions where every text has one. Empty cells are missing labels. Numbers are the same however they are written: 1 and
1.0; labels that differ in case, spaces and hyphens alone are one label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing

from annotation.formats.cells import BadCell, number_in, required_text, row_error, to_key, to_text
from annotation.formats.files.tables import listed, open_tables
from annotation.formats.names import TITLE_CHARS, label_value, shown
from annotation.formats.records import (
    AnnotationRecord,
    ClaimRecord,
    DecisionRecord,
    FormatError,
    JudgementRecord,
    PairRecord,
    QuestionRecord,
    Record,
    ResponseRecord,
    RowError,
    ScoreRecord,
    SuggestionRecord,
)
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.roles import check_roles, name_of
from annotation.formats.tables.rows import hashed, plain

MOST_LABELS = 40


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    """Content as it comes, then what raters and checkers said. FormatError for roles that do not fit the file."""
    rows = RatingRows(options)
    yield from _content(sources, options, rows)
    yield from rows.said()


def read_whole(sources: list[SourceFile], options: Options, name: str) -> tuple[list[Record], dict]:
    """What `read` and `label_set_of` give, in one pass."""
    rows = RatingRows(options)
    content = list(_content(sources, options, rows))
    return [*content, *rows.said()], rows.label_set(name)


def label_set_of(sources: list[SourceFile], options: Options, name: str) -> dict:
    """The label set of the file's labels: a question for each that it names, with the values that occur. Numbers are at
    the interval level, in their order, or any number where more than 40 occur; others are nominal. {} where the file
    has no labels.

    Raises FormatError where a question has more than 40 different values that are no numbers.
    """
    rows = RatingRows(options)
    for _ in _content(sources, options, rows):
        pass
    return rows.label_set(name)


def _content(sources: list[SourceFile], options: Options, rows: RatingRows) -> Iterator[Record]:
    for file, line, cells in _rows(sources, options):
        if isinstance(cells, RowError):
            yield cells
            continue
        try:
            yield from rows.records_of(line, cells)
        except BadCell as problem:
            yield row_error(file, line, problem)


def _rows(sources: list[SourceFile], options: Options) -> Iterator[tuple]:
    with closing(open_tables(sources, options)) as tables:
        for table in tables:
            absent = [column for column in options.mapping.values() if column not in (table.columns or (column,))]
            if absent:
                raise FormatError(f"{table.name}: missing columns: {', '.join(absent)}. Found: {listed(table.columns)}")
            for row in table.rows:
                yield (table.name, None, row) if isinstance(row, RowError) else (table.name, *row)


class RatingRows:
    """Texts by key, and what was said of each, gathered until the end: a text may stand on many rows."""

    def __init__(self, options: Options):
        check_roles(options.mapping)
        self.mapping, self.limit = dict(options.mapping), options.limits.key_chars
        self.mapped = frozenset(self.mapping.values())
        self.texts: dict[str, tuple[int, int]] = {}  # key -> hash of what the text is, and its first line
        self.contexts: dict[str, str] = {}
        # (key, rater) -> revisions: question -> label, and a comment
        self.labels: dict[tuple[str, str], list[tuple[dict[str, str], str]]] = {}
        self.n_unnamed: Counter = Counter()
        self.titles: dict[str, str] = {}  # of labels and questions, where they are not stored as they stand
        self.scores: dict[tuple[str, str], tuple[float, int]] = {}
        self.predictions: dict[tuple[str, str, str], tuple[str, int]] = {}
        parts = [(role.split("/"), column) for role, column in self.mapping.items()]
        self.of_label = [(names, column) for (kind, *names), column in parts if kind == "label"]
        self.of_score = [(names[0], column) for (kind, *names), column in parts if kind == "score"]
        self.of_prediction = [(names, column) for (kind, *names), column in parts if kind == "prediction"]

    def cell(self, cells: dict, role: str) -> str:
        column = self.mapping.get(role)
        return to_text(cells.get(column), column).strip() if column else ""

    def _named(self, title: str, stored_as: Callable[[str], str]) -> str:
        name = stored_as(title)
        if name != title:
            self.titles.setdefault(name, title)
        return name

    def records_of(self, line: int, cells: dict) -> list[Record]:
        if not self.texts:
            # Questions stand in the order of the columns: a database may store the mapping in another.
            place = {column: number for number, column in enumerate(cells)}
            self.of_label.sort(key=lambda one: place.get(one[1], len(place)))
        key, content = self._content(cells)
        words = hash(_said_by(content[-1]))
        known = self.texts.get(key)
        if known is not None and known[0] != words:
            raise BadCell(
                self.mapping.get("id") or self.mapping.get("text") or self.mapping["document"],
                key,
                f"stands for another text on line {known[1]}",
            )
        self._checked(key, line, cells)
        self._say(key, cells)
        if known is not None:
            return []
        self.texts[key] = words, line
        return content

    def _content(self, cells: dict) -> tuple[str, list[Record]]:
        """The key of the judged text, and its records; parents that came before are left out."""
        own = to_key(cells.get(self.mapping["id"]), self.mapping["id"], self.limit) if "id" in self.mapping else ""
        context, system, document = (self.cell(cells, role) for role in ("context", "system", "document"))
        has_text = "text" in self.mapping
        text = (
            required_text(cells.get(self.mapping["text"]), self.mapping["text"])
            if has_text
            else own or f"{document} {system}"
        )
        kept = {
            name: plain(value)
            for name, value in cells.items()
            if name not in self.mapped and value is not None and value != ""
        }
        if "system" in self.mapping:
            if not system:
                raise BadCell(self.mapping["system"], system, "is empty, and says which system wrote the text")
            parent = document or (hashed("q", context) if context else own)
            if not parent:
                raise BadCell(
                    self.mapping.get("document", self.mapping["system"]), "", "says nothing of what the text is about"
                )
            records: list[Record] = []
            if parent not in self.contexts:
                self.contexts[parent] = context
                records.append(QuestionRecord(parent, context))
            elif context and self.contexts[parent] != context:
                raise BadCell(self.mapping["context"], parent, "is the id of another context above")
            key = own or f"{parent}/{system}"
            return key, [*records, ResponseRecord(key, text, question=parent, model=system, metadata=kept)]
        if "context" in self.mapping:
            key = own or hashed("p", context, text)
            return key, [PairRecord(key, context, text, metadata=kept)]
        key = own or document or hashed("c", text)
        return key, [ClaimRecord(key, text, metadata=kept)]

    def _say(self, key: str, cells: dict) -> None:
        by_rater: dict[str, dict[str, str]] = {}
        rater = "/".join(filter(None, (self.cell(cells, "group"), self.cell(cells, "rater"))))
        for names, column in self.of_label:
            text = to_text(cells.get(column), column).strip()
            if not text:
                continue
            question = names[0] if names else self._named(self.cell(cells, "question"), name_of)
            who = names[1] if len(names) == 2 else rater
            by_rater.setdefault(who, {})[question] = self._named(text, label_value)
        if not by_rater and rater and (comment := self.cell(cells, "comment")):
            by_rater[rater] = {}
        for who, labels in by_rater.items():
            comment = self.cell(cells, "comment")
            if not who:  # nobody is named: the row is a place of its own
                self.n_unnamed[key] += 1
                self.labels[key, f"\0{self.n_unnamed[key]}"] = [(labels, comment)]
                continue
            revisions = self.labels.setdefault((key, who), [({}, "")])
            newest, said = revisions[-1]
            if all(newest.get(question, label) == label for question, label in labels.items()):
                newest.update(labels)
                revisions[-1] = (newest, comment or said)
            else:
                revisions.append((newest | labels, comment))

    def _checked(self, key: str, line: int, cells: dict) -> None:
        """What checkers say on the row, stored where nothing on it is wrong."""
        scores, predictions = {}, {}
        for name, column in self.of_score:
            text = to_text(cells.get(column), column).strip()
            if not text or text.casefold() in ("nan", "na", "none", "null"):
                continue
            number = number_in(text)
            if number is None:
                raise BadCell(column, text, "is no number, as a score must be")
            value, before = self.scores.get((key, name), (number, line))
            if value != number:
                raise BadCell(column, text, f"is another score than on line {before} for the same text")
            scores[key, name] = value, before
        for (checker, question), column in self.of_prediction:
            text = to_text(cells.get(column), column).strip()
            if not text:
                continue
            said = self._named(text, label_value)
            label, before = self.predictions.get((key, checker, question), (said, line))
            if label != said:
                raise BadCell(column, text, f"is another label than on line {before} for the same text")
            predictions[key, checker, question] = label, before
        self.scores.update(scores)
        self.predictions.update(predictions)

    def said(self) -> Iterator[Record]:
        has_several = any(number > 1 for number in self.n_unnamed.values())
        for (key, who), revisions in self.labels.items():
            if who.startswith("\0") and not has_several:
                for question, label in revisions[0][0].items():
                    yield DecisionRecord(key, question, label)
                continue
            name, kind = (f"place {who[1:]}", "slot") if who.startswith("\0") else (who, "person")
            for number, (labels, comment) in enumerate(revisions, 1):
                judgements = tuple(JudgementRecord(key, question, label) for question, label in labels.items())
                yield AnnotationRecord(key, name, judgements, rater_kind=kind, revision=number, comment=comment)
        for (key, name), (value, _) in self.scores.items():
            yield ScoreRecord(key, name, value)
        for (key, checker, question), (label, _) in self.predictions.items():
            yield SuggestionRecord(key, checker, question, label)

    def label_set(self, name: str) -> dict:
        """As `label_set_of` gives it, of the rows so far."""
        values: dict[str, Counter] = {}
        for revisions in self.labels.values():
            for labels, _ in revisions:
                for question, label in labels.items():
                    values.setdefault(question, Counter())[label] += 1
        if not values:
            return {}
        for (_, _, question), (label, _) in self.predictions.items():
            values.setdefault(question, Counter())[label] += 1
        questions = [_question(question, list(found), self.titles) for question, found in values.items()]
        page = "response" if "system" in self.mapping else "pair" if "context" in self.mapping else "claim"
        return {"name": name[:150], "version": 1, "page": page, "summary": "", "questions": questions}


def _said_by(record: Record) -> tuple:
    return (getattr(record, "text", ""), getattr(record, "premise", ""), getattr(record, "hypothesis", ""))


def _question(slug: str, values: list[str], titles: Mapping[str, str]) -> dict:
    numbers = [number_in(value) for value in values]
    are_numbers = None not in numbers
    title = shown(titles.get(slug, "")) or slug.replace("_", " ").capitalize()
    if len(values) > MOST_LABELS and are_numbers:
        return {"slug": slug, "title": title, "answer": "number", "level": "interval"}
    if len(values) > MOST_LABELS:
        raise FormatError(
            f"{slug} has {len(values):,} different values, such as {', '.join(values[:3])}; a question has at most "
            f"{MOST_LABELS} labels. Map the column as a score or a comment, or leave it with the text"
        )
    if are_numbers:
        found = {value: value for value in sorted(values, key=float)}
    else:
        found = {value: shown(titles.get(value, "")) or value for value in sorted(values)}
    if len(found) == 1:  # a question has two labels at least; the other one did not occur
        [(value, label)] = found.items()
        other = ("1" if value == "0" else "0") if are_numbers else f"not_{value}"[:80]
        found[other] = other if are_numbers else f"not {label}"[:TITLE_CHARS]
    labels = [{"value": value, "title": label} for value, label in found.items()]
    level = "interval" if are_numbers and len(values) > 2 else "nominal"
    return {"slug": slug, "title": title, "level": level, "labels": labels}
