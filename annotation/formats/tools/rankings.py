"""Rankings of two to five outputs for a prompt, and the best and the worst of them.

    prompt, response_a, response_b, response_c, rank_a, rank_b, rank_c, judge     ranks from 1, equal ones are ties
    prompt, response_a, response_b, response_c, ranking, judge                    B > A = C, or a list of names
    prompt, response_a, response_b, response_c, best, worst, judge                best-worst scaling
    prompt, responses, ranks (or responses of {text, model, rank})                lists
    Label Studio's tasks with a Ranker, and Argilla's records with a RankingQuestion

The rest is as in tables of preferences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

from annotation.formats.cells import BadCell, normal, to_object, to_objects, to_text
from annotation.formats.detection import Head
from annotation.formats.files.tables import OpenTable, open_tables
from annotation.formats.info import SURE, Format
from annotation.formats.records import OUTPUTS, LostRecord, Record, RowError
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tools import argilla
from annotation.formats.tools.label_studio.config import split
from annotation.formats.tools.label_studio.reading import KEY, person_of
from annotation.formats.tools.preferences import (
    CHECKER,
    NAMES,
    ComparisonRows,
    PreferenceColumns,
    layout_of,
    output_names,
    without_outputs,
)
from annotation.task_types.base import REST, ranking_value

LISTS = ("responses", "outputs", "answers", "completions", "candidates", "generations", "summaries")
TEXTS = ("text", "response", "answer", "output", "completion", "content", "body", "generation", "summary")
MADE_BY = ("model", "system", "author", "llm")
RANK, RANKS, RANKING, BEST, WORST = "rank", ("ranks", "rank"), ("ranking", "order", "rankings"), "best", "worst"
RANK_OF = re.compile(r"(?:rank ?([a-e]|[0-5])|(?:response|output|model|system|answer) ?([a-e]|[0-5]) ?rank)")
RANKER = "ranker"

Places = tuple[tuple[int, ...], ...]


class RankingRows(ComparisonRows):
    """The answer is the order of the row's outputs by their places; () stands for those between best and worst."""

    def __init__(self, options: Options, question: str):
        super().__init__(options)
        self.question = question

    def is_answer(self, column: str) -> bool:
        return normal(column) in (BEST, WORST, *RANKING) or RANK_OF.fullmatch(normal(column)) is not None

    def answer_in(self, layout: PreferenceColumns, cells: dict, systems: list[str], n_outputs: int) -> Places | None:
        named = {normal(column): column for column in cells}

        def place_of(value: object, column: str) -> int:
            text = to_text(value, column).strip()
            at = layout.place_of(text, systems, n_outputs)
            if at is None:
                problem = "is none of" if text else "is empty: it is one of"
                raise BadCell(column, text, f"{problem} {output_names(systems, n_outputs)}")
            return at

        if {BEST, WORST} & named.keys():
            best, worst = named.get(BEST, ""), named.get(WORST, "")
            if not (best and worst):
                column, other = (best, WORST) if best else (worst, BEST)
                raise BadCell(column, cells[column], f"is half an answer: there is no column {other}")
            if cells[best] in (None, "") and cells[worst] in (None, ""):
                return None
            found = place_of(cells[best], best), place_of(cells[worst], worst)
            if found[0] == found[1]:
                raise BadCell(worst, cells[worst], "is the best output as well")
            return (found[0],), REST, (found[1],)
        by_output = _rank_columns(named)
        if by_output:
            first = ord(layout.first)
            of_place = {ord(name) - (ord("a") if name.isalpha() else first): at for name, at in by_output.items()}
            ranks = [(of_place.get(at), at) for at in range(n_outputs)]
            if missing := [at for column, at in ranks if column is None]:
                raise BadCell(layout.outputs[missing[0]], "", "has no rank")
            for at, column in of_place.items():
                if not 0 <= at < n_outputs and cells.get(column) not in (None, ""):
                    raise BadCell(column, cells[column], "is the rank of an output that is not there")
            if all(cells.get(column) in (None, "") for column, _ in ranks):
                return None
            return _by_rank([(_rank(cells.get(column), column), at) for column, at in ranks])
        column = next((named[name] for name in RANKING if name in named), "")
        value = cells.get(column)
        if value in (None, "", []):
            return None
        ranks = value if isinstance(value, list) else _split(to_text(value, column), (">", ";", ",", "|"))
        ordered = [
            tuple(place_of(one, column) for one in (rank if isinstance(rank, list) else _split(str(rank), ("=", "~"))))
            for rank in ranks
        ]
        return self._complete(ordered, column, value, n_outputs)

    def _complete(self, ordered: list[tuple[int, ...]], column: str, value: object, n_outputs: int) -> Places:
        named = [at for rank in ordered for at in rank]
        for at in range(n_outputs):
            if named.count(at) != 1:
                output = f"output {OUTPUTS[at][-1].upper()}"
                problem = f"names {output} more than once" if at in named else f"does not name {output}"
                raise BadCell(column, str(value), problem)
        return tuple(ordered)

    def stored(self, label: Places, order: list[int]) -> str:
        return ranking_value(tuple(tuple(OUTPUTS[order[at]] for at in rank) for rank in label))


