"""The history of a project: who changed what, and when."""

import csv
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from annotation import incoming
from annotation.access import RESEARCHER, project_for
from annotation.formats.files.spreadsheets import as_cell
from annotation.projects.queries import history

PER_PAGE = 40


def _asked(request) -> tuple[str, str]:
    """The kind of changes and the person that are asked for; both may be empty."""
    what, person = request.GET.get("what", ""), request.GET.get("person", "").strip()[:400]
    if what and what not in history.KINDS:
        raise BadRequest(f"what is one of {', '.join(history.KINDS)}")
    if not incoming.is_storable(person):
        raise BadRequest(f"person {incoming.BAD_CHARACTER}")
    return what, person


@login_required
@require_safe
def settings_history(request, slug):
    project = project_for(request.user, slug, RESEARCHER)
    what, person = _asked(request)
    page = Paginator(history.changes_of(project, what, person), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "project": project,
        "page": page,
        "rows": [(one, list(history.values_of(one))) for one in page.object_list],
        "kinds": list(history.KINDS.items()),
        "what": what,
        "person": person,
        "query": urlencode({name: value for name, value in (("what", what), ("person", person)) if value}),
    }
    return render(request, "annotation/projects/history.html", context)


@login_required
@require_safe
def history_csv(request, slug):
    """A line for each value that changed."""
    project = project_for(request.user, slug, RESEARCHER)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-history.csv"'
    writer = csv.writer(response)
    writer.writerow(["at", "who", "what", "about", "name", "before", "after"])
    for one in history.changes_of(project, *_asked(request)).iterator(chunk_size=1000):
        for name, *values in history.values_of(one):
            cells = [history.done_by(one), one.what, one.about, name, *map(_in_a_cell, values)]
            writer.writerow([one.at.isoformat(timespec="seconds"), *map(as_cell, cells)])
    return response


def _in_a_cell(value: object) -> str:
    if isinstance(value, list):
        return "; ".join(map(str, value))
    return "" if value is None else str(value)


urlpatterns = [
    path("projects/<slug:slug>/settings/history/", settings_history, name="settings_history"),
    path("projects/<slug:slug>/settings/history.csv", history_csv, name="history_csv"),
]
