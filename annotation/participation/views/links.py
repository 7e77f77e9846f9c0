"""Pages on which researchers make and follow study links."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import RESEARCHER, project_for
from annotation.addresses import absolute
from annotation.editing import last_change, locked
from annotation.models import Project, SettingsChange, StudyLink
from annotation.participation import links
from annotation.participation.forms import StudyLinkForm

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
    people = link.participations.select_related("user").order_by("-pk")
    context = {
        "project": project,
        "link": link,
        "form": form,
        "address": address_of(request, link),
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


urlpatterns = [
    path("projects/<slug:slug>/study-links/", study_links, name="study_links"),
    path("projects/<slug:slug>/study-links/<uuid:uuid>/", study_link, name="study_link"),
    path("projects/<slug:slug>/study-links/<uuid:uuid>/state/", study_link_state, name="study_link_state"),
]