def _split(text: str, marks: tuple[str, ...]) -> list[str]:
    """By the first of the marks that the text has, since names of systems may have the others."""
    return text.split(next((mark for mark in marks if mark in text), marks[0]))


def _rank_columns(named: Mapping[str, str]) -> dict[str, str]:
    """Columns of ranks by the letter or number of the output."""
    found = ((RANK_OF.fullmatch(name), column) for name, column in named.items())
    return {matched[1] or matched[2]: column for matched, column in found if matched}


def _rank(value: object, column: str) -> int:
    with suppress(ValueError, OverflowError):
        number = float(to_text(value, column))
        if number.is_integer() and number >= 0:
            return int(number)
    reason = "is no rank: each output needs a whole number, with the lowest for the best"
    raise BadCell(column, value if value is not None else "", reason)


def _by_rank(ranks: list[tuple[int, int]]) -> Places:
    return tuple(tuple(at for own, at in ranks if own == rank) for rank in sorted({own for own, _ in ranks}))


# --- lists, and what tools write, as rows with a column for each output ---------------------------------------------


def _rows_of(cells: dict) -> Iterator[dict]:
    if isinstance(cells.get("data"), dict):
        yield from _rows_of_task(cells)
    elif isinstance(cells.get("fields"), dict):
        yield from _rows_of_record(cells)
    else:
        name = next((column for column in cells if normal(column) in LISTS and isinstance(cells[column], list)), None)
        yield cells if name is None else _row_of_list(cells, name)


def _row_of_list(cells: dict, name: str) -> dict:
    """Next to the list of outputs there may be lists of their systems and ranks."""
    outputs = cells[name]
    lists = {name: name}
    for role, names in ((RANK, RANKS), ("model", ("models", "systems"))):
        lists |= {column: role for column in cells if normal(column) in names and isinstance(cells[column], list)}
    row = {column: value for column, value in cells.items() if column not in lists}
    for number, output in enumerate(_few(outputs, name), 1):
        if isinstance(output, dict):
            row |= {f"model_{number}": output[one] for one in MADE_BY if one in output}
            row |= {f"rank_{number}": output[RANK]} if RANK in output else {}
            output = next((output[one] for one in TEXTS if one in output), None)
        row[f"output_{number}"] = to_text(output, f"{name}[{number - 1}]")
    for column, role in lists.items():
        if column == name:
            continue
        if len(cells[column]) != len(outputs):
            raise BadCell(column, str(cells[column]), f"has {len(cells[column])} values for {len(outputs)} outputs")
        row |= {f"{role}_{number}": value for number, value in enumerate(cells[column], 1)}
    return row


def _few(outputs: list, column: str) -> list:
    if not 2 <= len(outputs) <= len(OUTPUTS):
        raise BadCell(column, "", f"has {len(outputs)} outputs: a comparison has two to {len(OUTPUTS)}")
    return outputs


def _rows_of_task(cells: dict) -> Iterator[dict]:
    """Of Label Studio: the list in the data, and for each annotation the ids in their order."""
    data = dict(cells["data"])
    listed = next((name for name, value in data.items() if _are_items(value)), None)
    if listed is None:
        raise BadCell("data", str(data)[:80], "has no list of outputs with ids")
    items = _few(data.pop(listed), f"data.{listed}")
    ids = [to_text(item["id"], f"data.{listed}.id") for item in items]
    texts = [name for name, value in data.items() if isinstance(value, str)]
    prompt = next((name for name in texts if normal(name) in NAMES["prompt"]), texts[0] if texts else None)
    own = data.pop(KEY, None) or cells.get("id")
    base = {"id": own, "prompt": data.pop(prompt) if prompt else ""} | data
    for number, item in enumerate(items, 1):
        parts = (to_text(item.get(name), f"data.{listed}.{name}") for name in ("title", "body"))
        base[f"output_{number}"] = "\n\n".join(filter(None, parts))
        base |= {f"model_{number}": item[name] for name in MADE_BY if name in item}
    answers = [
        (one, person_of(one.get("completed_by"), "completed_by"))
        for one in to_objects(cells.get("annotations"), "annotations")
        if one.get("was_cancelled") is not True
    ]
    answers += [
        (one, CHECKER + (to_text(one.get("model_version"), "model_version") or "predictions"))
        for one in to_objects(cells.get("predictions"), "predictions")
    ]
    ranked = [
        base | {RANKING[0]: _in_order(result, ids), "judge": who}
        for answer, who in answers
        for result in to_objects(answer.get("result"), "result")
        if result.get("type") == RANKER
    ]
    yield from ranked or [base]


def _are_items(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) and "id" in one for one in value)


