"""The demo's one-click sign-in."""

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import login
from django.http import Http404
from django.shortcuts import redirect
from django.urls import path
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from annotation.demo.accounts import demo_account
from annotation.models import User
from annotation.projects.views.accounts import BACKEND


@require_POST
def demo_sign_in(request, slug):
    account = demo_account(slug) if settings.DEMO else None
    user = User.objects.filter(username=account.email, is_active=True).first() if account else None
    if user is None:
        raise Http404("No such demo account")
    login(request, user, backend=BACKEND)
    UserSession.objects.create_from_request(request)
    wanted = request.POST.get("next", "")
    is_here = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return redirect(wanted if is_here else "home")


urlpatterns = [path("demo/sign-in/<slug:slug>/", demo_sign_in, name="demo_sign_in")]
