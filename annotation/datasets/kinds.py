"""How each kind of content record is stored: its table, columns and parents, and what is judged together with it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date
from operator import attrgetter
from typing import Any

from django.db import models
from django.db.models import Exists, OuterRef, Q

from annotation import incoming
from annotation.formats.records import (
    AspectRecord,
    AtomicClaimRecord,
    ClaimRecord,
    ComparisonRecord,
    EvidenceRecord,
    PairRecord,
    QuestionRecord,
    ResponseRecord,
    SubSentenceRecord,
    TripletRecord,
)
from annotation.models import (
    Aspect,
    AtomicClaim,
    Claim,
    Decision,
    Evidence,
    ItemUnit,
    Judgement,
    OutputComparison,
    Pair,
    Question,
    Response,
    Score,
    SubSentence,
    Suggestion,
    Triplet,
    Unit,
    UnitKind,
)

PARENTS = ("claim", "question", "evidence", "response", "atomic_claim", "aspect")
INTEGER_LIMIT = 2**31
PIECE_SET = "piece_set"
# What pages call them, in the order of pages.
TITLES = {
    "claim": "Claims",
    "question": "Questions",
    "evidence": "Evidence",
    "response": "Responses",
    "triplet": "Triplets",
    "sub_sentence": "Sub-sentences",
    "atomic_claim": "Atomic claims",
    "aspect": "Aspects",
    "pair": "Pairs",
    "comparison": "Comparisons",
}


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    record: type
    model: type[models.Model]
    unit_kind: str | None = None
    # Parents whose page shows all of their children of this kind, so that a further child alters what was judged.
    shown_with: tuple[str, ...] = ()
    # Whether a new version of a parent brings a new version of this. Not where the row's texts are all its own and the
    # parents only say where they come from.
    follows_parents: bool = True
    # Whether documents generated for the row's claim are judged against it, where it is gold.
    is_beside_documents: bool = False
    # Column, value and reason where a record is wrong in itself.
    problem_of: Callable[[Any], tuple[str, str, str] | None] = lambda record: None

    @property
    def has_sets(self) -> bool:
        return PIECE_SET in self.columns

    @property
    def parents(self) -> tuple[str, ...]:
        """Links to parents; record and table call them alike, and so are the kinds they lead to."""
        return tuple(name for name in PARENTS if name in _names(self.record))

    @property
    def columns(self) -> tuple[str, ...]:
        """What is compared and stored, links to parents and the key left out."""
        return tuple(name for name in _names(self.record) if name not in (*PARENTS, "key"))


def _names(record: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(record))


# Parents before children.
KINDS: tuple[Kind, ...] = (
    Kind("claim", ClaimRecord, Claim, UnitKind.CLAIM),
    Kind("question", QuestionRecord, Question, UnitKind.QUESTION),
    Kind("response", ResponseRecord, Response, UnitKind.RESPONSE),
    Kind("triplet", TripletRecord, Triplet, UnitKind.TRIPLET, shown_with=("response",)),
    Kind("sub_sentence", SubSentenceRecord, SubSentence, UnitKind.SUB_SENTENCE, shown_with=("response",)),
    Kind("atomic_claim", AtomicClaimRecord, AtomicClaim, UnitKind.ATOMIC_CLAIM),
    Kind("aspect", AspectRecord, Aspect, UnitKind.ASPECT, shown_with=("question",)),
    Kind("evidence", EvidenceRecord, Evidence, UnitKind.EVIDENCE, shown_with=("question",), is_beside_documents=True),
    Kind("pair", PairRecord, Pair, UnitKind.PAIR, follows_parents=False),
    Kind("comparison", ComparisonRecord, OutputComparison, UnitKind.COMPARISON, problem_of=ComparisonRecord.problem),
)
KIND_OF_RECORD = {kind.record: kind for kind in KINDS}
KIND_NAMED = {kind.name: kind for kind in KINDS}


def _paths(kind: Kind, root: str) -> tuple[str, ...]:
    """From a row of `kind` to the row of kind `root` that it hangs below, through every chain of parents."""
    if kind.name == root:
        return (kind.name,)
    parents = kind.parents if kind.follows_parents else ()
    return tuple(f"{kind.name}__{path}" for parent in parents for path in _paths(KIND_NAMED[parent], root))


# From a unit to the content whose change it would be a victim of. An aspect in a response is reached by its response.
UNITS_BELOW = {
    root.name: tuple(path for kind in KINDS if kind.unit_kind for path in _paths(kind, root.name)) for root in KINDS
}


def root_of(
    kind: Kind, pk: int, parents: dict[str, int | None], with_documents: Collection[int] = ()
) -> tuple[str, int]:
    """What is renewed as a whole when this row changes after it was judged: all that one page shows with it.

    `with_documents` are claims whose documents are judged against the row (`claims_with_documents`).
    """
    for parent in kind.shown_with:
        if parents.get(parent) is not None:
            return parent, parents[parent]
    if parents.get("claim") in with_documents:
        return "claim", parents["claim"]
    return kind.name, pk


def claims_with_documents(kind: Kind, rows: Mapping[int, bool | None]) -> set[int]:
    """Claims with responses, of those of the rows (id -> whether it will be gold) that are or will be gold."""
    if not kind.is_beside_documents or not rows:
        return set()
    will_be = [pk for pk, is_gold in rows.items() if is_gold]
    gold = kind.model.objects.filter(Q(is_gold=True) | Q(pk__in=will_be), pk__in=list(rows))
    return documented(gold.exclude(claim=None).values_list("claim", flat=True))


def documented(claims: Iterable[int]) -> set[int]:
    """Those of the claims that documents were generated for."""
    return set(Response.objects.published().filter(claim__in=list(claims)).values_list("claim", flat=True))


@dataclass(frozen=True, slots=True)
class Use:
    """Roots with labels below them, and other roots that something else depends on."""

    judged: set[tuple[str, int]]
    depended_on: set[tuple[str, int]]


# What says something of a unit -> the way to its project.
LABELLED = {Judgement: "revision__annotation__item__project", Decision: "project"}
DEPENDING = {Suggestion: "run__project", Score: "run__project"}
PAGES = {ItemUnit: "item__project"}


def uses_of(roots: Iterable[tuple[str, int]], *, count_items: bool = False, piece_set: str | None = None) -> Use:
    """Judged: a person's label or a decision is about it. Depended on: a checker's result or, with `count_items`, a
    page of work. With `piece_set` only in projects that judge that set."""
    by_kind: dict[str, set[int]] = {}
    for name, pk in roots:
        by_kind.setdefault(name, set()).add(pk)
    labelled = _any_of(LABELLED, piece_set)
    depended_on = _any_of(DEPENDING | (PAGES if count_items else {}), piece_set)
    use = Use(set(), set())
    for name, pks in by_kind.items():
        for path in UNITS_BELOW[name]:
            units = Unit.objects.filter(**{f"{path}__in": pks})
            use.judged.update((name, pk) for pk in units.filter(labelled).values_list(path, flat=True))
            use.depended_on.update((name, pk) for pk in units.filter(depended_on).values_list(path, flat=True))
    use.depended_on.difference_update(use.judged)
    return use


def _any_of(tables: Mapping[type[models.Model], str], piece_set: str | None) -> Q:
    condition = Q()
    for table, project in tables.items():
        only = {} if piece_set is None else {f"{project}__piece_set": piece_set}
        condition |= Q(Exists(table.objects.filter(unit=OuterRef("pk"), **only)))
    return condition


class RecordReader:
    """Takes a record apart into what is stored and compared."""

    def __init__(self, kind: Kind):
        self.kind = kind
        self.columns = kind.columns
        self.parents = kind.parents
        self._values = attrgetter(*self.columns)
        self._lists = tuple(i for i, name in enumerate(self.columns) if name == "answers")
        texts, numbers = [], []
        for position, name in enumerate(self.columns):
            field = kind.model._meta.get_field(name)
            if isinstance(field, models.CharField):
                texts.append((position, name, field.max_length))
            elif isinstance(field, models.IntegerField):
                numbers.append((position, name))
        self._texts, self._numbers = tuple(texts), tuple(numbers)
        # Where values stand that make a row large.
        self.longs = tuple(
            place
            for place, name in enumerate(self.columns)
            if isinstance(kind.model._meta.get_field(name), models.TextField)
        )
        self.key_length = kind.model._meta.get_field("key").max_length

    def values(self, record) -> tuple:
        values = self._values(record)
        if self._lists:
            values = tuple(list(value) if i in self._lists else value for i, value in enumerate(values))
        return values

    def parent_keys(self, record) -> tuple[str | None, ...]:
        return tuple(getattr(record, name) for name in self.parents)

    def problem(self, record, values: tuple) -> tuple[str, str, str] | None:
        """Column, value and reason where the tables cannot hold the record."""
        if len(record.key) > self.key_length:
            return (
                "key",
                record.key,
                f"is a key of {len(record.key):,} characters; at most {self.key_length} are stored",
            )
        if self.kind.has_sets:
            try:
                incoming.piece_set(record.piece_set)
            except incoming.Refused as refused:
                return PIECE_SET, record.piece_set, str(refused)
        for position, name, length in self._texts:
            if len(values[position]) > length:
                return name, values[position], f"has {len(values[position]):,} characters; at most {length} are stored"
        for position, name in self._numbers:
            if values[position] is not None and abs(values[position]) >= INTEGER_LIMIT:
                return name, str(values[position]), "is too large a number"
        return self.kind.problem_of(record)


def to_json(columns: tuple[str, ...], values: tuple) -> dict:
    return {
        name: value.isoformat() if isinstance(value, date) else value
        for name, value in zip(columns, values, strict=True)
    }


def from_json(kind: Kind, stored: dict) -> dict:
    """Column values as the table takes them, from what `to_json` made."""
    return {name: kind.model._meta.get_field(name).to_python(stored[name]) for name in kind.columns if name in stored}
