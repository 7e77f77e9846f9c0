"""The pages of the work itself; each area lists its own addresses beside its views."""

from . import (
    checkers,
    datasets,
    drafts,
    exports,
    imports,
    items,
    jobs,
    options,
    pairs,
    projects,
    retrieval,
    runs,
    training,
    work,
)

urlpatterns = [
    *projects.urlpatterns,
    *options.urlpatterns,
    *items.urlpatterns,
    *datasets.urlpatterns,
    *imports.urlpatterns,
    *pairs.urlpatterns,
    *jobs.urlpatterns,
    *work.urlpatterns,
    *runs.urlpatterns,
    *checkers.urlpatterns,
    *training.urlpatterns,
    *retrieval.urlpatterns,
    *drafts.urlpatterns,
    *exports.urlpatterns,
]
