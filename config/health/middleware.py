"""The outermost middleware: it names each request, answers monitors, and counts all other requests."""

import re
import time
import uuid

from django.conf import settings
from django.http import HttpRequest

from config.health.requests import COUNTS
from config.health.views import FOR_MONITORS
from config.logs import request_id

ID = re.compile(r"[\w.-]{1,64}", re.ASCII)


def _id_of(request: HttpRequest) -> str:
    """A proxy's, so that its log and this one have the same, or a new one."""
    sent = request.headers.get("X-Request-ID", "")
    return sent if settings.TRUSTED_PROXIES > 0 and ID.fullmatch(sent) else uuid.uuid4().hex


def observed(get_response):
    """Monitors ask by the machine's address and without TLS, so neither the host's name nor a redirect is for them."""
    for_monitors = {f"/{name}": view for name, view in FOR_MONITORS.items()}

    def answer(request):
        request_id.set(named := _id_of(request))  # until the thread's next request: Django logs after this
        if view := for_monitors.get(request.path_info):
            response = view(request)
            response.headers["Cache-Control"] = "private, no-store"
        else:
            began, status = time.perf_counter(), 500  # where not even the page of an error can be shown
            try:
                response = get_response(request)
                status = response.status_code
            finally:
                COUNTS.add(status, time.perf_counter() - began)
        response.headers["X-Request-ID"] = named
        return response

    return answer
