"""The content of an export in Assay's own layout: one line per item, whatever the item is made from.

A line has the question or claim with all of its passages and aspects, and the item's response or pair. Labels stand on
the objects that are the item's units.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from django.db.models import Q, QuerySet

from annotation.datasets.kinds import KIND_NAMED
from annotation.exports.queries import ExportedItem
from annotation.formats.content.parts import PART_OF_RECORD
from annotation.formats.content.write import as_object, labelled, line_object
from annotation.formats.records import Record
from annotation.models import PIECE_LINKS, Aspect, Evidence, Unit, UnitKind
from annotation.task_types import TaskType

ROOTS = ("claim", "question")


@dataclass(frozen=True, slots=True)
class Root:
    """What a line is about: a claim or a question."""

    kind: str
    id: int
    record: Record = field(compare=False)


# Units that are pieces of a response, and where a response lists them.
PIECES = {UnitKind.TRIPLET: "triplets", UnitKind.SUB_SENTENCE: "sub_sentences", UnitKind.ATOMIC_CLAIM: "atomic_claims"}
# Lists of a line whose objects nothing hangs below, and the kind of each.
WHOLE = {"comparisons": UnitKind.COMPARISON, "pairs": UnitKind.PAIR}
# Kind of anchor -> what its line holds, each by its path from the anchor unit. Below evidence and responses, the claim
# or question follows.
HOLDS: dict[str, dict[str, str]] = {
    UnitKind.CLAIM: {"claim": "claim"},
    UnitKind.QUESTION: {"question": "question"},
    UnitKind.ASPECT: {"question": "aspect__question"},
    UnitKind.EVIDENCE: {
        "evidence": "evidence",
        "atomic_claim": "evidence__atomic_claim",
        "response": "evidence__atomic_claim__response",
        "aspect": "evidence__aspect",
    },
    UnitKind.RESPONSE: {"response": "response"},
    **{piece: {"response": f"{piece}__response"} for piece in PIECES},
    UnitKind.RESPONSE_ASPECT: {"response": "response"},
    UnitKind.PAIR: {"pair": "pair", "evidence": "pair__evidence", "response": "pair__response"},
    UnitKind.COMPARISON: {"comparison": "comparison", "question": "comparison__question"},
}


def content_objects(kind: TaskType, items: list[ExportedItem]) -> Iterator[dict]:
    """The lines of some items, in as many queries as for one. Aspects are those of the items' set, where aspects are
    judged, else of all sets."""
    batch = _Batch(kind, items)
    for item in items:
        yield from batch.lines(item)


class _Batch:
    """The rows that the lines of some items need."""

    def __init__(self, kind: TaskType, items: list[ExportedItem]):
        self.kind, self.holds = kind, HOLDS[kind.anchor_kind]
        anchors = {item.anchor for item in items}
        units = {unit for item in items for unit in item.unit_keys}
        kinds = dict(_kinds_by_path(self.holds))
        if kind.unit_kind in PIECES:
            kinds[kind.unit_kind] = kind.unit_kind
        self.on_unit = on_units(anchors | (units if kind.unit_kind in PIECES else set()), kinds)
        roots = {self._root(anchor, content) for anchor in anchors for content in self.holds} - {None}
        judged = units if PIECE_LINKS.get(kind.unit_kind) == "aspect" else ()
        self.passages, self.aspects = passages_below(roots), _aspects(roots, judged)
        self.aspect_of = {}  # of units 'this aspect in this response'
        if kind.unit_kind == UnitKind.RESPONSE_ASPECT:
            self.aspect_of = dict(Unit.objects.filter(pk__in=units).values_list("id", "aspect__key"))

    def _root(self, anchor: int, content: str) -> Root | None:
        """What the content of an item hangs below; the claim or question itself where that is the content."""
        path, on_unit = self.holds.get(content), self.on_unit[anchor]
        places = {content: path} if content in ROOTS else {name: f"{path}__{name}" for name in ROOTS}
        return next((Root(name, *on_unit[place]) for name, place in places.items() if place in on_unit), None)

    def _record(self, anchor: int, content: str) -> Record | None:
        _, record = self.on_unit[anchor].get(self.holds.get(content), (None, None))
        return record

    def lines(self, item: ExportedItem) -> Iterator[dict]:
        of_response = self._root(item.anchor, "response")
        roots = (self._root(item.anchor, content) for content in (*ROOTS, "evidence", "aspect"))
        root = next(filter(None, roots), of_response)
        if self.kind.anchor_kind == UnitKind.EVIDENCE and (below := self._below_piece(item, root)):
            yield below
            return
        response = self._record(item.anchor, "response")
        responses = [self._response(item, response)] if response else []
        if of_response != root and responses:
            # A pair of evidence and response of different claims: the response needs a line under its own.
            yield self._line(item, of_response, responses=responses)
            responses = []
        lists = {
            name: [self._labelled(item, kind, record)]
            for name, kind in WHOLE.items()
            if (record := self._record(item.anchor, kind))
        }
        yield self._line(item, root, responses=responses, **lists)

    def _below_piece(self, item: ExportedItem, root: Root | None) -> dict | None:
        """The line of evidence about an atomic claim or an aspect: it stands below that, and nothing else does."""
        evidence = self._labelled(item, UnitKind.EVIDENCE, self._record(item.anchor, "evidence"))
        of_root = as_object(root.record) if root else None
        if aspect := self._record(item.anchor, "aspect"):
            return line_object(of_root, aspects=[as_object(aspect) | {"passages": [evidence]}])
        if claim := self._record(item.anchor, "atomic_claim"):
            pieces = {"atomic_claims": [as_object(claim) | {"passages": [evidence]}]}
            response = as_object(self._record(item.anchor, "response")) | pieces
            return line_object(of_root, root.kind, responses=[response])
        return None

    def _line(self, item: ExportedItem, root: Root | None, **lists: list[dict]) -> dict:
        if root is None:
            return line_object(None, **lists)
        return line_object(
            self._labelled(item, root.kind, root.record),
            root.kind,
            passages=[self._labelled(item, UnitKind.EVIDENCE, each) for each in self.passages[root]],
            aspects=[
                self._labelled(item, UnitKind.ASPECT, each, place) for place, each in enumerate(self.aspects[root])
            ],
            **lists,
        )

    def _response(self, item: ExportedItem, record: Record) -> dict:
        response = self._labelled(item, UnitKind.RESPONSE, record)
        if name := PIECES.get(self.kind.unit_kind):
            pieces = [
                as_object(self.on_unit[unit][self.kind.unit_kind][1], place) | self._labels(item, key)
                for place, (unit, key) in enumerate(item.unit_keys.items())
            ]
            return response | ({name: pieces} if pieces else {})
        aspects = [
            {"id": self.aspect_of[unit]} | labels
            for unit, key in item.unit_keys.items()
            if unit in self.aspect_of and (labels := self._labels(item, key))
        ]
        return response | ({"aspects": aspects} if aspects else {})

    def _labelled(self, item: ExportedItem, kind: str, record: Record, place: int = 0) -> dict:
        fields = as_object(record, place)
        # Only units of the item: what else stands on the line has a line of its own, or no labels here.
        is_unit = kind == self.kind.unit_kind and record.key in item.unit_keys.values()
        return fields | (self._labels(item, record.key) if is_unit else {})

    def _labels(self, item: ExportedItem, unit: str) -> dict:
        labels, methods, derived = {}, {}, {}
        for dimension in self.kind.dimensions:
            label = item.label(self.kind, unit, dimension)
            if label is not None and not dimension.takes_text:
                labels[dimension.slug] = list(dimension.chosen(label)) if dimension.takes_several else label
                methods[dimension.slug] = item.method(unit, dimension)
                derived |= {each.slug: each.label_for(label) for each in dimension.derived}
        return labelled(labels, derived, methods)


# --- rows as records ------------------------------------------------------------------------------------------------


def _kinds_by_path(holds: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Every path from a unit to a row that a line shows, with the kind of the row."""
    for content, path in holds.items():
        if content != "evidence" or path == "evidence":
            yield path, content
        if content in ("evidence", "response"):
            yield from ((f"{path}__{root}", root) for root in ROOTS)
        if content == "aspect":
            yield f"{path}__question", "question"


