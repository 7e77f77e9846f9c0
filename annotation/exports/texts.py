"""The texts of an export's items, as their pages show them, for tables and files of other tools."""

from __future__ import annotations

from collections.abc import Iterable

from annotation.exports.queries import ExportedItem
from annotation.models import Unit
from annotation.task_types import TaskType
from annotation.work.queries.contents import CONTENTS, UNIT_TEXTS, unit_text

# The text that is judged, by what items are made from.
JUDGED = {
    "evidence": "evidence",
    "response": "response",
    "question": "question",
    "pair": "hypothesis",
    "comparison": "question",  # its prompt; the outputs have columns of their own
}


def judged_field(kind: TaskType) -> str:
    """The text that an item is made from, as spans name it."""
    return JUDGED.get(kind.anchor_kind, "claim")


class ItemTexts:
    """Of some items, by the id of their anchor unit: `texts` by field with the judged one last, `metadata`,
    and in `columns` the other columns that were asked for, as seen from the anchor. `unit_texts` has the words of units
    that have their own."""

    def __init__(self, kind: TaskType, items: list[ExportedItem], columns: Iterable[str] = ()):
        contents, judged = CONTENTS[kind.contents], judged_field(kind)
        metadata = f"{kind.anchor_kind}__metadata"
        rows = Unit.objects.filter(pk__in=[item.anchor for item in items])
        self.metadata, self.texts, self.columns = {}, {}, {}
        for row in rows.values("pk", metadata, *{*contents.paths, *columns}):
            texts = contents.read(row).texts
            self.metadata[row["pk"]] = row[metadata] or {}
            self.texts[row["pk"]] = {name: text for name, text in texts.items() if name != judged} | {
                judged: texts[judged]
            }
            self.columns[row["pk"]] = {column: row[column] for column in columns}
        self.unit_texts = {}
        if kind.unit_kind in UNIT_TEXTS:
            units = [unit for item in items for unit in item.unit_keys]
            found = Unit.objects.filter(pk__in=units).select_related(UNIT_TEXTS[kind.unit_kind][0])
            self.unit_texts = {unit.pk: unit_text(unit).title for unit in found}
