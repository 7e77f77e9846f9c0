"""What an export gives to a tool's writer: one text with everything that was said of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from annotation.formats.records import SpanRecord
from annotation.formats.tools.tasks import MARKED, NONE


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

    @property
    def is_of_passages(self) -> bool:
        """Whether the question asks for nothing but passages."""
        return bool(self.passages) and tuple(self.labels) == (MARKED, NONE)


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
