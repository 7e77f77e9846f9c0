"""Everything an export needs, in the byte order of keys, as of one moment, a batch of items at a time.

The moment is the newest revision and decision at the start, so that annotators can go on submitting meanwhile without a
long transaction. Every item is read whole: a revision is in the export with all of its labels or not at all.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Collate, NullIf

from annotation.decisions.moments import Moment, decisions_at, majority
from annotation.formats.content.assay import decision_key, instant_text, sort_key
from annotation.formats.records import (
    SPAN_VALUES,
    AnnotationRecord,
    DecisionRecord,
    JudgementRecord,
    SpanRecord,
    place_of_span,
)
from annotation.models import (
    Annotation,
    Assignment,
    Decision,
    Item,
    ItemUnit,
    Judgement,
    Project,
    Rater,
    Revision,
    Span,
    ThreadReply,
    answered_at,
    opened_at,
    set_name,
)
from annotation.task_types import Dimension, TaskType

BATCH = 500
# Why a unit has no label.
DROPPED, CONDITION_OPEN, UNANSWERED = "dropped", "its condition is undecided", "not answered"
TIED, UNDECIDED = "tied", "not decided"
MAJORITY = Decision.Method.MAJORITY.value
RULES = f"{Decision.Method.RULE.value}:"
KINDS = {Rater.Kind.SLOT: "slot"}  # everybody else is a person


# What a record of an annotation says of a revision, by the column of it.
REVISION_FIELDS = {
    "number": "number",
    "shown_at": opened_at(),
    "submitted_at": answered_at(),
    "active_ms": "active_ms",
    "guideline_version": "guideline_version",
    "suggestion_shown": "suggestion_shown",
    "labels_seen": "labels_seen",
    "comment": "comment",
    "metadata": "metadata",
}
# What a record holds of a comment's thread, in the metadata of the newest revision, which files keep as they are.
REPLIES = "replies"
DECISION_FIELDS = ("note", "seen", "decided_at")


@dataclass(slots=True)
class ExportedItem:
    """An item with all its answers."""

    key: str
    anchor: int  # id of the unit that the item is made from
    unit_keys: dict[int, str] = field(default_factory=dict)  # unit id -> key, in the item's order
    annotations: list[AnnotationRecord] = field(default_factory=list)  # every revision, in the order of an export
    raters: int = 0
    # (unit key, dimension) -> label -> how many last revisions have it, surplus ones left out
    votes: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)
    # (unit key, dimension) -> rater -> what each of these revisions says
    by_rater: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    # (unit key, dimension) -> the decision's label and method
    decisions: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    # When they were made, where that is known.
    decided_at: dict[tuple[str, str], datetime] = field(default_factory=dict)
    # Questions whose labels come from decisions alone; on others the majority counts where nobody decided.
    only_decided: frozenset[str] = frozenset()

    def label(self, kind: TaskType, unit_key: str, dimension: Dimension) -> str | None:
        """The unit's one label: the decision; where nobody decided, the majority; None at a tie or without any.

        A dimension that is asked under a condition has none where the condition's label is another one, or where only
        a majority could tell and people are divided about the condition.
        """
        decided, _ = self.decisions.get((unit_key, dimension.slug), (None, ""))
        if decided == "":  # dropped, or without an answer: no majority takes its place
            return None
        condition = dimension.asked_when
        if condition is not None:
            before = kind.dimension(condition.dimension)
            label = self.label(kind, unit_key, before)
            if label is not None and not condition.is_met(before.chosen(label)):
                return None
            if label is None and decided is None and (unit_key, before.slug) in self.votes:
                return None
        if decided is not None or dimension.slug in self.only_decided:
            return decided
        return majority(self.votes.get((unit_key, dimension.slug), {}))

    def why_open(self, kind: TaskType, unit_key: str, dimension: Dimension) -> str:
        """Why the unit has no label although the question is asked of it; empty where it has one, or is not asked."""
        if self.label(kind, unit_key, dimension) is not None:
            return ""
        place = unit_key, dimension.slug
        if place in self.decisions:
            return DROPPED
        condition = dimension.asked_when
        if condition is not None:
            before = kind.dimension(condition.dimension)
            label = self.label(kind, unit_key, before)
            if label is not None and not condition.is_met(before.chosen(label)):
                return ""
            if label is None:
                return CONDITION_OPEN if place in self.votes else ""
        if place not in self.votes:
            return UNANSWERED
        return UNDECIDED if dimension.slug in self.only_decided else TIED

    def open_places(self, kind: TaskType) -> Iterator[tuple[str, str, str]]:
        """Unit, question and why, of every unit that has no label of a question that it needs."""
        asked = [one for one in kind.asked_dimensions if not (one.takes_text or one.is_optional)]
        for unit in self.unit_keys.values():
            for dimension in asked:
                if why := self.why_open(kind, unit, dimension):
                    yield unit, dimension.slug, why

    def method(self, unit_key: str, dimension: Dimension) -> str:
        """What made the unit's one label."""
        return self.decisions.get((unit_key, dimension.slug), ("", Decision.Method.MAJORITY.value))[1]

    def count_votes(self) -> None:
        latest = {annotation.rater: annotation for annotation in self.annotations}
        self.raters = len(latest)
        for annotation in latest.values():
            if annotation.surplus:
                continue
            for judgement in annotation.judgements:
                place = judgement.unit, judgement.dimension
                counts = self.votes.setdefault(place, {})
                counts[judgement.label] = counts.get(judgement.label, 0) + 1
                self.by_rater.setdefault(place, {})[annotation.rater] = judgement.label


