"""Releases that are kept with their project: asked for on its page, and found by their files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from analysis.models import Release
from analysis.sources.releases.files import digest_of
from annotation.access import visible_projects
from annotation.exports.releasing import artifact_path
from annotation.jobs.lifecycle import SameJob, create_job
from annotation.models import Artifact, Job, Project, User
from plugins.extras import why_missing

TABLES_NEED = "pyarrow"  # of each release


class FreezingProblem(ValueError):
    """Why there is no such release, about this field of the form."""

    field: str | None = None


class VersionTaken(FreezingProblem):
    """Another release of the project is called so."""

    field = "version"


def next_version(project: Project) -> str:
    """The version that a release is offered: the last one with its first number raised."""
    last = project.releases.exclude(version="").order_by("-number").values_list("version", flat=True).first()
    first = last.partition(".")[0] if last else ""
    return f"{int(first) + 1}.0.0" if first.isdigit() else "1.0.0" if not last else ""


def start_freezing(
    project: Project,
    user,
    note: str = "",
    version: str = "",
    others: Sequence[Project] = (),
    filters: dict[str, str] | None = None,
    decisions: str = "",
) -> Release:
    """A release with the next number, with the labels of `others` on the same data set as well; its job freezes the
    labels when a worker comes to it. SameJob where one with the same note waits for that already: it will hold the same
    labels. VersionTaken where the project has the version; FreezingProblem where its tables cannot be written here."""
    if missing := why_missing(TABLES_NEED):
        raise FreezingProblem(missing)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)  # two clicks get one release
        for waiting in project.releases.filter(note=note, job__state=Job.State.QUEUED).select_related("job"):
            wanted = set(waiting.others.all()), waiting.filters, waiting.decisions
            if wanted == (set(others), filters or {}, decisions):
                raise SameJob(waiting.job)
        if version and project.releases.filter(version=version).exists():
            raise VersionTaken(f"{project.title} already has a release {version}; choose another version")
        number = (project.releases.aggregate(last=Max("number"))["last"] or 0) + 1
        job = create_job(Job.Kind.RELEASE, user, chunks=[({}, 0)], project=project, parameters={"number": number})
        release = Release.objects.create(
            project=project,
            number=number,
            version=version,
            note=note,
            filters=filters or {},
            decisions=decisions,
            job=job,
            created_by=user,
        )
        release.others.set(others)
        return release


def keep_file(job: Job, path: Path, media_type: str, name: str = "") -> None:
    """Move a file to where the job's files are downloaded from. To be called in the transaction that completes it."""
    digest = digest_of(path)
    artifact = Artifact.objects.create(
        job=job, file_name=name or path.name, media_type=media_type, size=digest["bytes"], sha256=digest["sha256"]
    )
    target = artifact_path(artifact)
    target.parent.mkdir(parents=True, exist_ok=True)
    path.rename(target)


def file_stem(release: Release) -> str:
    return f"{release.project.slug}-release-{release.number}"


def releases_of(project: Project, user: User) -> QuerySet[Release]:
    """Those that hold the project's labels, also together with another's, whose projects this person all knows."""
    rows = Release.objects.filter(Q(project=project) | Q(others=project)).distinct()
    hidden = Project.objects.filter(dataset=project.dataset_id).exclude(pk__in=visible_projects(user).values("pk"))
    return rows.exclude(project__in=hidden).exclude(others__in=hidden)


def comparison_job(project: Project, before: Release, after: Release) -> Job | None:
    """The newest job that compares the two, whatever became of it."""
    jobs = project.jobs.filter(kind=Job.Kind.CHANGES, parameters=_compared(before, after))
    return jobs.order_by("-pk").first()


def start_comparing(project: Project, user, before: Release, after: Release) -> Job:
    """A job that compares the two; the one that is done or under way where there is one. What is frozen does not
    change, and nor does the result."""
    known = comparison_job(project, before, after)
    if known is not None and known.state not in (Job.State.FAILED, Job.State.CANCELLED):
        return known
    compared = _compared(before, after)
    return create_job(Job.Kind.CHANGES, user, chunks=[({}, 0)], project=project, parameters=compared)


def _compared(before: Release, after: Release) -> dict[str, str]:
    return {"before": str(before.uuid), "after": str(after.uuid)}


def withdraw(release: Release, user, reason: str) -> None:
    """Mark the release as not to be used any more, with the reason. Its files stay, so that citations can still be
    checked. The first reason stays."""
    rows = Release.objects.filter(pk=release.pk, withdrawn_at=None)
    rows.update(withdrawn_at=timezone.now(), withdrawn_by=user, withdrawal=reason)
    release.refresh_from_db()


def start_public_page(release: Release, user, with_comments: bool) -> Job:
    """A job that makes the files that everybody may have, and then opens the release's page. What people wrote to each
    other is in them where `with_comments`."""
    parameters = {"release": str(release.uuid), "with_comments": with_comments}
    return create_job(Job.Kind.PUBLIC, user, chunks=[({}, 0)], project=release.project, parameters=parameters)


def close_public_page(release: Release) -> None:
    """Nobody without an account reads it any more. What was downloaded is out of reach."""
    Release.objects.filter(pk=release.pk).update(public_since=None)


def public_jobs(release: Release) -> QuerySet[Job]:
    jobs = release.project.jobs.filter(kind=Job.Kind.PUBLIC, parameters__release=str(release.uuid))
    return jobs.order_by("-pk")
