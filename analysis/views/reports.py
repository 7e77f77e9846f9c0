"""The page of any report that has no template of its own, and the list of all that a project can have."""

from django.contrib.auth.decorators import login_required
from django.http import Http404
from django.shortcuts import render
from django.views.decorators.http import require_GET

from analysis.pictures import from_dict
from analysis.reports.metrics import REPORTS
from analysis.reports.tabular import Table
from analysis.sources.database import DatabaseSource
from analysis.views.frame import render_report, report_of
from annotation.access import project_with_labels_for


@login_required
@require_GET
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
@require_GET
def project_report(request, slug, name):
    project = project_with_labels_for(request.user, slug)
    report = REPORTS.get(name)
    if report is None or report.own_page:
        raise Http404("There is no such report")
    context = {"kind": report, "tab": "project_agreement"}
    if reason := report.fits(project.type):
        return render_report(request, "report", project, None, context | {"problem": reason})
    source = DatabaseSource(project, request.user)
    given = {option.name: request.GET.get(option.name) for option in report.options}
    try:
        values = report.values(source, given)
    except ValueError as error:
        # Numbers are typed into the form, so whoever gave a wrong one has to read what it could have been.
        is_wrong = any(given.values())
        said = {"problem": _as_the_form_says(report, str(error)), "is_wrong": is_wrong}
        page = render_report(request, "report", project, None, context | said)
        page.status_code = 404 if is_wrong else 200
        return page
    stored = report_of(request, project, name, values)
    context["options"] = [(option, values[option.name], option.offered(source)) for option in report.options]
    context["parts"] = [_part(part, stored) for part in report.body(stored.result)] if stored.result else []
    return render_report(request, "report", project, stored, context)


def _as_the_form_says(report, message: str) -> str:
    """What is wrong with an option, by the title that stands beside its field instead of the name in the address."""
    named = next((option for option in report.options if message.startswith(f"{option.name} is ")), None)
    return f"“{named.title}” {message.removeprefix(named.name).strip()}" if named else message


def _part(part, stored) -> dict:
    """A table, or a picture as it was drawn when the report was computed; nothing while it is not drawn yet."""
    if isinstance(part, Table):
        return {"table": part}
    found = stored.pictures.get(part.name)
    return {"picture": from_dict(found["spec"]), "svg": found["svg"]} if found else {}
