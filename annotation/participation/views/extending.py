"""The page on which researchers extend last days; it says first what that does."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods

from annotation.access import RESEARCHER, project_for
from annotation.participation import extending
from annotation.participation.forms import ExtendForm


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def extend_last_days(request, slug):
    project = project_for(request.user, slug, RESEARCHER)
    found = extending.deadlines(project)
    form = ExtendForm(request.POST if request.method == "POST" else None, deadlines=found)
    moved, digest = [], ""
    if request.method == "POST" and form.is_valid():
        keys, day = form.cleaned_data["deadlines"], form.cleaned_data["day"]
        try:
            if expected := request.POST.get("confirmed"):
                n = extending.extend(project, request.user, keys, day, expected)
                messages.success(request, f"{n:,} last day{'s' * (n != 1)} moved to {day:%-d %B %Y}")
                return redirect("extend_last_days", slug)
            moved = extending.chosen(project, keys, day)
            digest = extending.digest(moved, day)
        except extending.ExtendingError as error:
            form.add_error(None, str(error))
    context = {"project": project, "deadlines": found, "form": form, "moved": moved, "digest": digest}
    return render(request, "annotation/participation/extend.html", context)


urlpatterns = [path("projects/<slug:slug>/last-days/", extend_last_days, name="extend_last_days")]
