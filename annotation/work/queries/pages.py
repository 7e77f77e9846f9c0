"""What a page of work holds: the texts, the units, and the JSON that the browser works from.

Which texts an item shows is named by its task type (`contents.py`). Nothing here reads other people's labels;
decisions only where the project shows them to who has answered.
Suggestions are read only where the assignment's arm shows them now, and only those about questions that are asked.
"""

from __future__ import annotations

import hashlib
import json
import os.path
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from uuid import UUID

from django.db import connection
from django.utils.translation import get_language

from annotation.formats.content.assay import cells_of_span
from annotation.formats.names import run_name
from annotation.formats.records import STATED_IN, place_of_span
from annotation.models import (
    Assignment,
    Decision,
    Item,
    ItemUnit,
    Judgement,
    Project,
    Rater,
    Revision,
    Suggestion,
    Unit,
    User,
)
from annotation.projects.item_making import seeded
from annotation.rendering import Rendered, ShownText, render
from annotation.task_types import NONE_CHOSEN, NONE_TITLE, Dimension, Label, TaskType
from annotation.task_types.base import EQUAL, EQUAL_TITLE, LETTERS
from annotation.task_words import answer_title, in_words, number_words, worded
from annotation.work.queries.contents import CONTENTS, UNIT_TEXTS, Contents, unit_text
from annotation.work.queries.opaque import shown_hash, unit_id


@dataclass(frozen=True)
class LabellingPage:
    item: Item
    type: TaskType
    units: list[Unit]
    contents: Contents
    text_hash: str
    project: UUID
    order: tuple[str, ...] = ()  # of its shuffled texts; empty: as they are stored
    text_formats: Mapping[str, str] = field(default_factory=dict)  # the data set's

    @cached_property
    def rendered(self) -> dict[str, Rendered]:
        """The texts, by field, that are shown otherwise than as they are stored."""
        found = {
            name: render(text or "", self.contents.format_of(name, self.text_formats))
            for name, text in self.contents.texts.items()
        }
        return {name: made for name, made in found.items() if made}

    def shown_texts(self) -> list[ShownText]:
        """What the item's judges read, in reading order, empty texts included."""
        titles = TEXT_TITLES | (TEXT_TITLES_UNDER_CLAIM if self.contents.context.get("is_claim") else {})
        if outputs := self.contents.context.get("shuffled"):
            titles |= {"question": "Prompt"} | {output["key"]: output["title"] for output in outputs}
        notes = {passage["key"]: passage["title"] for passage in self.contents.context.get("passages", ())}
        found = []
        for name, text in self.contents.texts.items():
            word, _, number = name.partition("-")
            title = f"{titles.get(word, word.capitalize())} {number}".strip()
            format_ = self.contents.format_of(name, self.text_formats)
            found.append(ShownText(text or "", format_, name, title, notes.get(name, "")))
        return found

    @property
    def unit_keys(self) -> list[str]:
        return [unit.key for unit in self.units]

    @cached_property
    def unit_ids(self) -> dict[str, str]:
        """What browsers call each unit, by its key and in the order of the page."""
        return {unit.key: unit_id(self.project, unit.key) for unit in self.units}

    @cached_property
    def shown_hash(self) -> str:
        """What browsers have in the place of `text_hash`, where that covers keys."""
        covers_keys = any(unit.kind in UNIT_TEXTS for unit in self.units)
        return shown_hash(self.project, self.text_hash) if covers_keys else self.text_hash


# In a revision's metadata: the question as it was asked, and the answer.
FREE_TEXT = "free_text"

# Names of texts on an item's page that need another word than their own.
TEXT_TITLES = {"response": "Answer", "answer": "Ground truth"}
TEXT_TITLES_UNDER_CLAIM = {"question": "Claim", "response": "Generated document", "passage": "Gold evidence"}
FORMATS_COLUMN = "anchor__dataset__text_formats"
ITEM_COLUMNS = ("id", "uuid", "key", "state", "anchor_id", "anchor__key", "project__uuid", "project__seed")
ITEM_COLUMNS += (FORMATS_COLUMN,)


