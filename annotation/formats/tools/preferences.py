"""Tables of preferences: a prompt, two to five outputs, and which of them was preferred, by whom.

    prompt, response_a, response_b, model_a, model_b, winner, judge     one row per answer
    prompt, chosen, rejected                                            the first is decided to be better
    question_id, turn, conversation_a, conversation_b, winner, judge    MT-Bench's judgements

Rows about the same prompt and outputs of the same systems are one comparison, in whichever order the outputs stand; the
order in a row is kept as the one in which its rater saw them. Answers without a rater are decisions. A judge whose name
is a list (`["gpt-4", "pair-v2"]`) or begins with `model:` is a checker; its answers with the outputs in another order
than in the first row are those of a checker of their own, `NAME (swapped)`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from annotation.formats.cells import (
    NO_LABEL,
    BadCell,
    Places,
    SeenParents,
    digest,
    normal,
    required_text,
    to_key,
    to_list,
    to_text,
)
from annotation.formats.files.tables import OpenTable, open_tables
from annotation.formats.info import SURE, Format
from annotation.formats.records import (
    OUTPUTS,
    PLACES,
    SHOWN_ORDER,
    SYSTEMS,
    AnnotationRecord,
    ComparisonRecord,
    DecisionRecord,
    FormatError,
    JudgementRecord,
    QuestionRecord,
    Record,
    SuggestionRecord,
)
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.rows import hashed, plain
from annotation.formats.tools.tasks import model_name
from annotation.task_types.base import NONE_GOOD, TIE

OUTPUT = re.compile(r"(response|output|completion|candidate|generation|conversation|answer|summary) ?([a-e]|[0-5])")
SYSTEM = re.compile(r"(?:model|system|llm|author) ?([a-e]|[0-5])(?: name| id)?")
CHOSEN = ("chosen", "rejected")
# The field of a row -> how columns for it are called, the likeliest first.
NAMES: Mapping[str, tuple[str, ...]] = {
    "prompt": ("prompt", "question", "instruction", "query", "input", "context"),
    "question_id": ("question id", "prompt id", "instruction id"),
    "id": ("id", "comparison id", "pair id", "item id"),
    "turn": ("turn",),
    "winner": ("winner", "preference", "preferred", "human preference", "choice", "verdict", "vote", "label"),
    "rater": ("rater", "judge", "annotator", "rater id", "annotator id", "judge id", "worker", "worker id", "user"),
    "reason": ("reason", "justification", "rationale", "comment"),
}
TIES = {"tie", "tied", "equal", "draw", "same", "both", "both good", "no preference", "tie (inconsistent)"}
BAD = {"both bad", "bothbad", "tie (bothbad)", "all bad", "none of them", "neither is good", "none is good"}
# Equally good, or equally bad: the report counts one as half a win, and the other of several outputs not at all.
UNCLEAR = {"neither", "none"}
WORDS = re.compile(r"(?:model|response|output|completion|candidate|assistant|answer|system|option) ?")
SIDES = {"left": 0, "first": 0, "right": 1, "second": 1}
TURNS = "\n\n---\n\n"
PREFERENCE = "preference"  # the question
CHECKER = "model:"
SWAPPED = " (swapped)"


@dataclass(frozen=True, slots=True)
class PreferenceColumns:
    """Which columns have what; `first` is the number or letter that the first output's column ends in."""

    outputs: tuple[str, ...]
    systems: tuple[str, ...] = ()
    first: str = "a"
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_chosen(self) -> bool:
        return normal(self.outputs[0]) == CHOSEN[0]

    def place_of(self, text: str, systems: list[str], n_outputs: int) -> int | None:
        """The output that a text names: by its system, or by its letter, number or side."""
        if systems.count(text) == 1:
            return systems.index(text)
        place = WORDS.sub("", normal(text), count=1)
        at = SIDES.get(place, -1)
        for first in ("a", "1") if self.first == "a" else ("a", self.first):
            if len(place) == 1 and 0 <= ord(place) - ord(first) < n_outputs:
                at = ord(place) - ord(first)
        return at if 0 <= at < n_outputs else None

    @property
    def columns(self) -> set[str]:
        return {*self.outputs, *self.systems, *self.fields.values()}


def output_names(systems: list[str], n_outputs: int) -> str:
    return ", ".join([*(PLACES[one].upper() for one in range(n_outputs)), *filter(None, systems)])


