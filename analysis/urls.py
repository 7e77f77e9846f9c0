"""Addresses of the pages that show figures."""

from django.urls import path

from analysis import views

urlpatterns = [
    path("projects/<slug:slug>/agreement/", views.project_agreement, name="project_agreement"),
    path("projects/<slug:slug>/comparison/", views.project_comparison, name="project_comparison"),
    path("projects/<slug:slug>/difference/", views.project_difference, name="project_difference"),
    path("projects/<slug:slug>/annotators/", views.project_annotators, name="project_annotators"),
    path(
        "projects/<slug:slug>/alternative-annotator/",
        views.project_alternative_annotator,
        name="project_alternative_annotator",
    ),
    path("projects/<slug:slug>/prevalence/", views.project_prevalence, name="project_prevalence"),
    path("projects/<slug:slug>/rates/", views.project_rates, name="project_rates"),
    path("projects/<slug:slug>/coverage/", views.project_coverage, name="project_coverage"),
    path("projects/<slug:slug>/tables/<slug:name>/", views.project_report_tables, name="project_report_tables"),
    path("projects/<slug:slug>/behind/<slug:name>/", views.project_behind, name="project_behind"),
]
