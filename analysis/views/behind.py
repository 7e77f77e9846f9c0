"""The items behind a figure."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from analysis import queries, scopes
from analysis.behind.answers import answers_beside
from analysis.releases.files import ReleaseError
from analysis.reports.metrics import REPORTS
from analysis.views.behind_words import in_words
from analysis.views.frame import TABS, as_query
from analysis.views.stored import figures_served, stored_report_for
from annotation.access import project_with_labels_for
from annotation.services import showing
from annotation.services.label_access import PAGE

PER_PAGE = 50


@login_required
@require_safe
def project_behind(request, slug, name):
    """The items behind a figure, from the very computation that made the figure."""
    project = project_with_labels_for(request.user, slug)
    report = stored_report_for(request.user, project, name, request.GET.get("report", ""))
    figure = request.GET.get("figure", "")
    kind = REPORTS[name]
    ids = kind.units_behind(report.behind, figure)
    if ids is None:
        raise Http404("No such figure")
    figures_served(request, report, PAGE, with_answers=True)
    asked = as_query(report.parameters) | scopes.as_query(project, report.scope)
    page = Paginator(ids, PER_PAGE).get_page(request.GET.get("page"))
    rows = queries.items_of_units(project, list(page.object_list), with_passages=True)
    try:
        beside = answers_beside(report, figure, rows)
    except ReleaseError as error:
        raise Http404(str(error)) from None
    shown = [row.item for row in rows if row.item]
    showing.showed(project, request.user, shown, beside.shown_runs, labels=any(beside.people.values()))
    return render(
        request,
        "analysis/behind.html",
        {
            "project": project,
            "report": report,
            "title": kind.title,
            "figure": in_words(project, name, figure),
            "back": reverse(kind.page, args=kind.address(project.slug)) + "?" + urlencode(asked),
            "tab": TABS.get(name.replace("-", "_"), kind.own_page or "project_agreement"),
            "page": page,
            "rows": rows,
            "beside": beside,
            "query": urlencode({"report": report.parameters_hash, "figure": figure}),
        },
    )
