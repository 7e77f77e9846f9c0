"""Everything an export needs, streamed in the byte order of keys, as of one moment.

The moment is the newest revision and decision at the start, so that annotators can go on submitting meanwhile without a
long transaction: later revisions are not seen, whatever the order in which rows are read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.db import connection
from django.db.models import Max
from django.db.models.functions import Collate

from annotation.formats.assay import sort_key
from annotation.formats.records import AnnotationRecord, JudgementRecord, SpanRecord
from annotation.models import Decision, Item, ItemUnit, Judgement, Project, Rater, Revision, Span, UnitKind
from annotation.task_types import task_type

BATCH = 500
# Where several decisions stand for a unit, the first of these is the one exported.
DECISION_ORDER = (Decision.Method.ADJUDICATED, Decision.Method.IMPORTED, Decision.Method.MAJORITY)


@dataclass(frozen=True, slots=True)
class Moment:
    revision: int
    decision: int

    @classmethod
    def now(cls, project: Project) -> Moment:
        revision = Revision.objects.filter(annotation__item__project=project).aggregate(newest=Max("id"))["newest"]
        decision = Decision.objects.filter(project=project).aggregate(newest=Max("id"))["newest"]
        return cls(revision or 0, decision or 0)


@dataclass(slots=True)
class ExportedItem:
    """An item with all that was said about it."""

    item: Item
    unit_keys: dict[int, str]  # unit id -> key, in the item's order
    annotations: list[AnnotationRecord] = field(default_factory=list)  # every revision
    latest: list[AnnotationRecord] = field(default_factory=list)  # one per rater
    decisions: dict[tuple[str, str], str] = field(default_factory=dict)  # (unit key, dimension) -> label

    def label(self, unit_key: str, dimension: str) -> str | None:
        """The decision; where nobody decided, the majority of the planned annotations; None at a tie or without any."""
        decided = self.decisions.get((unit_key, dimension))
        return decided if decided is not None else majority(self.latest, unit_key, dimension)


def majority(annotations: list[AnnotationRecord], unit_key: str, dimension: str) -> str | None:
    """The one most frequent label of annotations that are not surplus; None where there is none or several."""
    counts = Counter(
        judgement.label
        for annotation in annotations
        if not annotation.surplus
        for judgement in annotation.judgements
        if judgement.unit == unit_key and judgement.dimension == dimension
    )
    top = counts.most_common(2)
    if not top or (len(top) == 2 and top[0][1] == top[1][1]):
        return None
    return top[0][0]


def exported_items(project: Project, moment: Moment) -> Iterator[ExportedItem]:
    """Items that are not retired, in the byte order of their keys, read `BATCH` at a time."""
    bytewise = Collate("key", "C" if connection.vendor == "postgresql" else "BINARY")
    items = (
        Item.objects.filter(project=project)
        .exclude(state=Item.State.RETIRED)
        .annotate(bytewise=bytewise)
        .order_by("bytewise")
    )
    anchors = (
        ("anchor__response__question", "anchor__response__claim")
        if task_type(project.task_type).anchor_kind == UnitKind.RESPONSE
        else ("anchor__evidence__claim", "anchor__evidence__question")
    )
    raters = {rater.pk: rater for rater in Rater.objects.filter(project=project)}
    after = None
    while True:
        page = items if after is None else items.filter(bytewise__gt=after)
        batch = list(page.select_related("anchor", *anchors)[:BATCH])
        if not batch:
            return
        yield from _with_labels(batch, project, moment, raters)
        after = batch[-1].key


def _with_labels(
    items: list[Item], project: Project, moment: Moment, raters: dict[int, Rater]
) -> Iterator[ExportedItem]:
    found = {item.pk: ExportedItem(item, {}) for item in items}
    ids = list(found)

    for item_id, unit_id, key in (
        ItemUnit.objects.filter(item_id__in=ids)
        .order_by("item_id", "index")
        .values_list("item_id", "unit_id", "unit__key")
    ):
        found[item_id].unit_keys[unit_id] = key
    unit_item = {unit_id: item_id for item_id, entry in found.items() for unit_id in entry.unit_keys}

    revisions = list(
        Revision.objects.filter(annotation__item_id__in=ids, id__lte=moment.revision)
        .select_related("annotation")
        .order_by("annotation__item_id", "annotation_id", "number")
    )
    judgements = _judgements(revisions, unit_item, found)
    for revision in revisions:
        annotation = revision.annotation
        entry = found[annotation.item_id]
        record = _record(revision, raters[annotation.rater_id], entry.item.key, project.task_type, judgements)
        entry.annotations.append(record)
        if entry.latest and entry.latest[-1].rater == record.rater:
            entry.latest.pop()
        entry.latest.append(record)
    for entry in found.values():
        entry.annotations.sort(key=sort_key)

    decisions = Decision.objects.filter(
        project=project, unit__item_units__item_id__in=ids, id__lte=moment.decision
    ).distinct()
    ranked = {method: rank for rank, method in enumerate(DECISION_ORDER)}
    for decision in sorted(decisions, key=lambda decision: -ranked[decision.method]):
        entry = found[unit_item[decision.unit_id]]
        entry.decisions[entry.unit_keys[decision.unit_id], decision.dimension] = decision.label
    yield from found.values()


def _judgements(
    revisions: list[Revision], unit_item: dict[int, int], found: dict[int, ExportedItem]
) -> dict[int, list[JudgementRecord]]:
    """Judgements by revision, in the order of the item's units."""
    ids = [revision.pk for revision in revisions]
    spans: dict[int, list[SpanRecord]] = defaultdict(list)
    for judgement_id, *values in (
        Span.objects.filter(judgement__revision_id__in=ids)
        .order_by("field", "start", "end")
        .values_list("judgement_id", "field", "start", "end", "quote")
    ):
        spans[judgement_id].append(SpanRecord(*values))
    by_revision: dict[int, list[tuple[int, JudgementRecord]]] = defaultdict(list)
    places = {unit_id: place for entry in found.values() for place, unit_id in enumerate(entry.unit_keys)}
    rows = Judgement.objects.filter(revision_id__in=ids).values_list(
        "id", "revision_id", "unit_id", "dimension", "label"
    )
    for judgement_id, revision_id, unit_id, dimension, label in rows:
        key = found[unit_item[unit_id]].unit_keys[unit_id]
        record = JudgementRecord(key, dimension, label, tuple(spans.get(judgement_id, ())))
        by_revision[revision_id].append((places[unit_id], record))
    return {
        revision_id: [record for _, record in sorted(found, key=lambda pair: (pair[0], pair[1].dimension))]
        for revision_id, found in by_revision.items()
    }


def _record(
    revision: Revision, rater: Rater, item_key: str, task_type: str, judgements: dict[int, list[JudgementRecord]]
) -> AnnotationRecord:
    return AnnotationRecord(
        item=item_key,
        rater=rater.pseudonym,
        judgements=tuple(judgements.get(revision.pk, ())),
        rater_kind="slot" if rater.kind == Rater.Kind.SLOT else "person",
        revision=revision.number,
        shown_at=revision.shown_at,
        submitted_at=revision.submitted_at,
        active_ms=revision.active_ms,
        guideline_version=revision.guideline_version,
        suggestion_shown=revision.suggestion_shown,
        comment=revision.comment,
        metadata=revision.metadata,
        task_type=task_type,
        surplus=revision.annotation.is_surplus,
    )
