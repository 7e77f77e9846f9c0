"""Pages for monitors, which `observed` answers before any other middleware, and one for administrators."""

from __future__ import annotations

import threading
import time

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from annotation import __version__
from config.health import metrics
from config.health.access import VARIABLE, may_see_details
from config.health.checks import CHECKS, READINESS
from config.health.findings import Row, State, folded, run, state_of

HOLDS_SECONDS = 5.0  # so that nobody makes this process ask database and broker again and again
REFUSED = f"Only from the addresses in {VARIABLE}\n"


@require_safe
def healthz(request):
    """The process answers; it asks nobody."""
    return HttpResponse("ok\n", content_type="text/plain")


class _Readiness:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until = 0.0
        self._rows: list[Row] = []

    def rows(self) -> list[Row]:
        with self._lock:
            if time.monotonic() >= self._until:
                self._rows = list(run(READINESS))
                self._until = time.monotonic() + HOLDS_SECONDS
            return self._rows


readiness = _Readiness()


@require_safe
def readyz(request):
    """200, or 503 with what is wrong. Details are for the addresses in ASSAY_HEALTH_FROM."""
    rows = readiness.rows()
    state = state_of(rows)
    body = {"state": state.word}
    if may_see_details(request):
        body |= {"version": __version__, "findings": [row.as_dict() for row in rows]}
    return JsonResponse(body, status=503 if state is State.ERROR else 200)


@require_safe
def metrics_page(request):
    if not may_see_details(request):
        return HttpResponse(REFUSED, status=403, content_type="text/plain")
    return HttpResponse(metrics.as_text(), content_type=metrics.CONTENT_TYPE)


@login_required
@require_safe
def site_health(request):
    if not request.user.is_superuser:
        raise PermissionDenied("This needs a site administrator")
    rows = list(run(CHECKS))
    context = {"checks": folded(rows), "state": state_of(rows).word, "version": __version__}
    return render(request, "site/health.html", context)


FOR_MONITORS = {"healthz": healthz, "readyz": readyz, "metrics": metrics_page}
urlpatterns = [
    *(path(name, view, name=name) for name, view in FOR_MONITORS.items()),
    path("administration/health/", site_health, name="site_health"),
]