def layout_of(columns: Iterable[str]) -> PreferenceColumns | None:
    """None where these are no columns of preferences."""
    named = {normal(column): column for column in columns}
    fields = {
        name: named[found] for name, names in NAMES.items() if (found := next(filter(named.__contains__, names), ""))
    }
    by_place = {
        matched[1]: column for spelled, column in named.items() if (matched := SYSTEM.fullmatch(spelled)) is not None
    }
    words: dict[str, dict[str, str]] = {}
    for spelled, column in named.items():
        if matched := OUTPUT.fullmatch(spelled):
            words.setdefault(matched[1], {})[matched[2]] = column
    for outputs in words.values():
        for first in ("a", "0", "1"):
            places = [chr(ord(first) + at) for at in range(len(PLACES))]
            if not set(places[:2]) <= outputs.keys():
                continue
            has = places[: next((at for at, place in enumerate(places) if place not in outputs), len(places))]
            systems = tuple(by_place[place] for place in has if place in by_place)
            return PreferenceColumns(
                tuple(outputs[place] for place in has), systems if len(systems) == len(has) else (), first, fields
            )
    if set(CHOSEN) <= named.keys():
        names = [f"{one} model" for one in CHOSEN]
        systems = tuple(named[name] for name in names if name in named)
        fields.pop("winner", None)
        return PreferenceColumns(
            tuple(named[name] for name in CHOSEN), systems if len(systems) == 2 else (), fields=fields
        )
    return None


def detect(head) -> int:
    found = layout_of(head.columns)
    return SURE if found and (found.is_chosen or "winner" in found.fields) else 0


# --- a row's texts --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Message:
    role: str
    text: str


def _messages(value: object, column: str) -> list[Message] | None:
    """The turns of a conversation; None for a text."""
    if isinstance(value, str) and value.lstrip().startswith("[{"):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    if not isinstance(value, list):
        return None
    messages = []
    for at, one in enumerate(value):
        path = f"{column}[{at}]"
        if not isinstance(one, dict):
            raise BadCell(path, one, "is no turn of a conversation: an object with role and content")
        role = to_text(one.get("role", one.get("from")), f"{path}.role")
        if not role:
            raise BadCell(f"{path}.role", "", "is missing: each turn of a conversation says whose it is")
        messages.append(Message(role, to_text(one.get("content", one.get("value")), f"{path}.content")))
    return messages


def _is_users(message: Message) -> bool:
    return message.role in ("user", "human", "system")


def _texts_of(conversations: list[list[Message]], turns: int | None) -> tuple[str, list[str]]:
    """The prompt, and what differs after it in each."""
    if turns is not None:
        conversations = [_first_turns(one, turns) for one in conversations]
    shared = 0
    while all(len(one) > shared for one in conversations) and len({one[shared] for one in conversations}) == 1:
        shared += 1
    if all(len(one) == shared + 1 for one in conversations):
        before = conversations[0][:shared]
        prompt = before[0].text if len(before) == 1 else "\n\n".join(f"{one.role}: {one.text}" for one in before)
        return prompt, [one[-1].text for one in conversations]
    prompts = [TURNS.join(message.text for message in one if _is_users(message)) for one in conversations]
    return prompts[0], [TURNS.join(message.text for message in one if not _is_users(message)) for one in conversations]


def _first_turns(messages: list[Message], turns: int) -> list[Message]:
    ends = [at for at, message in enumerate(messages) if not _is_users(message)]
    return messages[: ends[turns - 1] + 1] if 0 < turns <= len(ends) else messages


def _split_dialogue(texts: list[str]) -> tuple[str, list[str]]:
    """Chosen and rejected dialogues that begin alike, as in Anthropic's files: what they share is the prompt."""
    cuts = [text.rfind("\n\nAssistant:") for text in texts]
    if min(cuts) < 0 or texts[0][: cuts[0]] != texts[1][: cuts[1]]:
        return "", texts
    marked = len("\n\nAssistant:")
    return texts[0][: cuts[0]].strip(), [text[cut + marked :].strip() for text, cut in zip(texts, cuts, strict=True)]


# --- rows -----------------------------------------------------------------------------------------------------------


