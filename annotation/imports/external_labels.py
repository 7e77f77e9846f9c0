"""Labels that were made elsewhere: annotations of external raters and slots, and imported decisions.

The same file twice changes nothing. A label that differs from what is stored becomes a further revision; nothing is
overwritten.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.bulk import MANY_ROWS, bulk_insert, refresh_statistics, reserve_ids
from annotation.formats.content.assay import cells_of_span
from annotation.formats.records import (
    SPAN_VALUES,
    AnnotationRecord,
    DecisionRecord,
    JudgementRecord,
    values_of_span,
)
from annotation.imports.stored_labels import Journal
from annotation.jobs.lifecycle import JobError
from annotation.models import (
    Annotation,
    Case,
    Decision,
    Disagreement,
    Item,
    ItemUnit,
    Judgement,
    Project,
    Rater,
    Revision,
    RuleRun,
    Span,
    Unit,
    answered_at,
    opened_at,
)
from annotation.projects import cases

BATCH = 1000
RATER_KINDS = {"person": Rater.Kind.EXTERNAL, "slot": Rater.Kind.SLOT}
# What a record says besides its judgements; record and table call it alike.
REVISION_FIELDS = (
    "shown_at",
    "submitted_at",
    "active_ms",
    "guideline_version",
    "suggestion_shown",
    "labels_seen",
    "comment",
    "metadata",
)
# What an export of the stored ones says, by which a file of them is found to be known.
EXPORTED = {"shown_at": opened_at(), "submitted_at": answered_at()}

# What a decision says: label, rater, note, what they had seen, when, and what a rule says besides.
DECISION_FIELDS = ("label", "decided_by_id", "note", "seen", "decided_at", "outcome", "posterior", "rule_run_id")
DECISION_FIELDS += ("reason", "spans", "for_guidelines")
Place = tuple[int, str, str, str]  # unit, dimension, method and rule of decisions


@dataclass(slots=True)
class LabelsDone:
    annotations: int = 0  # new
    revisions: int = 0  # of annotations that were there
    unchanged: int = 0
    decisions: int = 0
    decisions_changed: int = 0
    decisions_unchanged: int = 0


def bring_in(
    project: Project,
    records: Iterable,
    *,
    names_are_pseudonyms: bool,
    guard: Callable[[], None] = lambda: None,
    beat: Callable[[], None] = lambda: None,
    journal: Journal | None = None,
) -> LabelsDone:
    """Store the annotations and decisions among `records`, whose items must exist, in short transactions."""
    labels = _Labels(project, names_are_pseudonyms, guard, journal)
    for record in records:
        if isinstance(record, AnnotationRecord):
            labels.annotations.append(record)
        elif isinstance(record, DecisionRecord):
            labels.decisions.append(record)
        else:
            continue
        if len(labels.annotations) + len(labels.decisions) >= BATCH:
            labels.store()
            beat()
    labels.store()
    return labels.done


class _Labels:
    def __init__(
        self, project: Project, names_are_pseudonyms: bool, guard: Callable[[], None], journal: Journal | None
    ):
        self.project, self.names_are_pseudonyms, self.guard = project, names_are_pseudonyms, guard
        self.journal = journal
        self.stored: dict[str, list[int]] = defaultdict(list)  # ids of new rows, for the journal
        self.unit_kind = project.type.unit_kind
        self.done = LabelsDone()
        self.raters: dict[tuple[str, str], int] = {}
        self.annotations: list[AnnotationRecord] = []
        self.decisions: list[DecisionRecord] = []
        self.rule_runs: dict[tuple[str, int], int] = {}  # by name and version
        self.n_stored = self.n_known = 0  # records, and how many of them PostgreSQL's statistics include

    def store(self) -> None:
        if not self.annotations and not self.decisions:
            return
        self.n_stored += len(self.annotations) + len(self.decisions)
        with transaction.atomic():
            self.guard()
            wrote = self._store_annotations() if self.annotations else False
            wrote = (self._store_decisions() if self.decisions else False) or wrote
            if wrote:
                Project.objects.filter(pk=self.project.pk).update(label_version=F("label_version") + 1)
                cases.recount(self.project, self._touched_items())
            if self.journal is not None:
                self.journal.note(**self.stored)
            self.stored.clear()
        self.annotations, self.decisions = [], []
        if self.n_stored >= max(MANY_ROWS, 2 * self.n_known):  # a few times, however many records come
            refresh_statistics(Annotation, Revision, Judgement, Span, Decision, Case, Disagreement)
            self.n_known = self.n_stored

    def _touched_items(self) -> list[int]:
        items = Item.objects.filter(project=self.project)
        annotated = items.filter(key__in={record.item for record in self.annotations}).values_list("pk", flat=True)
        units = {record.unit for record in self.decisions}
        decided = items.filter(item_units__unit__key__in=units).values_list("pk", flat=True)
        return sorted({*annotated, *decided})

    def _rater(self, rater: str, kind: str, group: str = "") -> int:
        name = (rater, kind)
        if name not in self.raters:
            self.raters[name] = self._find_rater(*name, group).pk
        return self.raters[name]

    def _find_rater(self, name: str, rater_kind: str, group: str) -> Rater:
        if self.names_are_pseudonyms and (known := self.project.raters.filter(pseudonym=name).first()):
            return known
        known = self.project.raters.exclude(kind=Rater.Kind.MEMBER).filter(name=name).first()
        if known:
            return known
        # A slot is a position and nobody's name, so exports may show it as it is.
        shows_name = self.names_are_pseudonyms or rater_kind == "slot"
        made = Rater.objects.create(
            project=self.project,
            kind=RATER_KINDS[rater_kind],
            name=name,
            group=group,
            **({"pseudonym": name} if shows_name else {}),
        )
        self.stored["raters"].append(made.pk)
        return made

    def _store_annotations(self) -> bool:
        items = dict(
            Item.objects.filter(project=self.project, key__in={record.item for record in self.annotations})
            .exclude(state__in=Item.LEFT_OUT)
            .values_list("key", "pk")
        )
        units = {
            (item, key): unit
            for item, unit, key in ItemUnit.objects.filter(item__in=items.values()).values_list(
                "item_id", "unit_id", "unit__key"
            )
        }
        wanted: dict[tuple[int, int], list] = defaultdict(list)
        for record in self.annotations:
            item = items.get(record.item)
            if item is None:
                raise JobError(f"The project has no page for {record.item}, which the file has labels of")
            wanted[item, self._rater(record.rater, record.rater_kind, record.rater_group)].append(
                (record, _judgements_of(record, item, units))
            )
        known = self._known(wanted)

        new_annotations, new_revisions, no_longer_latest = [], [], []
        for place, records in wanted.items():
            stored = known.get(place)
            revisions = dict(stored.revisions) if stored else {}
            added = []
            for record, judgements in records:
                content = (tuple(getattr(record, name) for name in REVISION_FIELDS), judgements)
                newest = revisions[max(revisions)] if revisions else None
                if content == newest or revisions.get(record.revision) == content:
                    self.done.unchanged += 1
                    continue
                number = record.revision if record.revision not in revisions else max(revisions) + 1
                revisions[number] = content
                added.append(number)
            if not added:
                continue
            if stored is None:
                new_annotations.append((place, any(record.surplus for record, _ in records)))
                self.done.annotations += 1
            else:
                self.done.revisions += len(added)
                if max(revisions) in added:
                    no_longer_latest.append(stored.pk)
            new_revisions += [(place, number, number == max(revisions), revisions[number]) for number in added]
        if not new_revisions:
            return False
        ids = {place: stored.pk for place, stored in known.items()}
        new_ids = self._insert_annotations(new_annotations)
        self.stored["annotations"] += new_ids.values()
        ids |= new_ids
        Revision.objects.filter(annotation__in=no_longer_latest, is_latest=True).update(is_latest=False)
        self.stored["revisions"] += _insert_revisions(ids, new_revisions)
        return True

    def _known(self, wanted: dict) -> dict[tuple[int, int], _Stored]:
        found = Annotation.objects.filter(
            item__in={item for item, _ in wanted}, rater__in={rater for _, rater in wanted}
        ).values_list("pk", "item_id", "rater_id")
        by_pk = {pk: ((item, rater), _Stored(pk, {})) for pk, item, rater in found}
        if not by_pk:
            return {}
        columns = (EXPORTED.get(name, name) for name in REVISION_FIELDS)
        revisions = list(
            Revision.objects.filter(annotation__in=by_pk).values_list("pk", "annotation_id", "number", *columns)
        )
        judgements = _stored_judgements([row[0] for row in revisions])
        for pk, annotation, number, *values in revisions:
            by_pk[annotation][1].revisions[number] = (tuple(values), frozenset(judgements[pk]))
        return dict(by_pk.values())

    def _insert_annotations(self, new: list) -> dict[tuple[int, int], int]:
        ids = reserve_ids(Annotation, len(new))
        bulk_insert(
            Annotation,
            [(pk, item, rater, surplus) for pk, ((item, rater), surplus) in zip(ids, new, strict=True)],
            ["id", "item_id", "rater_id", "is_surplus"],
        )
        return {place: pk for pk, (place, _) in zip(ids, new, strict=True)}

    def _store_decisions(self) -> bool:
        kinds = {record.unit_kind or self.unit_kind for record in self.decisions}
        rows = Unit.objects.published().filter(dataset=self.project.dataset_id, kind__in=kinds)
        rows = rows.filter(key__in={record.unit for record in self.decisions})
        units = {(kind, key): pk for kind, key, pk in rows.values_list("kind", "key", "pk")}
        known = self._known_decisions(units.values())
        added: dict[Place, list[int]] = defaultdict(list)
        for record in self.decisions:
            kind = record.unit_kind or self.unit_kind
            if (kind, record.unit) not in units:
                raise JobError(f"The data set has no {kind} {record.unit}, which the file has a label of")
            method, run, rule = self._method(record)
            place = (units[kind, record.unit], record.dimension, method, rule)
            stored = known[place]
            rater = self._rater(record.rater, "person") if record.rater else None
            outcome = record.outcome or Decision.Outcome.LABEL.value
            content = (record.label, rater, record.note, record.seen, record.decided_at, outcome, record.posterior, run)
            content += (record.reason, [cells_of_span(span) for span in record.spans], record.for_guidelines)
            last = max(stored, default=0)
            if record.number is None:  # the file knows no history: it says what is in force
                before = dict(zip(DECISION_FIELDS, stored[last], strict=True)) if last else {}
                is_known = before.get("label") == record.label
                if record.spans:
                    is_known &= before.get("spans") == [cells_of_span(span) for span in record.spans]
            else:
                is_known = content in (stored.get(record.number), stored.get(last))
            if is_known:
                self.done.decisions_unchanged += 1
            else:
                number = last + 1 if record.number is None or record.number in stored else record.number
                stored[number] = content
                added[place].append(number)
        for place, numbers in added.items():
            is_new = len(numbers) == len(known[place])
            self.done.decisions += is_new
            self.done.decisions_changed += not is_new
        latest = Decision.objects.filter(project=self.project, is_latest=True, unit__in={unit for unit, *_ in added})
        latest = latest.values_list("pk", "unit_id", "dimension", "method", "rule")
        replaced = [pk for pk, *place in latest if tuple(place) in added]
        Decision.objects.filter(pk__in=replaced).update(is_latest=False)
        places = [(place, number) for place, numbers in added.items() for number in numbers]
        ids = list(reserve_ids(Decision, len(places)))
        self.stored["decisions"] += ids
        bulk_insert(
            Decision,
            [
                (
                    pk,
                    self.project.pk,
                    *place,
                    number,
                    number == max(known[place]),
                    not content[0] and content[5] == "label",
                    *content,
                )
                for pk, (place, number) in zip(ids, places, strict=True)
                for content in (known[place][number],)
            ],
            [
                *("id", "project_id", "unit_id", "dimension", "method", "rule", "number", "is_latest", "is_withdrawn"),
                *DECISION_FIELDS,
            ],
        )
        return bool(added)

    def _known_decisions(self, units: Iterable[int]) -> dict[Place, dict[int, tuple]]:
        """What is stored: number -> what it says, by unit, dimension and method."""
        found: dict[Place, dict[int, tuple]] = defaultdict(dict)
        rows = Decision.objects.filter(project=self.project, unit__in=list(units))
        for unit, dimension, method, rule, number, *values in rows.values_list(
            "unit_id", "dimension", "method", "rule", "number", *DECISION_FIELDS
        ):
            found[unit, dimension, method, rule][number] = tuple(values)
        return found

    def _method(self, record: DecisionRecord) -> tuple[str, int | None, str]:
        """The method, and for a rule its run and its name. Of a run that this Assay does not know yet, the file's
        decisions are all that is known."""
        method, _, rule = record.method.partition(":")
        if rule and method == Decision.Method.RULE and RuleRun.is_name(rule):
            version = record.version or 1
            if (rule, version) not in self.rule_runs:
                when = record.decided_at or timezone.now()
                run, is_new = RuleRun.objects.get_or_create(
                    project=self.project, name=rule, version=version, defaults={"created_at": when}
                )
                self.rule_runs[rule, version] = run.pk
                self.stored["rule_runs"] += [run.pk] if is_new else []
            return method, self.rule_runs[rule, version], rule
        return (record.method if record.method in Decision.Method.values else Decision.Method.IMPORTED), None, ""


@dataclass(slots=True)
class _Stored:
    """An annotation as it is: number of revision -> what it says."""

    pk: int
    revisions: dict[int, tuple]


def _judgements_of(record: AnnotationRecord, item: int, units: dict[tuple[int, str], int]) -> frozenset:
    return frozenset(_as_stored(judgement, record, item, units) for judgement in record.judgements)


def _as_stored(judgement: JudgementRecord, record: AnnotationRecord, item: int, units: dict) -> tuple:
    unit = units.get((item, judgement.unit))
    if unit is None:
        raise JobError(f"{judgement.unit} is not on the page of {record.item}, under which the file has a label of it")
    spans = frozenset(map(values_of_span, judgement.spans))
    return unit, judgement.dimension, judgement.label, spans


def _stored_judgements(revisions: list[int]) -> dict[int, list[tuple]]:
    spans: dict[int, set] = defaultdict(set)
    for judgement, *span in Span.objects.filter(judgement__revision__in=revisions).values_list(
        "judgement_id", *SPAN_VALUES
    ):
        spans[judgement].add(tuple(span))
    found: dict[int, list[tuple]] = defaultdict(list)
    for pk, revision, unit, dimension, label in Judgement.objects.filter(revision__in=revisions).values_list(
        "pk", "revision_id", "unit_id", "dimension", "label"
    ):
        found[revision].append((unit, dimension, label, frozenset(spans.get(pk, ()))))
    return found


def _insert_revisions(annotations: dict[tuple[int, int], int], new: list) -> list[int]:
    ids = reserve_ids(Revision, len(new))
    bulk_insert(
        Revision,
        [
            (pk, annotations[place], number, is_latest, *content[0])
            for pk, (place, number, is_latest, content) in zip(ids, new, strict=True)
        ],
        ["id", "annotation_id", "number", "is_latest", *REVISION_FIELDS],
    )
    judgements = [
        (pk, *judgement)
        for pk, (_, _, _, content) in zip(ids, new, strict=True)
        for judgement in sorted(content[1], key=lambda j: j[:2])
    ]
    judgement_ids = reserve_ids(Judgement, len(judgements))
    bulk_insert(
        Judgement,
        [(pk, *row[:4]) for pk, row in zip(judgement_ids, judgements, strict=True)],
        ["id", "revision_id", "unit_id", "dimension", "label"],
    )
    bulk_insert(
        Span,
        [(pk, *span) for pk, row in zip(judgement_ids, judgements, strict=True) for span in sorted(row[4])],
        ["judgement_id", *SPAN_VALUES],
    )
    return list(ids)
