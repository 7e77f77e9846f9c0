"""What a report's page holds, declared once: its answer, and sections of figures, tables and pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from analysis.figures.items import Filter
from analysis.figures.pictures import Picture
from analysis.figures.results import Figure
from analysis.figures.tables import Column, Table


@dataclass(frozen=True)
class Counts:
    """How many of what, in a row: a title, a number (None: it is not known), and the filter that it opens, or None."""

    rows: Sequence[tuple[str, int | None, Filter | None]]

    def table(self, title: str) -> Table:
        """The same for files and commands."""
        columns = [
            Column("Of what", lambda row: row[0]),
            Column("n", lambda row: "unknown" if row[1] is None else row[1], items=lambda row: row[2]),
        ]
        return Table(title, columns, self.rows)


@dataclass(frozen=True)
class Text:
    words: str


Part = Table | Picture | Counts | Text


@dataclass(frozen=True)
class Section:
    """Parts under one heading. The page folds all sections but the first. Parts that have nothing to show (None, a
    table without rows) are left out, and so is a section without any."""

    title: str
    parts: Sequence[Part | None]

    @property
    def shown(self) -> list[Part]:
        return [part for part in self.parts if part and not (isinstance(part, Table) and not part.rows)]


@dataclass(frozen=True)
class Headline:
    """A figure in large print, with its question and the name of the measure. `word` says in a few words what it
    means, for lists."""

    question: str
    measure: str
    figure: Figure
    word: str = ""

    @property
    def value(self) -> str:
        return self.figure.written().partition(" ")[0]

    @property
    def interval(self) -> str:
        return self.figure.written().partition(" ")[2]


@dataclass(frozen=True)
class Answer:
    """What the page begins with: one or two sentences that a paper could use, the picture that shows it, and the one
    thing to do next. `n` says what it rests on, and `headlines` are the sentences' figures."""

    sentences: tuple[str, ...]
    n: str
    picture: Picture | None = None
    next: str = ""
    headlines: tuple[Headline, ...] = ()


@dataclass(frozen=True)
class Rule:
    """One row of a report's table of answers: when it applies, and what it says then. `name` is for tests."""

    name: str
    applies: Callable[[Any], bool]
    says: Callable[[Any], str]


def first_that_applies(rules: Sequence[Rule], about: Any) -> str:
    """What the first rule that applies says; empty where none does."""
    return next((rule.says(about) for rule in rules if rule.applies(about)), "")


def all_that_apply(tables: Iterable[Sequence[Rule]], about: Any) -> tuple[str, ...]:
    """What each table of rules says; nothing of those that say nothing."""
    return tuple(filter(None, (first_that_applies(rules, about) for rules in tables)))


def first_sentence(rules: Sequence[Rule], abouts: Iterable[Any]) -> str:
    """What `rules` say of the first, such as of several questions, that they say anything of."""
    return next(filter(None, (first_that_applies(rules, about) for about in abouts)), "")


@dataclass(frozen=True)
class Page:
    answer: Answer
    sections: Sequence[Section]
    notes: Sequence[str] = field(default=())  # what is to be known of all figures, such as decisions that do not count
    more: Sequence[Section] = ()  # below the heading "More statistics"

    def with_note(self, note: str) -> Page:
        return replace(self, notes=(*self.notes, note)) if note else self

    def beginning_with(self, sentence: str, *, is_all: bool) -> Page:
        """With a sentence before the answer's, or in place of them."""
        rest = () if is_all else self.answer.sentences
        return replace(self, answer=replace(self.answer, sentences=(sentence, *rest)))

    @property
    def all_sections(self) -> list[Section]:
        return [*self.sections, *self.more]

    def parts(self) -> Iterator[Part]:
        for section in self.all_sections:
            yield from filter(None, section.parts)

    def in_files(self) -> Iterator[Table | Picture]:
        """What files have, in order: tables (counts too) and pictures."""
        for section in self.all_sections:
            for part in section.shown:
                if isinstance(part, Counts):
                    yield part.table(f"{section.title}: counts")
                elif not isinstance(part, Text):
                    yield part

    def tables(self) -> list[Table]:
        return [part for part in self.parts() if isinstance(part, Table)]

    def pictures(self) -> list[Picture]:
        pictures = [self.answer.picture] if self.answer.picture else []
        pictures += [part for part in self.parts() if isinstance(part, Picture)]
        return list({picture.name: picture for picture in pictures}.values())


def page_of_each(
    questions: Sequence[Any],
    *,
    rules: Sequence[Rule],
    draw: Callable[[Any], Picture | None],
    sections: Callable[[Any, Picture | None], list[Section]],
    n: str,
    next_step: str = "",
    if_none: str = "",
    notes: Sequence[str] = (),
) -> Page:
    """A page with a sentence and sections of each question, which get its picture; the first picture that there is
    stands in the answer. `if_none` is the answer where there are no questions."""
    pictures = [draw(question) for question in questions]
    says = tuple(first_that_applies(rules, question) for question in questions)
    return Page(
        Answer(says or (if_none,), n, next(filter(None, pictures), None), next_step),
        [one for question, picture in zip(questions, pictures, strict=True) for one in sections(question, picture)],
        notes,
    )
