"""The items behind a figure."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from analysis import queries, scopes
from analysis.figures.items import Filter, Items
from analysis.pages.frame import as_query
from analysis.pages.items import answers_on
from analysis.pages.stored import figures_served, stored_report_for
from analysis.reports.metrics import REPORTS
from analysis.sources.releases.files import ReleaseError
from annotation.access import project_with_labels_for
from annotation.work import showing
from annotation.work.label_access import PAGE

PER_PAGE = 50


@login_required
@require_safe
def project_behind(request, slug, name):
    """The items behind a figure, from the very computation that made the figure."""
    project = project_with_labels_for(request.user, slug)
    report = stored_report_for(request.user, project, name, request.GET.get("report", ""))
    figure = request.GET.get("figure", "")
    kind = REPORTS[name]
    try:
        items, wanted = Items.from_json(report.behind), Filter.decoded(figure)
        ids = items.units_of(wanted)
    except (KeyError, ValueError):
        raise Http404("No such figure") from None
    figures_served(request, report, PAGE, with_answers=True)
    asked = as_query(report.parameters) | scopes.as_query(project, report.scope)
    page = Paginator(ids, PER_PAGE).get_page(request.GET.get("page"))
    rows = queries.items_of_units(project, list(page.object_list), with_passages=True)
    try:
        answers = answers_on(report, items, wanted, rows)
    except ReleaseError as error:
        raise Http404(str(error)) from None
    shown = [row.item for row in rows if row.item]
    showing.showed(project, request.user, shown, answers.shown_runs, labels=any(answers.people.values()))
    return render(
        request,
        "analysis/behind.html",
        {
            "project": project,
            "report": report,
            "title": kind.title,
            "figure": answers.figure,
            "back": reverse(kind.page, args=kind.address(project.slug)) + "?" + urlencode(asked),
            "tab": kind.tab,
            "page": page,
            "rows": [row.marked(answers.spans_of(row.unit.pk)) for row in rows],
            "beside": answers,
            "query": urlencode({"report": report.parameters_hash, "figure": figure}),
        },
    )