def item_ids(project: Project, moment: Moment) -> array:
    """Of the items that are not retired, in the byte order of their keys. All at once, which is little, so that no
    query stays open while others write."""
    bytewise = Collate("key", "C" if connection.vendor == "postgresql" else "BINARY")
    rows = Item.objects.filter(project=project).exclude(state__in=Item.LEFT_OUT).order_by(bytewise)
    ids = array("q", rows.values_list("pk", flat=True).iterator(chunk_size=10_000))
    return ids if moment.part is None else array("q", [pk for pk in ids if pk in moment.part.items])


def exported_items(
    project: Project, moment: Moment, decisions: str = "", ids: array | None = None
) -> Iterator[list[ExportedItem]]:
    """Batches of the items of `item_ids`. `decisions` names the set that their labels come from; without it, they are
    what stands."""
    ids = item_ids(project, moment) if ids is None else ids
    raters = {
        pk: (pseudonym, KINDS.get(kind, "person"), group)
        for pk, pseudonym, kind, group in Rater.objects.filter(project=project, is_excluded=False).values_list(
            "pk", "pseudonym", "kind", "group"
        )
    }
    about = Decision.objects.filter(project=project, pk__lte=moment.decision).of_set(decisions)
    only = frozenset(about.order_by().values_list("dimension", flat=True).distinct()) if decisions else frozenset()
    for start in range(0, len(ids), BATCH):
        items = _read(ids[start : start + BATCH].tolist(), project, moment, raters)
        if decisions != MAJORITY:
            _add_decisions(project, moment, items, decisions, only)
        yield items


