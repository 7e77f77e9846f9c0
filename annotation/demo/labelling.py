"""How the demo's people answer an item: they lean on answers that are kept with the data (`answers`).

Where an answer can be doubted, each of them now and then follows the doubt, and they mark more or fewer words, so that
agreement, disagreement and a comparison with a checker can be looked at.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from datetime import timedelta
from hashlib import blake2b

from django.utils import timezone

from annotation.demo.answers import DemoAnswer
from annotation.models import Assignment, User
from annotation.task_types import Dimension, TaskType
from annotation.work import annotating
from annotation.work.queries import pages

# With the signs of Markdown between them.
BETWEEN_SENTENCES = re.compile(r"(?:(?<=[.!?:])(?:\*\*)?\s+|\n\n)(?:(?:[->]|#+|\d\.) )?")


def label(assignment: Assignment, annotator: User, answer_of: Callable[[str], DemoAnswer], **more) -> None:
    """Submit what the person says of each unit of the item; `more` goes with the answer."""
    page = pages.load_page(assignment.item_id, assignment.project.type)
    texts = page.contents.texts
    labels = {unit: answer_of(unit) for unit in page.unit_keys}
    judgements = [
        judgement
        for unit, answer in labels.items()
        for judgement in _judgements(page.type, annotator, unit, answer, texts)
    ]
    # A glance at each answer, and the time that the texts take to be read.
    seconds = 8 + chance(annotator, assignment.item.key) % 40 + sum(map(len, texts.values())) // 60
    now = timezone.now()
    body = {
        "client_id": str(uuid.uuid4()),
        "shown_at": (now - timedelta(seconds=seconds)).isoformat(),
        "submitted_at": now.isoformat(),
        "active_ms": seconds * 1000,
        "judgements": judgements,
        **more,
    }
    if page.type.free_text:
        body["free_text"] = " ".join(answer.note for answer in labels.values())
    annotating.submit(assignment, annotator, body)


def followed(answer: DemoAnswer, person: User, unit: str, doubts: int) -> DemoAnswer:
    return answer.doubt if answer.doubt and chance(person, unit) % doubts == 0 else answer


def chance(person: User, key: str) -> int:
    """A number that is the same on every machine, so that every demo shows the same figures."""
    return int.from_bytes(blake2b(f"{person.username}\0{key}".encode(), digest_size=4).digest(), "big")


def _judgements(kind: TaskType, person: User, unit: str, answer: DemoAnswer, texts: dict[str, str]) -> list[dict]:
    return [
        {
            "unit": unit,
            "dimension": dimension.slug,
            "label": answer.labels[dimension.slug],
            "spans": _spans(dimension, person, unit, answer, texts),
        }
        for dimension in kind.dimensions
        if kind.is_asked(dimension, answer.labels)
    ]


def _spans(dimension: Dimension, person: User, unit: str, answer: DemoAnswer, texts: dict[str, str]) -> list[dict]:
    """The quotes, here and there as whole sentences. Who need not mark anything sometimes does not."""
    rule = dimension.spans
    if rule is None or not dimension.may_carry(answer.labels[dimension.slug]):
        return []
    if not rule.required and chance(person, f"{unit}\0{dimension.slug}") % 3 == 0:
        return []
    places = {}  # two quotes may lie in one sentence
    for field, quotes in answer.quotes.items():
        for quote in quotes:
            start = texts[field].index(quote)
            end = start + len(quote)
            if chance(person, f"{unit}\0{quote}") % 3 == 0:
                start, end = _sentence_around(texts[field], start, end)
            places[field, start, end] = texts[field][start:end]
    return [
        {"field": field, "start": start, "end": end, "quote": quote} for (field, start, end), quote in places.items()
    ]


def _sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    borders = list(BETWEEN_SENTENCES.finditer(text))
    before = [border.end() for border in borders if border.end() <= start]
    after = [border.start() for border in borders if border.start() >= end]
    return before[-1] if before else 0, after[0] if after else len(text)
