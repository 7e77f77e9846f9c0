"""The API's description, for programs and for people."""

from csp.decorators import csp_update
from django.contrib.auth.decorators import login_required
from django.shortcuts import render
from django.views.decorators.http import require_safe
from rest_framework.response import Response

from annotation.api import shapes
from annotation.api.routes import Route
from annotation.api.schema import described


class SchemaRoute(Route):
    """This description."""

    shape = shapes.Nothing

    def get(self, request):
        return Response(described())


# Swagger UI's icons are in its style sheet.
@csp_update({"img-src": ["data:"]})
@login_required
@require_safe
def api_docs(request):
    return render(request, "annotation/api/docs.html")
