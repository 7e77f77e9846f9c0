"""Answers of Assay's own where Django's would look like another site, or like no answer to a program."""

from django.http import HttpRequest
from django.shortcuts import render
from django.views import defaults

from annotation.api.problems import problem_response

OUTDATED = "This page was loaded before you signed in or out. Nothing was changed: reload the page and try again"


def is_for_api(request: HttpRequest) -> bool:
    return request.path_info.startswith("/api/")


def csrf_failure(request, reason=""):
    """A form without a valid token. `reason` is for developers and lies in the log."""
    if is_for_api(request):
        return problem_response(403, f"{OUTDATED}.", code="csrf")
    return render(request, "403_csrf.html", {"problem": OUTDATED}, status=403)


def not_found(request, exception):
    if is_for_api(request):
        return problem_response(404, "There is nothing at this address")
    return defaults.page_not_found(request, exception)


def server_error(request):
    if is_for_api(request):
        return problem_response(500, "An unexpected server error occurred; see the server's log")
    return defaults.server_error(request)
