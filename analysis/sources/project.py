"""A project as pages know it, from the database."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from analysis.sources.outline import SLOT, Outline, Run, groups_in
from annotation.access import sees_labels
from annotation.datasets.kinds import KIND_NAMED
from annotation.decisions.moments import decision_sets
from annotation.models import (
    Annotation,
    Assignment,
    CheckerRun,
    Decision,
    Item,
    ItemKey,
    ItemUnit,
    Job,
    KeyResult,
    Project,
    Rater,
    Score,
    User,
)
from annotation.projects.prefill import scorers

AT_ONCE = 10_000


def published(dataset_id: int, kind: str) -> QuerySet:
    return KIND_NAMED[kind].model.objects.published().filter(dataset_id=dataset_id)


def with_any(raters: QuerySet[Rater], annotations: QuerySet[Annotation]) -> QuerySet[Rater]:
    """Raters with one of the annotations, which name them by `OuterRef`. One is looked up for each rater: for EXISTS,
    PostgreSQL may read all annotations of a project."""
    return raters.alias(one=Subquery(annotations.order_by().values("pk")[:1])).filter(one__isnull=False)


class ProjectOutline(Outline):
    """`reader` sees only those other projects whose labels they may see; without one all are there."""

    def __init__(self, project: Project, reader: User | None = None):
        self.project, self.reader = project, reader
        self.slug, self.title, self.task_type, self.type = project.slug, project.title, project.task_type, project.type
        self.piece_set = project.piece_set
        self.overlap, self.multiple_share, self.prefill = (
            project.planned_overlap,
            project.multiple_share,
            project.prefill,
        )

    def has_labels(self) -> bool:
        return Annotation.objects.filter(item__project=self.project).exclude(item__state__in=Item.LEFT_OUT).exists()

    def has_people(self) -> bool:
        return self._labelling().exclude(kind=SLOT).exists()

    def has_further(self) -> bool:
        return any(rows.exists() for rows in self._further())

    def _further(self) -> list[QuerySet[Annotation]]:
        """Those of here, and those that came with a release, which names them itself."""
        asked = Assignment.objects.filter(project=self.project, reason=Assignment.Reason.FURTHER)
        rows = [Annotation.objects.filter(assignment__in=asked)]
        if self.project.origin:
            rows.append(Annotation.objects.filter(item__project=self.project, origin__further=True))
        return [one.filter(is_surplus=False).exclude(item__state=Item.State.RETIRED) for one in rows]

    def rater_groups(self) -> list[str]:
        return groups_in(self._labelling().order_by().values_list("group", flat=True).distinct())

    def has_checks(self) -> bool:
        raters = self.project.raters.filter(is_excluded=False)
        done = KeyResult.objects.filter(rater__in=raters, purpose=ItemKey.Purpose.CHECK)
        return done.exists() or any(
            row["purpose"] == ItemKey.Purpose.CHECK
            for results in raters.filter(origin__has_key="key_results").values_list("origin__key_results", flat=True)
            for row in results
        )

    def _labelling(self) -> QuerySet[Rater]:
        rows = Annotation.objects.filter(rater=OuterRef("pk")).exclude(item__state__in=Item.LEFT_OUT)
        return with_any(Rater.objects.filter(project=self.project, is_excluded=False), rows)

    def decision_methods(self) -> list[str]:
        return self._decision_methods

    @cached_property
    def _decision_methods(self) -> list[str]:
        """Those of the units that are judged here. Asked for one by one: a rule may have decided a million units."""
        here = ItemUnit.objects.filter(unit=OuterRef("unit"), item__project=self.project)
        rows = Decision.objects.in_force().filter(project=self.project, unit__kind=self.type.unit_kind)
        rows = rows.filter(Exists(here.exclude(item__state__in=Item.LEFT_OUT)))
        known = {str(place): name for place, name in enumerate(sorted(decision_sets(self.project)))}
        sets = {f"set_{place}": Exists(rows.of_set(name)) for place, name in known.items()}
        found = Project.objects.filter(pk=self.project.pk).values(**sets).get() if sets else {}
        return [name for place, name in known.items() if found[f"set_{place}"]]

    def runs(self) -> list[Run]:
        return list(self._runs)

    @cached_property
    def _runs(self) -> dict[Run, int]:
        rows = CheckerRun.objects.filter(project=self.project, job__state=Job.State.DONE).select_related("job")
        without_labels = scorers()
        keys = {_run(row, without_labels): row.pk for row in rows.order_by("-created_at")}
        return dict(sorted(keys.items(), key=lambda row: row[0].gives == "scores"))

    def content_metadata(self, kind: str, name: str) -> dict[str, Any]:
        rows = published(self.project.dataset_id, kind).filter(metadata__has_key=name)
        return dict(rows.values_list("key", f"metadata__{name}").iterator(chunk_size=AT_ONCE))

    def sibling(self, slug: str) -> Self:
        if slug not in self._siblings:
            known = ", ".join(self._siblings) or "none"
            raise ValueError(f"there is no project {slug!r} on the data set of {self.slug}; there are: {known}")
        return type(self)(self._siblings[slug], self.reader)

    def siblings(self) -> dict[str, str]:
        return {slug: project.title for slug, project in self._siblings.items()}

    @cached_property
    def _siblings(self) -> dict[str, Project]:
        rows = Project.objects.filter(dataset_id=self.project.dataset_id).exclude(pk=self.project.pk).order_by("slug")
        return {row.slug: row for row in rows if self.reader is None or sees_labels(self.reader, row)}


def _run(row: CheckerRun, without_labels: tuple[str, ...]) -> Run:
    """A finished run's job knows the names of its scores; otherwise all of them are read."""
    names = row.job.result.get("scores")
    if names is None:
        names = Score.objects.filter(run=row).values_list("name", flat=True).distinct()
    return Run(
        uuid=str(row.uuid),
        checker=row.checker,
        version=row.version,
        parameters=row.parameters,
        provenance=row.provenance,
        gives=row.origin.get("gives") or ("scores" if row.checker in without_labels else "labels"),
        scores=tuple(sorted(names, key=lambda name: (name != "support", name))),
        created_at=row.created_at,
    )
