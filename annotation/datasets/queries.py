"""Reads about data sets: what they hold, their projects, and the imports that filled them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.access import visible_datasets, visible_projects
from annotation.datasets.kinds import KINDS, TITLES
from annotation.models import Dataset, Job, Project, Response, User

LISTED = 20


@dataclass(frozen=True, slots=True)
class ContentCount:
    """`sets` are the sets of the pieces with their numbers, where one of them has a name."""

    title: str
    number: int
    sets: tuple[tuple[str, int], ...] = ()


def has_content(dataset: Dataset) -> bool:
    return any(kind.model.objects.published().filter(dataset=dataset).exists() for kind in KINDS)


def count_content(datasets: Iterable[Dataset]) -> dict[int, dict[str, dict[str, int]]]:
    """By data set, how many rows there are of each kind that it has, by their set; of kinds without sets under ""."""
    found = {}
    for dataset in datasets:
        by_kind = {}
        for kind in KINDS:
            rows = kind.model.objects.published().filter(dataset=dataset)
            by_kind[kind.name] = _sets_of(dataset, kind.model) if kind.has_sets else {"": rows.count()}
        found[dataset.pk] = {name: sets for name, sets in by_kind.items() if sum(sets.values())}
    return found


def content_counts(found: Mapping[str, Mapping[str, int]]) -> list[ContentCount]:
    """What `count_content` found, in the order of the page."""
    return [
        ContentCount(title, sum(sets.values()), tuple(sets.items()) if any(sets) else ())
        for name, title in TITLES.items()
        if (sets := found.get(name))
    ]


def set_counts(dataset: Dataset) -> dict[str, dict[str, int]]:
    """Kind of piece, as links to it are called -> set -> how many pieces it has. Four queries."""
    counts = {kind.name: _sets_of(dataset, kind.model) for kind in KINDS if kind.has_sets}
    return {name: sets for name, sets in counts.items() if sets}


def _sets_of(dataset: Dataset, model) -> dict[str, int]:
    rows = model.objects.published().filter(dataset=dataset).order_by("piece_set")
    return dict(rows.values_list("piece_set").annotate(Count("pk")))


def dataset_list(user: User) -> QuerySet[Dataset]:
    """Data sets the person may see, newest first, with the number of projects and whether an import is under way."""
    running = Job.objects.filter(
        dataset=OuterRef("pk"), kind=Job.Kind.IMPORT, state__in=[Job.State.QUEUED, Job.State.RUNNING]
    )
    return (
        visible_datasets(user)
        .select_related("owner")
        .annotate(project_count=Count("projects", distinct=True), is_importing=Exists(running))
        .order_by("-created_at", "-pk")
    )


def import_history(dataset: Dataset, user: User) -> list[Job]:
    """The newest imports and makings of pairs, without the long lists in their results."""
    jobs = (
        Job.objects.filter(dataset=dataset, kind__in=[Job.Kind.IMPORT, Job.Kind.PAIRS])
        .filter(Q(created_by=user) | Q(parameters__is_dry_run=False))
        .select_related("created_by")
        .defer("result")
        .order_by("-created_at", "-pk")
    )
    return list(jobs[:LISTED])


def projects_of(dataset: Dataset, user: User) -> QuerySet[Project]:
    return visible_projects(user).filter(dataset=dataset).order_by("title")


def documents_of(dataset: Dataset) -> QuerySet[Response]:
    """Documents that were generated for claims."""
    return Response.objects.published().filter(dataset=dataset, claim__isnull=False)
