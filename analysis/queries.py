"""Reads of the pages of figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from django.db.models import OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from analysis.sources import splits
from analysis.sources.project import with_any
from annotation.datasets.kinds import KIND_NAMED
from annotation.formats.records import SpanRecord
from annotation.models import (
    Annotation,
    CheckerRun,
    ContentBatch,
    Evidence,
    Item,
    ItemUnit,
    Job,
    Project,
    Rater,
    Unit,
)
from annotation.projects.prefill import scorers
from annotation.rendering import ShownText
from annotation.work.queries import unit_words
from annotation.work.queries.contents import PASSAGE, PASSAGES


def has_labelling_run(project: Project) -> bool:
    """Whether a checker that gives labels has finished a run here."""
    return _finished_runs(project).exclude(checker__in=scorers()).exists()


def _finished_runs(project: Project) -> QuerySet[CheckerRun]:
    return CheckerRun.objects.filter(project=project, job__state=Job.State.DONE)


SAMPLED_ROWS = 100  # from either end of a data set's rows of a kind


def splits_of(project: Project) -> list[str]:
    """What figures can be split by besides the source, as far as some rows of the content tell: a column that only
    others have is not offered, and can be named all the same. Two queries for each kind that a unit leads to."""
    titled = []
    for kind in splits.kinds_of(project.type.unit_kind):
        rows = KIND_NAMED[kind].model.objects.published().filter(dataset_id=project.dataset_id)
        rows = rows.values(*splits.planned_columns(kind), splits.METADATA)
        sampled = [row for order in ("key", "-key") for row in rows.order_by(order)[:SAMPLED_ROWS]]
        titled += [f"{kind}.{name}" for name in splits.with_values(kind, sampled)]
    return titled


def annotators_of(project: Project) -> QuerySet[Rater]:
    """Raters who labelled something: others only decide, or never came to their first answer."""
    answers = Annotation.objects.filter(rater=OuterRef("pk")).exclude(item__state=Item.State.APART)
    return with_any(project.raters.filter(is_excluded=False), answers)


def has_groups(project: Project) -> bool:
    """Whether members and raters of files are both here, so that either can be looked at alone."""
    kinds = set(annotators_of(project).order_by().values_list(Coalesce("origin_kind", "kind"), flat=True).distinct())
    return Rater.Kind.MEMBER in kinds and len(kinds) > 1


def has_labels(project: Project) -> bool:
    """Whether anybody has labelled anything here, or a file brought labels of raters."""
    return Annotation.objects.filter(item__project=project).exclude(item__state__in=Item.LEFT_OUT).exists()


def items_without_units(project: Project) -> int:
    """Items in which there is nothing to judge, such as abstained answers."""
    return Item.objects.filter(project=project, unit_count=0).exclude(state__in=Item.LEFT_OUT).count()


LONG, LONG_LINES = 800, 10  # more characters or lines


@dataclass(frozen=True)
class UnitRow:
    """A unit with its item, and its words: what it is about, and the text that it is found in or looked for in.
    `passages` are what people read with them."""

    item: Item | None  # None where no page has the unit any more
    unit: Unit
    texts: tuple[ShownText, ...]
    passages: tuple[ShownText, ...] = ()

    @property
    def is_retired(self) -> bool:
        return self.item is None or self.item.state in Item.LEFT_OUT

    @property
    def is_long(self) -> bool:
        """Whether the words may take more room than a page of many gives them, and scroll by themselves."""
        words = "\n".join(one.text for one in self.texts)
        return bool(self.passages) or len(words) > LONG or words.count("\n") > LONG_LINES

    def marked(self, spans: Iterable[SpanRecord]) -> UnitRow:
        texts, passages = (tuple(one.marked(spans) for one in shown) for shown in (self.texts, self.passages))
        return replace(self, texts=texts, passages=passages)


def items_of_units(project: Project, unit_ids: list[int], *, with_passages: bool = False) -> list[UnitRow]:
    """The units with their items and words, in the order of `unit_ids`: two queries, or three. Retired items are
    there too, with the text that was judged: figures were made from them. Of an item without units, what it is of
    takes two more."""
    rows = ItemUnit.objects.filter(item__project=project, unit_id__in=unit_ids).select_related("item")
    # An item that is at work comes after a retired one, and stays.
    items = {row.unit_id: row.item for row in sorted(rows, key=lambda row: row.item.state not in Item.LEFT_OUT)}
    units = unit_words.units_in_words(project.type.unit_kind, unit_ids)
    if without := [pk for pk in unit_ids if pk not in units]:
        rows = Item.objects.filter(project=project, anchor_id__in=without)
        items |= {row.anchor_id: row for row in rows}
        units |= unit_words.units_in_words(project.type.anchor_kind, without)
    passages = _passages(project, units.values()) if with_passages else {}
    formats = project.dataset.text_formats
    return [
        UnitRow(
            items.get(pk),
            units[pk],
            tuple(text for text in unit_words.texts_of(units[pk], formats) if text.text),
            tuple(
                ShownText(one.text, formats.get("evidence", ""), f"{PASSAGE}{number}", note=one.publisher)
                for number, one in enumerate(passages.get(pk, ()), 1)
            ),
        )
        for pk in unit_ids
        if pk in units
    ]


def _passages(project: Project, units: Iterable[Unit]) -> dict[int, tuple[Evidence, ...]]:
    """By unit, the passages on its page, in their order; of what was superseded, those that belonged to it."""
    only = PASSAGES.get(project.type.contents)
    if only is None:
        return {}
    parents = {unit.pk: _parent(unit) for unit in units}
    rows = Evidence.objects.in_order().filter(batch__state=ContentBatch.State.PUBLISHED, **only)
    rows = rows.filter(
        Q(question__in=[question for question, _ in parents.values() if question])
        | Q(claim__in=[claim for _, claim in parents.values() if claim])
    )
    passages: dict[tuple[int | None, int | None], dict[str, Evidence]] = {}
    for row in rows:
        versions = passages.setdefault((row.question_id, row.claim_id), {})
        if row.key not in versions or versions[row.key].version < row.version:
            versions[row.key] = row
    return {pk: tuple(passages.get(parent, {}).values()) for pk, parent in parents.items()}


def _parent(unit: Unit) -> tuple[int | None, int | None]:
    """Question and claim below which the unit's passages are."""
    if unit.question_id:
        return unit.question_id, None
    response = unit.response
    for piece in (unit.triplet, unit.sub_sentence, unit.atomic_claim):
        response = response or (piece and piece.response)
    return (response.question_id, response.claim_id) if response else (None, None)