def _in_order(result: dict, ids: list[str]) -> list[str]:
    value = result.get("value")
    found = value.get(RANKER) if isinstance(value, dict) else None
    lists = found if isinstance(found, list) else list(found.values()) if isinstance(found, dict) else []
    ordered = lists if lists and not isinstance(lists[0], list) else lists[0] if len(lists) == 1 else None
    if ordered is None:
        raise BadCell("result", str(found)[:80], "is no one list of ids in their order: buckets have no order")
    for one in ordered:
        if str(one) not in ids:
            raise BadCell("result", one, f"is none of {', '.join(ids)}")
    return [str(ids.index(str(one)) + 1) for one in ordered]


def _rows_of_record(cells: dict) -> Iterator[dict]:
    """Of Argilla: fields whose names are ranked, and the other one is the prompt."""
    fields = to_object(cells["fields"], "fields")
    by_name = {normal(name): name for name in fields}
    answers = []
    for question, values in to_object(cells.get("responses") or {}, "responses").items():
        answers += [(one.get("value"), to_text(one.get("user_id"), question)) for one in to_objects(values, question)]
    for question, one in to_object(cells.get("suggestions") or {}, "suggestions").items():
        one = to_object(one, question)
        answers.append((one.get("value"), CHECKER + (to_text(one.get("agent"), question) or "suggestions")))
    rankings = [(_named(value, by_name), who) for value, who in answers]
    rankings = [(ranks, who) for ranks, who in rankings if ranks]
    ranked = {name for ranks, _ in rankings for rank in ranks for name in rank}
    outputs = [name for name in fields if name in ranked]
    prompt = next((name for name in fields if name not in ranked), None)
    metadata = to_object(cells.get("metadata") or {}, "metadata")
    base = metadata | {"id": cells.get("id"), "prompt": fields.get(prompt) if prompt else ""}
    base |= {f"output_{number}": fields[name] for number, name in enumerate(outputs, 1)}
    for ranks, who in rankings:
        yield base | {RANKING[0]: [[str(outputs.index(name) + 1) for name in rank] for rank in ranks], "judge": who}


def _named(value: object, by_name: Mapping[str, str]) -> list[list[str]]:
    """The fields that a ranking names, the best first; none where it is no ranking."""
    if not isinstance(value, list) or len(value) < 2:
        return []
    texts = [one.get("value") if isinstance(one, dict) else one for one in value]
    fields = [by_name.get(normal(text)) if isinstance(text, str) else None for text in texts]
    if not all(fields):
        return []
    ranks = [one.get(RANK) if isinstance(one, dict) else None for one in value]
    if any(rank is None for rank in ranks):
        return [[field] for field in fields]
    return [[fields[at] for at in rank] for rank in _by_rank([(_rank(own, RANK), at) for at, own in enumerate(ranks)])]


# --- the format -----------------------------------------------------------------------------------------------------


def detect(head: Head) -> int:
    if argilla.is_folder(head):
        head = next((Head(source) for source in _rows_among([head.source])), head)
    try:
        rows = list(_rows_of(head.row)) if head.row else [dict.fromkeys(head.columns)]
    except BadCell:
        return 0
    columns = {normal(column): column for row in rows for column in row}
    is_ranked = _rank_columns(columns) or {BEST, WORST} <= columns.keys() or columns.keys() & {*RANKING}
    return SURE if is_ranked and layout_of(columns) else 0


def _rows_among(sources: list[SourceFile]) -> list[SourceFile]:
    """Without the configuration of Label Studio and the settings of Argilla."""
    tasks, _ = split(sources)
    records, _ = argilla.split(tasks)
    return records


def _has_ends(sources: list[SourceFile], options: Options) -> bool:
    for table in open_tables(_rows_among(sources), options):
        columns = table.columns
        if columns is None:
            row = next((row for row in table.rows if not isinstance(row, RowError)), None)
            columns = row[1] if row else ()
        return {BEST, WORST} <= {normal(column) for column in columns}
    return False


def task_type_of(sources: list[SourceFile], options: Options) -> str:
    return "ranking/best-worst/1" if _has_ends(sources, options) else "ranking/ties/1"


UNRANKED = "Records without a ranking, which alone says which of their fields are outputs"


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    unranked: list[str] = []
    rows = RankingRows(options, "best_worst" if _has_ends(sources, options) else "ranking")
    for table in open_tables(_rows_among(sources), options):
        rows.start(table.name)

        def parse(line: int, cells: Mapping, table: OpenTable = table) -> Iterator[Record]:
            found = list(_rows_of(cells))
            unranked.extend([] if found else [f"{table.name}, line {line:,}"])
            for each in found:
                layout = layout_of(each)
                if layout is None:
                    raise without_outputs(table, each)
                yield from rows.records_of(layout, line, each)

        yield from table.parsed(parse)
    if unranked:
        yield LostRecord(UNRANKED, len(unranked), unranked[0])


INFO = Format(
    slug="rankings",
    title="Rankings of outputs (response_a, rank_a; best, worst; Label Studio, Argilla)",
    extensions=(".csv", ".tsv", ".jsonl", ".json", ".parquet", ".xml"),
    reader=read,
    detect=detect,
    task_type_of=task_type_of,
)
