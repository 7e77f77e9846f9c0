"""The texts that imported spans quote, newest versions and rows that are still staged included.

Pages read the same texts from what is published (queries/contents.py); an import must look before anything is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Q, QuerySet

from annotation.models import ContentBatch, Dataset, Evidence, Unit
from annotation.projects.item_making import anchor_link
from annotation.task_types import TaskType
from annotation.task_types.base import OUTPUTS
from annotation.work.queries.contents import PASSAGE, PASSAGES

# Kind of anchor -> field -> column, seen from the anchor's row.
FIELDS = {
    "claim": {"claim": "text"},
    "evidence": {"evidence": "text", "claim": "claim__text"},
    "response": {"response": "text", "question": "question__text"},
    "question": {"question": "text"},
    "pair": {"premise": "premise", "hypothesis": "hypothesis"},
    "atomic_claim": {"claim": "text"},
    "comparison": {"question": "question__text"} | {name: name for name in OUTPUTS},
}
# Kind of anchor -> the kinds of record that its passages hang below, and the column that leads there.
PASSAGE_PARENTS = {
    "response": (("question", "question_id"), ("claim", "claim_id")),
    "question": (("question", "id"),),
}


def visible_to_import(batch: ContentBatch | None) -> Q:
    published = Q(batch__state=ContentBatch.State.PUBLISHED)
    return published | Q(batch=batch) if batch else published


def units_of_import(dataset: Dataset, batch: ContentBatch | None) -> QuerySet[Unit]:
    """The newest units that are visible, or that this import brings."""
    return Unit.objects.filter(visible_to_import(batch), dataset=dataset, superseded_at=None)


def texts_by_unit(
    description: TaskType, dataset: Dataset, batch: ContentBatch | None, field: str, keys: Iterable[str]
) -> dict[str, str] | None:
    """The text `field` on the page of each unit, by the unit's key. A unit whose page has no such text is absent; None
    where no page of this task type has it."""
    units = units_of_import(dataset, batch).filter(kind=description.unit_kind, key__in=list(keys))
    link = anchor_link(description)
    if column := FIELDS[description.anchor_kind].get(field):
        return dict(units.exclude(**{f"{link}__{column}": None}).values_list("key", f"{link}__{column}"))
    number = field.removeprefix(PASSAGE)
    if description.contents not in PASSAGES or number == field or not number.isdecimal():
        return None
    found: dict[str, str] = {}
    for kind, column in PASSAGE_PARENTS[description.anchor_kind]:
        parents = dict(units.exclude(**{f"{link}__{column}": None}).values_list("key", f"{link}__{column}"))
        passages = _passages(description, batch, kind, set(parents.values()))
        for key, parent in parents.items():
            if 0 < int(number) <= len(passages[parent]):
                found[key] = passages[parent][int(number) - 1]
    return found


def _passages(description: TaskType, batch: ContentBatch | None, kind: str, ids: set[int]) -> dict[int, list[str]]:
    passages: dict[int, list[str]] = defaultdict(list)
    rows = Evidence.objects.in_order().filter(
        visible_to_import(batch), superseded_at=None, **{f"{kind}__in": ids}, **PASSAGES[description.contents]
    )
    for parent, text in rows.values_list(f"{kind}_id", "text"):
        passages[parent].append(text)
    return passages