@lru_cache(maxsize=16)
def _compiled(vendor: str, columns: tuple[str, ...]):
    """The statement for these columns of one item, and what turns its values into Python's. It runs twice for every
    answer, and building it takes several times as long as running it."""
    compiler = Item.objects.filter(pk=0).values_list(*columns).query.get_compiler(connection=connection)
    statement, _ = compiler.as_sql()
    return statement, compiler.get_converters([selected[0] for selected in compiler.select])


def _row(item_id: int, columns: tuple[str, ...]) -> dict:
    statement, converters = _compiled(connection.vendor, columns)
    with connection.cursor() as cursor:
        cursor.execute(statement, [item_id])
        row = cursor.fetchone()
    if row is None:
        raise Item.DoesNotExist
    values = list(row)
    for place, (functions, expression) in converters.items():
        for function in functions:
            values[place] = function(values[place], expression, connection)
    return dict(zip(columns, values, strict=True))


def load_page(item_id: int, description: TaskType, reader: User | None = None) -> LabellingPage:
    """The page of an item: one query for its texts, and one for its units where these are not the anchor itself.
    Texts that are shuffled stand in the order of the `reader` who is to judge them, else as they are stored."""
    source = CONTENTS[description.contents]
    row = _row(item_id, (*ITEM_COLUMNS, *(f"anchor__{path}" for path in source.paths)))
    item = Item(**{name: row[name] for name in ITEM_COLUMNS if "__" not in name})
    formats = row[FORMATS_COLUMN]
    contents = source.read({path: row[f"anchor__{path}"] for path in source.paths})
    if description.unit_kind == description.anchor_kind:
        units = [Unit(pk=row["anchor_id"], key=row["anchor__key"], kind=description.unit_kind)]
    else:
        rows = ItemUnit.objects.filter(item=item_id).order_by("index")
        if description.unit_kind in UNIT_TEXTS:
            rows = rows.select_related(f"unit__{UNIT_TEXTS[description.unit_kind][0]}")
        units = [row.unit for row in rows]
    page = LabellingPage(
        item, description, units, contents, _hash(contents, units), row["project__uuid"], text_formats=formats
    )
    return _arranged(page, row["project__seed"], reader) if description.shuffled else page


def _arranged(page: LabellingPage, seed: int, reader: User | None) -> LabellingPage:
    """The page with its shuffled texts in order, and what is asked about them."""
    shuffled, texts = page.type.shuffled, page.contents.texts
    stored = tuple(field for field in shuffled.fields if field in texts)
    order = ()
    if reader is not None:
        drawn = f"{page.item.key}\0{reader.pk}"
        order = tuple(sorted(stored, key=lambda field: seeded(seed, "order", f"{drawn}\0{field}")))
    description = _on_page(page.type, frozenset(texts), order)
    names = worded(description).shuffled.names
    shown = [{"key": field, "title": title, "text": texts[field]} for field, title in names.items()]
    contents = replace(page.contents, context=page.contents.context | {"shuffled": shown})
    return replace(page, type=description, contents=contents, order=order)


@lru_cache(maxsize=512)
def _on_page(description: TaskType, fields: frozenset[str], order: tuple[str, ...]) -> TaskType:
    return description.on_page(fields, order)


