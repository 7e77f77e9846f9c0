"""All checkers that there are: what each needs and gives, and whether it can run here."""

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from annotation.access import is_researcher
from annotation.machines.runs.queries.checkers import listed_checkers


@login_required
@require_safe
def checker_list(request):
    if not is_researcher(request.user):
        raise PermissionDenied("This needs the role of researcher in a project")
    return render(request, "annotation/checkers/list.html", {"checkers": listed_checkers()})


urlpatterns = [path("checkers/", checker_list, name="checker_list")]
