"""Which labels a report is made from: those of now or of a release, all of them or a selection."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.sources.outline import groups_named
from analysis.sources.project import ProjectOutline
from analysis.sources.selection import ARMS, NAMES, Selection
from analysis.sources.wrong import WrongChoice
from annotation.models import Project, Revision


def scope_of(project: Project, values: Mapping[str, str]) -> dict:
    """The scope that an address asks for, as plain data: empty for all labels as they are now.

    Wrong values raise ValueError.
    """
    selection = Selection.of({name: values[name] for name in NAMES if name in values})
    if selection:
        people = project.raters.values_list("pseudonym", flat=True)
        groups = ProjectOutline(project).rater_groups
        selection.check(project.type, lambda: {*people, *groups_named(groups())}, lambda: ARMS)
        _refuse_unknown_version(project, selection.guidelines)
    scope: dict = {"selection": selection.as_dict()} if selection else {}
    if number := values.get("release", ""):
        kept = {str(one.number): one for one in project.releases.order_by("number") if one.is_ready}
        release = kept.get(str(number))
        if release is None:
            if not kept:
                raise WrongChoice(
                    f"project {project.slug} keeps no release; one is frozen on its page, and files that manage.py "
                    "release wrote are read with --from-files",
                    "release",
                )
            raise WrongChoice(f"release is one of {', '.join(kept)}, not {number!r}", "release")
        scope["release"] = str(release.uuid)
    return scope


def _refuse_unknown_version(project: Project, version: str) -> None:
    """Of the guidelines that the project has, and of those that answers came with from elsewhere."""
    known = {*project.guidelines.values_list("version", flat=True)}
    if not version or version in map(str, known):
        return
    answers = Revision.objects.filter(annotation__item__project=project, guideline_version__isnull=False)
    known |= {*answers.order_by().values_list("guideline_version", flat=True).distinct()}
    if version not in map(str, known):
        there = ", ".join(map(str, sorted(known))) or "none"
        raise WrongChoice(f"guidelines is one of the versions {there}, not {version!r}", "guidelines")


def as_query(project: Project, scope: dict) -> dict[str, str]:
    """The scope as an address has it."""
    query = dict(scope.get("selection", {}))
    if uuid := scope.get("release"):
        query["release"] = str(project.releases.get(uuid=uuid).number)
    return query
