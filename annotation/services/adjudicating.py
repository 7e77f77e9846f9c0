"""Decisions of adjudicators: one label per unit and dimension that stands for the unit, beside what people said."""

from django.db import transaction
from django.db.models import F

from annotation.models import Decision, Project, Unit, User


def decide(project: Project, user: User, unit: Unit, dimension: str, label: str, note: str = "") -> Decision:
    """Store the decision, or change the one there is. The label is one of the dimension's; the caller has checked."""
    with transaction.atomic():
        decision, _ = Decision.objects.update_or_create(
            project=project,
            unit=unit,
            dimension=dimension,
            method=Decision.Method.ADJUDICATED,
            defaults={"label": label, "note": note, "decided_by": user},
        )
        _changed(project)
    return decision


def withdraw(project: Project, unit: Unit, dimension: str) -> None:
    """Take the decision back; people's answers were never touched by it."""
    with transaction.atomic():
        Decision.objects.filter(
            project=project, unit=unit, dimension=dimension, method=Decision.Method.ADJUDICATED
        ).delete()
        _changed(project)


def _changed(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(label_version=F("label_version") + 1)
