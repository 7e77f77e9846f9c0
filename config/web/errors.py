"""Answers of Assay's own where Django's would look like another site."""

from django.http import JsonResponse
from django.shortcuts import render

OUTDATED = "This page was loaded before you signed in or out. Nothing was changed: reload the page and try again"


def csrf_failure(request, reason=""):
    """A form without a valid token. `reason` is for developers and lies in the log."""
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": f"{OUTDATED}.", "code": "csrf"}, status=403)
    return render(request, "403_csrf.html", {"problem": OUTDATED}, status=403)
