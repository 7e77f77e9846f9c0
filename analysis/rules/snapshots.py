"""How sure models of raters, and checkers, are of the items that wait for adjudicators: a dated snapshot (`Case`),
since it takes all labels of a project. The queue is ordered by it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from django.db import transaction
from django.utils import timezone

from analysis.rules.deciding import POSTERIOR_DIGITS
from analysis.rules.kinds import is_single
from analysis.rules.running import AT_ONCE, labels_of, units_of
from analysis.sources.project import ProjectOutline
from analysis.stats.annotators import dawid_skene
from annotation.jobs.lifecycle import Lease
from annotation.models import Case, Chunk, ItemUnit, Job, Project, Suggestion

WRITTEN_AT_ONCE = 1000


def take_snapshot(project: Project) -> dict[str, int]:
    """Store it with every case of the project: how many there are, and of how many each number is known."""
    item_of: dict[int, int] = dict(
        ItemUnit.objects.filter(item__case__project=project)
        .values_list("unit_id", "item_id")
        .iterator(chunk_size=AT_ONCE)
    )
    posterior = _least_posterior(project, item_of)
    uncertainty = _greatest_entropy(project, item_of)
    now, cases = timezone.now(), sorted(set(item_of.values()))
    for start in range(0, len(cases), WRITTEN_AT_ONCE):
        part = [
            Case(pk=pk, posterior=posterior.get(pk), uncertainty=uncertainty.get(pk), snapshot_at=now)
            for pk in cases[start : start + WRITTEN_AT_ONCE]
        ]
        Case.objects.bulk_update(part, ["posterior", "uncertainty", "snapshot_at"])
    return {"cases": len(cases), "posterior": len(posterior), "uncertainty": len(uncertainty)}


def _least_posterior(project: Project, item_of: dict[int, int]) -> dict[int, float]:
    """By item: how probable Dawid-Skene takes the most probable label of its least certain unit and question to be.
    Nothing of questions whose labels are of nobody in particular."""
    units, found = units_of(project), {}
    for dimension in filter(is_single, project.type.asked_dimensions):
        said = labels_of(project, dimension, units)
        if not len(said.unit) or said.has_slots:
            continue
        best = dawid_skene(said.coded()).posterior.max(axis=1, initial=-1.0)
        for unit, value in zip(units.tolist(), np.round(np.nan_to_num(best, nan=-1.0), POSTERIOR_DIGITS), strict=True):
            item = item_of.get(unit)
            if item is not None and value >= 0:
                found[item] = min(float(value), found.get(item, 1.0))
    return found


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
