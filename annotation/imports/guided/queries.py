"""Where a new study stands: what was sent, and read, of a data set that no project uses yet."""

from __future__ import annotations

from django.db.models import QuerySet
from django.urls import reverse

from annotation.imports.queries import ImportResult
from annotation.models import Dataset, Job, Upload, User
from annotation.projects.queries.next_steps import NextStep

LISTED = 10


def unfinished_studies(user: User) -> QuerySet[Dataset]:
    """The person's data sets with a file and no project, newest first."""
    begun = Upload.objects.filter(owner=user, dataset__isnull=False).values("dataset")
    return Dataset.objects.filter(owner=user, projects=None, pk__in=begun).order_by("-created_at", "-pk")[:LISTED]


def last_import(dataset: Dataset) -> Job | None:
    return dataset.jobs.filter(kind=Job.Kind.IMPORT).order_by("-pk").first()


def newest_uploads(dataset: Dataset, user: User) -> list[Upload]:
    """Files whose columns are yet to be checked: those that the person sent after the last import began."""
    sent = Upload.objects.filter(dataset=dataset, owner=user).order_by("pk")
    job = last_import(dataset)
    return list(sent.filter(created_at__gt=job.created_at) if job else sent)


def after_import(job: Job, result: ImportResult) -> NextStep:
    """People where they are to label; else the figures that the labels of the file give; else what the content is
    for."""
    if not result.project_slug:
        return NextStep("New project", f"{reverse('project_new')}?dataset={job.dataset_id}")
    title, name = "Go to the project", "project_detail"
    if result.is_guided and job.parameters["project"]["overlap"]:
        title, name = "Next: people and guidelines", "project_start"
    elif result.from_checkers:
        title, name = "See the verdict on the judge", "project_comparison"
    elif result.annotations:
        title, name = "See the agreement", "project_agreement"
    return NextStep(title, reverse(name, args=[result.project_slug]))