def _hash(contents: Contents, units: Sequence[Unit]) -> str:
    """SHA-256 of everything that is judged: the shown texts by field and the units' words by key."""
    words = {unit.key: unit_text(unit).title for unit in units if unit.kind in UNIT_TEXTS}
    canonical = json.dumps([contents.texts, words], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


# ---- what the task type alone decides ----


UNIT_KEYS = "1234567890"
SHORT_TITLE = 3  # characters of labels that stand in a row
COLOURS = 20  # as many as static/css/work.css names


def unit_key(number: int) -> str:
    """The key that picks the unit at this place (from 0) where digits pick units: 1 to 9 and 0, then with Shift."""
    key = UNIT_KEYS[number % len(UNIT_KEYS)] if number < 2 * len(UNIT_KEYS) else ""
    return f"Shift+{key}" if key and number >= len(UNIT_KEYS) else key


def _keyed(description: TaskType, dimension: Dimension) -> list[tuple[Label, str]]:
    """Labels in the order of the screen, each with its key."""
    picks_units = description.keys_pick == "units"
    keyed = [
        # Beyond nine there is no digit: such labels are reached by mouse and arrow keys. Many are searched.
        (label, label.key or (str(number) if number < 10 and not (picks_units or dimension.has_many_labels) else ""))
        for number, label in enumerate(dimension.shown_labels, 1)
    ]
    return [*keyed, (Label(NONE_CHOSEN, in_words(NONE_TITLE, description)), "0")] if dimension.takes_several else keyed


def _picks(description: TaskType, dimension: Dimension) -> list[dict]:
    """What is picked one after the other for a ranking, with its key: texts, and that two are equal."""
    if not dimension.takes_ranking:
        return []
    names = enumerate(description.shuffled.names.items(), 1)
    picks = [{"value": LETTERS[field], "title": title, "key": str(place)} for place, (field, title) in names]
    equal = {"value": EQUAL, "title": in_words(EQUAL_TITLE, description), "key": "e"}
    return [*picks, equal] if dimension.takes_ties else picks


@lru_cache(maxsize=512)
def _groups(description: TaskType, language: str) -> tuple[dict, ...]:
    return tuple(
        {
            "dimension": dimension,
            "picks": _picks(description, dimension),
            "labels": [
                {"value": label.value, "title": label.title, "hint": label.hint, "key": key}
                | {"level": len(label.path), "headings": headings}
                for (label, key), headings in _with_headings(_keyed(description, dimension))
            ],
            "is_short": all(len(label.title) <= SHORT_TITLE for label in dimension.labels),
        }
        for dimension in description.asked_dimensions
    )


def _with_headings(keyed: list[tuple[Label, str]]) -> Iterator[tuple[tuple[Label, str], list[tuple[int, str]]]]:
    """Each label with the headings that begin with it, from the top: the level and the name."""
    before: tuple[str, ...] = ()
    for label, key in keyed:
        same = len(os.path.commonprefix([before, label.path]))
        yield (label, key), list(enumerate(label.path, 1))[same:]
        before = label.path


@lru_cache(maxsize=512)
def _dimensions(description: TaskType, language: str) -> tuple[dict, ...]:
    hidden = {dimension.slug for dimension in description.dimensions if dimension.is_hidden}
    return tuple(
        {
            "slug": dimension.slug,
            "title": dimension.title,
            "answer": dimension.answer,
            "number": dimension.number and asdict(dimension.number),
            "optional": dimension.is_optional,
            "cannot_judge": dimension.has_cannot_judge,
            "number_words": number_words(dimension.number),
            "picks": _picks(description, dimension),
            "scale": dimension.values,  # the order in which an answer of several labels holds them
            "labels": [
                {"value": label.value, "title": label.title, "key": key}
                for label, key in _keyed(description, dimension)
            ],
            "asked_when": {"dimension": dimension.asked_when.dimension, "labels": list(dimension.asked_when.labels)}
            if dimension.asked_when and dimension.asked_when.dimension not in hidden
            else None,
            "spans": dimension.spans
            and {
                "fields": list(dimension.spans.fields),
                "required": dimension.spans.required,
                "labels": list(dimension.spans.labels),
                "takes_whole_texts": dimension.spans.takes_whole_texts,
                "own_labels": [{"value": one.value, "title": one.title} for one in dimension.spans.own_labels],
                "severities": [{"value": one.value, "title": one.title} for one in dimension.spans.severities],
                "takes_reasons": dimension.spans.takes_reasons,
            },
        }
        for dimension in description.asked_dimensions
    )


def template_context(page: LabellingPage, payload: dict) -> dict:
    """What `annotation/work/item.html` needs."""
    units, kind = [], worded(page.type)
    picks_units = page.type.keys_pick == "units"
    for number, unit in enumerate(page.units):
        words = unit_text(unit)
        units.append(
            {
                "id": page.unit_ids[unit.key],
                "title": words.title,
                "head": words.head,
                "relation": words.relation,
                "tail": words.tail,
                "pick": unit_key(number) if picks_units else "",
                "colour": number % COLOURS + 1 if page.type.has_unit_colours else None,
                "groups": _groups(kind, get_language()),
            }
        )
    return {
        "type": kind,
        "shown": page.contents.context,
        "rendered": page.rendered,
        "units": units,
        "payload": payload,
    }


PREVIEW_UNITS = 3


def panel_context(description: TaskType) -> dict:
    """What shows the panel of a task type that no project asks, without words."""
    page = LabellingPage(Item(), description, [Unit(key="preview")], Contents({}, {}), "", UUID(int=0))
    return template_context(page, {"assignment": ""})


def preview_context(project: Project, description: TaskType) -> dict:
    """What shows the panel as `description` asks, with the first units of the project's first item; without their
    words while there is no item."""
    item = project.items.filter(unit_count__gt=0).order_by("position").values_list("pk", flat=True).first()
    if item is None:
        page = LabellingPage(Item(), description, [Unit(key="preview")], Contents({}, {}), "", project.uuid)
    else:
        page = load_page(item, description)
    return template_context(replace(page, units=page.units[:PREVIEW_UNITS]), {"assignment": ""})


# ---- what depends on the person ----


def labels_by_unit(answers: Iterable[tuple[str, str, str]]) -> dict[str, dict[str, str]]:
    """Unit id to dimension to label, from units, dimensions and labels."""
    labels: dict[str, dict[str, str]] = {}
    for unit, dimension, label in answers:
        labels.setdefault(unit, {})[dimension] = label
    return labels


def suggestions_for(page: LabellingPage, project: Project, labels: Mapping[str, Mapping[str, str]]) -> list[dict]:
    """The project's chosen run's suggestions for the page's units, as the browser shows them. `labels` are the person's
    (`labels_by_unit`): a suggestion about a question that they leave unasked would give away another answer."""
    if project.prefill_run_id is None:
        return []
    ids = {unit.pk: page.unit_ids[unit.key] for unit in page.units}
    order = {unit.pk: number for number, unit in enumerate(page.units)}
    rows = Suggestion.objects.filter(run=project.prefill_run_id, unit__in=ids).select_related("run")
    known = {dimension.slug: dimension for dimension in worded(page.type).asked_dimensions}
    return [
        {
            "unit": ids[row.unit_id],
            "dimension": row.dimension,
            "label": row.label,
            "title": answer_title(known[row.dimension], row.label),
            "score": row.probability,
            "checker": run_name(row.run.checker),
            "spans": row.spans,
        }
        | ({"explanation": row.explanation} if row.explanation else {})
        for row in sorted(rows, key=lambda row: (order[row.unit_id], row.dimension))
        if row.dimension in known
        and known[row.dimension].takes(row.label)
        and page.type.is_asked(known[row.dimension], labels.get(ids[row.unit_id], {}))
    ]


def shows_suggestions(assignment: Assignment) -> bool:
    """Whether the assignment's holder may see suggestions now: `after`, once they have answered."""
    arm, is_answered = assignment.prefill_arm, assignment.state == Assignment.State.DONE
    return arm == Project.Prefill.SHOWN or (arm == Project.Prefill.AFTER and is_answered)


def own_answers(page: LabellingPage, rater: Rater | None) -> tuple[Revision | None, list[dict]]:
    """The person's latest revision of the item and its judgements as they were sent."""
    if rater is None:
        return None, []
    revision = (
        Revision.objects.filter(annotation__item=page.item, annotation__rater=rater, is_latest=True)
        .select_related("annotation")
        .first()
    )
    if revision is None:
        return None, []
    rows = Judgement.objects.filter(revision=revision).select_related("unit").prefetch_related("spans").order_by("id")
    return revision, [
        {
            "unit": page.unit_ids.get(row.unit.key) or unit_id(page.project, row.unit.key),
            "dimension": row.dimension,
            "label": row.label,
            "spans": spans_of(row),
        }
        for row in rows
    ]


def spans_of(judgement: Judgement) -> list[dict]:
    """In the order of the texts."""
    in_order = sorted(judgement.spans.all(), key=place_of_span)
    return [cells_of_span(span) for span in in_order]


def still_asked(description: TaskType, answers: Sequence[dict]) -> list[dict]:
    """Earlier answers without what the project does not ask any more, so that they can be sent again."""
    known = {dimension.slug: dimension for dimension in description.asked_dimensions}
    return [
        answer if known[answer["dimension"]].spans else answer | {"spans": []}
        for answer in answers
        if answer["dimension"] in known
    ]


SHOWN_DECISIONS = (Decision.Method.ADJUDICATED, Decision.Method.RULE)


def decisions_that_stand(project: Project, units) -> dict[tuple[int, str], Decision]:
    """By unit and question, those of adjudicators, and else of rules. What came with a file is not among them."""
    rows = Decision.objects.in_force().filter(project=project, unit__in=units, method__in=SHOWN_DECISIONS)
    stands: dict[tuple[int, str], Decision] = {}
    for row in sorted(rows, key=lambda row: (row.method != Decision.Method.ADJUDICATED, row.rule)):
        stands.setdefault((row.unit_id, row.dimension), row)
    return stands


def decisions_on(page: LabellingPage, project: Project) -> list[dict]:
    """What adjudicators decided of the page's units, and else rules: the label and its reason, nobody's words. What
    came with a file is no decision to be shown: it may be what checks attention."""
    stands = decisions_that_stand(project, page.units)
    return [
        {
            "unit": unit_text(unit).title if len(page.units) > 1 else "",
            "question": dimension.title,
            "label": answer_title(dimension, row.label) if row.label else row.get_outcome_display().lower(),
            "reason": row.get_reason_display() if row.reason else "",
            "by_rule": row.method == Decision.Method.RULE,
        }
        for unit in page.units
        for dimension in worded(page.type).asked_dimensions
        if (row := stands.get((unit.pk, dimension.slug)))
    ]


def free_text_of(revision: Revision | None) -> str:
    """What the person wrote to the task's free-text question."""
    return (revision.metadata.get(FREE_TEXT) or {}).get("answer", "") if revision else ""


def stated_in(page: LabellingPage) -> list[list[int] | None] | None:
    """Where in the response each unit is from, in code points, as its metadata say (`STATED_IN`); None if none is
    given."""
    response = page.contents.context.get("response")
    if response is None or page.type.unit_kind not in UNIT_TEXTS:
        return None
    pieces = [getattr(unit, UNIT_TEXTS[page.type.unit_kind][0]) for unit in page.units]
    found = [_stretch(piece.metadata.get(STATED_IN), response) if piece else None for piece in pieces]
    return found if any(found) else None


def _stretch(stated: object, text: str) -> list[int] | None:
    """What metadata say may come from a file: it holds only where the quote stands there."""
    start, end, quote = (
        (stated.get(name) for name in ("start", "end", "quote")) if isinstance(stated, dict) else (None,) * 3
    )
    are_places = all(isinstance(one, int) and not isinstance(one, bool) for one in (start, end))
    return [start, end] if are_places and 0 <= start < end and text[start:end] == quote else None


def page_payload(page: LabellingPage) -> dict:
    """What the browser needs to show the page's questions, the same for all annotators."""
    kind = worded(page.type)
    return {
        "item": str(page.item.uuid),
        "task_type": page.type.identifier,
        "text_hash": page.shown_hash,
        "dimensions": _dimensions(kind, get_language()),
        "units": list(page.unit_ids.values()),
        "unit_picks": [unit_key(number) for number in range(len(page.units))]
        if page.type.keys_pick == "units"
        else None,
        "has_unit_colours": page.type.has_unit_colours,
        "stated_in": stated_in(page),
        "free_text": kind.free_text and asdict(kind.free_text),
    }


def make_payload(
    page: LabellingPage,
    assignment: Assignment,
    project: Project,
    *,
    guideline_version: int | None,
    lease_seconds: int,
    suggestions: list[dict],
    revision: Revision | None = None,
    answers: Sequence[dict] = (),
) -> dict:
    return page_payload(page) | {
        "assignment": str(assignment.uuid),
        "guideline_version": guideline_version,
        "options_version": project.options_version,
        # Only once the person has answered: who knows what follows an answer gives another one.
        "prefill": assignment.prefill_arm if revision else "",
        "minimum_seconds": project.minimum_seconds,
        "lease_seconds": lease_seconds,
        "revision": revision.number if revision else 0,
        "free_text_answer": free_text_of(revision) if page.type.free_text else "",
        "answers": still_asked(page.type, answers),
        "comment": revision.comment if revision else "",
        "suggestions": suggestions,
    }
