"""Remembers what was shown to whom about items besides their texts (`Shown`)."""

from __future__ import annotations

from collections.abc import Iterable

from annotation.models import Artifact, CheckerRun, Item, Job, Project, Shown, User


def showed(
    project: Project,
    user: User,
    items: Iterable[Item],
    runs: Iterable[CheckerRun],
    *,
    labels: bool,
    more: Iterable[str] = (),
) -> None:
    """That a page shows this person suggestions of the runs on the items, others' `labels` with their names, and what
    `more` names. To be called before the page is sent. Writes only what is new."""
    what = [*(str(run.uuid) for run in runs), *([Shown.LABELS] if labels else []), *more]
    ids = {item.pk for item in items}
    known = set(Shown.objects.filter(user=user, item__in=ids, what__in=what).values_list("item_id", "what"))
    _add(project, user, [(item, one) for item in sorted(ids) for one in what if (item, one) not in known])


def handed_out(user: User, artifact: Artifact, project: Project) -> None:
    """That a file of the project's labels was given to this person; a release holds the answers of finished runs,
    too."""
    what = {Shown.LABELS}
    if artifact.job.kind in (Job.Kind.RELEASE, Job.Kind.PUBLIC):
        runs = project.checker_runs.filter(job__state=Job.State.DONE, created_at__lte=artifact.created_at)
        what |= {str(uuid) for uuid in runs.values_list("uuid", flat=True)}
    record_exposure(project, user, what)


def record_exposure(project: Project, user: User, what: Iterable[str]) -> None:
    """That labels, or runs' answers, of any item were given to this person: in a file, or by the API."""
    what = set(what)
    known = Shown.objects.filter(user=user, project=project, item=None, what__in=what).values_list("what", flat=True)
    _add(project, user, [(None, one) for one in sorted(what - set(known))])


def _add(project: Project, user: User, rows: list[tuple[int | None, str]]) -> None:
    if rows:
        Shown.objects.bulk_create(
            [Shown(project=project, user=user, item_id=item, what=one) for item, one in rows], ignore_conflicts=True
        )
