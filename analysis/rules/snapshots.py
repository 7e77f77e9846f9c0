"""How sure models of raters, and checkers, are of the items that wait for adjudicators: a dated snapshot (`Case`),
since it takes all labels of a project. The queue is ordered by it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from django.db import transaction
from django.utils import timezone

from analysis.rules.certainty import best_posterior
from analysis.rules.deciding import POSTERIOR_DIGITS
from analysis.rules.kinds import is_single
from analysis.rules.running import AT_ONCE, labels_of, units_of
from analysis.sources.project import ProjectOutline
from analysis.stats.annotators import dawid_skene
from annotation.decisions.desk import LOW_POSTERIOR
from annotation.jobs.lifecycle import Lease
from annotation.models import Case, Chunk, Decision, ItemUnit, Job, Project, Suggestion
from annotation.projects import cases
from annotation.projects.preparing import refuse_preparing

WRITTEN_AT_ONCE = 1000


def take_snapshot(project: Project) -> dict[str, int]:
    """Store it with every case of the project, and with items of one mind whose label is improbable, which become
    cases: how many there are, and of how many each number is known."""
    refuse_preparing(project)
    units = units_of(project)
    least, is_low = _least_posterior(project, units)
    item_of = _items_of(project, units[is_low].tolist())
    improbable = set(item_of.values())
    known = ItemUnit.objects.filter(item__case__project=project).values_list("unit_id", "item_id")
    item_of |= dict(known.iterator(chunk_size=AT_ONCE))
    posterior: dict[int, float] = {}
    for unit, value in zip(units.tolist(), least.tolist(), strict=True):
        if unit in item_of and not np.isnan(value):
            posterior[item_of[unit]] = min(value, posterior.get(item_of[unit], 1.0))
    uncertainty = _greatest_entropy(project, item_of)
    now, stored = timezone.now(), sorted(set(item_of.values()))
    cases.open_cases(project, improbable - set(Case.objects.filter(project=project).values_list("pk", flat=True)))
    for start in range(0, len(stored), WRITTEN_AT_ONCE):
        part = [
            Case(
                pk=pk,
                posterior=posterior.get(pk),
                uncertainty=uncertainty.get(pk),
                is_improbable=pk in improbable,
                snapshot_at=now,
            )
            for pk in stored[start : start + WRITTEN_AT_ONCE]
        ]
        Case.objects.bulk_update(part, ["posterior", "uncertainty", "is_improbable", "snapshot_at"])
    counts = {"posterior": len(posterior), "improbable": len(improbable), "uncertainty": len(uncertainty)}
    return {"cases": len(stored)} | counts


def _items_of(project: Project, units: list[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    rows = ItemUnit.objects.filter(item__project=project)
    for start in range(0, len(units), WRITTEN_AT_ONCE):
        part = units[start : start + WRITTEN_AT_ONCE]
        found |= dict(rows.filter(unit__in=part).values_list("unit_id", "item_id"))
    return found


def _least_posterior(project: Project, units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By unit: how probable Dawid-Skene takes the most probable label of its least certain question to be (nan: not
    known), and whether it is improbable although several people labelled it, and nobody decided. Nothing of questions
    whose labels are of nobody in particular."""
    least, is_low = np.full(len(units), np.nan), np.zeros(len(units), dtype=bool)
    settled = Decision.objects.in_force().filter(project=project, method__in=cases.SETTLING)
    for dimension in filter(is_single, project.type.asked_dimensions):
        labels = labels_of(project, dimension, units)
        if not len(labels.unit) or labels.has_slots:
            continue
        best = np.round(best_posterior(dawid_skene(labels.coded())), POSTERIOR_DIGITS)
        decided = settled.filter(dimension=dimension.slug).values_list("unit_id", flat=True)
        is_open = ~np.isin(units, np.fromiter(decided.iterator(chunk_size=AT_ONCE), dtype=np.int64))
        least = np.fmin(least, best)
        is_low |= is_open & (labels.n_labels() > 1) & (best < LOW_POSTERIOR)
    return least, is_low


def _greatest_entropy(project: Project, item_of: dict[int, int]) -> dict[int, float]:
    """By item, in bits, of the probabilities that the newest run of each checker gives its labels."""
    runs = [run.uuid for run in ProjectOutline(project).newest_labelling_runs()]
    rows = Suggestion.objects.filter(run__project=project, run__uuid__in=runs).exclude(probabilities={})
    found: dict[int, float] = defaultdict(float)
    for unit, probabilities in rows.values_list("unit_id", "probabilities").iterator(chunk_size=AT_ONCE):
        item = item_of.get(unit)
        if item is not None and probabilities:
            found[item] = max(found[item], round(_entropy(probabilities.values()), POSTERIOR_DIGITS))
    return dict(found)


def _entropy(probabilities: Iterable[float]) -> float:
    p = np.array([value for value in probabilities if value and value > 0], dtype=float)
    return float(-(p * np.log2(p)).sum()) if len(p) else 0.0


class SnapshotHandler:
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        job = chunk.job
        with transaction.atomic():
            job.result = take_snapshot(job.project)
            lease.complete()
            Job.objects.filter(pk=job.pk).update(result=job.result)

    def finish(self, job: Job, lease: Lease) -> dict:
        return Job.objects.values_list("result", flat=True).get(pk=job.pk)

    def clean_up(self, job: Job) -> None:
        """One that ended early stored nothing."""


HANDLER = SnapshotHandler()
