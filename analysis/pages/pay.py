"""Hours, items and pay of a project's people, as a page and as files."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from analysis.progress import pay, people
from annotation import incoming
from annotation.access import ANNOTATOR, RESEARCHER, project_for
from annotation.work.hours import HOW


@login_required
@require_safe
def project_pay(request, slug):
    project = project_for(request.user, slug, RESEARCHER)
    search = request.GET.get("search", "").strip()[:400]
    if not incoming.is_storable(search):
        raise BadRequest(f"search {incoming.BAD_CHARACTER}")
    counted = people.counted_people(project)
    rows = people.people_of(project, counted)
    page = Paginator(people.found_in(rows, search), people.PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "project": project,
        "counted": counted,
        "page": page,
        "rows": [(row, pay.pay_of(project, row)) for row in page.object_list],
        "total": sum(pay.pay_of(project, row).total for row in rows),
        "search": search,
        "query": urlencode({"search": search} if search else {}),
        "rule": pay.rule_of(project),
        "how": HOW.format(pause=project.pay_pause_minutes),
        "rounding": pay.ROUNDING,
        "has_panel": project.participations.exclude(panel_participant="").exists(),
    }
    return render(request, "analysis/pay.html", context)


def _file(request, slug: str, write, name: str) -> HttpResponse:
    project = project_for(request.user, slug, RESEARCHER)
    counted = people.counted_people(project)
    if counted.is_waiting:
        return HttpResponse("The work is being counted; try again in a minute", status=409, content_type="text/plain")
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-{name}.csv"'
    write(response, project, people.people_of(project, counted), counted)
    return response


@login_required
@require_safe
def pay_csv(request, slug):
    """By pseudonym."""
    return _file(request, slug, pay.write_people, "pay")


@login_required
@require_safe
def panel_pay_csv(request, slug):
    """By the ids of the panel, which pays by them."""
    return _file(request, slug, pay.write_panel, "pay-with-panel-ids")


@login_required
@require_safe
def own_pay(request, slug):
    """What an annotator has earned so far, as a part of the page of their own work."""
    project = project_for(request.user, slug, ANNOTATOR)
    if not project.shows_pay or not project.pay_rate:
        raise Http404("This project shows no pay")
    counted = people.counted_people(project)
    row = next((one for one in people.people_of(project, counted) if one.user_id == request.user.pk), None)
    context = {"project": project, "counted": counted, "pay": row and pay.pay_of(project, row)}
    return render(request, "analysis/own_pay.html", context)


urlpatterns = [
    path("projects/<slug:slug>/pay/", project_pay, name="project_pay"),
    path("projects/<slug:slug>/my-work/pay/", own_pay, name="own_pay"),
    path("projects/<slug:slug>/pay/people.csv", pay_csv, name="pay_csv"),
    path("projects/<slug:slug>/pay/panel.csv", panel_pay_csv, name="panel_pay_csv"),
]
