"""The pages of the work itself; each area lists its own addresses beside its views."""

from . import datasets, exports, imports, jobs, projects, runs, work

urlpatterns = [
    *projects.urlpatterns,
    *datasets.urlpatterns,
    *imports.urlpatterns,
    *jobs.urlpatterns,
    *work.urlpatterns,
    *runs.urlpatterns,
    *exports.urlpatterns,
]
