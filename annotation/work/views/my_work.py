"""The page on which an annotator finds what they have answered and skipped, opens it again, and takes a skip back."""

import csv
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from annotation import incoming
from annotation.access import ANNOTATOR, assignment_for, project_for
from annotation.models import Project
from annotation.projects import searching
from annotation.projects.raters import rater_of
from annotation.work import assigning
from annotation.work.queries import own_work

PAGE_ROWS = 40


def item_url(project: Project, place) -> str:
    """The labelling page with this item, for the person who holds or has answered it."""
    return f"{reverse('work_page', args=[project.slug])}?{urlencode({'item': place})}"


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def my_work(request, slug):
    project = project_for(request.user, slug, ANNOTATOR)
    if request.method == "POST":
        return _take_back(request, project)
    rater = rater_of(project, request.user)
    if "number" in request.GET:
        return _go_to(request, project, rater)
    filters, labels = own_work.filters_of(project), own_work.label_filters(project)
    chosen, search = request.GET.get("filter", ""), request.GET.get("search", "").strip()[:400]
    if not incoming.is_storable(search):
        raise BadRequest(f"search {incoming.BAD_CHARACTER}")
    if chosen not in filters and chosen not in dict(labels):
        raise BadRequest("There is no such filter")
    page = Paginator(own_work.find(project, rater, chosen, search), PAGE_ROWS).get_page(request.GET.get("page"))
    days = own_work.days_of(rater)
    context = {
        "project": project,
        "filters": list(filters.items()),
        "labels": labels,
        "chosen": chosen,
        "search": search,
        "query": urlencode({"filter": chosen, "search": search}),
        "searched": _(searching.searched_words(project, searches_keys=False)),
        "page": page,
        "rows": own_work.rows_of(project, rater, page.object_list),
        "totals": own_work.totals_of(days),
        "agreed": own_work.agreement_of(project, rater) if project.shows_agreement else [],
    }
    return render(request, "annotation/work/my_work.html", context)


def _take_back(request, project: Project):
    try:
        uuid = incoming.uuid_of(request.POST.get("skip", ""))
    except incoming.Refused as refused:
        raise BadRequest(f"skip {refused}") from None
    try:
        row = assigning.take_back_skip(assignment_for(request.user, uuid), request.user)
    except assigning.AssigningError as error:
        messages.error(request, str(error))
        return redirect("my_work", project.slug)
    return redirect(item_url(project, row.uuid))


def _go_to(request, project: Project, rater):
    try:
        number = incoming.whole_in_words(request.GET["number"], 1, incoming.MAX_INTEGER)
    except incoming.Refused as refused:
        raise BadRequest(f"number {refused}") from None
    place = own_work.place_of(rater, number)
    if place is None:
        messages.error(request, _("You have no answer with the number {number}").format(number=f"{number:,}"))
        return redirect("my_work", project.slug)
    return redirect(item_url(project, place))


@login_required
@require_safe
def my_hours(request, slug):
    """Active time and answers of each day, as CSV."""
    project = project_for(request.user, slug, ANNOTATOR)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-hours.csv"'
    rows = csv.writer(response)
    rows.writerow(["day", "answers", "hours"])
    days = own_work.days_of(rater_of(project, request.user))
    rows.writerows((one.day.isoformat(), one.answers, f"{one.seconds / 3600:.4f}") for one in days)
    return response


urlpatterns = [
    path("projects/<slug:slug>/my-work/", my_work, name="my_work"),
    path("projects/<slug:slug>/my-work/hours.csv", my_hours, name="my_hours"),
]
