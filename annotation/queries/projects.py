"""Reads about projects: guidelines in force, progress, what an item's judges said."""

from annotation.markdown import render
from annotation.models import Guideline, Project, Revision


def current_guideline(project: Project) -> Guideline | None:
    return project.guidelines.order_by("-version").first()


def current_guideline_html(project: Project) -> str:
    guideline = current_guideline(project)
    return render(guideline.markdown) if guideline else ""


def guidelines_changed_for(project: Project, user) -> bool:
    """Whether the guidelines have a newer version than the one this person last labelled under."""
    seen = (
        Revision.objects.filter(annotation__rater__project=project, annotation__rater__user=user)
        .exclude(guideline_version=None)
        .order_by("-pk")
        .values_list("guideline_version", flat=True)
        .first()
    )
    current = current_guideline(project)
    return seen is not None and current is not None and seen < current.version
