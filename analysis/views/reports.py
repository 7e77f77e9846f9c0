"""The page of any report that has no template of its own, and the list of all that a project can have."""

from django.contrib.auth.decorators import login_required
from django.http import Http404
from django.shortcuts import render
from django.views.decorators.http import require_safe

from analysis.pictures import from_dict
from analysis.reports.metrics import REPORTS
from analysis.reports.options import Option
from analysis.reports.tabular import Table
from analysis.sources import Source
from analysis.sources.database import DatabaseSource
from analysis.views.asked import Asked
from analysis.views.frame import render_report, report_of
from annotation.access import project_with_labels_for


@login_required
@require_safe
def project_reports(request, slug):
    """What can be asked here, and what cannot, with the reason."""
    project = project_with_labels_for(request.user, slug)
    kinds = [(report, report.fits(project.type)) for report in REPORTS.values()]
    context = {
        "project": project,
        "tab": "project_agreement",
        "fitting": [report for report, reason in kinds if not reason],
        "others": [(report, reason) for report, reason in kinds if reason],
    }
    return render(request, "analysis/reports.html", context)


@login_required
@require_safe
def project_report(request, slug, name):
    project = project_with_labels_for(request.user, slug)
    report = REPORTS.get(name)
    if report is None or report.own_page:
        raise Http404("There is no such report")
    context = {"kind": report, "tab": "project_agreement"}
    asked = Asked(request, project, name)
    if reason := report.fits(project.type):
        return render_report(asked, None, context | {"missing": reason})
    source = DatabaseSource(project, request.user)
    try:
        values = {option.name: asked.value(option, source) for option in report.options}
    except ValueError as error:
        return render_report(asked, None, context | {"missing": str(error)})
    stored = report_of(asked, values)
    context["options"] = [_field(option, values[option.name], source) for option in report.options]
    context["parts"] = [_part(part, stored) for part in report.body(stored.result)] if stored and stored.result else []
    return render_report(asked, stored, context)


def _field(option: Option, value: object, source: Source) -> tuple[Option, object, dict[str, str], bool]:
    """An option with its value, what can be chosen, and whether there is anything to choose."""
    offered = option.offered(source)
    return option, value, offered, option.has_choice(offered)


def _part(part, stored) -> dict:
    """A table, or a picture as it was drawn when the report was computed; nothing while it is not drawn yet."""
    if isinstance(part, Table):
        return {"table": part}
    found = stored.pictures.get(part.name)
    return {"picture": from_dict(found["spec"]), "svg": found["svg"]} if found else {}
