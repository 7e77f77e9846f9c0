"""/api/v1/: what the labelling page needs (work), and what researchers read (read)."""

from django.urls import path

from . import read, work

urlpatterns = [
    path("projects/<slug:slug>/work/next", work.next_item, name="api_work_next"),
    path("projects/<slug:slug>/guidelines/acknowledge", work.acknowledge, name="api_work_acknowledge"),
    path("projects/<slug:slug>/work/answered", work.answered, name="api_work_answered"),
    path("assignments/<uuid:uuid>/submit", work.submit, name="api_work_submit"),
    path("assignments/<uuid:uuid>/skip", work.skip, name="api_work_skip"),
    path("assignments/<uuid:uuid>/shown", work.shown, name="api_work_shown"),
    path("assignments/<uuid:uuid>/release", work.release, name="api_work_release"),
    path("assignments/<uuid:uuid>/suggestions", work.suggestions, name="api_work_suggestions"),
    path("assignments/<uuid:uuid>/item", work.own_item, name="api_work_item"),
    path("projects/", read.projects, name="api_projects"),
    path("projects/<slug:slug>/", read.project, name="api_project"),
    path("projects/<slug:slug>/items/", read.items, name="api_items"),
    path("projects/<slug:slug>/annotations/", read.annotations, name="api_annotations"),
    path("jobs/<uuid:uuid>/", read.job, name="api_job"),
]
