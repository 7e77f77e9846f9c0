"""Pages of a person who comes by a study link, and of one who comes back."""

from allauth.core.internal.ratelimit import consume
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_required
from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import ANNOTATOR, RESEARCHER, project_for
from annotation.addresses import absolute
from annotation.models import Participation, StudyLink, User
from annotation.participation import joining, leaving, links, panels
from annotation.participation.forms import ReturnForm
from annotation.participation.views.links import link_for
from annotation.projects import managing

BACKEND = settings.AUTHENTICATION_BACKENDS[0]


def sign_in(request, user: User) -> None:
    login(request, user, backend=BACKEND)
    UserSession.objects.create_from_request(request)


@require_http_methods(["GET", "HEAD", "POST"])
def study(request, token):
    """Says what the link leads to; the button joins, with the account that is signed in or with a new one."""
    link = StudyLink.objects.select_related("project").filter(token=token).first()
    if link is None:
        # Only what fails counts: hundreds of people may come from one address.
        if not consume(request, app="allauth.account", action="accept_invitation", limit_get=True):
            return render(request, "429.html", status=429)
        raise Http404("No such study")
    user = request.user
    if link.panel:
        return _from_panel(request, link)
    found = joining.participation_of(user, link.project) if user.is_authenticated else None
    if found is not None:
        return _lead_on(found)
    try:
        if request.method == "POST" and user.is_authenticated:
            return _lead_on(joining.join(link, user))
        if request.method == "POST":
            made, code = joining.join_as_new(link, click=request.POST.get("click", ""))
            sign_in(request, made.user)
            return _code_page(request, made, code)
    except joining.CannotJoin as error:
        return _study_page(request, link, str(error), 410)
    problem = links.obstacle(link)
    return _study_page(request, link, problem, 410 if problem else 200)


def _from_panel(request, link: StudyLink):
    """The panel says who it is, whatever account is signed in with this browser."""
    try:
        ids = panels.ids_in(link, request.GET)
    except panels.PanelError as error:
        return _study_page(request, link, str(error), 403)
    found = joining.participation_by(link.project, ids)
    if found is not None and request.user == found.user:
        return _lead_on(found)
    if request.method == "POST":
        try:
            found, _ = joining.join_as_new(link, ids)
        except joining.CannotJoin as error:
            return _study_page(request, link, str(error), 410)
        sign_in(request, found.user)
        return _lead_on(found)
    problem = "" if found is not None else links.obstacle(link)
    return _study_page(request, link, problem, 410 if problem else 200, found)


def _study_page(request, link: StudyLink, problem: str, status: int, found: Participation | None = None):
    context = {"link": link, "problem": problem, "found": found, "click": joining.new_code()}
    return render(request, "annotation/participation/study.html", context, status=status)


def _lead_on(participation: Participation):
    """To their next step, or to how it ended."""
    has_withdrawn = participation.state == Participation.State.WITHDRAWN
    has_ended = participation.state != Participation.State.ACTIVE
    page = "taking_part" if has_withdrawn else "finish_study" if has_ended else "project_detail"
    return redirect(page, participation.project.slug)


def _code_page(request, participation: Participation, code: str):
    """The only page that shows the code."""
    context = {
        "project": participation.project,
        "code": code,
        "address": absolute(request, reverse("return_to_study") + f"?code={code}"),
    }
    return render(request, "annotation/participation/code.html", context)


@login_required
@require_POST
def new_return_code(request, slug):
    project = project_for(request.user, slug, ANNOTATOR)
    found = joining.participation_of(request.user, project)
    code = joining.renew_code(found) if found else ""
    if not code:
        raise Http404("You sign in to this project by other means")
    found.project = project
    return _code_page(request, found, code)


PLAYER = "player"  # in the session of a test participant: who plays, with what ends their sessions


@login_required
@require_POST
def play(request, slug, uuid):
    """Walk through the study as a test participant, signed in with this browser until the researcher ends it."""
    return begin_play(request, link_for(project_for(request.user, slug, RESEARCHER), uuid), request.user)


def begin_play(request, link: StudyLink, player: User):
    """Sign in as a new test participant, until `player` is who they are again."""
    sign_in(request, joining.join_to_play(link).user)
    request.session[PLAYER] = [player.pk, player.get_session_auth_hash()]
    return redirect("project_detail", link.project.slug)


@login_required
@require_POST
def end_play(request):
    """Back to the account of the researcher, where it is still theirs to use."""
    pk, digest = request.session.get(PLAYER) or (None, "")
    found = Participation.objects.filter(user=request.user, is_test=True).select_related("project", "link").first()
    if pk is None or found is None:
        raise Http404("You play no participant")
    leaving.end(found, Participation.State.RETURNED)
    managing.remove_member(found.project, request.user, ANNOTATOR)
    player = User.objects.filter(pk=pk, is_active=True).first()
    if player is None or not constant_time_compare(player.get_session_auth_hash(), digest):
        logout(request)
        return redirect("account_login")
    sign_in(request, player)
    return redirect("study_link", found.project.slug, found.link.uuid)


@sensitive_post_parameters("code")
@require_http_methods(["GET", "HEAD", "POST"])
def study_return(request):
    """Signs in who has a return code. Wrong codes are limited as wrong passwords are."""
    form = ReturnForm(request.POST if request.method == "POST" else None, initial={"code": request.GET.get("code", "")})
    if request.method == "POST" and form.is_valid():
        usage = consume(request, app="allauth.account", action="return_failed")
        if not usage:
            return render(request, "429.html", status=429)
        found = joining.returning(form.cleaned_data["code"])
        if found is not None:
            usage.rollback()
            sign_in(request, found.user)
            return _lead_on(found)
        form.add_error("code", gettext("No participant has this code"))
    return render(request, "annotation/participation/return.html", {"form": form})


urlpatterns = [
    path("return/", study_return, name="return_to_study"),
    path("join/<str:token>/", study, name="join_study"),
    path("projects/<slug:slug>/study-links/<uuid:uuid>/play/", play, name="play_participant"),
    path("play/end/", end_play, name="end_play"),
    path("projects/<slug:slug>/return-code/", new_return_code, name="new_return_code"),
]
