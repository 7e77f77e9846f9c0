"""The door of the web process: what no view may meet in an address, its query, a cookie or a form's encoding.

Values of known fields are judged by `annotation.incoming`; this is what holds for all of them. Fields of forms are left
to their forms, which mark them.
"""

from __future__ import annotations

from django.core.exceptions import BadRequest
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation import incoming
from annotation.api.problems import problem_response
from config.web.errors import is_for_api

MAX_QUERY_CHARS = 64 * 1024
MAX_PARAMETERS = 1000


class Request(WSGIRequest):
    """Everything is UTF-8. Django would take the sender's word for any codec that Python has, also for some that decode
    no text, which no middleware could answer any more."""

    def _set_content_type_params(self, meta):
        try:
            super()._set_content_type_params(meta)
        except LookupError:
            self._encoding = None


class RequestHandler(WSGIHandler):
    request_class = Request


class DoorMiddleware:
    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not incoming.is_storable(request.path_info):
            return _answer(request, 404, "", "There is no such page")
        response = problem(request)
        return self.get_response(request) if response is None else _answer(request, 400, *response)


def problem(request: HttpRequest) -> tuple[str, str] | None:
    """The name of what cannot be taken, and why in words; None where all of it can."""
    charset = request.content_params.get("charset", "utf-8") if request.content_params else "utf-8"
    if charset.lower() not in ("utf-8", "utf8", "us-ascii"):
        return "Content-Type", "Requests must be UTF-8"
    query = request.META.get("QUERY_STRING", "")
    if len(query) > MAX_QUERY_CHARS or query.count("&") >= MAX_PARAMETERS:
        return "query", "The address is too long"
    # Addresses without escapes hold nothing but what a server let through.
    if "%" in query or "\0" in query:
        for name, values in request.GET.lists():
            if not all(map(incoming.is_storable, (name, *values))):
                shown = name.replace("\0", "\N{REPLACEMENT CHARACTER}")
                return shown, f"The parameter “{shown}” of the address {incoming.BAD_CHARACTER}"
    for name, value in request.COOKIES.items():
        if not incoming.is_storable(value):
            return name, f"The cookie “{name}” {incoming.BAD_CHARACTER}"
    return None


def _answer(request: HttpRequest, status: int, name: str, message: str) -> HttpResponse:
    if is_for_api(request):
        errors = [{"unit": "", "dimension": "", "field": name, "message": message}]
        return problem_response(status, message, errors=errors)
    # Nothing that the request brought is looked at for the page: a session, an account.
    return render(None, f"{status}.html", {"problem": message if name else ""}, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What a view refuses it says in words; not so what Django refuses, such as a forged host."""
    reason = str(exception) if isinstance(exception, BadRequest) else ""
    if is_for_api(request):
        return problem_response(400, reason or "The request cannot be processed")
    return render(None, "400.html", {"problem": reason}, status=400)
