"""What a person goes through in a project, in order: one literal table.

A project names in `study_steps` which of these it has in addition to work; one that names none asks nothing here. The
labelling page asks `next_step` before it gives an item, and `last_step` when it has none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction
from django.urls import reverse

from annotation.models import Project, User
from annotation.participation.queries import StudyStanding, standing

CONSENT = "consent"


@dataclass(frozen=True)
class Step:
    """`is_due` says whether a person who stands so is to go through it now. `page` is the name of its URL, and `action`
    what the link to it says."""

    name: str
    title: str
    text: str
    action: str
    page: str
    is_due: Callable[[StudyStanding], bool]
    is_after_work: bool = False

    def url(self, project: Project) -> str:
        return reverse(self.page, args=[project.slug])


STEPS = (
    Step(
        CONSENT,
        "Your consent is needed",
        "Before you go on, read what the study asks of you, and say whether you consent.",
        "Read and decide",
        "give_consent",
        lambda standing: not standing.has_consented,
    ),
)


def next_step(project: Project, user: User) -> Step | None:
    """What the person is to do before they get an item; None where they can work."""
    return _first(project, user, is_after_work=False)


def last_step(project: Project, user: User) -> Step | None:
    """What is left for a person who has no more items before them; None where nothing is."""
    return next_step(project, user) or _first(project, user, is_after_work=True)


def _first(project: Project, user: User, *, is_after_work: bool) -> Step | None:
    named = [one for one in STEPS if one.name in project.study_steps and one.is_after_work == is_after_work]
    if not named:
        return None
    stands = standing(project, user)
    return next((one for one in named if one.is_due(stands)), None)


def set_step(project: Project, name: str, has: bool) -> None:
    """Store whether the project has the step."""
    with transaction.atomic():
        row = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        row.study_steps = sorted({*row.study_steps, name} if has else {*row.study_steps} - {name})
        row.save(update_fields=["study_steps"])
    project.study_steps = row.study_steps
