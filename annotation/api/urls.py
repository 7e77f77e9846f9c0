"""/api/v1/: what the labelling page needs (work), and what programs read and write."""

from django.urls import path

from . import datasets, docs, jobs, machines, projects, uploading, work

urlpatterns = [
    path("schema/", docs.SchemaRoute.as_view(), name="api_schema"),
    path("docs/", docs.api_docs, name="api_docs"),
    path("projects/<slug:slug>/work/next", work.next_item, name="api_work_next"),
    path("projects/<slug:slug>/guidelines/acknowledge", work.acknowledge, name="api_work_acknowledge"),
    path("projects/<slug:slug>/work/answered", work.answered, name="api_work_answered"),
    path("assignments/<uuid:uuid>/submit", work.submit, name="api_work_submit"),
    path("assignments/<uuid:uuid>/skip", work.skip, name="api_work_skip"),
    path("assignments/<uuid:uuid>/shown", work.shown, name="api_work_shown"),
    path("assignments/<uuid:uuid>/release", work.release, name="api_work_release"),
    path("assignments/<uuid:uuid>/suggestions", work.suggestions, name="api_work_suggestions"),
    path("assignments/<uuid:uuid>/item", work.own_item, name="api_work_item"),
    path("datasets/", datasets.DatasetsRoute.as_view(), name="api_datasets"),
    path("datasets/<slug:slug>/", datasets.DatasetDetailRoute.as_view(), name="api_dataset"),
    path("datasets/<slug:slug>/content/", datasets.ContentRoute.as_view(), name="api_content"),
    path("datasets/<slug:slug>/imports/", uploading.ImportsRoute.as_view(), name="api_imports"),
    path("projects/", projects.ProjectsRoute.as_view(), name="api_projects"),
    path("projects/<slug:slug>/", projects.ProjectDetailRoute.as_view(), name="api_project"),
    path("projects/<slug:slug>/members/", projects.MembersRoute.as_view(), name="api_members"),
    path("projects/<slug:slug>/items/", projects.ItemsRoute.as_view(), name="api_items"),
    path("projects/<slug:slug>/units/", projects.UnitsRoute.as_view(), name="api_units"),
    path("projects/<slug:slug>/labels/", uploading.LabelsRoute.as_view(), name="api_labels"),
    path("projects/<slug:slug>/annotations/", projects.AnnotationsRoute.as_view(), name="api_annotations"),
    path("projects/<slug:slug>/decisions/", projects.DecisionsRoute.as_view(), name="api_decisions"),
    path("projects/<slug:slug>/runs/", machines.RunsRoute.as_view(), name="api_runs"),
    path("projects/<slug:slug>/suggestions/", machines.SuggestionsRoute.as_view(), name="api_suggestions"),
    path("projects/<slug:slug>/scores/", machines.ScoresRoute.as_view(), name="api_scores"),
    path("projects/<slug:slug>/trainings/", machines.TrainingsRoute.as_view(), name="api_trainings"),
    path("runs/<uuid:uuid>/", machines.RunDetailRoute.as_view(), name="api_run"),
    path("runs/<uuid:uuid>/show/", machines.ShowRunRoute.as_view(), name="api_run_show"),
    path("jobs/", jobs.JobsRoute.as_view(), name="api_jobs"),
    path("jobs/<uuid:uuid>/", jobs.JobDetailRoute.as_view(), name="api_job"),
    path("jobs/<uuid:uuid>/cancel/", jobs.CancelJobRoute.as_view(), name="api_job_cancel"),
]