class ComparisonRows(Places):
    """What was met so far, and the records of one row after the other."""

    question = PREFERENCE

    def __init__(self, options: Options):
        super().__init__()
        self.limit = options.limits.key_chars
        self.questions = SeenParents("question", ("prompt",))
        # Prompt, outputs and systems in any order -> the comparison's key, and its outputs' digests in their order.
        self.known: dict[bytes, tuple[str, tuple[bytes, ...]]] = {}
        self.keys: dict[str, int] = {}
        self.answers: dict[bytes, int] = {}
        self.decided: dict[str, tuple[int, str]] = {}

    def start(self, file: str) -> None:
        super().start(file)
        self.questions.start(file)

    def records_of(self, layout: PreferenceColumns, line: int, cells: dict) -> Iterator[Record]:
        cell = {name: cells.get(column) for name, column in layout.fields.items()}
        prompt, outputs = self._texts(layout, cells, cell)
        systems = [to_text(cells.get(column), column).strip() for column in layout.systems]
        label = self.answer_in(layout, cells, systems, len(outputs))
        question = self._question_key(layout, cell, prompt)
        marks = tuple(digest(text) for text in outputs)
        made_by = systems or [""] * len(marks)
        pair = digest(question, *(f"{mark.hex()} {name}" for mark, name in sorted(zip(marks, made_by, strict=False))))
        is_new = pair not in self.known
        record = self._comparison(layout, cells, question, outputs, systems) if is_new else None
        if self.questions.is_new(question, (prompt,), line):
            yield QuestionRecord(question, prompt)
        if record is not None:
            key = self._key(layout, cell, question, systems, marks, line)
            self.known[pair] = key, marks
            yield replace(record, key=key)
        key, stored = self.known[pair]
        order = [stored.index(mark) for mark in marks]
        if label is not None:
            yield self._answer(layout, cell, key, self.stored(label, order), order, line)

    def _texts(self, layout: PreferenceColumns, cells: dict, cell: dict) -> tuple[str, list[str]]:
        values = [cells.get(column) for column in layout.outputs]
        last = max((at for at, value in enumerate(values) if value not in (None, "")), default=0)
        columns = layout.outputs[: max(2, last + 1)]
        conversations = [_messages(value, column) for value, column in zip(values, columns, strict=False)]
        if all(conversations):
            turns = to_text(cell.get("turn"), "turn")
            prompt, outputs = _texts_of(conversations, int(turns) if turns.isdecimal() else None)
        else:
            outputs = [
                required_text(value, column) if value is not None and value != "" else self._missing(column)
                for value, column in zip(values, columns, strict=False)
            ]
            prompt, outputs = _split_dialogue(outputs) if "prompt" not in layout.fields else ("", outputs)
        asked = cell.get("prompt")
        if asked is not None:
            column = layout.fields["prompt"]
            messages = _messages(asked, column)
            prompt = _texts_of([messages, messages], None)[0] if messages else to_text(asked, column)
        if not prompt.strip():
            raise BadCell(layout.fields.get("prompt", "prompt"), "", "is empty: a comparison needs its prompt")
        return prompt, outputs

    def _missing(self, column: str) -> str:
        raise BadCell(column, "", "is empty: a comparison needs the text of each of its outputs, at least two")

    def _question_key(self, layout: PreferenceColumns, cell: dict, prompt: str) -> str:
        if "question_id" not in layout.fields:
            return hashed("q", prompt)
        key = to_key(cell["question_id"], layout.fields["question_id"], self.limit)
        turn = to_text(cell.get("turn"), "turn")
        return f"{key}/{turn}" if turn else key

    def _key(
        self,
        layout: PreferenceColumns,
        cell: dict,
        question: str,
        systems: list[str],
        marks: tuple[bytes, ...],
        line: int,
    ) -> str:
        own = hashed("c", *(mark.hex() for mark in marks))
        if "id" in layout.fields:
            column = layout.fields["id"]
            key = to_key(cell["id"], column, self.limit)
            if key in self.keys:
                reason = f"is the id of other texts on {self.describe(self.keys[key])}; give each comparison its own"
                raise BadCell(column, key, reason)
        else:
            key = "/".join((question, *systems)) if systems and all(systems) else f"{question}/{own}"
            key = f"{key}/{own}" if key in self.keys else key
        self.keys[key] = self.base + line
        return key

    def _comparison(
        self, layout: PreferenceColumns, cells: dict, question: str, outputs: list[str], systems: list[str]
    ) -> ComparisonRecord:
        """Without its key. BadCell where the outputs leave nothing to choose."""
        kept = {name: value for name, value in cells.items() if name not in layout.columns and not self.is_answer(name)}
        record = ComparisonRecord(
            "",
            question,
            **dict(zip(OUTPUTS, outputs, strict=False)),
            **dict(zip(SYSTEMS, systems, strict=False)),
            metadata={name: plain(value) for name, value in kept.items() if value is not None and value != ""},
        )
        if problem := record.problem():
            column, value, reason = problem
            of = dict(zip(OUTPUTS, layout.outputs, strict=False)) | dict(zip(SYSTEMS, layout.systems, strict=False))
            raise BadCell(of.get(column, column), value, reason)
        return record

    def answer_in(self, layout: PreferenceColumns, cells: dict, systems: list[str], n_outputs: int) -> object | None:
        """The label, with the outputs in the order of the row; None where the row has none."""
        if layout.is_chosen:
            return PLACES[0]
        if "winner" not in layout.fields:
            return None
        column = layout.fields["winner"]
        text = to_text(cells.get(column), column).strip()
        spelled = normal(text)
        if spelled in NO_LABEL:
            return None
        if spelled in TIES:
            return TIE
        if spelled in BAD:
            return NONE_GOOD
        at = layout.place_of(text, systems, n_outputs)
        if at is None and spelled in UNCLEAR:
            raise BadCell(
                column, text, "may mean that they are equally good or that all are bad: write tie or both_bad"
            )
        if at is None:
            raise BadCell(column, text, f"is none of {output_names(systems, n_outputs)}, and neither tie nor both_bad")
        return PLACES[at]

    def is_answer(self, column: str) -> bool:
        """Whether a column that the layout does not name is part of an answer, and not of the comparison."""
        return False

    def stored(self, label: object, order: list[int]) -> str:
        """The label in the comparison's terms; `order` has the place there of each output of the row."""
        return PLACES[order[PLACES.index(label)]] if label in PLACES else label

    def _answer(
        self, layout: PreferenceColumns, cell: dict, key: str, label: str, order: list[int], line: int
    ) -> Record:
        who, is_checker = self._rater(cell.get("rater"), layout.fields.get("rater", "rater"))
        if is_checker:
            name = model_name(who) + (SWAPPED if order != sorted(order) else "")
            return self._once(SuggestionRecord(key, name, self.question, label), key, name, line, "judge", who)
        if not who:
            first = self.decided.setdefault(key, (self.base + line, label))
            if first[1] != label:
                column = layout.fields.get("winner", layout.outputs[0])
                raise BadCell(column, label, f"differs from {self.describe(first[0])}, and no column names raters")
            return DecisionRecord(key, self.question, label)
        metadata = {} if layout.is_chosen else {SHOWN_ORDER: [OUTPUTS[place] for place in order]}
        if reason := to_text(cell.get("reason"), layout.fields.get("reason", "")).strip():
            metadata["free_text"] = {"question": "Reason", "answer": reason}
        answer = AnnotationRecord(key, who, (JudgementRecord(key, self.question, label),), metadata=metadata)
        return self._once(answer, key, who, line, layout.fields["rater"], who)

    def _once(self, record: Record, key: str, name: str, line: int, column: str, who: str) -> Record:
        first = self.answers.setdefault(digest(key, name), self.base + line)
        if first != self.base + line:
            raise BadCell(column, who, f"answered the same comparison on {self.describe(first)} already")
        return record

    def _rater(self, value: object, column: str) -> tuple[str, bool]:
        if isinstance(value, list):
            names = [to_text(one, column) for one in to_list(value, column)]
            return names[0] if names else "", True
        name = to_text(value, column).strip()
        return name.removeprefix(CHECKER).strip(), name.startswith(CHECKER)


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    """Questions and comparisons as they come, and the answers about them. FormatError where a file has no outputs."""
    yield from records_in(sources, options, ComparisonRows(options))