def on_units(units: set[int], kinds: dict[str, str]) -> dict[int, dict[str, tuple[int, Record]]]:
    """What hangs on each unit: path -> id and record of the row, where there is one."""
    columns = {path: ("id", *_columns(kind)) for path, kind in kinds.items()}
    names = [f"{path}__{name}" for path, of_path in columns.items() for name in of_path]
    found: dict[int, dict[str, tuple[int, Record]]] = {}
    for unit, *values in Unit.objects.filter(pk__in=units).values_list("id", *names):
        found[unit], start = {}, 0
        for path, of_path in columns.items():
            row, *of_row = values[start : start + len(of_path)]
            start += len(of_path)
            if row is not None:
                found[unit][path] = row, _record(kinds[path], of_row)
    return found


def _columns(kind: str) -> tuple[str, ...]:
    """What a record is made from. Parents are named only where an object of a line names them."""
    known = KIND_NAMED[kind]
    attributes = {attribute for attribute, _ in PART_OF_RECORD[known.record].fields.values()}
    return ("key", *known.columns, *(f"{parent}__key" for parent in known.parents if parent in attributes))


def _record(kind: str, values: Iterable) -> Record:
    known = KIND_NAMED[kind]
    names = (name.removesuffix("__key") for name in _columns(kind))
    return known.record(**(dict.fromkeys(known.parents) | dict(zip(names, values, strict=True))))


def passages_below(roots: set[Root]) -> dict[Root, list[Record]]:
    wanted = Q(claim__in=_ids(roots, "claim")) | Q(question__in=_ids(roots, "question"))
    return _below(roots, "evidence", Evidence.objects.published().in_order().filter(wanted))


def _aspects(roots: set[Root], judged: Collection[int]) -> dict[Root, list[Record]]:
    wanted = Aspect.objects.published().filter(question__in=_ids(roots, "question"))
    if judged:
        sets = Unit.objects.filter(pk__in=judged).values("aspect__piece_set").distinct()
        wanted = wanted.filter(piece_set__in=sets)
    return _below(roots, "aspect", wanted.order_by("question_id", "piece_set", "index", "id"))


def _ids(roots: set[Root], kind: str) -> list[int]:
    return [root.id for root in roots if root.kind == kind]


def _below(roots: set[Root], kind: str, rows: QuerySet) -> dict[Root, list[Record]]:
    below: dict[Root, list[Record]] = {root: [] for root in roots}
    of = {(root.kind, root.id): records for root, records in below.items()}
    links = [name for name in ROOTS if name in KIND_NAMED[kind].parents]
    for values in rows.values_list(*(f"{link}_id" for link in links), *_columns(kind)):
        parent = next((link, value) for link, value in zip(links, values, strict=False) if value is not None)
        of[parent].append(_record(kind, values[len(links) :]))
    return below
