"""One pass over the records of a file: what is new, what changed, what is wrong.

The same pass serves the dry run, which writes nothing, and the import, which stages rows in short transactions under a
batch that nobody sees. Nothing here makes anything visible.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from django.db import IntegrityError, connection, transaction

from annotation.bulk import bulk_insert, reserve_ids
from annotation.datasets.kinds import (
    KIND_OF_RECORD,
    KINDS,
    PARENTS,
    PIECE_SET,
    Kind,
    RecordReader,
    Use,
    claims_with_documents,
    documented,
    root_of,
    to_json,
    uses_of,
)
from annotation.datasets.response_aspects import SIDES, KeyLengths, insert_response_aspects
from annotation.formats.records import (
    AnnotationRecord,
    DecisionRecord,
    LostRecord,
    OddRecord,
    RowError,
    ScoreRecord,
    SuggestionRecord,
)
from annotation.imports.labels import LabelCheck
from annotation.imports.rows import CHANGED, CREATED, UNCHANGED, Findings
from annotation.jobs.lifecycle import JobError
from annotation.models import ContentBatch, Dataset, StagedChange, Unit

BATCH_RECORDS = 2000
BATCH_CHARS = 4_000_000  # long texts make smaller batches, so that memory and transactions stay small
# SQLite has one writer. Reading the next batch leaves it to others anyway; this makes sure where reading is fast.
PAUSE_SECONDS = 0.01
OF_SET = "set:"  # in what a change alters
NEW = -1  # stands for the id of a row that a dry run would create


class ContentPass:
    """Feed it records, then call `finish`. With a batch it stages; without one it only counts.

    `guard` is called inside every writing transaction and raises when the writer must not write any more. With
    `leaves_out` bad rows are left out, and what hangs on them; else nothing is staged after the first of them.
    """

    def __init__(
        self,
        dataset: Dataset | None,
        *,
        batch: ContentBatch | None = None,
        guard: Callable[[], None] | None = None,
        labels: LabelCheck | None = None,
        leaves_out: bool = False,
    ):
        self.dataset, self.batch, self.guard = dataset, batch, guard
        self.findings = Findings()
        self.labels = labels or LabelCheck(None)
        self.writes, self.leaves_out = batch is not None, leaves_out
        self.readers = {kind.name: RecordReader(kind) for kind in KINDS}
        self.has_stored = {kind.name: dataset is not None and _has_rows(kind, dataset) for kind in KINDS}
        self.can_be_judged = dataset is not None and dataset.projects.exists()
        self.parent_ids: dict[str, dict[str, int]] = {name: {} for name in PARENTS}
        self.stored_parents: set[tuple[str, int]] = set()
        self.key_lengths = KeyLengths()
        self.is_staged = True
        self._clear()

    def _clear(self) -> None:
        self.waiting: dict[str, list] = {kind.name: [] for kind in KINDS}
        self.waiting_labels: list[AnnotationRecord | DecisionRecord] = []
        self.waiting_records = self.waiting_chars = 0

    def add(self, record) -> None:
        if isinstance(record, RowError):
            self.findings.add_error(record)
            return
        if isinstance(record, ScoreRecord | SuggestionRecord):
            self.findings.from_checkers[record.checker] += 1
            return
        if isinstance(record, LostRecord):
            self.findings.lost.append(record)
            return
        if isinstance(record, OddRecord):
            self.findings.odd.append(record)
            return
        kind = KIND_OF_RECORD.get(type(record))
        if kind is None:
            self._add_label(record)
            return
        reader = self.readers[kind.name]
        values = reader.values(record)
        problem = reader.problem(record, values) or self.key_lengths.problem(record)
        if problem:
            self.findings.add_problem(*problem)
            return
        if kind.has_sets:
            self.findings.add_piece(kind.name, record.piece_set)
        self.waiting[kind.name].append((record.key, values, reader.parent_keys(record)))
        self.labels.saw_content(kind, record)
        self.waiting_records += 1
        self.waiting_chars += sum(len(values[place]) for place in reader.longs)
        if self.waiting_records >= BATCH_RECORDS or self.waiting_chars >= BATCH_CHARS:
            self.flush()

    def _add_label(self, record: AnnotationRecord | DecisionRecord) -> None:
        if isinstance(record, AnnotationRecord):
            self.findings.annotations += 1
            self.findings.raters.add(record.rater)
            if record.rater_kind == "slot":
                self.findings.slots.add(record.rater)
            for judgement in record.judgements:
                self.findings.add_label(judgement.dimension, judgement.label)
        else:
            self.findings.decisions += 1
            if record.label:  # else one that was withdrawn
                self.findings.add_label(record.dimension, record.label)
        if self.labels.task_type is not None:
            self.waiting_labels.append(record)
            if len(self.waiting_labels) >= 2 * BATCH_RECORDS:
                self.flush()

    def finish(self) -> Findings:
        self.flush()
        return self.findings

    def flush(self) -> None:
        """Compare what has gathered with what is stored, and stage the difference unless something was wrong."""
        if self.waiting_records:
            # Where one bad row refuses the file, reading goes on after it only to find the others.
            stages = self.writes and (self.leaves_out or not self.findings.error_count)
            self.is_staged = self.is_staged and (stages or not self.writes)
            if stages:
                try:
                    with transaction.atomic():
                        self.guard()
                        _need_not_reach_disk_yet()
                        self._take_waiting(stages=True)
                    if connection.vendor == "sqlite" and not connection.in_atomic_block:
                        time.sleep(PAUSE_SECONDS)
                except IntegrityError as error:
                    raise JobError(
                        f"The file contains a key twice, or the data set was changed meanwhile: {error}"
                    ) from error
            else:
                self._take_waiting(stages=False)
        if self.waiting_labels and self.is_staged:  # else their units are missing because other rows are bad
            for problem in self.labels.problems(self.waiting_labels, self.dataset, self.batch):
                self.findings.add_problem(*problem)
        self._clear()

    def _take_waiting(self, *, stages: bool) -> None:
        for kind in KINDS:
            rows = self.waiting[kind.name]
            if rows:
                self._take_kind(kind, rows, stages)

    def _take_kind(self, kind: Kind, rows: list, stages: bool) -> None:
        reader = self.readers[kind.name]
        self._find_parents(reader, rows)
        stored = self._stored(kind, reader, [key for key, _, _ in rows]) if self.has_stored[kind.name] else {}
        new, changed = [], []
        unchanged = 0
        for row in rows:
            key, values, parents = row
            if not self._parents_exist(kind, reader, key, parents):
                continue
            old = stored.get(key)
            if old is None:
                new.append(row)
            elif old[1] == values and old[2] == parents:
                unchanged += 1
            elif kind.has_sets and (there := old[1][reader.columns.index(PIECE_SET)]) != _set_of(reader, row):
                reason = (
                    f"is not the set of {kind.name} {key}, which belongs to {there or 'the unnamed set'} already; "
                    "pieces of different sets need different ids"
                )
                self.findings.add_problem("set", _set_of(reader, row), reason)
            else:
                changed.append((row, old))
        self.findings.count(kind.name, UNCHANGED, unchanged)
        self.findings.count(kind.name, CREATED, len(new))
        self.findings.count(kind.name, CHANGED, len(changed))
        if kind.name in PARENTS:
            ids = self.parent_ids[kind.name]
            for key, old in stored.items():
                ids[key] = old[0]
                self.stored_parents.add((kind.name, old[0]))
        if new and stages:
            self._insert(kind, reader, new)
        elif kind.name in PARENTS:
            self.parent_ids[kind.name].update((key, NEW) for key, _, _ in new)
        changes = self._changes(kind, reader, changed)
        changes += self._altered_parents(kind, reader, new)
        if stages and changes:
            StagedChange.objects.bulk_create(changes, batch_size=500, ignore_conflicts=True)

    # --- parents ---------------------------------------------------------------------------------------------------

    def _find_parents(self, reader: RecordReader, rows: list) -> None:
        """Look up parents that the file does not hold; those in the file came before and are known."""
        if self.dataset is None:
            return
        for position, name in enumerate(reader.parents):
            known = self.parent_ids[name]
            wanted = {parents[position] for _, _, parents in rows} - known.keys() - {None}
            if wanted:
                model = self.readers[name].kind.model
                found = model.objects.published().filter(dataset=self.dataset, key__in=wanted)
                for key, pk in found.values_list("key", "id"):
                    known[key] = pk
                    self.stored_parents.add((name, pk))

    def _parents_exist(self, kind: Kind, reader: RecordReader, key: str, parents: tuple) -> bool:
        for name, parent in zip(reader.parents, parents, strict=True):
            if parent is not None and parent not in self.parent_ids[name]:
                reason = f"is the {name} of {kind.name} {key}, and is neither earlier in the file nor in the data set"
                self.findings.add_problem(name, parent, reason)
                return False
        return True

    # --- rows that exist -------------------------------------------------------------------------------------------

    def _stored(self, kind: Kind, reader: RecordReader, keys: list[str]) -> dict[str, tuple]:
        """key -> (id, values, parents' keys, parents' ids) of published rows."""
        columns, parents = reader.columns, reader.parents
        names = ("key", "id", *columns, *(f"{name}__key" for name in parents), *(f"{name}_id" for name in parents))
        rows = kind.model.objects.published().filter(dataset=self.dataset, key__in=keys).values_list(*names)
        first, second = 2 + len(columns), 2 + len(columns) + len(parents)
        return {row[0]: (row[1], row[2:first], row[first:second], row[second:]) for row in rows}

    def _changes(self, kind: Kind, reader: RecordReader, changed: list) -> list[StagedChange]:
        if not changed:
            return []
        gold = {old[0]: _is_gold(reader, row) for row, old in changed}
        documented = claims_with_documents(kind, gold)
        roots = [
            root_of(kind, old[0], dict(zip(reader.parents, old[3], strict=True)), documented) for _, old in changed
        ]
        use = uses_of(roots) if self.can_be_judged else Use(set(), set())
        changes = []
        for ((key, values, parents), old), root in zip(changed, roots, strict=True):
            is_judged = root in use.judged
            if is_judged:
                columns = [name for name, a, b in zip(reader.columns, old[1], values, strict=True) if a != b]
                columns += [name for name, a, b in zip(reader.parents, old[2], parents, strict=True) if a != b]
                self.findings.add_judged(kind.name, key, columns)
            fields = to_json(reader.columns, values) | dict(zip(reader.parents, parents, strict=True))
            changes.append(StagedChange(batch=self.batch, kind=kind.name, key=key, fields=fields, is_judged=is_judged))
        return changes

    def _altered_parents(self, kind: Kind, reader: RecordReader, new: list) -> list[StagedChange]:
        """Parents that were judged together with all of their children, and now get one more."""
        if not (new and kind.shown_with and self.can_be_judged):
            return []
        changes = []
        for name in (*kind.shown_with, *(("claim",) if kind.is_beside_documents else ())):
            position = reader.parents.index(name)
            # A claim's pages show its gold evidence, and only where there are documents to compare with it.
            rows = new if name in kind.shown_with else [row for row in new if _is_gold(reader, row)]
            # A page shows the pieces of one set: those of another alter nothing there.
            for piece_set in sorted({_set_of(reader, row) for row in rows}) if kind.has_sets else [None]:
                of_set = [row for row in rows if piece_set is None or _set_of(reader, row) == piece_set]
                keys = {parents[position] for _, _, parents in of_set} - {None}
                ids = {self.parent_ids[name][key]: key for key in keys}
                roots = {(name, pk) for pk in ids} & self.stored_parents
                if name not in kind.shown_with:
                    roots = {(name, pk) for pk in documented(pk for _, pk in roots)}
                use = uses_of(roots, count_items=True, piece_set=piece_set)
                alters = "" if piece_set is None else f"{OF_SET}{piece_set}"
                for root in sorted(use.judged | use.depended_on):
                    key, is_judged = ids[root[1]], root in use.judged
                    if is_judged:
                        self.findings.add_judged(name, key, [f"one more {kind.name}"])
                    changes.append(
                        StagedChange(
                            batch=self.batch, kind=name, key=key, fields={}, is_judged=is_judged, alters=alters
                        )
                    )
        return changes

    # --- rows that are new -----------------------------------------------------------------------------------------

    def _insert(self, kind: Kind, reader: RecordReader, rows: list) -> None:
        ids = reserve_ids(kind.model, len(rows))
        known = [self.parent_ids[name] for name in reader.parents]
        common = (self.dataset.pk, self.batch.pk)
        bulk_insert(
            kind.model,
            [
                (
                    pk,
                    *common,
                    key,
                    *values,
                    *(of_kind.get(parent) for of_kind, parent in zip(known, parents, strict=True)),
                )
                for pk, (key, values, parents) in zip(ids, rows, strict=True)
            ],
            ["id", "dataset_id", "batch_id", "key", *reader.columns, *(f"{name}_id" for name in reader.parents)],
        )
        if kind.name in PARENTS:
            self.parent_ids[kind.name].update((row[0], pk) for pk, row in zip(ids, rows, strict=True))
        if kind.unit_kind:
            insert_units(kind, self.batch, ids[0])
        if kind.name in SIDES:
            insert_response_aspects(self.batch, kind.name, ids[0])


def _set_of(reader: RecordReader, row: tuple) -> str:
    _, values, _ = row
    return values[reader.columns.index(PIECE_SET)]


def _is_gold(reader: RecordReader, row: tuple) -> bool | None:
    _, values, _ = row
    return values[reader.columns.index("is_gold")] if "is_gold" in reader.columns else None


def insert_units(kind: Kind, batch: ContentBatch, first: int) -> None:
    """A unit for every row of the batch from this id on, made inside the database."""
    units, rows = Unit._meta.db_table, kind.model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {units} (dataset_id, batch_id, kind, key, version, superseded_at, {kind.name}_id) "
            f"SELECT dataset_id, batch_id, %s, key, version, NULL, id FROM {rows} WHERE batch_id = %s AND id >= %s "
            "ORDER BY id",
            [kind.unit_kind, batch.pk, first],
        )


def _need_not_reach_disk_yet() -> None:
    """Staged rows are worth nothing before they are published, and that commit brings all before it to the disk."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL synchronous_commit TO OFF")


def _has_rows(kind: Kind, dataset: Dataset) -> bool:
    return kind.model.objects.published().filter(dataset=dataset).exists()


def read_all(records: Iterable, content: ContentPass, beat: Callable[[], None] | None = None) -> Findings:
    """Run the pass over all records; `beat` is called now and then and may raise to stop."""
    for number, record in enumerate(records):
        content.add(record)
        if beat is not None and number % 500 == 0:
            beat()
    return content.finish()
