"""Flat tables of an export: a row per unit with its final labels, and a row per unit and rater."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from annotation.decisions.moments import Moment
from annotation.decisions.revised import standing_at
from annotation.exports.queries import ExportedItem, exported_items
from annotation.exports.soft import SOFT_COLUMNS, cells_of, has_soft_label
from annotation.exports.texts import ItemTexts, judged_field
from annotation.formats.content.assay import instant_text
from annotation.formats.files.manifests import LABELS, RATINGS
from annotation.formats.records import AnnotationRecord, JudgementRecord
from annotation.formats.tools import flat_tables
from annotation.formats.tools.flat_tables import BY, CANNOT, ELSEWHERE, HIGHLIGHTS, METADATA, ONE, UNDECIDED
from annotation.models import EVIDENCE_PARENTS, Project
from annotation.task_types import Dimension, TaskType
from annotation.task_types.base import CANNOT_JUDGE, SEPARATOR
from annotation.work.queries.contents import CONTENTS, PASSAGE, UNIT_TEXTS
from annotation.work.queries.pages import FREE_TEXT

Batches = Iterable[list[ExportedItem]]
Row = dict[str, str | None]
# Texts that an item may have several of, and the column that holds them one below the other.
LISTED = {PASSAGE: "passages", "answer-": "answers"}
# What an item hangs below, and the model that wrote it, as seen from its anchor: the first that there is counts.
DOCUMENT = {
    "evidence": [f"evidence__{parent}__key" for parent in EVIDENCE_PARENTS],
    "response": ["response__question__key", "response__claim__key"],
    "atomic_claim": ["atomic_claim__response__key"],
}
SYSTEM = {"response": ["response__model"], "atomic_claim": ["atomic_claim__response__model"]}


def write_tables(
    project: Project,
    moment: Moment,
    folder: Path,
    kind: str,
    progress: Callable[[int], None],
    decisions: str = "",
    is_left_out: Callable[[ExportedItem], bool] = lambda item: False,
) -> None:
    """`labels` and `ratings` in files of this kind (tsv, csv, parquet). Items that `is_left_out` names have no row
    among the labels."""
    table = _Tables(project.type)

    def batches() -> Iterator[list[ExportedItem]]:
        done = 0
        for items in exported_items(project, moment, decisions):
            yield items
            done += len(items)
            progress(done)

    kept = ([item for item in items if not is_left_out(item)] for items in batches())
    flat_tables.write(folder / f"{LABELS}.{kind}", table.label_columns, table.label_rows(kept))
    flat_tables.write(folder / f"{RATINGS}.{kind}", table.rating_columns, table.rating_rows(batches()))


class _Tables:
    def __init__(self, kind: TaskType):
        self.kind, self.judged = kind, judged_field(kind)
        self.marked = "" if kind.unit_kind in UNIT_TEXTS else self.judged  # the text of a row, where it has highlights
        self.document, self.system = (of.get(kind.anchor_kind, []) for of in (DOCUMENT, SYSTEM))
        fields = CONTENTS[kind.contents].fields
        self.listed = {prefix: name for prefix, name in LISTED.items() if f"{prefix}*" in fields}
        has_words = kind.anchor_kind != kind.unit_kind
        before = {
            "id": True,
            "item": has_words,
            "text": True,
            "context": len(fields) - len(self.listed) > 1 or has_words,
        }
        before |= dict.fromkeys(self.listed.values(), True)
        before |= {"document": bool(self.document), "system": bool(self.system)}
        of_unit = {name: "text" for name, is_there in before.items() if is_there}
        of_rater = dict.fromkeys(("rater", "group"), "text")
        columns = {"time": "text", "seconds": "number", "surplus": "boolean", "at_decision": "text", "comment": "text"}
        columns |= {"free_text": "text"} if kind.free_text else {}
        self.questions = {flat_tables.column_of(one.slug): one for one in kind.dimensions}
        answers = {}
        for name, one in self.questions.items():
            answers[name] = self._type(one)
            if not one.takes_several and any(SEPARATOR in value for value in one.values):
                answers[f"{name}{ONE}"] = "text"
        made = dict.fromkeys((f"{name}{BY}" for name in self.questions), "text")
        self.soft = {name: one for name, one in self.questions.items() if has_soft_label(one)}
        kept = dict.fromkeys((f"{name}{part}" for name in self.soft for part in SOFT_COLUMNS), "text")
        marks = dict.fromkeys((column for name in self.questions for column in self._marks(name)), "text")
        self.label_columns = of_unit | answers | made | kept | {UNDECIDED: "text", METADATA: "text"}
        self.rating_columns = of_unit | of_rater | answers | marks | columns | {METADATA: "text"}

    def _type(self, question: Dimension) -> str:
        return "labels" if question.takes_several else "number" if question.takes_number else "text"

    def _marks(self, name: str) -> list[str]:
        """The columns of a question's highlights, and whether a person could not judge."""
        rule = self.questions[name].spans
        fields = set() if rule is None else set(rule.fields)
        parts = {HIGHLIGHTS: self.marked in fields, ELSEWHERE: bool(fields - {self.marked})}
        parts[CANNOT] = self.questions[name].has_cannot_judge
        return [f"{name}{part}" for part, is_there in parts.items() if is_there]

    def label_rows(self, batches: Batches) -> Iterator[Row]:
        for items in batches:
            content = self._content(items)
            for item in items:
                open_places = list(item.open_places(self.kind))
                for unit, key in item.unit_keys.items():
                    row = self._unit_row(content, item, unit, key)
                    for name, question in self.questions.items():
                        row[name] = label = item.label(self.kind, key, question)
                        row[f"{name}{BY}"] = None if label is None else item.method(key, question)
                    for name, question in self.soft.items():
                        cells = cells_of(question, item.by_rater.get((key, question.slug), {}))
                        row |= {f"{name}{part}": cell for part, cell in cells.items()}
                    row[UNDECIDED] = "; ".join(f"{slug}: {why}" for of, slug, why in open_places if of == key) or None
                    yield row

    def rating_rows(self, batches: Batches) -> Iterator[Row]:
        for items in batches:
            content = self._content(items)
            for item in items:
                latest = {annotation.rater: annotation for annotation in item.annotations}
                revised = _revised(item)
                for unit, key in item.unit_keys.items():
                    for annotation in latest.values():
                        by_dimension = {one.dimension: one for one in annotation.judgements if one.unit == key}
                        if by_dimension or annotation.comment or annotation.metadata:
                            row = self._unit_row(content, item, unit, key) | self._row(annotation, by_dimension)
                            yield row | {"at_decision": revised.get((annotation.rater, key))}

    def _content(self, items: list[ExportedItem]) -> ItemTexts:
        return ItemTexts(self.kind, items, (*self.document, *self.system))

    def _unit_row(self, content: ItemTexts, item: ExportedItem, unit: int, key: str) -> Row:
        texts, metadata = content.texts[item.anchor], content.metadata[item.anchor]
        words = content.unit_texts.get(unit)
        others = [name for name in texts if words is not None or name != self.judged]
        fixed = [texts[name] for name in others if not name.startswith(tuple(self.listed))]
        row = {"id": key, "item": item.key, "text": texts[self.judged] if words is None else words}
        row["context"] = "\n\n".join(filter(None, fixed))
        for prefix, name in self.listed.items():
            row[name] = "\n\n".join(texts[one] for one in others if one.startswith(prefix))
        columns = content.columns[item.anchor]
        for name, paths in (("document", self.document), ("system", self.system)):
            row[name] = next((columns[path] for path in paths if columns[path]), None)
        row[METADATA] = json.dumps(metadata, ensure_ascii=False, sort_keys=True) if metadata else None
        return row

    def _row(self, annotation: AnnotationRecord, judgements: dict[str, JudgementRecord]) -> Row:
        ms, at = annotation.active_ms, annotation.submitted_at
        row: Row = {"rater": annotation.rater, "group": annotation.rater_group, "comment": annotation.comment}
        row |= {"surplus": "true" if annotation.surplus else "false", "time": instant_text(at) if at else None}
        row["seconds"] = None if ms is None else f"{ms / 1000:g}"
        row["free_text"] = (annotation.metadata.get(FREE_TEXT) or {}).get("answer")
        for name, question in self.questions.items():
            one = judgements.get(question.slug)
            has_label = one is not None and one.label != CANNOT_JUDGE
            row[name] = one.label if has_label else None
            row[f"{name}{CANNOT}"] = "true" if one is not None and not has_label else None
            spans = [asdict(span) for span in one.spans] if one else []
            here = [span for span in spans if span["field"] == self.marked]
            row[f"{name}{HIGHLIGHTS}"] = flat_tables.highlights_cell(here)
            row[f"{name}{ELSEWHERE}"] = flat_tables.highlights_cell([span for span in spans if span not in here])
        return row


def _revised(item: ExportedItem) -> dict[tuple[str, str], str]:
    """Rater and unit -> their answer when the unit was decided, if it has changed since."""
    found: dict[tuple[str, str], list[str]] = {}
    by_unit: dict[str, dict[int, AnnotationRecord]] = {}
    for annotation in item.annotations if item.decided_at else ():
        if not annotation.surplus:
            by_unit.setdefault(annotation.rater, {})[annotation.revision] = annotation
    for rater, revisions in by_unit.items():
        history = [(number, one.submitted_at) for number, one in revisions.items()]
        labels = {
            number: {(one.unit, one.dimension): one.label for one in revision.judgements}
            for number, revision in revisions.items()
        }
        now = labels[max(labels)]
        for place, decided_at in item.decided_at.items():
            before = labels.get(standing_at(decided_at, history))
            if before is not None and before.get(place) != now.get(place):
                found.setdefault((rater, place[0]), []).append(f"{place[1]}: {before.get(place, 'not answered')}")
    return {place: "; ".join(parts) for place, parts in found.items()}
