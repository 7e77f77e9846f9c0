"""What a page of work holds: the texts, the units, and the JSON that the browser works from.

Which texts an item shows depends on the kind of its anchor alone; `CONTENTS` is the table. Nothing here reads other
people's labels, and suggestions only where the assignment's arm shows them now.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.db import connection
from django.db.models import Max

from annotation.models import (
    Assignment,
    Evidence,
    Guideline,
    Item,
    ItemUnit,
    Judgement,
    Project,
    Rater,
    Revision,
    Suggestion,
    Unit,
)
from annotation.task_types import TaskType


@dataclass(frozen=True)
class Contents:
    """`context` is what the template shows; `texts` are those of its texts that are judged, by field."""

    context: dict
    texts: dict[str, str]


@dataclass(frozen=True)
class Page:
    item: Item
    type: TaskType
    units: list[Unit]
    contents: Contents
    text_hash: str

    @property
    def unit_keys(self) -> list[str]:
        return [unit.key for unit in self.units]


@dataclass(frozen=True)
class Source:
    """Columns by path from the anchor unit, and what to make of them (by the same paths)."""

    paths: tuple[str, ...]
    read: Callable[[dict], Contents]


ITEM_COLUMNS = ("id", "uuid", "key", "state", "anchor_id", "anchor__key")

EVIDENCE = (
    "evidence__text",
    "evidence__url",
    "evidence__publisher",
    "evidence__date",
    "evidence__claim__text",
    "evidence__claim__claimant",
    "evidence__claim__date",
    "evidence__claim__source",
    "evidence__question__text",
    "evidence__question__date",
)


def _evidence(row: dict) -> Contents:
    """A piece of evidence under its claim (or, where a data set has no claims, its question)."""
    has_claim = row["evidence__claim__text"] is not None
    claim = row["evidence__claim__text"] if has_claim else row["evidence__question__text"]
    return Contents(
        {
            "claim": claim,
            "claimant": row["evidence__claim__claimant"] or "",
            "claim_date": row["evidence__claim__date"] if has_claim else row["evidence__question__date"],
            "claim_source": row["evidence__claim__source"] or "",
            "evidence": row["evidence__text"],
            "evidence_url": row["evidence__url"],
            "publisher": row["evidence__publisher"],
            "evidence_date": row["evidence__date"],
        },
        {"claim": claim, "evidence": row["evidence__text"]},
    )


RESPONSE = (
    "response__text",
    "response__question_id",
    "response__claim_id",
    "response__question__text",
    "response__claim__text",
)


def _response(row: dict) -> Contents:
    """A model's answer with the passages of its question (or claim); which model it was stays hidden."""
    if row["response__claim_id"] is not None:
        parent, asked = {"claim": row["response__claim_id"]}, row["response__claim__text"]
    else:
        parent, asked = {"question": row["response__question_id"]}, row["response__question__text"]
    passages = [
        {"key": f"passage-{number}", "title": title, "text": text}
        for number, (title, text) in enumerate(
            Evidence.objects.published().in_order().filter(**parent).values_list("publisher", "text"), 1
        )
    ]
    return Contents(
        {"question": asked, "response": row["response__text"], "passages": passages},
        {"question": asked, "response": row["response__text"]} | {one["key"]: one["text"] for one in passages},
    )


CONTENTS = {"evidence": Source(EVIDENCE, _evidence), "response": Source(RESPONSE, _response)}


@dataclass(frozen=True)
class UnitText:
    head: str = ""
    relation: str = ""
    tail: str = ""
    title: str = ""


def _triplet(unit: Unit) -> UnitText:
    row = unit.triplet
    return UnitText(row.head, row.relation, row.tail, " ".join(filter(None, (row.head, row.relation, row.tail))))


# Units with words of their own: the join that brings them and how they are shown.
UNIT_TEXTS: dict[str, tuple[str, Callable[[Unit], UnitText]]] = {
    "triplet": ("triplet", _triplet),
    "sub_sentence": ("sub_sentence", lambda unit: UnitText(title=unit.sub_sentence.text)),
}


def unit_text(unit: Unit) -> UnitText:
    return UNIT_TEXTS[unit.kind][1](unit) if unit.kind in UNIT_TEXTS else UnitText()


@lru_cache(maxsize=16)
def _compiled(vendor: str, columns: tuple[str, ...]):
    """The statement for these columns of one item, and what turns its values into Python's. It runs twice for every
    answer, and building it takes several times as long as running it."""
    compiler = Item.objects.filter(pk=0).values_list(*columns).query.get_compiler(connection=connection)
    statement, _ = compiler.as_sql()
    return statement, compiler.get_converters([selected[0] for selected in compiler.select])


def _row(item_id: int, columns: tuple[str, ...]) -> dict:
    statement, converters = _compiled(connection.vendor, columns)
    with connection.cursor() as cursor:
        cursor.execute(statement, [item_id])
        row = cursor.fetchone()
    if row is None:
        raise Item.DoesNotExist
    values = list(row)
    for place, (functions, expression) in converters.items():
        for function in functions:
            values[place] = function(values[place], expression, connection)
    return dict(zip(columns, values, strict=True))


