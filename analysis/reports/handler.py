"""How workers compute what pages ask for."""

from __future__ import annotations

from urllib.parse import urlencode

from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from analysis.models import StoredReport
from analysis.reports.metrics import get_report
from analysis.reports.report import Report
from analysis.reports.stored import is_outdated, version_of
from analysis.sources.base import Source
from analysis.sources.scoped import scoped
from annotation.jobs.lifecycle import JobError, Lease
from annotation.models import Chunk, Job
from annotation.projects.preparing import refuse_preparing


def drawn(report: StoredReport, kind: Report, result: dict) -> dict:
    """The report's pictures by name: what they show, and the SVG for its page, whose places open the items behind."""
    from analysis.figures.pictures.themed import themed  # matplotlib: first figures do not wait for it

    behind = reverse("project_behind", args=[report.project.slug, report.name])

    def address(figure: str) -> str:
        return f"{behind}?{urlencode({'report': report.parameters_hash, 'figure': figure})}"

    return {
        picture.name: {"spec": picture.to_dict(), "svg": themed(picture, address)} for picture in kind.pictures(result)
    }


class ReportHandler:
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        report = StoredReport.objects.select_related("project").filter(pk=chunk.payload["report"]).first()
        if report is None:
            raise JobError("The report was removed")
        version = version_of(report)  # before the labels are read: what comes later makes it stale
        kind = get_report(report.name)
        try:
            source = scoped(report.project, report.scope)
            if report.computed_at is None and kind.quick:
                self._show_first_figures(report, kind, source)
            result = kind.compute(source, **report.parameters)
        except ValueError as error:
            raise JobError(str(error)) from error
        if "release" not in report.scope:
            refuse_preparing(report.project)  # an import that began meanwhile may be half in these figures
        pictures = drawn(report, kind, result)
        behind = result.pop("behind", {})
        with transaction.atomic():
            StoredReport.objects.filter(pk=report.pk).update(
                result=result,
                behind=kind.stored_behind(source, behind),
                pictures=pictures,
                is_partial=False,
                label_version=version,
                computed_at=timezone.now(),
            )
            _forget_outdated(report)
            lease.complete()

    def _show_first_figures(self, report: StoredReport, kind: Report, source: Source) -> None:
        """What nobody has seen before shows its numbers while intervals and tests are still being computed."""
        result = kind.compute(source, quick=True, **report.parameters)
        behind = kind.stored_behind(source, result.pop("behind", {}))
        first = StoredReport.objects.filter(pk=report.pk, computed_at=None)
        first.update(result=result, behind=behind, is_partial=True, computed_at=timezone.now())

    def finish(self, job: Job, lease: Lease) -> dict:
        return {}

    def clean_up(self, job: Job) -> None:
        """Nothing is staged; the last good result stays."""


def _forget_outdated(report: StoredReport) -> None:
    """Remove what other versions of Assay and of packages stored of this project's report.

    `report` itself stays: while Assay is being upgraded, a worker may be older than the pages that ask it.
    """
    stored = StoredReport.objects.filter(project=report.project, name=report.name).exclude(pk=report.pk)
    rows = stored.select_related("project").only("name", "parameters", "scope", "parameters_hash", "project__task_type")
    stored.filter(pk__in=[row.pk for row in rows if is_outdated(row)]).delete()


HANDLER = ReportHandler()