def exported_decisions(project: Project, moment: Moment) -> list[DecisionRecord]:
    """Every decision about units that are not retired, with those that another took the place of, in the order of an
    export."""
    items = ItemUnit.objects.filter(item__project=project).exclude(item__state__in=Item.LEFT_OUT)
    judged = project.type.unit_kind
    # Besides, verdicts on what the units hang below.
    about = Q(unit__in=items.values("unit")) | ~Q(unit__kind=judged)
    rows = Decision.objects.filter(about, project=project, pk__lte=moment.decision)
    columns = ("unit__key", "dimension", "label", "number", "decided_by__pseudonym", *DECISION_FIELDS)
    columns += ("reason", "spans", "for_guidelines")
    columns += ("method", "rule", "rule_run__version", "outcome", "posterior", "unit__kind")
    found = [
        DecisionRecord(
            unit,
            dimension,
            label,
            set_name(method, rule),
            number,
            rater or "",
            note,
            seen,
            decided_at,
            reason=reason,
            spans=tuple(SpanRecord(**span) for span in spans),
            for_guidelines=for_guidelines,
            version=version,
            outcome="" if outcome == Decision.Outcome.LABEL else outcome,
            posterior=posterior,
            unit_kind="" if kind == judged else kind,
        )
        for unit, dimension, label, number, rater, note, seen, decided_at, reason, spans, for_guidelines, *of_rule in (
            rows.values_list(*columns).iterator(chunk_size=10_000)
        )
        for method, rule, version, outcome, posterior, kind in (of_rule,)
    ]
    if moment.part is not None:  # verdicts on what hangs above a part are about more than it
        units = {key for key, item in items.values_list("unit__key", "item") if item in moment.part.items}
        found = [one for one in found if one.unit in units and not one.unit_kind]
    return sorted(found, key=decision_key)


def _read(
    ids: list[int], project: Project, moment: Moment, raters: dict[int, tuple[str, str, str]]
) -> list[ExportedItem]:
    """The items in the order of `ids`, in as many queries for one as for all."""
    known = {
        pk: ExportedItem(key, anchor)
        for pk, key, anchor in Item.objects.filter(pk__in=ids).values_list("pk", "key", "anchor_id")
    }
    found = {pk: known[pk] for pk in ids if pk in known}
    item_of_unit: dict[int, ExportedItem] = {}
    units = ItemUnit.objects.filter(item__in=ids).order_by("item_id", "index")
    for item, unit, key in units.values_list("item_id", "unit_id", "unit__key"):
        found[item].unit_keys[unit] = key
        item_of_unit[unit] = found[item]

    has_replies = Exists(ThreadReply.objects.filter(thread__project=project))  # asked once, with what is asked anyway
    rows = list(
        Annotation.objects.filter(item__in=ids).values_list("pk", "item_id", "rater_id", "is_surplus", has_replies)
    )
    annotations = {pk: values for pk, *values, _ in rows}
    if moment.part is not None:
        annotations = {pk: values for pk, values in annotations.items() if pk in moment.part.annotations}
    # Judgements after their revisions: of a revision that is seen, all of them are.
    revisions = list(
        Revision.objects.filter(annotation__in=annotations, pk__lte=moment.revision).values_list(
            "pk", "annotation_id", *REVISION_FIELDS.values()
        )
    )
    judgements = _judgements([revision[0] for revision in revisions], item_of_unit)
    replies = _replies(ids) if rows and rows[0][-1] else {}
    newest: dict[int, int] = {}
    for pk, annotation, *_ in revisions:
        newest[annotation] = max(pk, newest.get(annotation, 0))
    for pk, annotation, *values in revisions:
        item, rater, surplus = annotations[annotation]
        if rater in raters:  # else a person who was not there at the start, or is excluded
            entry = found[item]
            record = _record(entry.key, raters[rater], judgements.get(pk, ()), values, project.task_type, surplus)
            if (item, rater) in replies and pk == newest[annotation]:
                record = replace(record, metadata=record.metadata | {REPLIES: replies[item, rater]})
            entry.annotations.append(record)
    for entry in found.values():
        entry.annotations.sort(key=sort_key)
        entry.count_votes()
    return list(found.values())


def exported_skips(project: Project) -> list[tuple]:
    """The skips that stand, as (item, rater, when, reason, whether flagged, whether parked, replies). Replies are those
    to a flag; where the person has answered the item as well, they are with the answer."""
    rows = Assignment.objects.filter(project=project, state=Assignment.State.SKIPPED, rater__is_excluded=False)
    rows = rows.exclude(item__state__in=Item.LEFT_OUT)
    answers = Annotation.objects.filter(item=OuterRef("item"), rater=OuterRef("rater"))
    replies = _replies(rows.exclude(Exists(answers)).values("item"))
    reason = NullIf("skip_reason", Value(""), output_field=TextField())
    columns = ("item__key", "rater__pseudonym", "done_at", reason, "is_flagged", "is_parked")
    found = rows.values_list("item_id", "rater_id", Exists(answers), *columns).iterator(chunk_size=10_000)
    return [
        (*values, None if is_answered else replies.get((item, rater))) for item, rater, is_answered, *values in found
    ]


