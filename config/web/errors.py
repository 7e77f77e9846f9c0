"""Answers of Assay's own where Django's would look like another site, or like no answer to a program."""

import errno
import sys

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template import loader
from django.views import defaults

from annotation.api.problems import problem_response
from annotation.task_types import UnknownTaskTypeError
from config.database import is_away
from config.logs import request_id

OUTDATED = "This page was loaded before you signed in or out. Nothing was changed: reload the page and try again"
AWAY = "The database cannot be reached. Nothing of this request was stored: send it again later"
RETRY_SECONDS = 10


DISK_FULL = (
    "The server's disk is full, so nothing of this request was stored. Ask an administrator to free space, then send "
    "it again"
)
NO_ROOM = ("database or disk is full", "No space left on device")


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


def is_disk_full(error: BaseException | None) -> bool:
    """Whether the error, or one that led to it, says that there is no room: on the disk, or in the person's quota."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        # SQLite's and PostgreSQL's words for it.
        if isinstance(error, DatabaseError) and any(words in str(error) for words in NO_ROOM):
            return True
        error = error.__cause__ or error.__context__
    return False


def server_error(request):
    # Django calls this while it handles the error, wherever that was raised: in a view, middleware or another handler.
    error = sys.exc_info()[1]
    if is_disk_full(error):
        if is_for_api(request):
            return problem_response(507, f"{DISK_FULL}.")
        return render(request, "507.html", {"problem": DISK_FULL}, status=507)
    if error is not None and is_away(error):
        return database_away(request)
    if isinstance(error, UnknownTaskTypeError):
        problem = f"{error}. Ask an administrator to install the package that adds it"
        if is_for_api(request):
            return problem_response(503, f"{problem}.")
        return render(request, "503_task_type.html", {"problem": problem}, status=503)
    named = request_id.get()
    if is_for_api(request):
        return problem_response(500, f"An unexpected server error occurred; see request {named} in the server's log")
    # Without a query, as above.
    return HttpResponse(loader.get_template("500.html").render({"request_id": named}), status=500)
