"""Pages of a person who comes by a study link, and of one who comes back."""

from allauth.core.internal.ratelimit import consume
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import ANNOTATOR, project_for
from annotation.addresses import absolute
from annotation.models import Participation, StudyLink, User
from annotation.participation import joining, links
from annotation.participation.forms import ReturnForm

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
    found = joining.participation_of(user, link.project) if user.is_authenticated else None
    if found is not None:
        return _lead_on(found)
    try:
        if request.method == "POST" and user.is_authenticated:
            return _lead_on(joining.join(link, user))
        if request.method == "POST":
            made, code = joining.join_as_new(link)
            sign_in(request, made.user)
            return _code_page(request, made, code)
    except joining.CannotJoin as error:
        return render(request, "annotation/participation/study.html", {"link": link, "problem": error}, status=410)
    problem = links.obstacle(link)
    context = {"link": link, "problem": problem}
    return render(request, "annotation/participation/study.html", context, status=410 if problem else 200)


def _lead_on(participation: Participation):
    is_active = participation.state == Participation.State.ACTIVE
    return redirect("project_detail" if is_active else "taking_part", participation.project.slug)


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
        form.add_error("code", "No participant has this code")
    return render(request, "annotation/participation/return.html", {"form": form})


urlpatterns = [
    path("return/", study_return, name="return_to_study"),
    path("join/<str:token>/", study, name="join_study"),
    path("projects/<slug:slug>/return-code/", new_return_code, name="new_return_code"),
]
