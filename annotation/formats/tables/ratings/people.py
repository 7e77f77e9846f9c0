"""People's answers in a table of ratings: revisions by text and rater, places without a name, and final labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

from annotation.formats.cells import BadCell, LeftOut
from annotation.formats.records import AnnotationRecord, DecisionRecord, JudgementRecord, SpanRecord
from annotation.formats.tables.oddities import LEAVE_OUT, PLACES, REVISIONS, UNNAMED
from annotation.formats.tables.questions import MARKED, NOTHING, chosen_of
from annotation.formats.tables.ratings.labels import RatingLabels


@dataclass(slots=True)
class RowAnswer:
    """What one rater says on one row, or on several that go together."""

    labels: dict[str, str]
    comment: str = ""
    at: datetime | None = None
    spans: dict[str, dict[SpanRecord, None]] = field(default_factory=dict)  # by question; a dict keeps their order
    kept: dict[str, list] = field(default_factory=dict)  # by column, a value for each of the rows
    about: dict[str, object] = field(default_factory=dict)  # what describes the rater


class PeopleAnswers:
    """Gathered until the end, since a text may stand on many rows. `rater` is the column of raters, or ""."""

    def __init__(self, rater: str, labels: RatingLabels, labelled: frozenset[str]):
        self.rater, self.labels, self.odd = rater, labels, labels.odd
        self.labelled = labelled  # questions that columns of labels answer
        self.revisions: dict[tuple[str, str], list[RowAnswer]] = {}  # by key and rater, in the order of the rows
        self.n_unnamed: Counter = Counter()
        self.first_unnamed: dict[str, dict[str, str]] = {}  # key -> labels of the first row of nobody
        self.decided: dict[tuple[str, str], tuple[str, datetime | None]] = {}  # of rows that no rater of the file gave
        self.groups: dict[str, str] = {}  # rater -> group, of those who have one
        self.slots: set[str] = set()  # raters that are places in a list

    def named(self, group: str, name: str) -> str:
        """Raters of two groups are never one, so a group is part of their name."""
        who = f"{group}/{name}" if group and name else group or name
        if group:
            self.groups[who] = group
        return who

    def add(self, key: str, answers: dict[str, RowAnswer]) -> None:
        for who, answer in answers.items():
            if not who and self.rater:  # others are named
                if self.odd.treat[UNNAMED] == LEAVE_OUT:
                    raise LeftOut(self.rater, "", "is empty, and says who gave the labels")
                self.odd.add(UNNAMED)
                if self.odd.treat[UNNAMED] == "decisions":
                    self._decide(key, answer)
                    continue
            if not who:  # nobody is named: the row is a place of its own
                first = self.first_unnamed.setdefault(key, answer.labels)
                if first is not answer.labels and _contradict(first, answer.labels):
                    if self.odd.treat[PLACES] == LEAVE_OUT:
                        raise LeftOut("", key, "has other labels than an earlier row for the same text")
                    self.odd.add(PLACES)
                self.n_unnamed[key] += 1
                self.revisions[key, f"\0{self.n_unnamed[key]}"] = [answer]
                continue
            revisions = self.revisions.get((key, who))
            if revisions is None:
                self.revisions[key, who] = [answer]
                continue
            newest = revisions[-1]
            known = newest.labels
            for earlier in revisions[-2::-1]:
                known = earlier.labels | known
            for question in self.labels.several & known.keys() & answer.labels.keys() if answer.at == newest.at else ():
                # A row for each label of one answer.
                labels = {*chosen_of(known[question]), *chosen_of(answer.labels[question])}
                newest.labels[question] = answer.labels[question] = self.labels.together(question, labels)
                known = known | newest.labels
            if _contradict(known, answer.labels):
                if self.odd.treat[REVISIONS] == LEAVE_OUT:
                    raise LeftOut("", who, "has other labels than an earlier row by the same rater")
                self.odd.add(REVISIONS)
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

    def _decide(self, key: str, answer: RowAnswer) -> None:
        for question, label in answer.labels.items():
            if self.decided.setdefault((key, question), (label, answer.at))[0] != label:
                raise BadCell(self.rater, label, "differs from the final label on an earlier row")

    def answered(self) -> Iterator[tuple[str, str]]:
        """Every question with a label."""
        for answer in chain.from_iterable(self.revisions.values()):
            yield from answer.labels.items()
        for (_, question), (label, _) in self.decided.items():
            yield question, label

    def write_as(self, stored: Callable[[str, str], str]) -> None:
        for answer in chain.from_iterable(self.revisions.values()):
            answer.labels = {question: stored(question, label) for question, label in answer.labels.items()}
        self.decided = {place: (stored(place[1], label), at) for place, (label, at) in self.decided.items()}

    def records(self) -> Iterator[DecisionRecord | AnnotationRecord]:
        for (key, question), (label, at) in self.decided.items():
            yield DecisionRecord(key, question, label, decided_at=at)
        has_several = any(number > 1 for number in self.n_unnamed.values())
        for (key, who), revisions in self.revisions.items():
            is_decision = not has_several and not self.rater and not revisions[0].spans
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


def _contradict(known: dict[str, str], labels: dict[str, str]) -> bool:
    """Whether a question has two labels. One highlight more is none."""
    return any(
        known.get(one, label) != label and {known[one], label} != {MARKED, NOTHING} for one, label in labels.items()
    )
