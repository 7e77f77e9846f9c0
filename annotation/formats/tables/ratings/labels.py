"""Labels of a table of ratings as they are stored, and what is odd about the way they are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from annotation.formats.cells import BadCell, LeftOut, guess_label, label_order, number_in
from annotation.formats.names import chosen_value, find_label, label_key, label_value
from annotation.formats.records import OddRecord
from annotation.formats.sources import Options
from annotation.formats.tables.oddities import FOLD, LEAVE_OUT, SPELLINGS, UNMAPPED
from annotation.formats.tables.questions import chosen_of, parts_of, range_in
from annotation.task_types.base import NONE_CHOSEN, SEPARATOR, number_text


class OddRows:
    """What is odd about the rows, by kind and what: noted while a row is read, and kept if nothing is wrong with it."""

    def __init__(self, treat: Mapping[str, str]):
        self.treat, self.where = treat, ""
        self.found: dict[tuple[str, str], list] = {}  # how many, and where the first one stands
        self._of_row: list[tuple[str, str]] = []

    def start(self, file: str, line: int | None) -> None:
        self._of_row.clear()
        self.where = f"{file}, line {line:,}" if line else file

    def add(self, kind: str, what: str = "") -> None:
        self._of_row.append((kind, what))

    def keep(self) -> None:
        for one in self._of_row:
            self.found.setdefault(one, [0, self.where])[0] += 1

    def records(self) -> Iterator[OddRecord]:
        for (kind, what), (number, first) in self.found.items():
            yield OddRecord(kind, what, number, first, is_open=not self.treat[kind])


class RatingLabels:
    """Cells as labels. `several` are the questions that take several labels at once."""

    def __init__(self, options: Options, several: set[str], odd: OddRows):
        self.several, self.odd, self.treat = several, odd, odd.treat
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
        self.titles: dict[str, str] = {}  # of labels, where they are not stored as they stand
        self.written: dict[tuple[str, str], Counter] = {}  # question and label's key -> how it is written, how often

    def named(self, question: str, text: str) -> str:
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

    def label(self, question: str, text: str, column: str, scale: tuple[float, float] | None) -> str | None:
        """The label that a cell holds, as it is stored; None where it means no label, or none that there is."""
        values = self.meant.get(question, {})
        meant = values.get(text, values.get(label_key(text)))
        if meant == "":
            return None
        accepted = self.accepted.get(question)
        if meant is None and accepted and self.named(question, text) not in accepted:
            meant = guess_label(text, question, accepted)
            if meant is None:
                if self.treat[UNMAPPED] == LEAVE_OUT:
                    raise LeftOut(column, text, "is not a label of the question")
                self.odd.add(UNMAPPED, f"{question}: {text}")
                return None
        if scale is not None:
            known = self.ranges.setdefault(question, scale)
            self.ranges[question] = min(known[0], scale[0]), max(known[1], scale[1])
        if question in self.ranges:
            least, most = self.ranges[question]
            number = number_in(text)
            if number is None or not least <= number <= most:
                raise BadCell(column, text, f"is outside the scale from {number_text(least)} to {number_text(most)}")
        label = meant if meant is not None else self.named(question, text)
        written = self.written.setdefault((question, label_key(text)), Counter())
        first = next(iter(written), text)
        is_other = self.named(question, first) != label if number_in(text) is not None else first != text
        if is_other and meant is None and self.treat[SPELLINGS] == LEAVE_OUT:
            raise LeftOut(column, text, f"is spelt differently from {first!r}")
        written[text] += 1
        return self.named(question, first) if meant is None and self.treat[SPELLINGS] == FOLD else label

    def several_in(self, question: str, cell: object, column: str) -> str | None:
        """The labels in a cell as one answer; None where it is empty, or holds none that means anything."""
        parts = parts_of(cell, column)
        if parts is None:
            return None
        labels = {self.label(question, part, column, None) for part in parts} - {None}
        return self.together(question, labels) if labels or not parts else None

    def together(self, question: str, labels: set[str]) -> str:
        """As `Dimension.answer_of` writes it; a label set of the file has its labels in the order of the alphabet."""
        order = self.accepted.get(question) or sorted(labels, key=label_order)
        return SEPARATOR.join(label for label in order if label in labels) or NONE_CHOSEN

    def parts(self, question: str, label: str) -> list[str]:
        return chosen_of(label) if question in self.several else [label]

    def spellings(self) -> Iterator[OddRecord]:
        for (question, _), written in self.written.items():
            if len({self.named(question, text) if number_in(text) is not None else text for text in written}) > 1:
                spelt = ", ".join(f"{text} ({number:,})" for text, number in written.most_common(10))
                yield OddRecord(SPELLINGS, f"{question}: {spelt}", sum(written.values()), "")
