"""The pages of the work itself; each area lists its own addresses beside its views."""

from . import datasets, exports, imports, items, jobs, projects, runs, work

urlpatterns = [
    *projects.urlpatterns,
    *items.urlpatterns,
    *datasets.urlpatterns,
    *imports.urlpatterns,
    *jobs.urlpatterns,
    *work.urlpatterns,
    *runs.urlpatterns,
    *exports.urlpatterns,
]
