"""Every address. Pages that show figures live in analysis."""

from django.urls import include, path

handler400 = "config.door.bad_request"

urlpatterns = [
    path("", include("config.accounts_urls")),
    path("accounts/", include("allauth.urls")),
    path("api/v1/", include("annotation.api.urls")),
    path("", include("annotation.views.urls")),
    path("", include("analysis.urls")),
]