def load_page(item_id: int, description: TaskType) -> Page:
    """The page of an item: one query for its texts, and one for its units where these are not the anchor itself."""
    source = CONTENTS[description.anchor_kind]
    row = _row(item_id, (*ITEM_COLUMNS, *(f"anchor__{path}" for path in source.paths)))
    item = Item(**{name: row[name] for name in ITEM_COLUMNS if "__" not in name})
    contents = source.read({path: row[f"anchor__{path}"] for path in source.paths})
    if description.unit_kind == description.anchor_kind:
        units = [Unit(pk=row["anchor_id"], key=row["anchor__key"], kind=description.unit_kind)]
    else:
        rows = ItemUnit.objects.filter(item=item_id).order_by("index")
        if description.unit_kind in UNIT_TEXTS:
            rows = rows.select_related(f"unit__{UNIT_TEXTS[description.unit_kind][0]}")
        units = [row.unit for row in rows]
    return Page(item, description, units, contents, _hash(contents, units))


def _hash(contents: Contents, units: Sequence[Unit]) -> str:
    """SHA-256 of everything that is judged: the shown texts by field and the units' words by key."""
    words = {unit.key: unit_text(unit).title for unit in units if unit.kind in UNIT_TEXTS}
    canonical = json.dumps([contents.texts, words], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


# ---- what the task type alone decides ----


@lru_cache(maxsize=64)
def _groups(description: TaskType) -> tuple[dict, ...]:
    return tuple(
        {
            "dimension": dimension,
            "labels": [
                {"value": label.value, "title": label.title, "hint": label.hint, "key": str(number)}
                for number, label in enumerate(dimension.labels, 1)
            ],
        }
        for dimension in description.dimensions
    )


@lru_cache(maxsize=64)
def _dimensions(description: TaskType) -> tuple[dict, ...]:
    return tuple(
        {
            "slug": dimension.slug,
            "title": dimension.title,
            "labels": [
                {"value": label.value, "title": label.title, "key": str(number)}
                for number, label in enumerate(dimension.labels, 1)
            ],
            "asked_when": dimension.asked_when
            and {"dimension": dimension.asked_when.dimension, "labels": list(dimension.asked_when.labels)},
            "spans": dimension.spans
            and {
                "field": dimension.spans.field,
                "required": dimension.spans.required,
                "labels": list(dimension.spans.labels),
            },
        }
        for dimension in description.dimensions
    )


def template_context(page: Page, payload: dict) -> dict:
    """What `annotation/work/item.html` needs."""
    units = []
    for unit in page.units:
        words = unit_text(unit)
        units.append(
            {
                "key": unit.key,
                "title": words.title,
                "head": words.head,
                "relation": words.relation,
                "tail": words.tail,
                "groups": _groups(page.type),
            }
        )
    return {
        "item": {"assignment": payload["assignment"], "item_key": page.item.key},
        "type": page.type,
        "shown": page.contents.context,
        "units": units,
        "payload": payload,
    }


# ---- what depends on the person ----


def suggestions_for(page: Page, project: Project) -> list[dict]:
    """The project's chosen run's suggestions for the page's units, as the browser shows them."""
    if project.prefill_run_id is None:
        return []
    keys = {unit.pk: unit.key for unit in page.units}
    order = {unit.pk: number for number, unit in enumerate(page.units)}
    rows = Suggestion.objects.filter(run=project.prefill_run_id, unit__in=keys).select_related("run")
    known = {dimension.slug: dimension for dimension in page.type.dimensions}
    return [
        {
            "unit": keys[row.unit_id],
            "dimension": row.dimension,
            "label": row.label,
            "title": known[row.dimension].label(row.label).title,
            "score": row.probability,
            "checker": row.run.checker,
            "spans": row.spans,
        }
        for row in sorted(rows, key=lambda row: (order[row.unit_id], row.dimension))
        if row.dimension in known and row.label in known[row.dimension].values
    ]


def shows_suggestions(assignment: Assignment) -> bool:
    """Whether the assignment's holder may see suggestions now."""
    arm = assignment.prefill_arm
    return arm == Project.Prefill.SHOWN or (
        arm == Project.Prefill.AFTER and assignment.suggestions_shown_at is not None
    )


def own_answers(item: Item, rater: Rater | None) -> tuple[Revision | None, list[dict]]:
    """The person's latest revision of the item and its judgements as they were sent."""
    if rater is None:
        return None, []
    revision = (
        Revision.objects.filter(annotation__item=item, annotation__rater=rater, is_latest=True)
        .select_related("annotation")
        .first()
    )
    if revision is None:
        return None, []
    rows = Judgement.objects.filter(revision=revision).select_related("unit").prefetch_related("spans").order_by("id")
    return revision, [
        {
            "unit": row.unit.key,
            "dimension": row.dimension,
            "label": row.label,
            "spans": [
                {"field": span.field, "start": span.start, "end": span.end, "quote": span.quote}
                for span in sorted(row.spans.all(), key=lambda span: (span.field, span.start, span.end))
            ],
        }
        for row in rows
    ]


def guideline_version(project: Project) -> int | None:
    return Guideline.objects.filter(project=project).aggregate(newest=Max("version"))["newest"]


def make_payload(
    page: Page,
    assignment: Assignment,
    project: Project,
    *,
    guideline_version: int | None,
    lease_seconds: int,
    suggestions: list[dict],
    revision: Revision | None = None,
    answers: Sequence[dict] = (),
) -> dict:
    return {
        "assignment": str(assignment.uuid),
        "item": str(page.item.uuid),
        "task_type": page.type.identifier,
        "text_hash": page.text_hash,
        "guideline_version": guideline_version,
        "prefill": assignment.prefill_arm,
        "minimum_seconds": project.minimum_seconds,
        "lease_seconds": lease_seconds,
        "revision": revision.number if revision else 0,
        "dimensions": _dimensions(page.type),
        "units": [unit.key for unit in page.units],
        "answers": list(answers),
        "comment": revision.comment if revision else "",
        "suggestions": suggestions,
    }
