"""Guidelines come in versions. An answer carries the one that its author last acknowledged."""

from datetime import datetime

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotation import editing
from annotation.markdown import render
from annotation.models import Guideline, GuidelineAcknowledgement, Project, SettingsChange
from annotation.projects.raters import rater_of
from annotation.task_types import TaskType

__all__ = ["NoSuchVersion", "acknowledge", "guidelines_template", "publish", "render"]


class NoSuchVersion(Exception):
    """The project has no such version of its guidelines; the message is for the person."""


def publish(project: Project, user, markdown: str) -> Guideline:
    """Put the text in force as a new version; the same text again stays the version it is."""
    markdown = markdown.replace("\r\n", "\n")
    with transaction.atomic():
        # The project's row is the lock that keeps two researchers from numbering their versions alike.
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        newest = project.guidelines.order_by("-version").first()
        if newest is not None and newest.markdown == markdown:
            return newest
        number = (project.guidelines.aggregate(number=Max("version"))["number"] or 0) + 1
        if newest is not None:
            versions = ({"version": version} for version in (newest.version, number))
            editing.record(user, project, SettingsChange.What.GUIDELINES, *versions)
        return Guideline.objects.create(project=project, version=number, markdown=markdown, created_by=user)


def guidelines_template(kind: TaskType) -> str:
    """What guidelines of a task begin with: its questions and labels, and room for examples."""
    parts = [f"# {kind.title}", kind.summary]
    for question in kind.asked_dimensions:
        parts += [f"## {question.title}", question.question]
        shown = [one for one in question.shown_labels if not one.ranks]
        labels = [f"**{one.title}**" + (f": {one.hint}" if one.hint else "") for one in shown]
        parts.append("\n".join(f"- {label}" for label in labels))
        if question.spans:
            parts.append(f"Highlight: {question.spans.title[0].lower()}{question.spans.title[1:]}.")
    parts += ["## When in doubt", "Skip an item that you cannot judge, and say why in a comment."]
    return "\n\n".join(filter(None, parts))


def acknowledge(project: Project, user, version: int, at: datetime | None = None) -> GuidelineAcknowledgement:
    """Store that this person was shown a version and acknowledged it; the first time stays. `at` is by their clock,
    which may have been offline since: never before the version was there, nor in the future."""
    guideline = project.guidelines.filter(version=version).first()
    if guideline is None:
        raise NoSuchVersion(f"The guidelines have no version {version}")
    now = timezone.now()
    stored, _ = GuidelineAcknowledgement.objects.get_or_create(
        rater=rater_of(project, user),
        version=version,
        defaults={"acknowledged_at": max(guideline.created_at, min(at or now, now))},
    )
    return stored
