"""Reports for pages: computed by workers, kept with the version of the labels, refreshed when that has moved on."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from analysis.figures.results import SHAPE
from analysis.models import StoredReport
from analysis.reports.metrics import get_report
from annotation import __version__
from annotation.jobs.lifecycle import create_job, has_room
from annotation.models import Job, Project, User
from annotation.work.queries.work import label_version
from plugins import packages_of

# A report that took longer than this is not computed again before it has rested for so many times as long.
FREE_SECONDS = 2.0
REST_PER_SECOND = 5


def parameters_hash(project: Project, name: str, parameters: dict, scope: dict | None = None) -> str:
    # Pages meet no result that other code computed.
    made_by = [SHAPE, __version__, *packages_of({"assay.reports": name, "assay.task_types": project.task_type})]
    asked = [made_by, parameters, scope] if scope else [made_by, parameters]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def is_outdated(report: StoredReport) -> bool:
    """Whether another version of Assay or of a package computed it, so that no page asks for it any more."""
    return report.parameters_hash != parameters_hash(report.project, report.name, report.parameters, report.scope)


def stored_report(project: Project, name: str, parameters: dict, user, scope: dict | None = None) -> StoredReport:
    """The report as last computed. Where it is missing or stale (`was_stale`), a job to compute it is on its way.

    `scope` says which labels (`analysis.scopes`); a release's never grow stale.
    """
    get_report(name)
    reports = StoredReport.objects.defer("behind").select_related("job", "project")
    report, _ = reports.get_or_create(
        project=project,
        name=name,
        parameters_hash=parameters_hash(project, name, parameters, scope),
        defaults={"parameters": parameters, "scope": scope or {}},
    )
    report.was_stale = is_stale(report)
    if report.was_stale and not is_refreshing(report) and not is_resting(report) and has_room_for_reports(user):
        refresh(report, user)
    return report


def newest_report(project: Project, name: str) -> StoredReport | None:
    """The newest computed result on all labels, with any options; its `result` is read when it is asked for."""
    results = StoredReport.objects.filter(project=project, name=name, scope={}, computed_at__isnull=False)
    # Every choice of options has a result: what they found is read of one alone.
    results = results.defer("behind", "pictures", "result").select_related("job", "project")
    return next((one for one in results.order_by("-computed_at") if not is_outdated(one)), None)


def has_room_for_reports(user: User) -> bool:
    """Whether one more computation may be queued for this person: who opens many pages at once gets them one after the
    other, since each page asks again until it has its figures."""
    return has_room(user) and has_room(user, Job.Kind.REPORT, settings.REPORTS_PER_PERSON)


def is_stale(report: StoredReport) -> bool:
    if report.is_partial or report.computed_at is None:
        return True
    if report.scope.get("release"):
        return False
    return report.label_version != version_of(report)


def version_of(report: StoredReport) -> int:
    """Grows with the labels of every project that the report reads."""
    siblings = get_report(report.name).sibling_slugs(report.parameters)
    others = Project.objects.filter(slug__in=siblings) if siblings else ()
    return label_version(report.project) + sum(map(label_version, others))


def is_resting(report: StoredReport) -> bool:
    """Whether it was computed so recently that doing it again at every new label would keep a worker busy all day."""
    job = report.job
    if report.computed_at is None or job is None or not job.started_at or not job.finished_at:
        return False
    spent = (job.finished_at - job.started_at).total_seconds()
    return spent > FREE_SECONDS and timezone.now() < job.finished_at + timedelta(seconds=spent * REST_PER_SECOND)


def is_refreshing(report: StoredReport) -> bool:
    return report.job is not None and not report.job.is_finished


def failed(report: StoredReport) -> str:
    """Why the newest computation failed; empty where it did not."""
    return report.job.message if report.job is not None and report.job.state == Job.State.FAILED else ""


def refresh(report: StoredReport, user) -> None:
    """Start one computation; where another request just did, this one does nothing."""
    with transaction.atomic():
        locked = StoredReport.objects.select_for_update().select_related(None).get(pk=report.pk)
        current = Job.objects.filter(pk=locked.job_id).first() if locked.job_id else None
        if current is not None and not current.is_finished:
            report.job = current
            return
        version = version_of(report)
        if current is not None and current.state == Job.State.FAILED and current.parameters.get("version") == version:
            return  # the same labels would fail the same way
        report.job = create_job(
            Job.Kind.REPORT,
            user,
            chunks=[({"report": report.pk}, 0)],
            project=report.project,
            parameters={"name": report.name, "version": version, **report.parameters},
        )
        StoredReport.objects.filter(pk=report.pk).update(job=report.job)
