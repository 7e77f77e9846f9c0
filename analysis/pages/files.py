"""Tables of a stored report as files: all of them, or one."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from analysis.figures.tabular import WRITERS, named
from analysis.models import StoredReport
from analysis.pages.stored import figures_served, stored_report_for
from analysis.reports.metrics import REPORTS
from annotation.access import project_with_labels_for
from annotation.work.label_access import FILE

FILES = {"md": "text/markdown", "csv": "text/csv", "latex": "text/x-tex"}
ENDINGS = {"md": "md", "csv": "csv", "latex": "tex"}


@login_required
@require_safe
def project_report_tables(request, slug, name):
    """The tables of a stored report as a file; with `table`, the one of that name. `version` is the computation that
    the page shows: once the report has been computed again, its tables are others."""
    project = project_with_labels_for(request.user, slug)
    form = request.GET.get("format", "") or "md"
    if form not in FILES:
        return _refused(f"format is one of {', '.join(FILES)}, not {form!r}", 404)
    asked = request.GET.get("report", "")
    report = stored_report_for(request.user, project, name, asked, computed_at__isnull=False)
    if outdated := computed_anew(request, report):
        return outdated
    tables = REPORTS[name].tables(report.result)
    if wanted := request.GET.get("table", ""):
        by_name = named(tables)
        if wanted not in by_name:
            return _refused(f"table is one of {', '.join(by_name) or 'none'}, not {wanted!r}", 404)
        tables = [by_name[wanted]]
    figures_served(request, report, FILE)
    text = WRITERS[form](tables) + "\n"
    response = HttpResponse(text, content_type=f"{FILES[form]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-{name}.{ENDINGS[form]}"'
    return response


def version_of(report: StoredReport) -> str:
    """Which computation the stored figures are of."""
    return report.computed_at.isoformat()


def computed_anew(request, report: StoredReport) -> HttpResponse | None:
    """The response if the page, of the `version` in the address, shows another computation than the stored."""
    if request.GET.get("version", "") in ("", version_of(report)):
        return None
    return _refused("These figures have been recomputed since; reload their page", 410)


def _refused(why: str, status: int) -> HttpResponse:
    return HttpResponse(f"{why}.\n", content_type="text/plain; charset=utf-8", status=status)
