"""Pages of figures. Nothing is computed here: stored reports are shown, and refreshed by workers when labels moved on."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from analysis import charts, queries
from analysis.models import StoredReport
from analysis.reports import stored
from analysis.reports.metrics import REPORTS
from annotation.access import project_with_labels_for
from annotation.models import UnitKind
from annotation.task_types import task_type

GROUPS = {"all": "Everybody", "members": "Members of the project", "imported": "Raters of imported files"}
REFERENCES = {"majority": "Majority of people", "imported": "Imported decisions", "adjudicated": "Adjudicated decisions"}


def _render(request, template: str, project, report: StoredReport | None, context: dict):
    """The page, or for htmx only the part that changes when the report is refreshed."""
    context = {
        "project": project,
        "has_rates": task_type(project.task_type).anchor_kind == UnitKind.RESPONSE,
        "report": report,
        "result": report.result if report else None,
        "is_refreshing": report is not None and stored.is_refreshing(report),
        "is_stale": report is not None and stored.is_stale(report),
        "failure": stored.failed(report) if report else "",
        "here": request.get_full_path(),
        **context,
    }
    if report is not None:
        context["behind"] = (
            reverse("project_behind", args=[project.slug, report.name])
            + "?"
            + urlencode({"report": report.parameters_hash})
        )
    part = "analysis/parts/" if request.htmx else "analysis/"
    return render(request, f"{part}{template}", context)


def _chosen(request, name: str, allowed, default: str) -> str:
    """A choice from the address; anything not offered is refused rather than guessed."""
    value = request.GET.get(name, "") or default
    if value not in allowed:
        raise Http404(f"{name} is one of {', '.join(allowed)}")
    return value


@login_required
@require_GET
def project_agreement(request, slug):
    project = project_with_labels_for(request.user, slug)
    raters = _chosen(request, "raters", GROUPS, "all")
    report = stored.stored_report(project, "agreement", {"raters": raters}, request.user)
    return _render(
        request, "agreement.html", project, report, {"raters": raters, "groups": GROUPS, "tab": "agreement"}
    )


@login_required
@require_GET
def project_comparison(request, slug):
    project = project_with_labels_for(request.user, slug)
    runs = queries.runs_with_suggestions(project)
    references = {name: REFERENCES[name] for name in queries.references_of(project)}
    if not runs:
        return _render(request, "comparison.html", project, None, {"runs": runs, "tab": "comparison"})
    run = _chosen(request, "run", [str(found.uuid) for found in runs], str(runs[0].uuid))
    reference = _chosen(request, "reference", references, "majority")
    touched = _chosen(request, "touched", ("0", "1"), "0") == "1"
    parameters = {"run": run, "reference": reference, "touched": touched}
    if score := request.GET.get("score", "")[:80]:
        parameters["score"] = score
    report = stored.stored_report(project, "comparison", parameters, request.user)
    result = report.result
    pictures = {}
    if result:
        pictures = {
            dimension["dimension"]: charts.confusion(dimension["confusion"], dimension["labels"])
            for dimension in result["dimensions"]
        }
    context = {
        "runs": runs,
        "run": run,
        "references": references,
        "reference": reference,
        "touched": touched,
        "pictures": pictures,
        "tab": "comparison",
    }
    return _render(request, "comparison.html", project, report, context)


@login_required
@require_GET
def project_rates(request, slug):
    project = project_with_labels_for(request.user, slug)
    if task_type(project.task_type).anchor_kind != UnitKind.RESPONSE:
        raise Http404("This project's items are not answers of models")
    references = {name: REFERENCES[name] for name in queries.references_of(project)}
    reference = _chosen(request, "reference", references, "majority")
    report = stored.stored_report(project, "rates", {"reference": reference}, request.user)
    return _render(
        request, "rates.html", project, report, {"references": references, "reference": reference, "tab": "rates"}
    )


@login_required
@require_GET
def project_behind(request, slug, name):
    """The items behind a figure, from the very computation that made the figure."""
    project = project_with_labels_for(request.user, slug)
    if name not in REPORTS:
        raise Http404("No such report")
    report = StoredReport.objects.filter(
        project=project, name=name, parameters_hash=request.GET.get("report", "")
    ).first()
    figure = request.GET.get("figure", "")
    if report is None or (report.result and not _figure_exists(report, figure)):
        raise Http404("No such figure")
    ids = report.behind.get(figure, [])
    page = Paginator(ids, 50).get_page(request.GET.get("page"))
    return render(
        request,
        "analysis/behind.html",
        {
            "project": project,
            "report": report,
            "title": REPORTS[name].title,
            "figure": figure.split("/"),
            "page": page,
            "rows": queries.items_of_units(project, list(page.object_list)),
            "query": urlencode({"report": report.parameters_hash, "figure": figure}),
        },
    )


def _figure_exists(report: StoredReport, figure: str) -> bool:
    return figure.split("/")[0] in {dimension["dimension"] for dimension in report.result.get("dimensions", [])}
