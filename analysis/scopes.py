"""Which labels a report is made from: those of now or of a release, all of them or a selection."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.models import Release
from analysis.sources import Source
from analysis.sources.database import DatabaseSource
from analysis.sources.selection import NAMES, SelectedSource, Selection
from annotation.models import Project


def scope_of(project: Project, given: Mapping[str, str]) -> dict:
    """The scope that an address asks for, as plain data: empty for all labels as they are now.

    Wrong values raise ValueError.
    """
    selection = Selection.of({name: given[name] for name in NAMES if name in given})
    scope: dict = {"selection": selection.as_dict()} if selection else {}
    if number := given.get("release", ""):
        release = project.releases.filter(number=int(number)).first() if str(number).isdecimal() else None
        if release is None or not release.is_ready:
            ready = ", ".join(str(one.number) for one in project.releases.order_by("number") if one.is_ready)
            if not ready:
                raise ValueError(
                    f"project {project.slug} keeps no release; one is frozen on its page, and files that manage.py "
                    "release wrote are read with --from-files"
                )
            raise ValueError(f"release is one of {ready}, not {number!r}")
        scope["release"] = str(release.uuid)
    return scope


def scoped(project: Project, scope: dict) -> Source:
    """The source that a scope stands for."""
    source: Source = DatabaseSource(project)
    if uuid := scope.get("release"):
        from analysis.releases.stored import release_source

        source = release_source(Release.objects.select_related("project", "job").get(project=project, uuid=uuid))
    selection = Selection.of(scope.get("selection", {}))
    return SelectedSource(source, selection) if selection else source


def as_query(project: Project, scope: dict) -> dict[str, str]:
    """The scope as an address has it."""
    query = dict(scope.get("selection", {}))
    if uuid := scope.get("release"):
        query["release"] = str(project.releases.get(uuid=uuid).number)
    return query
