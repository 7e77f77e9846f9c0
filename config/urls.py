"""Every address. Pages that show figures live in analysis."""

from django.urls import include, path

handler400 = "config.web.door.bad_request"
handler404 = "config.web.errors.not_found"
handler500 = "config.web.errors.server_error"

urlpatterns = [
    path("", include("config.health.views")),
    path("", include("config.web.accounts_urls")),
    path("", include("config.web.help")),
    path("", include("config.web.languages")),
    path("accounts/", include("allauth.urls")),
    path("api/v1/", include("annotation.api.urls")),
    path("api/v1/", include("analysis.api")),
    path("", include("annotation.urls")),
    path("", include("analysis.urls")),
]
