"""Answers of checkers elsewhere in a table of ratings: scores, labels with their probabilities, and highlights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from annotation.formats.cells import BadCell, number_in, to_text
from annotation.formats.files.json_streams import decode_json
from annotation.formats.names import find_label, label_key
from annotation.formats.records import ScoreRecord, SpanRecord, SuggestionRecord
from annotation.formats.tables.ratings.labels import RatingLabels
from annotation.formats.tables.ratings.people import RowAnswer

MISSING_NUMBERS = ("nan", "na", "none", "null")
Columns = list[tuple[list[str], str]]  # names of a role, and its column


class CheckerAnswers:
    """`checker` is the column that names the checker of the row, "" where there is none."""

    def __init__(
        self, checker: str, of_score: Columns, of_prediction: Columns, of_probability: Columns, labels: RatingLabels
    ):
        self.checker, self.labels = checker, labels
        self.of_score, self.of_prediction, self.of_probability = of_score, of_prediction, of_probability
        self.scores: dict[tuple[str, str], tuple[float, int]] = {}
        self.predictions: dict[tuple[str, str, str], tuple[str, int]] = {}
        self.predicted_spans: dict[tuple[str, str, str], dict[SpanRecord, None]] = {}
        self.probabilities: dict[tuple[str, str, str], dict[str, float]] = {}  # "" stands for the label that was given

    def add(self, key: str, line: int, cells: dict, checker: str, answers: dict[str, RowAnswer]) -> None:
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
                raise BadCell(self.checker, "", "is empty, and says which checker gave the score")
            value, before = self.scores.get((key, name), (number, line))
            if value != number:
                raise BadCell(column, text, f"differs from the score on line {before} for the same text")
            scores[key, name] = value, before
        labels = {
            (checker, question): label for answer in answers.values() for question, label in answer.labels.items()
        }
        labels = {place: (label, self.checker) for place, label in labels.items()} if checker else {}
        for (name, question), column in self.of_prediction:
            if question in self.labels.several:
                label = self.labels.several_in(question, cells.get(column), column)
                labels |= {(name, question): (label, column)} if label is not None else {}
            elif text := to_text(cells.get(column), column).strip():
                labels[name, question] = self.labels.named(question, text), column
        for (name, question), (said_here, column) in labels.items():
            label, before = self.predictions.get((key, name, question), (said_here, line))
            if label_key(label) != label_key(said_here):
                raise BadCell(column, label, f"differs from the label on line {before} for the same text")
            predictions[key, name, question] = label, before
        probabilities = self._probabilities(key, cells, checker, labels)
        for answer in answers.values() if checker else ():
            for question, spans in answer.spans.items():
                self.predicted_spans.setdefault((key, checker, question), {}).update(spans)
        self.scores.update(scores)
        self.predictions.update(predictions)
        for place, found in probabilities.items():
            self.probabilities.setdefault(place, {}).update(found)
            if place not in self.predictions and "" not in found:  # the most probable label is the one that is meant
                self.predictions[place] = max(found, key=found.__getitem__), line

    def _probabilities(self, key: str, cells: dict, checker: str, labels: dict) -> dict:
        found: dict[tuple[str, str, str], dict[str, float]] = {}
        for names, column in self.of_probability:
            places = [(names[0], names[1])] if names else [place for place in labels if place[0] == checker]
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
                    of = self.labels.named(question, title or label) if title or label else ""
                    found.setdefault((key, name, question), {})[of] = number
        return found

    def write_as(self, stored: Callable[[str, str], str]) -> None:
        """`stored` says how a label of a question is written."""
        self.predictions = {place: (stored(place[2], label), line) for place, (label, line) in self.predictions.items()}

    def match(self, people: Mapping[str, Mapping[str, str]]) -> None:
        """A checker's labels are those of people that are spelt alike, where there is one."""

        def meant(question: str, label: str) -> str:
            known = people.get(question, {})
            parts = [find_label(one, known) or one for one in self.labels.parts(question, label)]
            return self.labels.together(question, set(parts)) if question in self.labels.several else parts[0]

        self.write_as(meant)
        for place, probabilities in self.probabilities.items():
            self.probabilities[place] = {one and meant(place[2], one): number for one, number in probabilities.items()}

    def records(self) -> Iterator[ScoreRecord | SuggestionRecord]:
        for (key, name), (value, _) in self.scores.items():
            yield ScoreRecord(key, name, value)
        for place, (label, _) in self.predictions.items():
            probabilities = dict(self.probabilities.get(place, ()))
            sure = probabilities.pop("", None)
            marked = sorted(self.predicted_spans.get(place, ()), key=lambda one: (one.start, one.end, one.label))
            yield SuggestionRecord(*place, label, probabilities.get(label, sure), probabilities, spans=tuple(marked))
