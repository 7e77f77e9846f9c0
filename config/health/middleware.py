"""The outermost middleware: it answers monitors, and counts all other requests."""

import time

from config.health.requests import COUNTS
from config.health.views import FOR_MONITORS


def observed(get_response):
    """Monitors ask by the machine's address and without TLS, so neither the host's name nor a redirect is for them."""
    for_monitors = {f"/{name}": view for name, view in FOR_MONITORS.items()}

    def answer(request):
        if view := for_monitors.get(request.path_info):
            response = view(request)
            response.headers["Cache-Control"] = "private, no-store"
            return response
        began = time.perf_counter()
        response = get_response(request)
        COUNTS.add(response.status_code, time.perf_counter() - began)
        return response

    return answer
