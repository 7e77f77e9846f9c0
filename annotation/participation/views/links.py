"""Pages on which researchers make and follow study links."""

import csv

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import RESEARCHER, project_for
from annotation.addresses import absolute
from annotation.editing import last_change, locked
from annotation.formats.files.spreadsheets import as_cell
from annotation.models import Annotation, Participation, Project, SettingsChange, StudyLink
from annotation.participation import leaving, links, panels
from annotation.participation.forms import OutcomeForm, StudyLinkForm

PER_PAGE = 40
ACTIONS = {"close": links.close_link, "reopen": links.reopen_link}


def address_of(request, link: StudyLink) -> str:
    return absolute(request, reverse("join_study", args=[link.token]))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def study_links(request, slug):
    project = project_for(request.user, slug, RESEARCHER)
    form = StudyLinkForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        made = links.make_link(project, request.user, **form.values)
        messages.success(request, "The link works from now on")
        return redirect("study_link", slug, made.uuid)
    page = Paginator(project.study_links.order_by("-pk"), PER_PAGE).get_page(request.GET.get("page"))
    rows = [(one, links.state_of(one), address_of(request, one)) for one in page]
    context = {"project": project, "form": form, "page": page, "rows": rows}
    return render(request, "annotation/participation/links.html", context)


def link_for(project: Project, uuid) -> StudyLink:
    link = get_object_or_404(StudyLink.objects.select_related("created_by"), project=project, uuid=uuid)
    link.project = project
    return link


def people_of(link: StudyLink) -> QuerySet[Participation]:
    """Those who came by the link, with the number of items that they answered."""
    own = Annotation.objects.filter(rater__user=OuterRef("user"), rater__project=link.project)
    answered = Subquery(own.order_by().values("rater").annotate(n=Count("pk")).values("n"))
    return link.participations.select_related("user").annotate(answered=Coalesce(answered, 0))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def study_link(request, slug, uuid):
    """The link with its QR code, who joined by it, and the form that changes it."""
    project = project_for(request.user, slug, RESEARCHER)
    link = link_for(project, uuid)
    with locked(link, request.method == "POST"):
        link.project = project
        form = StudyLinkForm(request.POST if request.method == "POST" else None, link=link)
        if request.method == "POST" and form.is_valid():
            try:
                links.update_link(link, request.user, **form.values)
            except links.LinkError as error:
                form.add_error("places", str(error))
            else:
                messages.success(request, "Saved")
                return redirect("study_link", slug, uuid)
    if form.has_conflict:
        form.last_change = last_change(project, SettingsChange.What.STUDY_LINK, link.title)
        link.refresh_from_db()
    leaving.end_timed_out(link)
    people = people_of(link).order_by("-pk")
    context = {
        "project": project,
        "link": link,
        "form": form,
        "address": address_of(request, link) + (f"?{panels.query_of(link)}" if link.panel else ""),
        "panel": panels.PANELS.get(link.panel),
        "outcomes": panels.OUTCOMES.items(),
        "state": links.state_of(link),
        "obstacle": links.obstacle(link),
        "page": Paginator(people, PER_PAGE).get_page(request.GET.get("page")),
    }
    return render(request, "annotation/participation/link.html", context, status=409 if form.has_conflict else 200)


@login_required
@require_POST
def study_link_state(request, slug, uuid):
    link = link_for(project_for(request.user, slug, RESEARCHER), uuid)
    action = ACTIONS.get(request.POST.get("do", ""))
    if action is None:
        return HttpResponse("There is no such step", status=400, content_type="text/plain")
    action(link, request.user)
    return redirect("study_link", slug, uuid)


@login_required
@require_POST
def participant_outcome(request, slug, uuid, person):
    """How a participation ended, where the panel knows and Assay does not."""
    link = link_for(project_for(request.user, slug, RESEARCHER), uuid)
    found = get_object_or_404(link.participations.select_related("user"), uuid=person)
    form = OutcomeForm(request.POST)
    if not form.is_valid():
        return HttpResponse("There is no such outcome", status=400, content_type="text/plain")
    if leaving.end(found, form.cleaned_data["outcome"]):
        messages.success(request, f"{found.user}: {found.get_state_display().lower()}")
    else:
        messages.info(request, f"{found.user} had ended already: {found.get_state_display().lower()}")
    return redirect("study_link", slug, uuid)


@login_required
@require_safe
def participants_csv(request, slug, uuid):
    """Who came by the link and how it ended, by the ids of the panel, which pays by them."""
    link = link_for(project_for(request.user, slug, RESEARCHER), uuid)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-participants.csv"'
    writer = csv.writer(response)
    writer.writerow(["participant", "study", "session", "outcome", "joined_at", "ended_at", "items"])
    for one in people_of(link).filter(is_test=False).order_by("pk"):
        ids = (one.panel_participant, one.panel_study, one.panel_session)
        ended = one.ended_at.isoformat() if one.ended_at else ""
        writer.writerow([*map(as_cell, ids), one.state, one.joined_at.isoformat(), ended, one.answered])
    return response


urlpatterns = [
    path("projects/<slug:slug>/study-links/", study_links, name="study_links"),
    path("projects/<slug:slug>/study-links/<uuid:uuid>/", study_link, name="study_link"),
    path("projects/<slug:slug>/study-links/<uuid:uuid>/participants.csv", participants_csv, name="participants_csv"),
    path(
        "projects/<slug:slug>/study-links/<uuid:uuid>/people/<uuid:person>/",
        participant_outcome,
        name="participant_outcome",
    ),
    path("projects/<slug:slug>/study-links/<uuid:uuid>/state/", study_link_state, name="study_link_state"),
]
