"""The source that a report is computed from: a project as it is now or as a release has it, whole or a part."""

from __future__ import annotations

from analysis.models import Release
from analysis.sources.base import Source
from analysis.sources.blind import blind, looked_at
from analysis.sources.database import DatabaseSource
from analysis.sources.releases.stored import StoredReleaseSource
from analysis.sources.selection import Selection
from annotation.models import Project


def as_source(of: Source | Project) -> Source:
    """Without answers that were not given blind, unless it is a selection that says otherwise."""
    return blind(of if isinstance(of, Source) else DatabaseSource(of))


def scoped(project: Project, scope: dict) -> Source:
    """The source that a scope (`analysis.scopes`) stands for."""
    source: Source
    if uuid := scope.get("release"):
        source = StoredReleaseSource(Release.objects.select_related("project", "job").get(project=project, uuid=uuid))
    else:
        source = DatabaseSource(project)
    selection = Selection.of(scope.get("selection", {}))
    return looked_at(source, selection)
