"""Where labels are uncertain under Dawid and Skene's model, so that a further judgement is asked for
(`annotation.work.further`), and what the others would lose by stopping early.

The posterior is as good as the model, which takes the answers to an item for independent. So what stopping costs is
measured: items that are drawn for more judgements get all of them. With their first answers alone, as many as the other
items are planned for, they are items like these, and those that were certain then may have another label from all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from django.db.models import Count, F, QuerySet, Window
from django.db.models.functions import RowNumber

from analysis.rules.kinds import is_single
from analysis.rules.running import AT_ONCE, labels_of, units_of
from analysis.stats.annotators import LatentTruth, dawid_skene
from annotation.models import Annotation, Item, ItemUnit, Project
from annotation.projects.preparing import refuse_preparing
from annotation.task_types import Dimension
from annotation.work.further import FurtherHandler, questions_of


def best_posterior(truth: LatentTruth) -> np.ndarray:
    """Of each unit's most probable label; nan where nothing is known."""
    best = truth.posterior.max(axis=1, initial=-1.0)
    return np.where(np.nan_to_num(best, nan=-1.0) < 0, np.nan, best)


def least_posterior(truths: Sequence[LatentTruth]) -> np.ndarray:
    """By unit, of the least certain question."""
    return np.fmin.reduce([best_posterior(one) for one in truths])


def count_changed(
    first: Sequence[LatentTruth], full: Sequence[LatentTruth], item: np.ndarray, is_drawn: np.ndarray, certain: float
) -> tuple[int, int]:
    """How many items among the drawn units have labels that are certain by the first answers (by question), and of how
    many of them any label by all answers is another. `item` has the item of each unit."""
    least = least_posterior(first)
    known = [(np.nan_to_num(best_posterior(one), nan=0) > 0) for one in first]
    changed = np.any(
        [has & (early.label != late.label) for has, early, late in zip(known, first, full, strict=True)], axis=0
    )
    left_out = np.unique(item[~is_drawn | ~(least >= certain)])
    counted = ~np.isin(item, left_out)
    return len(np.unique(item[counted])), len(np.unique(item[counted & changed]))


def upper_bound(n_changed: int, n: int) -> float:
    """The share that is not exceeded with 95 % confidence (Clopper and Pearson 1934, one-sided)."""
    from scipy.stats import binomtest

    interval = binomtest(n_changed, n, alternative="less").proportion_ci(0.95, "exact")
    return float(interval.high)


def questions(project: Project) -> list[Dimension]:
    names = questions_of(project)
    return [one for one in project.type.asked_dimensions if is_single(one) and (not names or one.slug in names)]


def uncertain_items(project: Project) -> tuple[list[int], dict]:
    """In the order of work, and how many items were looked at with the sentence about the drawn ones."""
    refuse_preparing(project)
    units, certain = units_of(project), project.further_percent / 100
    item_of = _items(project, units)
    first, full = [], []
    has_share = project.multiple_share < 1 and project.other_overlap < project.overlap
    for dimension in questions(project):
        labels = labels_of(project, dimension, units)
        if not len(labels.unit) or labels.has_slots:
            continue
        full.append(dawid_skene(labels.coded()))
        if has_share:
            early = labels_of(project, dimension, units, without=_later_answers(project))
            first.append(dawid_skene(early.coded()))
    if not full:
        return [], {}
    is_low = least_posterior(full) < certain
    uncertain = set(item_of[is_low].tolist())
    rows = project.items.order_by("position")
    ordered = [pk for pk in rows.values_list("pk", flat=True).iterator(chunk_size=AT_ONCE) if pk in uncertain]
    found = {"uncertain": len(ordered)}
    if has_share:
        drawn = np.isin(item_of, np.fromiter(_complete(project).iterator(chunk_size=AT_ONCE), dtype=np.int64))
        found["words"] = sentence(project, *count_changed(first, full, item_of, drawn, certain))
    return ordered, found


def sentence(project: Project, n: int, n_changed: int) -> str:
    if not n:
        return (
            "No item that was drawn for more judgements and has them all was certain before: the cost is not known yet"
        )
    most = math.ceil(1000 * upper_bound(n_changed, n)) / 10
    early, all_of = project.other_overlap, project.overlap
    return (
        f"Of {n:,} drawn items that were certain at {project.further_percent} % after {early} "
        f"answer{'s' * (early != 1)}, {n_changed:,} got another label from all {all_of}: with 95 % confidence, at most "
        f"{most:g} % of such items do"
    )


def _items(project: Project, units: np.ndarray) -> np.ndarray:
    rows = ItemUnit.objects.filter(item__project=project).exclude(item__state__in=Item.LEFT_OUT)
    rows = rows.values_list("unit_id", "item_id")
    table = np.array(list(rows.iterator(chunk_size=AT_ONCE)), dtype=np.int64).reshape(-1, 2)
    table = table[np.argsort(table[:, 0], kind="stable")]
    return table[np.searchsorted(table[:, 0], units), 1]


def _planned_answers(project: Project) -> QuerySet[Annotation]:
    return Annotation.objects.filter(item__project=project, item__is_multiple=True, is_surplus=False)


def _later_answers(project: Project) -> QuerySet:
    """Those of drawn items that came after as many as the other items are planned for."""
    place = Window(RowNumber(), partition_by="item", order_by="pk")
    rows = _planned_answers(project).annotate(place=place).filter(place__gt=project.other_overlap)
    return rows.values("pk")


def _complete(project: Project) -> QuerySet:
    """Drawn items with all their planned judgements."""
    rows = _planned_answers(project).order_by().values("item").annotate(n=Count("pk"))
    return rows.filter(n__gte=F("item__planned")).values_list("item", flat=True)


class CertaintyHandler(FurtherHandler):
    """Asks for further judgements by any of a project's policies."""

    def items_of(self, project: Project) -> tuple[list[int], dict]:
        if project.further == Project.Further.UNCERTAIN:
            return uncertain_items(project)
        return super().items_of(project)


HANDLER = CertaintyHandler()