def _replies(items: list[int] | QuerySet) -> dict[tuple[int, int], list[dict]]:
    """What followed the comment of a rater on an item, by both."""
    found: dict[tuple[int, int], list[dict]] = defaultdict(list)
    rows = ThreadReply.objects.filter(thread__item__in=items).order_by("pk")
    columns = ("thread__item_id", "thread__rater_id", "is_annotators", "created_at", "text")
    for item, rater, is_annotators, at, text in rows.values_list(*columns):
        by = "annotator" if is_annotators else "researcher"
        found[item, rater].append({"by": by, "at": instant_text(at), "text": text})
    return found


def _judgements(revisions: list[int], item_of_unit: dict[int, ExportedItem]) -> dict[int, tuple[JudgementRecord, ...]]:
    """Judgements by revision, in the order of the item's units, then of dimensions' names.

    Asked for by long lists of ids: through joins, PostgreSQL reads whole tables for every batch.
    """
    rows = list(
        Judgement.objects.filter(revision__in=revisions).values_list(
            "pk", "revision_id", "unit_id", "dimension", "label"
        )
    )
    spans: dict[int, list[SpanRecord]] = defaultdict(list)
    with_spans = Span.objects.filter(judgement__in=[row[0] for row in rows]).values_list("judgement_id", *SPAN_VALUES)
    for judgement, *values in with_spans:
        spans[judgement].append(SpanRecord(*values))
    for of_judgement in spans.values():
        of_judgement.sort(key=place_of_span)
    place = {unit: index for entry in item_of_unit.values() for index, unit in enumerate(entry.unit_keys)}
    by_revision: dict[int, list[tuple[int, str, JudgementRecord]]] = defaultdict(list)
    for pk, revision, unit, dimension, label in rows:
        key = item_of_unit[unit].unit_keys[unit]
        record = JudgementRecord(key, dimension, label, tuple(spans.get(pk, ())))
        by_revision[revision].append((place[unit], dimension, record))
    return {
        revision: tuple(record for *_, record in sorted(records, key=lambda row: row[:2]))
        for revision, records in by_revision.items()
    }


def _add_decisions(
    project: Project, moment: Moment, items: list[ExportedItem], decisions: str, only: frozenset[str]
) -> None:
    """Those that stand. On the questions of a set that is named, its decisions, and where it is a rule's, what a person
    decided before it."""
    item_of_unit = {unit: item for item in items for unit in item.unit_keys}
    found = decisions_at(moment, Decision.objects.filter(project=project, unit__in=item_of_unit))
    wanted = {decisions} | ({Decision.Method.ADJUDICATED.value} if decisions.startswith(RULES) else set())
    for item in items:
        item.only_decided = only
    for (unit, dimension), of_place in found.items():
        chosen = next((one for one in of_place if dimension not in only or one.set_name in wanted), None)
        if chosen is not None:
            entry = item_of_unit[unit]
            place = entry.unit_keys[unit], dimension
            entry.decisions[place] = chosen.label, chosen.set_name
            if chosen.decided_at is not None:
                entry.decided_at[place] = chosen.decided_at


def _record(
    item: str, rater: tuple[str, str, str], judgements: tuple, revision: list, task_type: str, surplus: bool
) -> AnnotationRecord:
    pseudonym, kind, group = rater
    number, *more = revision
    return AnnotationRecord(
        item=item,
        rater=pseudonym,
        judgements=judgements,
        rater_kind=kind,
        revision=number,
        task_type=task_type,
        surplus=surplus,
        rater_group=group,
        **dict(zip(list(REVISION_FIELDS)[1:], more, strict=True)),
    )
