"""How the content of an export looks: one JSON object per item, from a batch of items in as many queries as for one.

A task type names its layout. All of them give one decided label per unit, and come back through an import as they were.
The layouts of published data sets cannot hold all content; what they cannot hold is exported in Assay's own instead.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.db.models import CharField, Exists, F, OuterRef, Q, Value
from django.db.models.functions import Cast, Concat

from annotation.exports.content import content_objects
from annotation.exports.queries import ExportedItem
from annotation.formats.records import ClaimRecord, EvidenceRecord
from annotation.formats.studies import druid, refchecker
from annotation.models import Evidence, Project, Response, Triplet
from annotation.task_types import TaskType
from plugins.extras import why_missing


def _dimension_of(kind: TaskType, role: str):
    return next(dimension for dimension in kind.dimensions if dimension.role == role)


# --- claims with evidence -------------------------------------------------------------------------------------------


def _druid_objects(kind: TaskType, items: list[ExportedItem]) -> Iterator[dict]:
    """Claim and evidence of every item, in DRUID's columns."""
    relevance, stance = (_dimension_of(kind, role) for role in ("relevance", "stance"))
    fields = ("text", "url", "publisher", "date", "is_gold", "rank", "metadata")
    of_claim = ("key", "text", "claimant", "date", "source", "verdict", "metadata")
    rows = Evidence.objects.filter(units__in=[item.anchor for item in items]).values_list(
        "units", *fields, *(f"claim__{name}" for name in of_claim)
    )
    content = {unit: (values[: len(fields)], ClaimRecord(*values[len(fields) :])) for unit, *values in rows}
    for item in items:
        (text, *more), claim = content[item.anchor]
        evidence = EvidenceRecord(item.key, text, claim.key, None, *more)
        labels = (item.label(kind, item.key, dimension) for dimension in (relevance, stance))
        yield druid.as_object(druid.druid_row(claim, evidence, *labels))


def _fits_druid(project: Project) -> bool:
    """Whether all evidence is about a claim: DRUID knows nothing else."""
    evidence = Evidence.objects.published().filter(dataset=project.dataset_id)
    return not evidence.filter(claim=None).exists()


def _druid_file(source: Path, target: Path) -> int:
    with open(source, encoding="utf-8") as lines:
        return druid.write((druid.from_object(json.loads(line)) for line in lines), target)


# --- responses with triplets ----------------------------------------------------------------------------------------


def _response_objects(kind: TaskType, items: list[ExportedItem]) -> Iterator[dict]:
    """Every response with its question, passages and triplets, in RefChecker's layout."""
    dimension = _dimension_of(kind, "entailment")
    anchors = [item.anchor for item in items]
    rows = Response.objects.filter(units__in=anchors).select_related("question").annotate(unit=F("units"))
    responses = {response.unit: response for response in rows}
    passages: dict[int, list[str]] = defaultdict(list)
    questions = {response.question_id for response in responses.values()} - {None}
    for question, text in (
        Evidence.objects.published().in_order().filter(question__in=questions).values_list("question", "text")
    ):
        passages[question].append(text)
    triplets = {
        unit: values
        for unit, *values in Triplet.objects.filter(
            units__in=[unit for item in items for unit in item.unit_keys]
        ).values_list("units", "head", "relation", "tail", "metadata")
    }
    for item in items:
        response = responses[item.anchor]
        metadata = dict(response.metadata)
        yield refchecker.as_object(
            refchecker.RefCheckerRow(
                setting=response.context_setting,
                model=response.model,
                id=response.key.removeprefix(f"{response.context_setting}/{response.model}/"),
                response=response.text,
                dataset=metadata.pop("dataset", ""),
                question=response.question.text if response.question else "",
                context=tuple(passages[response.question_id]),
                extractor=metadata.pop("extractor", "claude2"),
                triplets=[
                    _triplet(triplets[unit], item.label(kind, key, dimension), item.method(key, dimension))
                    for unit, key in item.unit_keys.items()
                ],
                metadata=metadata,
            )
        )


def _triplet(values: list, label: str | None, method: str) -> tuple:
    """The decided label goes under a name of its own: `human_label` would come back as one more rater."""
    head, relation, tail, metadata = values
    decided = {refchecker.DECIDED: label, refchecker.METHOD: method} if label else {}
    return head, relation, tail, None, metadata | decided


def _fits_refchecker(project: Project) -> bool:
    """Whether keys are RefChecker's, which follow from setting, model and place: its files have no room for others, nor
    an export of one set for what the others are called."""
    prefix = Concat("context_setting", Value("/"), "model", Value("/"))
    place = Concat("response__key", Value("/"), Cast("index", CharField()))
    triplets = Triplet.objects.published().filter(response=OuterRef("pk")).annotate(place=place)
    misplaced = triplets.exclude(key=F("place"), piece_set="")
    responses = Response.objects.published().filter(dataset=project.dataset_id).annotate(prefix=prefix)
    nameless = Q(context_setting="") | Q(model="") | Q(question=None)
    return not responses.filter(nameless | ~Q(key__startswith=F("prefix")) | Exists(misplaced)).exists()


# --- the table ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ExportLayout:
    stem: str
    objects: Callable[[TaskType, list[ExportedItem]], Iterator[dict]]
    # Kinds of file, each with what turns the JSON Lines into it; the JSON Lines themselves are always made first.
    kinds: dict[str, Callable[[Path, Path], int] | None]
    # Whether the layout can hold this project's content, and what it can hold, in words.
    fits: Callable[[Project], bool] = lambda project: True
    holds: str = ""
    # What a task type must have so that the layout can hold it: its anchors and units, and dimensions with these roles.
    judges: tuple[str, str] | None = None
    roles: tuple[str, ...] = ()


OWN = "content"
LAYOUTS: dict[str, ExportLayout] = {
    "druid": ExportLayout(
        "claims",
        _druid_objects,
        {"jsonl": None, "tsv": _druid_file, "parquet": _druid_file},
        _fits_druid,
        "DRUID's layout holds evidence of claims alone",
        judges=("evidence", "evidence"),
        roles=("relevance", "stance"),
    ),
    "responses": ExportLayout(
        "responses",
        _response_objects,
        {"jsonl": None},
        _fits_refchecker,
        "RefChecker's layout holds responses with a setting, a model and a question, and triplets of no named set, "
        "whose ids follow from these",
        judges=("response", "triplet"),
        roles=("entailment",),
    ),
    OWN: ExportLayout("content", content_objects, {"jsonl": None}),
}


def layout_of(project: Project) -> ExportLayout:
    """The layout of the project's task type; Assay's own where that cannot hold the content."""
    layout = LAYOUTS[project.type.export_layout]
    return layout if layout.fits(project) else LAYOUTS[OWN]


def why_own(project: Project, layout: ExportLayout) -> str:
    """Why this layout of the project's is Assay's own where the task type names another; empty where it is not."""
    named = LAYOUTS[project.type.export_layout]
    return "" if layout is named else f"The content comes in Assay's own layout: {named.holds}."


LIBRARIES = {"parquet": "pyarrow"}  # that kinds of files need


def why_unwritable(kind: str) -> str:
    """Which library is not installed here to write such a file; empty where it can be written."""
    return why_missing(LIBRARIES[kind]) if kind in LIBRARIES else ""


def kinds_for(project: Project, layout: ExportLayout | None = None) -> tuple[str, ...]:
    """The kinds of files that its content has unless chosen otherwise: all that can be written here."""
    return tuple(kind for kind in (layout or layout_of(project)).kinds if not why_unwritable(kind))
