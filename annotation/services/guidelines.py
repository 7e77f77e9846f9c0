"""Guidelines come in versions: every revision of an annotation names the one that was in force."""

from django.db import transaction
from django.db.models import Max

from annotation.markdown import render
from annotation.models import Guideline, Project

__all__ = ["publish", "render"]


def publish(project: Project, user, markdown: str) -> Guideline:
    """Put the text in force as a new version; the same text again stays the version it is."""
    markdown = markdown.replace("\r\n", "\n")
    with transaction.atomic():
        # The project's row is the lock that keeps two researchers from numbering their versions alike.
        Project.objects.select_for_update().get(pk=project.pk)
        newest = project.guidelines.order_by("-version").first()
        if newest is not None and newest.markdown == markdown:
            return newest
        number = (project.guidelines.aggregate(number=Max("version"))["number"] or 0) + 1
        return Guideline.objects.create(project=project, version=number, markdown=markdown, created_by=user)
