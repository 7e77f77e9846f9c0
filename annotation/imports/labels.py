"""Whether labels in a file fit the task type and the content that they are about. Writes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from annotation.bulk import batches
from annotation.datasets.kinds import KIND_NAMED, KIND_OF_RECORD, Kind
from annotation.formats.names import find_label, find_question
from annotation.formats.records import (
    RESPONSE_ASPECT,
    AnnotationRecord,
    AspectRecord,
    DecisionRecord,
    JudgementRecord,
    LostRecord,
    ResponseRecord,
    RowError,
    SpanRecord,
    SuggestionRecord,
    place_of_span,
)
from annotation.imports.file_texts import FileTexts
from annotation.imports.span_texts import texts_by_unit, units_of_import
from annotation.models import PIECE_LINKS, ContentBatch, Dataset, Rater, UnitKind
from annotation.projects.item_making import anchor_link
from annotation.task_types import Dimension, TaskType
from annotation.task_types.base import NONE_CHOSEN, SEPARATOR

Problem = tuple[str, object, str]  # column, value, reason

PART = 500
VERDICT_CHARS = 40
RATER_CHARS = Rater._meta.get_field("name").max_length


class LabelCheck:
    """`task_type` None: labels are counted and not looked at.

    A dry run stores nothing that could be asked for later, so it remembers the keys of units that the file brings
    (`remembers`), which item each is on, and, where the file can have spans, the texts that they may quote.
    """

    def __init__(
        self, task_type: TaskType | None, remembers: bool = False, has_spans: bool = False, piece_set: str = ""
    ):
        self.task_type, self.piece_set = task_type, piece_set
        self.remembers = remembers and task_type is not None
        self.kinds = {task_type.anchor_kind, task_type.unit_kind} if task_type else set()
        self.seen: set[tuple[str, int]] = set()
        # Unit -> item, both hashed, where an item has several units
        self.item_of: dict[int, int] = {}
        self.texts = FileTexts(task_type) if self.remembers and has_spans else None
        # (kind, key) of a response or an aspect -> key of its question, where pairs of the two are judged
        self.question_of: dict[tuple[str, str], str | None] = {}

    def saw_content(self, kind: Kind, record) -> None:
        if not self.remembers:
            return
        if self.texts is not None:
            self.texts.saw(kind.name, record)
        if kind.unit_kind in self.kinds:
            self.seen.add((kind.unit_kind, hash(record.key)))
            item = getattr(record, self.task_type.anchor_kind, None)
            if kind.unit_kind == self.task_type.unit_kind and item is not None:
                self.item_of[hash(record.key)] = hash(item)
        if UnitKind.RESPONSE_ASPECT in self.kinds and isinstance(record, AspectRecord | ResponseRecord):
            self.question_of[kind.name, record.key] = record.question

    def _is_brought(self, kind: str, key: str, dataset: Dataset | None) -> bool:
        """Whether the file brings this unit, as far as a dry run can tell."""
        if kind != UnitKind.RESPONSE_ASPECT or not self.remembers:
            return (kind, hash(key)) in self.seen
        return any(True for _ in self._pairs_in(key, dataset))

    def _pairs_in(self, key: str, dataset: Dataset | None) -> Iterator[str]:
        """The responses that the key of an aspect in a response can be about: its parts may hold the mark as well."""
        parts = key.split(RESPONSE_ASPECT)
        for at in range(1, len(parts)):
            response, aspect = RESPONSE_ASPECT.join(parts[:at]), RESPONSE_ASPECT.join(parts[at:])
            question = self._question("response", response, dataset)
            if question is not None and question == self._question("aspect", aspect, dataset):
                yield response

    def _question(self, kind: str, key: str, dataset: Dataset | None) -> str | None:
        if (kind, key) not in self.question_of:
            model = KIND_NAMED[kind].model
            stored = model.objects.published().filter(dataset=dataset, key=key).values_list("question__key", flat=True)
            self.question_of[kind, key] = stored.first() if dataset is not None else None
        return self.question_of[kind, key]

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

    def sound(self, records: Iterable, dataset: Dataset) -> Iterator:
        """The records without annotations and decisions that have a problem; the content must be published by now."""
        for part in batches(records, PART):
            labelled = [one for one in part if isinstance(one, AnnotationRecord | DecisionRecord)]
            is_sound = not any(True for _ in self.problems(labelled, dataset, None))
            yield from (
                one
                for one in part
                if is_sound
                or not isinstance(one, AnnotationRecord | DecisionRecord)
                or not any(True for _ in self.problems([one], dataset, None))
            )

    def _of_annotation(self, record: AnnotationRecord) -> Iterator[Problem]:
        if record.task_type and record.task_type != self.task_type.identifier:
            yield "task_type", record.task_type, f"is not the project's task type {self.task_type.identifier}"
            return
        if len(record.rater) > RATER_CHARS:
            yield "rater", record.rater, f"has {len(record.rater):,} characters; at most {RATER_CHARS} are stored"
        answers: dict[str, dict[str, str]] = {}
        for judgement in record.judgements:
            yield from self._of_label(judgement, by=record.rater)
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
        if record.unit_kind:  # a verdict by a rule's table, whose labels are its own
            if len(record.dimension) > VERDICT_CHARS:
                yield "dimension", record.dimension, f"has more than {VERDICT_CHARS} characters"
        elif record.label:
            yield from self._of_label(record)
        elif record.dimension not in {each.slug for each in self.task_type.dimensions}:
            yield "dimension", record.dimension, "is not one of the task type's dimensions"
        if len(record.rater) > RATER_CHARS:
            yield "rater", record.rater, f"has {len(record.rater):,} characters; at most {RATER_CHARS} are stored"
        if record.spans:
            yield from self._of_spans(JudgementRecord(record.unit, record.dimension, record.label, record.spans))

    def _of_label(self, record: JudgementRecord | DecisionRecord, by: str | None = None) -> Iterator[Problem]:
        """`by` is the person who gave the label; a decision has none."""
        known = {each.slug: each for each in self.task_type.dimensions}
        asked = known.get(record.dimension)
        if asked is None:
            yield "dimension", record.dimension, f"is not one of the task type's dimensions {', '.join(known)}"
        elif not (asked.takes if by is None else asked.may_answer)(record.label):
            of = "one of the " if asked.takes_ranking else "one of the task type's labels " if asked.labels else ""
            whose = f"the decision on {record.unit}" if by is None else f"of {record.unit}, by {by}"
            yield record.dimension, record.label, f"is not {of}{asked.known_answers} ({whose})"

    def _not_asked(self, unit: str, answers: dict[str, str]) -> Iterator[Problem]:
        for dimension in self.task_type.dimensions:
            condition = dimension.asked_when
            before = condition and self.task_type.dimension(condition.dimension)
            # A file may hold the second answer alone; it may not contradict itself.
            if (
                condition
                and dimension.slug in answers
                and before.slug in answers
                and not condition.is_met(before.chosen(answers[before.slug]))
            ):
                reason = f"is not asked of {unit}, whose {condition.dimension} is {answers[condition.dimension]}"
                yield dimension.slug, answers[dimension.slug], reason

    def _of_spans(self, judgement: JudgementRecord) -> Iterator[Problem]:
        if not judgement.spans:
            return
        dimensions = {each.slug: each for each in self.task_type.dimensions}
        dimension = dimensions.get(judgement.dimension)
        rule = dimension.spans if dimension else None
        for span in judgement.spans:
            if rule is None or not rule.takes(span.field):
                yield "spans", span.field, f"is not a text that {judgement.dimension} marks passages of"
            elif not dimension.may_carry(judgement.label):
                yield "spans", span.quote, f"is a span, which {judgement.label} has none of"
            elif problem := rule.problem_of(span.label, span.severity, span.reason):
                yield "spans", span.quote, f"is a span that {problem}"
        if len(set(map(place_of_span, judgement.spans))) < len(judgement.spans):
            yield "spans", judgement.unit, "has the same span twice"

    def _absent(self, records: list, dataset: Dataset | None, batch: ContentBatch | None) -> Iterator[Problem]:
        items = {record.item for record in records if isinstance(record, AnnotationRecord)}
        units = {record.unit for record in records if isinstance(record, DecisionRecord) and not record.unit_kind}
        units |= {j.unit for record in records if isinstance(record, AnnotationRecord) for j in record.judgements}
        wanted: dict[str, set[str]] = {self.task_type.anchor_kind: set(), self.task_type.unit_kind: set()}
        wanted[self.task_type.anchor_kind] |= items
        wanted[self.task_type.unit_kind] |= units
        for kind, keys in wanted.items():
            unknown = {key for key in keys if not self._is_brought(kind, key, dataset)}
            if unknown and dataset is not None:
                units = units_of_import(dataset, batch).filter(kind=kind, key__in=unknown)
                unknown -= set(units.in_set(kind, self.piece_set).values_list("key", flat=True))
            of_set = f", in the set {self.piece_set}" if self.piece_set and kind in PIECE_LINKS else ""
            for key in sorted(unknown):
                reason = f"names no {kind} of this file or of the data set{of_set}"
                yield "item" if key in items else "unit", key, reason
        if self.task_type.unit_kind != self.task_type.anchor_kind:
            known = self._items_of(records, dataset, batch)
            yield from self._wrong_places(records, known, dataset)
        marked = [
            (record.item, judgement.unit, span)
            for record in records
            if isinstance(record, AnnotationRecord)
            for judgement in record.judgements
            for span in judgement.spans
        ]
        if self.task_type.unit_kind == self.task_type.anchor_kind:
            decided = [record for record in records if isinstance(record, DecisionRecord)]
            marked += [(record.unit, record.unit, span) for record in decided for span in record.spans]
        if self.texts is not None:
            yield from self._wrong_quotes_of_file([each for each in marked if self.texts.has(each[0])], dataset)
            marked = [each for each in marked if not self.texts.has(each[0])]
        if dataset is not None:
            yield from self._wrong_quotes([(unit, span) for _, unit, span in marked], dataset, batch)

    def _items_of(self, records: list, dataset: Dataset | None, batch: ContentBatch | None) -> dict[str, str]:
        """The item of each judged unit that is stored or staged."""
        if dataset is None:
            return {}
        judged = {j.unit for record in records if isinstance(record, AnnotationRecord) for j in record.judgements}
        units = units_of_import(dataset, batch).filter(kind=self.task_type.unit_kind, key__in=judged)
        return dict(units.values_list("key", f"{anchor_link(self.task_type)}__key"))

    def _wrong_places(self, records: list, known: dict[str, str], dataset: Dataset | None) -> Iterator[Problem]:
        """Units that are judged under another item than their own."""
        for record in records:
            for unit in {j.unit: None for j in record.judgements} if isinstance(record, AnnotationRecord) else ():
                if unit in known:
                    is_here = known[unit] == record.item
                elif self.task_type.unit_kind == UnitKind.RESPONSE_ASPECT:
                    responses = list(self._pairs_in(unit, dataset)) if self.remembers else []
                    is_here = not responses or record.item in responses
                else:
                    is_here = self.item_of.get(hash(unit)) in (None, hash(record.item))
                if not is_here:
                    where = f"belongs to {known[unit]}, not to item" if unit in known else "is not a unit of item"
                    yield "unit", unit, f"{where} {record.item}"

    def _wrong_quotes_of_file(self, marked: list, dataset: Dataset | None) -> Iterator[Problem]:
        """Of items that the file has. Texts that only the data set can have are left to the import."""
        for item, unit, span in marked:
            text = self.texts.text(item, span.field)
            if text is not None and text[span.start : span.end] != span.quote:
                yield "spans", span.quote, _not_there(unit, span)
            elif text is None and self.texts.tells_passages(item) and not self._is_stored(item, dataset):
                yield "spans", span.field, f"is not a text on the page of {unit}"

    def _is_stored(self, item: str, dataset: Dataset | None) -> bool:
        stored = KIND_NAMED[self.task_type.anchor_kind].model.objects.published()
        return dataset is not None and stored.filter(dataset=dataset, key=item).exists()

    def _wrong_quotes(self, marked: list, dataset: Dataset, batch: ContentBatch | None) -> Iterator[Problem]:
        for field in {span.field for _, span in marked}:
            keys = {unit for unit, span in marked if span.field == field}
            texts = texts_by_unit(self.task_type, dataset, batch, field, keys)
            if texts is None:
                yield "spans", field, f"is not a text of {self.task_type.identifier}"
                continue
            here = units_of_import(dataset, batch).filter(kind=self.task_type.unit_kind, key__in=keys - texts.keys())
            for key in here.values_list("key", flat=True):
                yield "spans", field, f"is not a text on the page of {key}"
            for unit, span in marked:
                if span.field == field and unit in texts and texts[unit][span.start : span.end] != span.quote:
                    yield "spans", span.quote, _not_there(unit, span)


OTHER_VERSIONS = "Labels of questions that the project's version of the task asks otherwise, or not at all"
OTHER_SETS = "Labels, scores and suggestions of pieces of other sets than the project's"


def labels_of_set(records: Iterable, unit_kind: str, piece_set: str) -> Iterator:
    """The records without labels of pieces of other sets, which are counted. Pieces come before it."""
    piece = PIECE_LINKS.get(unit_kind)
    elsewhere: set[int] = set()
    number, first = 0, ""

    def is_elsewhere(unit: str) -> bool:
        if unit_kind != UnitKind.RESPONSE_ASPECT:
            return hash(unit) in elsewhere
        parts = unit.split(RESPONSE_ASPECT)
        return any(hash(RESPONSE_ASPECT.join(parts[at:])) in elsewhere for at in range(1, len(parts)))

    for record in records:
        kind = KIND_OF_RECORD.get(type(record))
        if piece is not None and kind is not None and kind.name == piece and record.piece_set != piece_set:
            elsewhere.add(hash(record.key))
        elif not elsewhere or kind is not None or isinstance(record, RowError | LostRecord):
            pass
        elif isinstance(record, AnnotationRecord):
            kept = tuple(one for one in record.judgements if not is_elsewhere(one.unit))
            if len(kept) < len(record.judgements):
                first = first or next(one.unit for one in record.judgements if is_elsewhere(one.unit))
                number += len(record.judgements) - len(kept)
                if not kept:
                    continue
                record = replace(record, judgements=kept)
        elif is_elsewhere(record.unit):
            number, first = number + 1, first or record.unit
            continue
        yield record
    if number:
        yield LostRecord(OTHER_SETS, number, first)


def labels_of_version(records: Iterable, version: str, alike: Collection[str], wanted: str) -> Iterator:
    """The records of a file whose labels are of another version of a task type, as labels of the one that is wanted:
    those of the questions that both ask alike. Others are counted."""
    number, first = 0, ""
    for record in records:
        if isinstance(record, AnnotationRecord) and record.task_type in ("", version):
            others = [one for one in record.judgements if one.dimension not in alike]
            if others:
                number, first = number + len(others), first or f"{others[0].dimension} of {others[0].unit}"
                if len(others) == len(record.judgements):
                    continue
            kept = tuple(one for one in record.judgements if one.dimension in alike)
            record = replace(record, judgements=kept, task_type=wanted)
        elif isinstance(record, DecisionRecord) and record.dimension not in alike:
            number, first = number + 1, first or f"{record.dimension} of {record.unit}"
            continue
        yield record
    if number:
        yield LostRecord(OTHER_VERSIONS, number, first)


def _not_there(unit: str, span: SpanRecord) -> str:
    return f"is not the text at {span.start}-{span.end} in the {span.field} of {unit}"


# --- names of the project ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Known:
    """A question of the project, and its labels by those of the file."""

    question: Dimension
    labels: Mapping[str, str]
    highlights: Mapping[str, str]

    def label(self, label: str) -> str:
        if not self.question.takes_several:
            return self.labels.get(label, label)
        if label == NONE_CHOSEN:
            return label
        chosen = [self.labels.get(one, one) for one in label.split(SEPARATOR)]
        order = [*self.question.values, *(one for one in chosen if one not in self.question.values)]
        return SEPARATOR.join(one for one in order if one in chosen)

    def spans(self, spans: Iterable[SpanRecord]) -> tuple[SpanRecord, ...]:
        return tuple(replace(one, label=self.highlights.get(one.label, one.label)) for one in spans)


def questions_in(made: Mapping, wanted: TaskType) -> dict[str, Dimension]:
    """Slug of a question of the file's label set -> the project's question; those that it does not have are absent."""
    titles = {one.slug: one.title for one in wanted.dimensions}
    found = {
        one["slug"]: one["slug"] if one["slug"] in titles else find_question(one["title"], titles)
        for one in made.get("questions", ())
    }
    return {slug: wanted.dimension(known) for slug, known in found.items() if known is not None}


def renamed(records: Iterable, made: Mapping, wanted: TaskType) -> Iterator:
    """The records of a file with this label set, as the project's task type calls questions and labels: those that it
    has under other names, such as those of an earlier version of Assay, are found by their titles."""
    described = {one["slug"]: one for one in made.get("questions", ())}
    known = {slug: _known(described[slug], question) for slug, question in questions_in(made, wanted).items()}
    for record in records:
        match record:
            case AnnotationRecord():
                judgements = tuple(_judgement(one, known.get(one.dimension)) for one in record.judgements)
                yield replace(record, judgements=judgements)
            case DecisionRecord() | SuggestionRecord() if record.dimension in known:
                yield _as_stored(record, known[record.dimension])
            case _:
                yield record


def _known(described: Mapping, question: Dimension) -> _Known:
    def by_label(labels: Iterable[Mapping], titles: Mapping[str, str]) -> dict[str, str]:
        return {
            one["value"]: one["value"] if one["value"] in titles else find_label(one["title"], titles) or one["value"]
            for one in labels
        }

    marks = question.spans.own_labels if question.spans else ()
    return _Known(
        question,
        by_label(described.get("labels", ()), {one.value: one.title for one in question.labels}),
        by_label(described.get("spans", {}).get("own_labels", ()), {one.value: one.title for one in marks}),
    )


def _judgement(judgement: JudgementRecord, known: _Known | None) -> JudgementRecord:
    return judgement if known is None else _as_stored(judgement, known)


def _as_stored(record, known: _Known):
    changed = replace(
        record, dimension=known.question.slug, label=known.label(record.label), spans=known.spans(record.spans)
    )
    if isinstance(record, SuggestionRecord):
        return replace(changed, probabilities={known.label(one): of for one, of in record.probabilities.items()})
    return changed
