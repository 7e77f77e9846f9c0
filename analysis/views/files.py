"""Tables of a stored report as files: all of them, or one."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.views.decorators.http import require_GET

from analysis.reports.metrics import REPORTS
from analysis.reports.tabular import WRITERS
from analysis.views.frame import chosen
from analysis.views.stored import stored_report_for
from annotation.access import project_with_labels_for

FILES = {"md": "text/markdown", "csv": "text/csv", "latex": "text/x-tex"}
ENDINGS = {"md": "md", "csv": "csv", "latex": "tex"}


@login_required
@require_GET
def project_report_tables(request, slug, name):
    """The tables of a stored report as a file; with `table`, one of them by its place."""
    project = project_with_labels_for(request.user, slug)
    form = chosen(request, "format", FILES, "md")
    asked = request.GET.get("report", "")
    report = stored_report_for(request.user, project, name, asked, computed_at__isnull=False)
    tables = REPORTS[name].tables(report.result)
    if place := request.GET.get("table", ""):
        if not place.isdecimal() or not int(place) < len(tables):
            raise Http404(f"The report has {len(tables)} tables, counted from 0; there is no {place!r}")
        tables = [tables[int(place)]]
    text = WRITERS[form](tables) + "\n"
    response = HttpResponse(text, content_type=f"{FILES[form]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-{name}.{ENDINGS[form]}"'
    return response
