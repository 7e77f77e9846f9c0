"""What an export gives to a tool's writer: one text with all answers about it; and zips of lines."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from annotation.formats.cells import number_in
from annotation.formats.names import question_slug
from annotation.formats.records import SpanRecord
from annotation.formats.tools.tasks import MARKED, NONE
from annotation.task_types.base import Ranks


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    slug: str
    title: str
    labels: dict[str, str]  # value -> title
    takes_several: bool = False
    takes_number: bool = False
    takes_text: bool = False
    passages: dict[str, str] = field(default_factory=dict)  # value -> title of labels that passages have
    passages_title: str = ""
    has_severities: bool = False  # of its passages
    orders: dict[str, Ranks] = field(
        default_factory=dict
    )  # title -> the order that it puts all texts in, by their names

    @property
    def is_of_passages(self) -> bool:
        """Whether the question asks for nothing but passages."""
        return bool(self.passages) and tuple(self.labels) == (MARKED, NONE)

    @property
    def is_of_numbers(self) -> bool:
        """Whether every answer is a number: typed, or a label of a scale."""
        labels = self.labels.values()
        return self.takes_number or (bool(labels) and all(number_in(label) is not None for label in labels))


@dataclass(slots=True)
class WrittenAnswers:
    """By question's slug labels in titles, and passages whose labels are titles. `who` is a pseudonym or a model; ""
    where raters are exchangeable."""

    who: str
    labels: dict[str, list[str]] = field(default_factory=dict)
    spans: dict[str, list[SpanRecord]] = field(default_factory=dict)
    probability: float | None = None
    active_ms: int | None = None
    submitted_at: datetime | None = None
    explanations: dict[str, str] = field(default_factory=dict)  # by question's slug, a model's reasons


@dataclass(slots=True)
class WrittenTask:
    key: str
    texts: dict[str, str]  # the texts of the page by their names, the judged one last
    metadata: dict
    people: list[WrittenAnswers] = field(default_factory=list)
    models: list[WrittenAnswers] = field(default_factory=list)
    systems: dict[str, str] = field(default_factory=dict)  # name of a text that is compared -> what made it, or ""

    @property
    def judged(self) -> str:
        """The text that the labels are about."""
        return list(self.texts.values())[-1]


def names_of(questions: list[WrittenQuestion], allowed: re.Pattern[str]) -> dict[str, str]:
    """Slug -> name: the question's title where the tool can have it and an import makes the same slug of it."""
    return {one.slug: one.title if allowed.fullmatch(one.title) and question_slug(one.title) == one.slug else one.slug
            for one in questions}  # fmt: skip


def number_or_text(label: str) -> int | float | str:
    number = number_in(label)
    if number is None:
        return label
    return int(number) if number.is_integer() else number


def append_line(path: Path, line: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8", newline="") as out:
        out.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")


def zip_folder(folder: Path, target: Path) -> None:
    with ZipFile(target, "w") as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = ZipInfo(path.relative_to(folder).as_posix())  # without the time: the same labels, the same bytes
            entry.compress_type = ZIP_DEFLATED
            with archive.open(entry, "w") as out, open(path, "rb") as lines:
                shutil.copyfileobj(lines, out)
