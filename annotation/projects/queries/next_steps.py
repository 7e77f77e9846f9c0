"""The one step that a page leads on to."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from annotation.access import ADJUDICATOR, RESEARCHER
from annotation.models import Project
from annotation.projects.queries.projects import ProjectRow


@dataclass(frozen=True, slots=True)
class NextStep:
    title: str
    url: str


def page_of(project: Project, title: str, name: str) -> NextStep:
    return NextStep(title, reverse(name, args=[project.slug]))


# Where a project without items gets them, by what its items are made from and what that belongs to.
COLLECTING = {
    ("evidence", ""): ("Retrieve evidence", "project_retrieval"),
    ("response", "claim"): ("Search with an expansion", "project_retrieval"),
    ("response", "question"): ("Generate answers", "project_generations"),
    ("response", ""): ("Generate answers", "project_generations"),
}


def after_overview(
    project: Project, row: ProjectRow, *, annotators: int, waiting: int, sees_labels: bool
) -> NextStep | None:
    """What a researcher does next; None where that is labelling, waiting for items, or in the list of steps only."""
    if RESEARCHER not in row.roles or project.is_preparing or (row.outlook and row.outlook.name == "work"):
        return None
    if not row.has_items:
        found = COLLECTING.get((row.type.anchor_kind, row.type.anchor_parent))
        return page_of(project, *found) if found else None
    if project.overlap and not annotators:
        return page_of(project, "Invite annotators", "project_start")
    if not sees_labels:
        return None
    if waiting and ADJUDICATOR in row.roles:
        return page_of(project, "Adjudicate", "adjudication")
    if row.team_done or not project.overlap:
        return page_of(project, "See the agreement", "project_agreement")
    return page_of(project, "Start a checker", "project_runs") if row.type.is_for_checkers else None