def without_outputs(table: OpenTable, cells: Mapping) -> Exception:
    """For a row without outputs, or for the whole table, where its header has none."""
    reason = "has no outputs, such as response_a and response_b, or chosen and rejected"
    return BadCell("", ", ".join(cells), reason) if table.columns is None else FormatError(f"{table.name}: {reason}")


def records_in(sources: list[SourceFile], options: Options, rows: ComparisonRows) -> Iterator[Record]:
    for table in open_tables(sources, options):
        rows.start(table.name)
        yield from table.parsed(_parser(table, rows))


def _parser(table: OpenTable, rows: ComparisonRows) -> Callable[[int, Mapping], Iterator[Record]]:
    columns = dict.fromkeys(table.columns or ())
    layout = layout_of(columns)

    def parse(line: int, cells: Mapping) -> Iterator[Record]:
        nonlocal layout
        if table.columns is None and not cells.keys() <= columns.keys():  # a later row may have more outputs
            columns.update(dict.fromkeys(cells))
            layout = layout_of(columns)
        if layout is None:
            raise without_outputs(table, cells)
        yield from rows.records_of(layout, line, cells)

    return parse


INFO = Format(
    slug="preferences",
    title="Preferences between outputs (response_a, response_b, winner)",
    extensions=(".csv", ".tsv", ".jsonl", ".json", ".parquet"),
    reader=read,
    detect=detect,
    task_type="preference/-/1",
)
