"""Keys from a table: a line for each item, or for each unit of an item, with a column for each question."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass, field

from annotation.models import Item, ItemKey, Project, User
from annotation.task_types import Dimension
from annotation.work.answer_rules import InvalidSubmission
from annotation.work.learning.keys import ApartError, note, set_apart

MAX_CHARS = 2_000_000
MAX_ITEMS = 2000
TRUE = {"1", "true", "yes", "x"}


@dataclass
class KeyLine:
    """An item's key as lines of the table say it; `line` is the first of them."""

    line: int
    purpose: str
    reason: str = ""
    is_loud: bool = False
    answers: list[dict] = field(default_factory=list)


class KeyTableError(Exception):
    """The table cannot be read; the message is for the researcher."""


def set_apart_all(project: Project, user: User, text: str, default: str) -> tuple[int, list[str]]:
    """Set the table's items apart, each by itself: how many were, and what is wrong with the others, by line.
    `default` is the purpose where the table has none. Raises KeyTableError for a table without its columns."""
    lines = _read(project, text, default)
    items = project.items.exclude(state=Item.State.RETIRED).exclude(item_key__original__isnull=False)
    found = {item.key: item for item in items.filter(key__in=lines)}
    done, problems = Counter(), []
    for key, one in lines.items():
        try:
            if key not in found:
                raise ApartError(f"There is no item with the key {key}")
            if one.purpose not in ItemKey.Purpose.values:
                raise ApartError(f"The purpose is one of {', '.join(ItemKey.Purpose.values)}")
            more = {"reason": one.reason, "is_loud": one.is_loud}
            set_apart(project, found[key], user, one.purpose, one.answers, is_noted=False, **more)
            done[one.purpose] += 1
        except (ApartError, InvalidSubmission) as problem:
            problems.append(f"Line {one.line}: {problem}")
    note(project, user, done)
    return done.total(), problems


def _read(project: Project, text: str, default: str) -> dict[str, KeyLine]:
    """Keys by the key of their item."""
    head = text.split("\n", 1)[0]
    rows = csv.DictReader(io.StringIO(text), delimiter="\t" if "\t" in head else ",", restkey="", restval="")
    dimensions = [one for one in project.type.asked_dimensions if not one.takes_text]
    try:
        columns = {name.strip() for name in rows.fieldnames or ()}
        asked = [one for one in dimensions if one.slug in columns]
        if "key" not in columns or not asked:
            names = ", ".join(one.slug for one in dimensions)
            raise KeyTableError(f"The table needs a column key and one at least of {names}")
        found: dict[str, KeyLine] = {}
        for row in rows:
            cells = {(name or "").strip(): (value or "") for name, value in row.items() if isinstance(value, str)}
            key = cells["key"].strip()
            if not any(value.strip() for value in cells.values()):
                continue
            is_loud = cells.get("loud", "").strip().lower() in TRUE
            purpose = cells.get("purpose", "").strip().lower() or default
            one = found.setdefault(key, KeyLine(rows.line_num, purpose, cells.get("reason", "").strip(), is_loud))
            unit = cells.get("unit", "").strip() or _only_unit(project, key)
            for dimension in asked:
                if value := cells[dimension.slug].strip():
                    label = _label_of(dimension, value)
                    one.answers.append({"unit": unit, "dimension": dimension.slug, "label": label})
            if len(found) > MAX_ITEMS:
                raise KeyTableError(f"The table has more than {MAX_ITEMS:,} items")
    except csv.Error as error:
        raise KeyTableError(f"The table cannot be read: {error}") from None
    return found


def _only_unit(project: Project, key: str) -> str:
    """An item that is its own unit has its key."""
    return key if project.type.anchor_kind == project.type.unit_kind else ""


def _label_of(dimension: Dimension, value: str) -> str:
    """A label by its value or its title; what is neither is refused with the key."""
    by_title = {label.title.casefold(): label.value for label in dimension.labels}
    return value if dimension.takes(value) else by_title.get(value.casefold(), value)
