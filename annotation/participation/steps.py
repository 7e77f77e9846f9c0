"""What a person goes through in a project, in order: one literal table.

A project names in `study_steps` which of these it has in addition to work; one that names none asks nothing here. The
labelling page asks `way` before it gives an item, and `outlook_of` when it has none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotation.models import Project, User
from annotation.participation.queries import StudyStanding, standing
from annotation.projects.limits import last_day
from annotation.projects.queries.outlook import Outlook, outlook

CONSENT, SCREENING, CLOSING, FINISH = "consent", "screening", "closing", "finish"


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
    more: tuple[str, ...] = ()  # of the URL

    def url(self, project: Project) -> str:
        return reverse(self.page, args=[project.slug, *self.more])


STEPS = (
    Step(
        CONSENT,
        _("Your consent is needed"),
        _("Before you go on, read what the study asks of you, and say whether you consent."),
        _("Read and decide"),
        "give_consent",
        lambda standing: not standing.has_consented,
    ),
    Step(
        SCREENING,
        _("First, some questions about you"),
        _("They show whether the study is for you."),
        _("Answer the questions"),
        "answer_questionnaire",
        lambda standing: not standing.has_screened,
        more=(SCREENING,),
    ),
    Step(
        CLOSING,
        _("Last, some questions about you"),
        _("There are no more items for you."),
        _("Answer the questions"),
        "answer_questionnaire",
        lambda standing: not standing.has_closed,
        is_after_work=True,
        more=(CLOSING,),
    ),
    Step(
        FINISH,
        _("Your part is done"),
        _("There are no more items for you. Finish the study to let its researchers know."),
        _("Finish the study"),
        "finish_study",
        lambda standing: bool(standing.state),
        is_after_work=True,
    ),
)


def next_step(project: Project, user: User) -> Step | None:
    """What the person is to do instead of getting an item; None where they can work."""
    return way(project, user)[0]


def way(project: Project, user: User) -> tuple[Step | None, bool]:
    """`next_step`, and whether the person gets items that they do not hold yet."""
    return _way(project, standing(project, user)) if project.study_steps else (None, True)


def _way(project: Project, stands: StudyStanding) -> tuple[Step | None, bool]:
    is_over = stands.has_ended or (stands.has_all_items and not stands.held)
    return _due(project, stands, is_over=is_over), not stands.has_all_items


# A person may finish where no item is left that only they lack: others may come back to them, and need not.
WAITING, HAS_WORK = "waiting", ("work", "learning", "held", "preparing", "paused")


def outlook_of(project: Project, user: User, besides: UUID | None = None) -> tuple[Outlook | None, Step | None]:
    """What a person without an item has before them, and the step that they can take. `besides`: how it will be once
    this assignment is answered."""
    if not project.study_steps:
        return outlook(user, project, besides), None
    stands = standing(project, user)
    step, takes_new = _way(project, stands)
    found = outlook(user, project, besides) if step is None and takes_new else None
    ended = project.state == Project.State.PAUSED and last_day.is_over(project)  # and does not just rest
    if step is None and (ended or found is None or found.name not in HAS_WORK):
        step = _due(project, stands, is_over=True)
    if step is None or (found is not None and found.name == WAITING):
        return found or outlook(user, project, besides), step
    # Not at once: the last item may still be on the screen.
    return Outlook("step", step.title, step.text, ends=stands.has_ended), step


def _due(project: Project, stands: StudyStanding, *, is_over: bool) -> Step | None:
    named = (one for one in STEPS if one.name in project.study_steps and (is_over or not one.is_after_work))
    # Who has left is asked nothing more.
    return next((one for one in named if one.is_due(stands) and (one.name == FINISH or not stands.has_ended)), None)


def set_step(project: Project, name: str, has: bool) -> None:
    """Store whether the project has the step."""
    with transaction.atomic():
        row = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        row.study_steps = sorted({*row.study_steps, name} if has else {*row.study_steps} - {name})
        row.save(update_fields=["study_steps"])
    project.study_steps = row.study_steps
