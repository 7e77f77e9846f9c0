"""Assay's own content format: JSON Lines of questions or claims with all that hangs below them.

One object per line. It has a `question` or a `claim`, and lists of `passages`, `aspects`, `responses`, `comparisons`
and `pairs`, each where there are any; a line of pairs alone needs neither question nor claim. `docs/formats.md` lists
every value.

An object's `id` is its key. Left out, it is made from the parent's id and the place in the list; a question and a claim
always have one. Lines about the same question or claim, and objects of the same id, are put together: what stands again
may say less than the first time and must not say anything else. A question, claim or response that is named by its id
alone stands for what the data set has. `labels` are decided labels of the unit that the object is, and `methods` what
made each of them; `derived` is what an export adds for its readers and is passed over. Values that the format does not
know are kept as metadata.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from sys import intern

from annotation.formats.cells import BadCell, Places, digest, to_key, to_list, to_object, unknown_label
from annotation.formats.content.parts import DERIVED, LABELS, METHODS, PARTS, PIECES, Met, make, take, take_id
from annotation.formats.content.write import as_object, line_object, write
from annotation.formats.files.tables import listed, open_tables
from annotation.formats.info import SURE, Format
from annotation.formats.records import DecisionRecord, FormatError, Record, response_aspect_key
from annotation.formats.sources import Options, SourceFile
from annotation.task_types.base import NONE_CHOSEN, SEPARATOR

ROOTS = ("claim", "question")
IMPORTED, MAJORITY = "imported", "majority"
LISTS = ("passages", "aspects", "responses", "comparisons", "pairs")
OF_QUESTIONS = ("aspects", "comparisons")  # which no claim has
LINE_KEYS = (*ROOTS, *LISTS)
NEEDS = {
    "passages": "has no question or claim: the line lacks it",
    "aspects": "has no question: the line lacks it",
    "responses": "has no question or claim: the line lacks it",
    "comparisons": "has no question: the line lacks it",
}
RESPONSE_ASPECT = "response_aspect"  # the kind of unit that no object of the file is


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    """Records of content files, parents before children, and their decided labels.

    Reads `options.labels` and `options.unit_kind`: where labels are wanted, those of other kinds of unit are passed
    over, and one that is not one of the wanted dimension's is a row error. Without them every label becomes a decision.
    Raises FormatError for a file that is no JSON, yields RowError for a bad line; what stands before the fault in the
    line is yielded.
    """
    yield from _read(_Lines(options), sources, options)


def labels_in(sources: list[SourceFile], options: Options, most: int = 5000) -> set[tuple[str, str, str]]:
    """Kind of unit, dimension and label of what the first `most` records are labelled with; any label is taken."""
    lines = _Lines(replace(options, labels={}, unit_kind=""))
    for _ in islice(_read(lines, sources, options), most):
        pass
    return lines.found


def _read(lines: _Lines, sources: list[SourceFile], options: Options) -> Iterator[Record]:
    for table in open_tables(sources, options):
        if table.columns is not None:
            raise FormatError(f"{table.name}: is a table, not JSON Lines. Found: {listed(table.columns)}")
        lines.start(table.name)
        yield from table.parsed(lines.records_of)


def is_content(row: Mapping[str, object]) -> bool:
    """Whether an object of a JSON file looks like a line of this format."""
    return any(isinstance(row.get(name), dict) for name in ROOTS) or isinstance(row.get("pairs"), list)


class _Lines(Places):
    """What was met so far, and the records of one line after the other."""

    def __init__(self, options: Options):
        super().__init__()
        self.options, self.limit = options, options.limits.key_chars
        self.met = {name: Met(part) for name, part in PARTS.items()}
        self.named: dict[tuple[str, bytes], int] = {}  # objects of the data set, and where they were named
        self.labels: dict[bytes, tuple[int, str]] = {}
        self.found: set[tuple[str, str, str]] = set()  # kind of unit, dimension and label
        self.line = 0
        self.above: tuple = ()  # the question or claim, passages and aspects of the last good line

    def start(self, file: str) -> None:
        super().start(file)
        for met in self.met.values():
            met.start(file)

    def records_of(self, line: int, cells: dict) -> Iterator[Record]:
        self.line = line
        for name in cells:
            if name not in LINE_KEYS:
                raise BadCell(name, cells[name], f"is not one of {', '.join(LINE_KEYS)}")
        roots = [name for name in ROOTS if cells.get(name) is not None]
        if len(roots) == 2:
            raise BadCell("claim", cells["claim"], "is on a line with a question; a line has one of the two")
        lists = {name: _list(cells.get(name), name) for name in LISTS}
        if not roots:
            for name, reason in NEEDS.items():
                if lists[name]:
                    raise BadCell(f"{name}[0]", lists[name][0], reason)
            if not lists["pairs"]:
                raise BadCell("", cells, "has no question, no claim and no pairs")
            yield from self._pairs(lists["pairs"], "", "")
            return
        root = roots[0]
        found = yield from self._object(root, cells[root], root, "", {}, 0, has_below=any(lists.values()))
        key, parents = found.key, {root: found.key}
        for name in OF_QUESTIONS if root == "claim" else ():
            if lists[name]:
                raise BadCell(f"{name}[0]", lists[name][0], "has no question: it belongs to a claim")
        # Lines about one question mostly follow each other and repeat it, and what is the same needs no second look.
        above = (root, cells[root], lists["passages"], lists["aspects"])
        if above != self.above:
            aspects = [{"text": each} if isinstance(each, str) else each for each in lists["aspects"]]
            yield from self._objects("passages", lists["passages"], "passages", key, parents)
            yield from self._objects("aspects", aspects, "aspects", key, parents)
            self.above = above
        yield from self._responses(lists["responses"], root, key)
        yield from self._objects("comparisons", lists["comparisons"], "comparisons", key, parents)
        yield from self._pairs(lists["pairs"], root, key)

    def _responses(self, values: list, root: str, parent: str) -> Iterator[Record]:
        ids: dict[str, str] = {}
        for place, value in enumerate(values):
            path = f"responses[{place}]"
            lists = value if isinstance(value, dict) else {}
            below = any(lists.get(name) for name in PARTS["responses"].children)
            found = yield from self._object("responses", value, path, parent, {root: parent}, place, has_below=below)
            _only_once(ids, found.key, found.path)
            for name in PIECES:
                pieces = _list(found.children.get(name), f"{path}.{name}")
                if pieces and found.fields.get("text") == "":
                    raise BadCell(f"{path}.text", "", f"is empty, but has {name.replace('_', '-')}")
                yield from self._objects(name, pieces, f"{path}.{name}", found.key, {"response": found.key})
            aspects = _list(found.children.get("aspects"), f"{path}.aspects")
            if aspects and root == "claim":
                raise BadCell(f"{path}.aspects[0]", aspects[0], "has no question: the response belongs to a claim")
            here: dict[str, str] = {}
            for at, aspect in enumerate(aspects):
                yield from self._aspect_in_response(aspect, f"{path}.aspects[{at}]", found.key, parent, here)

    def _aspect_in_response(
        self, value: object, path: str, response: str, question: str, here: dict[str, str]
    ) -> Iterator[DecisionRecord]:
        """Labels of 'this aspect in this response'; the aspect itself stands under the question."""
        value = to_object(value, path)
        for name in value:
            if name not in ("id", LABELS, METHODS, DERIVED):
                raise BadCell(f"{path}.{name}", value[name], f"is not one of id, {LABELS}, {METHODS}, {DERIVED}")
        key = take_id(value.get("id", ""), f"{path}.id", self.limit)
        met = self.met["aspects"]
        is_another = not met.is_under(key, "question", question) if met.knows(key) else self._is_here(question)
        if is_another:
            raise BadCell(f"{path}.id", key, f"is not an aspect of question {question}")
        _only_once(here, key, path)
        unit = response_aspect_key(response, key)
        yield from self._decisions(RESPONSE_ASPECT, unit, value.get(LABELS), value.get(METHODS), path)

    def _is_here(self, question: str) -> bool:
        return self.met["question"].knows(question)

    def _pairs(self, values: list, root: str, parent: str) -> Iterator[Record]:
        is_here = bool(root) and self.met[root].knows(parent)
        for place, value in enumerate(values):
            path = f"pairs[{place}]"
            if is_here and isinstance(value, dict):
                for name, of in (("passage", "passages"), ("response", "responses")):
                    named = value.get(name)
                    if named is not None and not self._knows(of, take_id(named, f"{path}.{name}", self.limit)):
                        raise BadCell(f"{path}.{name}", named, f"names no {name} of this line or of lines before it")
        yield from self._objects("pairs", values, "pairs", parent, {})

    def _knows(self, name: str, key: str) -> bool:
        return self.met[name].knows(key) or (name, digest(key)) in self.named

    def _objects(self, name: str, values: list, path: str, parent: str, parents: dict) -> Iterator[Record]:
        ids: dict[str, str] = {}
        for place, value in enumerate(values):
            found = yield from self._object(name, value, f"{path}[{place}]", parent, parents, place)
            _only_once(ids, found.key, found.path)
            if passages := _list(found.children.get("passages"), f"{found.path}.passages"):
                of = {PARTS[name].kind: found.key}
                yield from self._objects("passages", passages, f"{found.path}.passages", found.key, of)

    def _object(
        self, name: str, value: object, path: str, parent: str, parents: dict, place: int, has_below: bool = False
    ) -> Iterator[Record]:
        """The object's record, where it is new, and its labels; what was taken apart is returned."""
        part, met = PARTS[name], self.met[name]
        found = take(part, value, path, parent, place, self.limit)
        if met.knows(found.key):
            met.again(found, parents)
        elif part.may_be_named and found.says_nothing and not found.made_key and (has_below or found.labels):
            self.named.setdefault((name, digest(found.key)), self.base + self.line)
        else:
            record = make(part, found, parents, place)
            if (first := self.named.get((name, digest(found.key)))) is not None:
                reason = f"was named by its id alone on {self.describe(first)}; put the line with its text before that"
                raise BadCell(f"{path}.id", found.key, reason)
            met.first(record, self.line)
            yield record
        yield from self._decisions(part.kind, found.key, found.labels, found.methods, path)
        return found

    def _decisions(self, kind: str, unit: str, labels: object, methods: object, path: str) -> Iterator[DecisionRecord]:
        """Decisions; a label that is only the majority of people's is looked at and passed over."""
        if labels is None:
            return
        if methods is not None and not isinstance(methods, dict):
            raise BadCell(f"{path}.{METHODS}", methods, "is not a JSON object with a dimension as each key")
        by = methods or {}
        path = f"{path}.{LABELS}"
        if not isinstance(labels, dict):
            raise BadCell(path, labels, "is not a JSON object with a dimension as each key")
        wanted = self.options.labels
        is_wanted = not wanted or self.options.unit_kind in ("", kind)
        for dimension, label in labels.items():
            where = f"{path}.{dimension}"
            to_key(dimension, path, self.limit)
            if label is None:
                continue
            chosen = label if isinstance(label, list) else [label]  # a list: several at once, or none
            if not all(isinstance(one, str) for one in chosen):
                raise BadCell(where, label, "is not a label")
            for one in chosen:
                to_key(one, where, self.limit)
            if not is_wanted:
                continue
            if wanted and dimension not in wanted:
                raise BadCell(where, label, f"is a label of none of the dimensions {', '.join(wanted)}")
            for one in chosen:
                if wanted and wanted[dimension] and one not in wanted[dimension]:  # numbers have no list
                    raise unknown_label(one, where, wanted[dimension])
            label = (SEPARATOR.join(chosen) or NONE_CHOSEN) if isinstance(label, list) else label
            mark = digest(kind, unit, dimension)
            first = self.labels.setdefault(mark, (self.base + self.line, intern(label)))
            if first[1] != label:
                raise BadCell(where, label, f"differs from {first[1]} on {self.describe(first[0])}")
            self.found.add((kind, dimension, label))
            method = by.get(dimension, IMPORTED)
            if not isinstance(method, str) or not method:
                raise BadCell(f"{path.removesuffix(LABELS)}{METHODS}.{dimension}", method, "is not a text")
            if first[0] == self.base + self.line and method != MAJORITY:
                yield DecisionRecord(unit, dimension, label, method)


def _list(value: object, path: str) -> list:
    return [] if value is None else to_list(value, path)


def _only_once(ids: dict[str, str], key: str, path: str) -> None:
    if (first := ids.setdefault(key, path)) != path:
        raise BadCell(f"{path}.id", key, f"already occurs at {first}")


INFO = Format(
    slug="content",
    title="Assay content (questions, claims, passages, answers)",
    extensions=(".jsonl", ".json"),
    reader=read,
    detect=lambda head: SURE if is_content(head.row) else 0,
    is_of_exports=True,
    labels_in=labels_in,
    needs_all_labels=lambda mapping: True,
)

__all__ = ["INFO", "as_object", "line_object", "read", "write"]
