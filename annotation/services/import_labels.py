"""Whether labels in a file fit the task type and the content that they are about. Writes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Q

from annotation.formats.records import AnnotationRecord, DecisionRecord, JudgementRecord
from annotation.models import ContentBatch, Dataset, Rater, Unit
from annotation.services.content_kinds import Kind
from annotation.task_types import TaskType

Problem = tuple[str, object, str]  # column, value, reason

# (kind of unit, field of a span) -> where the text lies, seen from the unit.
SPAN_TEXTS = {
    ("evidence", "evidence"): "evidence__text",
    ("evidence", "claim"): "evidence__claim__text",
    ("response", "response"): "response__text",
    ("triplet", "response"): "triplet__response__text",
}
RATER_CHARS = Rater._meta.get_field("name").max_length


class LabelCheck:
    """`task_type` None: labels are counted and not looked at.

    A dry run stores nothing that could be asked for later, so it remembers the keys of units that the file brings
    (`remembers`); quotes of spans in new texts are then left to the import, which looks before anything is visible.
    """

    def __init__(self, task_type: TaskType | None, remembers: bool = False):
        self.task_type = task_type
        self.remembers = remembers and task_type is not None
        self.kinds = {task_type.anchor_kind, task_type.unit_kind} if task_type else set()
        self.seen: set[tuple[str, int]] = set()

    def saw_content(self, kind: Kind, record) -> None:
        if self.remembers and kind.unit_kind in self.kinds:
            self.seen.add((kind.unit_kind, hash(record.key)))

    def problems(self, records: list, dataset: Dataset | None, batch: ContentBatch | None) -> Iterator[Problem]:
        """What is wrong with these annotations and decisions, whose content must be stored, staged or seen by now."""
        sound = []
        for record in records:
            found = list(
                self._of_annotation(record) if isinstance(record, AnnotationRecord) else self._of_decision(record)
            )
            yield from found
            if not found:
                sound.append(record)
        yield from self._absent(sound, dataset, batch)

    def _of_annotation(self, record: AnnotationRecord) -> Iterator[Problem]:
        if record.task_type and record.task_type != self.task_type.identifier:
            yield "task_type", record.task_type, f"is not the project's task type {self.task_type.identifier}"
            return
        if len(record.rater) > RATER_CHARS:
            yield "rater", record.rater, f"has {len(record.rater):,} characters; at most {RATER_CHARS} are stored"
        answers: dict[str, dict[str, str]] = {}
        for judgement in record.judgements:
            yield from self._of_label(judgement.dimension, judgement.label)
            of_unit = answers.setdefault(judgement.unit, {})
            if judgement.dimension in of_unit:
                yield "judgements", judgement.unit, f"has two labels of {judgement.dimension} by {record.rater}"
            of_unit[judgement.dimension] = judgement.label
            if self.task_type.unit_kind == self.task_type.anchor_kind and judgement.unit != record.item:
                yield "unit", judgement.unit, f"is not the {self.task_type.unit_kind} of item {record.item}"
            yield from self._of_spans(judgement)
        for unit, of_unit in answers.items():
            yield from self._not_asked(unit, of_unit)

    def _of_decision(self, record: DecisionRecord) -> Iterator[Problem]:
        yield from self._of_label(record.dimension, record.label)

    def _of_label(self, dimension: str, label: str) -> Iterator[Problem]:
        known = {each.slug: each.values for each in self.task_type.dimensions}
        if dimension not in known:
            yield "dimension", dimension, f"is none of the task type's dimensions {', '.join(known)}"
        elif label not in known[dimension]:
            yield dimension, label, f"is not one of the task type's labels {', '.join(known[dimension])}"

    def _not_asked(self, unit: str, answers: dict[str, str]) -> Iterator[Problem]:
        for dimension in self.task_type.dimensions:
            condition = dimension.asked_when
            # A file may hold the second answer alone; it may not contradict itself.
            if (
                condition
                and dimension.slug in answers
                and answers.get(condition.dimension, condition.labels[0]) not in condition.labels
            ):
                reason = f"is not asked of {unit}, whose {condition.dimension} is {answers[condition.dimension]}"
                yield dimension.slug, answers[dimension.slug], reason

    def _of_spans(self, judgement: JudgementRecord) -> Iterator[Problem]:
        if not judgement.spans:
            return
        rules = {each.slug: each.spans for each in self.task_type.dimensions}
        rule = rules.get(judgement.dimension)
        for span in judgement.spans:
            if rule is None or span.field != rule.field:
                yield "spans", span.field, f"is no text that {judgement.dimension} marks passages of"
            elif rule.labels and judgement.label not in rule.labels:
                yield "spans", span.quote, f"is a span, which {judgement.label} has none of"
        if len({(span.field, span.start, span.end) for span in judgement.spans}) < len(judgement.spans):
            yield "spans", judgement.unit, "has the same span twice"

    def _absent(self, records: list, dataset: Dataset | None, batch: ContentBatch | None) -> Iterator[Problem]:
        items = {record.item for record in records if isinstance(record, AnnotationRecord)}
        units = {record.unit for record in records if isinstance(record, DecisionRecord)}
        units |= {j.unit for record in records if isinstance(record, AnnotationRecord) for j in record.judgements}
        wanted: dict[str, set[str]] = {self.task_type.anchor_kind: set(), self.task_type.unit_kind: set()}
        wanted[self.task_type.anchor_kind] |= items
        wanted[self.task_type.unit_kind] |= units
        for kind, keys in wanted.items():
            unknown = {key for key in keys if (kind, hash(key)) not in self.seen}
            if unknown and dataset is not None:
                unknown -= set(
                    units_of_import(dataset, batch).filter(kind=kind, key__in=unknown).values_list("key", flat=True)
                )
            for key in sorted(unknown):
                yield "item" if key in items else "unit", key, f"is no {kind} of this file or of the data set"
        if dataset is not None:
            yield from self._wrong_places(records, dataset, batch)
            yield from self._wrong_quotes(records, dataset, batch)

    def _wrong_places(self, records: list, dataset: Dataset, batch: ContentBatch | None) -> Iterator[Problem]:
        """Pieces of a response that are judged under another response."""
        kind = self.task_type.unit_kind
        if kind == self.task_type.anchor_kind:
            return
        under = {
            j.unit: record.item for record in records if isinstance(record, AnnotationRecord) for j in record.judgements
        }
        found = units_of_import(dataset, batch).filter(kind=kind, key__in=list(under))
        for key, response in found.values_list("key", f"{kind}__response__key"):
            if response != under[key]:
                yield "unit", key, f"belongs to {response}, not to item {under[key]}"

    def _wrong_quotes(self, records: list, dataset: Dataset, batch: ContentBatch | None) -> Iterator[Problem]:
        kind = self.task_type.unit_kind
        marked = [
            (judgement.unit, span)
            for record in records
            if isinstance(record, AnnotationRecord)
            for judgement in record.judgements
            for span in judgement.spans
        ]
        for field in {span.field for _, span in marked}:
            path = SPAN_TEXTS.get((kind, field))
            if path is None:
                yield "spans", field, f"is no text of a {kind} whose quotes can be checked"
                continue
            units = units_of_import(dataset, batch).filter(kind=kind, key__in={unit for unit, _ in marked})
            texts = dict(units.values_list("key", path))
            for unit, span in marked:
                if span.field == field and unit in texts and texts[unit][span.start : span.end] != span.quote:
                    yield "spans", span.quote, f"is not what stands at {span.start}-{span.end} in the {field} of {unit}"


def units_of_import(dataset: Dataset, batch: ContentBatch | None):
    """The newest units that are visible, or that this import brings."""
    visible = (
        Q(batch__state=ContentBatch.State.PUBLISHED) | Q(batch=batch)
        if batch
        else Q(batch__state=ContentBatch.State.PUBLISHED)
    )
    return Unit.objects.filter(visible, dataset=dataset, superseded_at=None)
