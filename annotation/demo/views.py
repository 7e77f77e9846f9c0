"""The demo's one-click sign-in, and the page of all components."""

from allauth.usersessions.models import UserSession
from django import forms
from django.conf import settings
from django.contrib.auth import login
from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from annotation.demo import study
from annotation.demo.accounts import demo_account
from annotation.models import User
from annotation.participation.views.joining import begin_play
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


@require_POST
def demo_play(request):
    """Walk through the demo's study from its link on; at its end the browser is the researcher's."""
    link = study.link() if settings.DEMO else None
    if link is None:
        raise Http404("The demo has no study")
    return begin_play(request, link, link.created_by)


class ExampleForm(forms.Form):
    """A field of each kind; bound without data, it has errors."""

    title = forms.CharField(help_text="Shown to annotators.")
    note = forms.CharField(widget=forms.Textarea(attrs={"rows": 2}), required=False)
    order = forms.ChoiceField(choices=[("random", "Random"), ("file", "As in the file")], required=False)
    suggestions = forms.ChoiceField(
        choices=[("off", "Off"), ("after", "After the first answer")], widget=forms.RadioSelect, required=False
    )
    is_blind = forms.BooleanField(label="Hide the names of annotators", required=False)


@require_safe
def style(request):
    """Every component in light and in dark, for those who write pages."""
    if not settings.DEMO:
        raise Http404("Only the demo has this page")
    schemes = [(scheme, ExampleForm({}, prefix=scheme)) for scheme in ("light", "dark")]
    return render(request, "annotation/demo/style.html", {"schemes": schemes})


urlpatterns = [
    path("demo/sign-in/<slug:slug>/", demo_sign_in, name="demo_sign_in"),
    path("demo/play/", demo_play, name="demo_play"),
]
