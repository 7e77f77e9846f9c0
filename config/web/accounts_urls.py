"""Addresses around accounts: ours, and those of allauth that stay closed because invitations stand in their place."""

from django.conf import settings
from django.http import Http404
from django.urls import path, re_path

from annotation.demo import views
from annotation.projects.views import accounts, administration
from config.web import oidc


def closed(request, **kwargs):
    raise Http404("This way into an account is closed")


urlpatterns = [
    *accounts.urlpatterns,
    *administration.urlpatterns,
    *oidc.urlpatterns,
    *(views.urlpatterns if settings.DEMO else []),
    # Accounts come from invitations, and addresses belong to them.
    path("accounts/signup/", closed),
    path("accounts/email/", closed),
    re_path(r"^accounts/confirm-email/", closed),
    re_path(r"^accounts/login/code/", closed),
    # Who signs in with a provider alone would keep a password when the provider lets them in no more.
    path("accounts/password/set/", closed),
    # Accounts are linked by signing in.
    re_path(r"^accounts/(?:3rdparty|social)/", closed),
]
