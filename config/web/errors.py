"""Answers of Assay's own where Django's would look like another site, or like no answer to a program."""

import sys

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template import loader
from django.views import defaults

from annotation.api.problems import problem_response
from config.database import is_away

OUTDATED = "This page was loaded before you signed in or out. Nothing was changed: reload the page and try again"
AWAY = "The database cannot be reached. Nothing of this request was stored: send it again later"
RETRY_SECONDS = 10


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


def database_away(request: HttpRequest) -> HttpResponse:
    """Without a query: no session, no account, no context processor."""
    if is_for_api(request):
        response = problem_response(503, f"{AWAY}.")
    else:
        response = HttpResponse(loader.get_template("503.html").render(), status=503)
    response["Retry-After"] = str(RETRY_SECONDS)
    return response


def server_error(request):
    # Django calls this while it handles the error, wherever that was raised: in a view, middleware or another handler.
    error = sys.exc_info()[1]
    if error is not None and is_away(error):
        return database_away(request)
    if is_for_api(request):
        return problem_response(500, "An unexpected server error occurred; see the server's log")
    return defaults.server_error(request)
