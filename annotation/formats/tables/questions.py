"""What the labels of a table become: a question of a label set for each column of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from annotation.formats.cells import BadCell, label_order, level_of, number_in, shorten, to_text
from annotation.formats.files.json_streams import decode_json
from annotation.formats.names import TITLE_CHARS, label_key, shown
from annotation.formats.records import FormatError
from annotation.task_types.base import (
    LEVEL_MARK,
    MANY_LABELS,
    MAX_LABELS,
    MAX_LEVELS,
    NONE_CHOSEN,
    SEPARATOR,
    number_text,
)

if TYPE_CHECKING:
    from annotation.formats.tables.ratings.rows import RatingRows

# A question about highlights alone is answered whether there are any; they have labels of their own.
HIGHLIGHTS, MARKED, NOTHING = "highlights", "marked", "none"
FIELD_OF_PAGE = {"claim": "claim", "pair": "hypothesis", "response": "response"}


def range_in(text: str, question: str) -> tuple[float, float]:
    """The ends of a scale as people write them: 1-5, 0 to 100. FormatError for anything else."""
    number = r"(-?(?:\d+(?:\.(?!\.)\d*)?|\.\d+))"
    parts = re.fullmatch(rf"\s*{number}\s*(?:-|–|to|\.\.)\s*{number}\s*", text)
    ends = [number_in(part) for part in parts.groups()] if parts else [None]
    if None in ends or not ends[0] < ends[1]:
        raise FormatError(f"{question}: {shorten(text)!r} is not a range of a scale, such as 1-5")
    return ends[0], ends[1]


def parts_of(cell: object, column: str) -> list[str] | None:
    """The labels in a cell: a list of JSON, or text with |, ; or , between them; None where it is empty."""
    if isinstance(cell, str):
        text = cell.strip()
        if not text:
            return None
        if text == NONE_CHOSEN:
            return []
        if text[0] == "[":
            try:
                cell = decode_json(text)
            except ValueError:
                raise BadCell(column, text, "is not JSON: a list of labels") from None
        else:
            mark = next((mark for mark in "|;," if mark in text), None)
            cell = text.split(mark) if mark else [text]
    if cell is None:
        return None
    parts = [to_text(part, column).strip() for part in (cell if isinstance(cell, list) else [cell])]
    return [part for part in parts if part]


def title_of(slug: str, titles: Mapping[str, str]) -> str:
    return shown(titles.get(slug, "")) or slug.replace("_", " ").capitalize()


def question_of(
    slug: str,
    values: list[str],
    titles: Mapping[str, str],
    title: str,
    ends: tuple[float, float] | None,
    takes_several: bool = False,
) -> dict:
    numbers = [number_in(value) for value in values]
    are_numbers = None not in numbers and not takes_several
    if ends is not None:  # the scale has labels that nobody gave
        least, most = ends
        steps = [least + step for step in range(int(min(most - least, MANY_LABELS)) + 1)]
        values = list({*values, *(number_text(one) for one in steps if one <= most)})
    if len(values) > MANY_LABELS and are_numbers:
        number = {"number": {"min": ends[0], "max": ends[1]}} if ends is not None else {}
        return {"slug": slug, "title": title, "answer": "number", "level": "interval"} | number
    if len(values) > MAX_LABELS:
        raise FormatError(
            f"{slug} has {len(values):,} different values, such as {', '.join(values[:3])}; a question has at most "
            f"{MAX_LABELS:,} labels. Map the column as a score or a comment, or leave it with the text"
        )
    are_numbers = are_numbers and len(set(numbers)) == len(values)  # `0` and `00` are no scale
    named = {} if are_numbers else titles
    found = {value: shown(named.get(value, "")) or value for value in sorted(values, key=label_order)}
    if len(found) == 1:  # a question has two labels at least; the other one did not occur
        [(value, label)] = found.items()
        other = ("1" if value == "0" else "0") if are_numbers else label_key(f"not {label}"[:TITLE_CHARS])
        found[other] = other if are_numbers else f"not {label}"[:TITLE_CHARS]
    groups = {} if are_numbers else groups_of(values)
    labels = [
        {"value": value, "title": label} | ({"group": groups[value]} if value in groups else {})
        for value, label in found.items()
    ]
    level = level_of(values) if are_numbers else "nominal"
    several = {"answer": "labels"} if takes_several else {}
    return {"slug": slug, "title": title, "level": level, "labels": labels} | several


def groups_of(values: Collection[str]) -> dict[str, str]:
    """The groups of labels that are paths, such as `card/lost`; {} unless all of them are and some share a group."""
    groups = {value: value.rpartition(LEVEL_MARK)[0] for value in values}
    are_paths = all(
        all(map(str.strip, value.split(LEVEL_MARK))) and 0 < value.count(LEVEL_MARK) <= MAX_LEVELS for value in values
    )
    return groups if are_paths and len(set(groups.values())) < len(groups) else {}


# --- of the rows of a table of ratings -------------------------------------------------------------------------------


def made_of(rows: RatingRows, name: str) -> dict:
    """The description of the label set; {} where the rows have no labels."""
    rows.match_checkers()
    values: dict[str, dict[str, None]] = {}
    own: dict[str, dict[str, None]] = {}  # question -> labels of its highlights
    for revisions in rows.people.revisions.values():
        for answer in revisions:
            for question, label in answer.labels.items():
                values.setdefault(question, {}).update(dict.fromkeys(_values_of(rows, question, label)))
            for question, spans in answer.spans.items():
                own.setdefault(question, {}).update((span.label, None) for span in spans)
    for (_, question), (label, _) in rows.people.decided.items():
        values.setdefault(question, {}).update(dict.fromkeys(_values_of(rows, question, label)))
    if not values:
        return {}
    for (_, _, question), (label, _) in rows.checkers.predictions.items():
        values.setdefault(question, {}).update(dict.fromkeys(_values_of(rows, question, label)))
    for (_, _, question), spans in rows.checkers.predicted_spans.items():
        own.setdefault(question, {}).update((span.label, None) for span in spans)
    questions = [_question(rows, question, list(found), own) for question, found in values.items()]
    return {"name": name[:150], "version": 1, "page": rows.page, "summary": "", "questions": questions}


def _values_of(rows: RatingRows, question: str, answer: str) -> Iterable[str]:
    return chosen_of(answer) if question in rows.labels.several else (answer,)


def _question(rows: RatingRows, slug: str, values: list[str], own: dict[str, dict[str, None]]) -> dict:
    is_marked = slug not in rows.labelled and set(values) <= {MARKED, NOTHING} and rows.has_spans
    if is_marked:
        labels = [{"value": MARKED, "title": "Highlights"}, {"value": NOTHING, "title": "None"}]
        found = {"slug": slug, "title": title_of(slug, rows.question_titles), "level": "nominal", "labels": labels}
    else:
        title = title_of(slug, rows.question_titles)
        labels = rows.labels
        found = question_of(slug, values, labels.titles, title, labels.ranges.get(slug), slug in labels.several)
    if not is_marked and slug not in own:
        return found
    spans = {"title": "Highlights", "fields": [FIELD_OF_PAGE[rows.page]], "required": is_marked}
    spans |= {"labels": [MARKED]} if is_marked else {}
    if names := sorted(own.get(slug, {}).keys() - {""}, key=label_order):
        if "" in own[slug]:
            raise FormatError(f"{slug}: some highlights have a label and some have none; give all of them one")
        spans["own_labels"] = [{"value": one, "title": rows.labels.titles.get(one, one)} for one in names]
    return found | {"spans": spans}


def chosen_of(answer: str) -> list[str]:
    """The labels of an answer of several."""
    return [] if answer == NONE_CHOSEN else answer.split(SEPARATOR)
