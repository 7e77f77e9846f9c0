"""What an export gives to a tool's writer: one text with everything that was said of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    slug: str
    title: str
    labels: dict[str, str]  # value -> title
    takes_several: bool = False


@dataclass(slots=True)
class WrittenAnswers:
    """Labels in titles, by question's slug. `who` is a pseudonym or a model; "" where raters are exchangeable."""

    who: str
    labels: dict[str, list[str]] = field(default_factory=dict)
    probability: float | None = None
    active_ms: int | None = None
    submitted_at: datetime | None = None


@dataclass(slots=True)
class WrittenTask:
    key: str
    texts: dict[str, str]  # the texts of the page by their names, the judged one last
    metadata: dict
    people: list[WrittenAnswers] = field(default_factory=list)
    models: list[WrittenAnswers] = field(default_factory=list)
