"""Traces of what models did, from Langfuse, Phoenix, MLflow, and OpenTelemetry by its conventions for generative AI:
each becomes a conversation, with the values that people and programs gave it.

A trace may have many spans. Shown is the call of a model with the most turns, the last of them if several have as many,
since calls repeat what went before; without one, what the outermost span took and gave.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from annotation.formats.cells import BadCell, conversation_cell, row_error, to_key
from annotation.formats.files.tables import open_tables
from annotation.formats.info import SURE, Format
from annotation.formats.names import shown
from annotation.formats.records import FormatError, LostRecord, Record, RowError
from annotation.formats.sources import MIB, Options, SourceFile
from annotation.formats.tools import tasks as common
from annotation.formats.tools.tasks import RaterAnswers, Task
from annotation.formats.tools.traces.spans import Assessment, TracePart, is_part, parts_of, value_words

ROW_BYTES = 128 * MIB  # a row may be a whole export
NO_WORDS = "Traces without messages, inputs or outputs"
MORE_CALLS = "Calls of models, next to the longest one of their trace"
EXPECTED = "Expected values of traces"


@dataclass(slots=True)
class _Trace:
    """The part to show so far, and what is known of its trace from all parts."""

    file: str
    line: int
    part: TracePart | None = None
    turns: frozenset[int] = frozenset()  # hashes
    assessments: list[Assessment] = field(default_factory=list)

    def add(self, part: TracePart, lost: Counter[str]) -> None:
        self.assessments += [one for one in part.assessments if one not in self.assessments]
        lost[EXPECTED] += part.n_expected
        if not part.turns:
            return
        turns = frozenset(hash(json.dumps(turn, sort_keys=True, default=str)) for turn in part.turns)
        kept, kept_turns = self.part, self.turns
        if kept is None or _rank(part) >= _rank(kept):
            self.part, self.turns = part, turns
            kept, kept_turns, turns = part, turns, kept_turns if kept is not None and kept.is_call else frozenset()
        elif not part.is_call:
            turns = frozenset()
        lost[MORE_CALLS] += not turns <= kept_turns


def _rank(part: TracePart) -> tuple:
    return part.is_call, len(part.turns) if part.is_call else part.is_root, part.start


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    return common.records_of(tasks_of(sources, options), options)


def label_set_of(sources: list[SourceFile], options: Options, name: str) -> dict:
    return common.label_set_of(tasks_of(sources, options), name)


def tasks_of(sources: list[SourceFile], options: Options) -> Iterator[Task | RowError | LostRecord]:
    """A task for each trace, in the order in which they begin in the files, since spans of one may stand anywhere."""
    options = replace(options, limits=replace(options.limits, record_bytes=ROW_BYTES))
    traces: dict[str, _Trace] = {}
    lost: Counter[str] = Counter()
    is_empty = True
    for table in open_tables(sources, options):
        for row in table.rows:
            if isinstance(row, RowError):
                is_empty = False
                yield row
                continue
            line, cells = row
            problems: dict[str, BadCell] = {}  # of a trace each: a row may hold all spans of a file
            try:
                for part in parts_of(cells):
                    try:
                        key = to_key(part.trace, "trace_id", options.limits.key_chars)
                    except BadCell as problem:
                        problems.setdefault(str(part.trace), problem)
                    else:
                        traces.setdefault(key, _Trace(table.name, line)).add(part, lost)
            except BadCell as problem:
                problems[""] = problem
            for problem in problems.values():
                is_empty = False
                yield row_error(table.name, line, problem)
    if is_empty and not traces:
        raise FormatError(f"{sources[0].label}: holds no trace")
    for key, trace in traces.items():
        if trace.part is None:
            lost[NO_WORDS] += 1
            continue
        try:
            yield _task(key, trace)
        except BadCell as problem:
            yield row_error(trace.file, trace.line, problem)
    for what, number in lost.items():
        if number:
            yield LostRecord(what, number, sources[0].label)


def _task(key: str, trace: _Trace) -> Task:
    text = conversation_cell(trace.part.turns, f"messages of {key}")
    task = Task(trace.file, trace.line, key, text, metadata={"trace": trace.part.metadata})
    by_rater: dict[tuple[bool, str], RaterAnswers] = {}
    for one in trace.assessments:
        value, is_number = value_words(one.value)
        if not value:
            task.lost[f"Values that are neither labels nor numbers ({shown(one.name)})"] += 1
            continue
        who = one.who if one.is_person else common.model_name(one.who or one.name)
        answers = by_rater.setdefault((one.is_person, who), RaterAnswers(who))
        if one.name in answers.labels:
            task.lost[f"Further values of one rater for one trace ({shown(one.name)})"] += 1
            continue
        answers.labels[one.name] = [value]
        if is_number:
            answers.numbers.add(one.name)
        if one.words and not one.is_person:
            answers.explanations[one.name] = one.words
        elif one.words:
            answers.comment = "\n".join(filter(None, [answers.comment, one.words]))
    task.people = [one for (is_person, _), one in by_rater.items() if is_person]
    task.models = [one for (is_person, _), one in by_rater.items() if not is_person]
    return task


def _detect(head) -> int:
    return SURE if b'"resourceSpans"' in head.start[:200] or is_part(head.columns, head.row) else 0


INFO = Format(
    slug="traces",
    title="Traces (Langfuse, Phoenix, MLflow, OpenTelemetry)",
    extensions=(".json", ".jsonl", ".csv", ".parquet"),
    reader=read,
    detect=_detect,
    label_set_of=label_set_of,
)
