"""Addresses of the pages that show figures."""

from django.urls import path

from analysis.pages import files, learning, pay, pictures, progress, reports
from analysis.pages import item_views as behind
from analysis.pages.releases import changes, hub, own, public
from analysis.reports.metrics import REPORTS
from analysis.rules import views as rules

urlpatterns = [
    *rules.urlpatterns,
    *learning.urlpatterns,
    *progress.urlpatterns,
    *pay.urlpatterns,
    *(
        path(f"projects/<slug:slug>/{report.name}/", reports.project_report, {"name": report.name}, report.own_page)
        for report in REPORTS.values()
        if report.own_page
    ),
    path("projects/<slug:slug>/releases/", own.project_releases, name="project_releases"),
    path("projects/<slug:slug>/releases/<int:number>/", own.project_release, name="project_release"),
    path(
        "projects/<slug:slug>/releases/<int:number>/withdraw/",
        own.project_release_withdraw,
        name="project_release_withdraw",
    ),
    path(
        "projects/<slug:slug>/releases/<int:number>/changes/<int:before>/",
        changes.project_release_changes,
        name="project_release_changes",
    ),
    path(
        "projects/<slug:slug>/releases/<int:number>/public/",
        public.project_release_public,
        name="project_release_public",
    ),
    path("projects/<slug:slug>/releases/<int:number>/hub/", hub.project_release_hub, name="project_release_hub"),
    path("releases/<uuid:uuid>/", public.public_release, name="public_release"),
    path("releases/<uuid:uuid>/file/", public.public_release_file, name="public_release_file"),
    path("projects/<slug:slug>/reports/", reports.project_reports, name="project_reports"),
    path("projects/<slug:slug>/reports/<slug:name>/", reports.project_report, name="project_report"),
    path("projects/<slug:slug>/tables/<slug:name>/", files.project_report_tables, name="project_report_tables"),
    path(
        "projects/<slug:slug>/pictures/<slug:report>/<slug:picture>.<slug:form>",
        pictures.project_picture,
        name="project_picture",
    ),
    path("projects/<slug:slug>/behind/<slug:name>/", behind.project_behind, name="project_behind"),
]
