"""What an answer to an item that is set apart is compared with, and what follows for the person."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone
from django.utils.translation import gettext_lazy

from annotation.models import Assignment, Item, ItemKey, KeyResult, Participation, Project, Rater
from annotation.participation import leaving
from annotation.projects import cases, reach
from annotation.projects.item_making import reopen, seeded

WARNING = gettext_lazy(
    "Several of your recent answers differ from answers that are known to be right. Please read the guidelines again "
    "before you go on."
)
MOST_TURNS_TO_WARNING = 5


def record_result(
    project: Project,
    item_id: int,
    revision_id: int,
    rater_id: int,
    assignment: Assignment | None,
    labels: Collection[tuple],
) -> None:
    """Compare an answer, as (unit key, dimension, label), with the item's key, and draw the consequences. Only the
    first answer counts, in qualification the first of each try. The rater's row is locked."""
    key = ItemKey.objects.filter(item=item_id).first()
    if key is None:
        return
    rater = Rater.objects.get(pk=rater_id)
    purpose = assignment.reason if assignment is not None else key.purpose
    attempt = rater.attempt if purpose == ItemKey.Purpose.QUALIFICATION else 1
    chosen = set(labels)
    right = sum((one["unit"], one["dimension"], one["label"]) in chosen for one in key.answers)
    place = {"item_id": key.item_id, "rater": rater, "purpose": purpose, "attempt": attempt}
    if KeyResult.objects.filter(**place).exists():
        return
    KeyResult.objects.create(revision_id=revision_id, right=right, asked=len(key.answers), **place)
    if purpose == ItemKey.Purpose.CHECK:
        _apply_rule(project, rater)
    else:
        finish_learning(project, rater)


def tries_of(project: Project, rater: Rater) -> int:
    return project.qualification_tries + rater.extra_tries


def finish_learning(project: Project, rater: Rater) -> None:
    """Let the person work where nothing is left to learn and they are qualified; else begin the next try, or end it
    where there is none. While items are left, nothing changes."""
    if rater.admitted_at is not None or rater.standing == Rater.Standing.FAILED:
        return
    results = KeyResult.objects.filter(rater=rater)
    in_use = ItemKey.objects.filter(project=project, item__state=Item.State.APART)

    def is_through(purpose: str, **of_try) -> bool:
        done = results.filter(purpose=purpose, **of_try).values("item")
        return not in_use.filter(purpose=purpose).exclude(item__in=done).exists()

    if not is_through(ItemKey.Purpose.TRAINING):
        return
    if not is_through(ItemKey.Purpose.QUALIFICATION, attempt=rater.attempt):
        return
    tried = results.filter(purpose=ItemKey.Purpose.QUALIFICATION, attempt=rater.attempt)
    numbers = tried.aggregate(right=Sum("right"), asked=Sum("asked"))
    if not numbers["asked"] or 100 * numbers["right"] >= project.pass_percent * numbers["asked"]:
        rater.admitted_at = timezone.now()
    elif rater.attempt < tries_of(project, rater):
        rater.attempt += 1
    else:
        rater.standing, rater.standing_at = Rater.Standing.FAILED, timezone.now()
        transaction.on_commit(lambda: _end_failed(project, rater))
    rater.save(update_fields=["admitted_at", "attempt", "standing", "standing_at"])


def _end_failed(project: Project, rater: Rater) -> None:
    """Who came by a study link is led to its end; others just get no work."""
    own = Participation.objects.filter(project=project, user=rater.user_id).first()
    if own is None or not leaving.end(own, Participation.State.FAILED):
        check_reach(project)


def _apply_rule(project: Project, rater: Rater) -> None:
    """Act once so many of the last checks since the last action have failed."""
    action = project.check_action
    if action == Project.CheckAction.NOTHING or rater.standing:
        return
    results = KeyResult.objects.filter(rater=rater, purpose=ItemKey.Purpose.CHECK)
    if rater.standing_at is not None:
        results = results.filter(created_at__gt=rater.standing_at)
    last = results.order_by("-created_at", "-pk").values_list("right", "asked")[: project.check_window]
    if sum(right < asked for right, asked in last) < max(1, project.check_failures):
        return
    rater.standing_at = timezone.now()
    if action == Project.CheckAction.WARN:
        rater.standing = Rater.Standing.WARNED
        # Some items later, the one that this answer brings along not among them: a warning at once would tell which
        # item was a check.
        drawn = seeded(project.seed, f"warning {rater.pseudonym}", str(rater.turn))
        rater.warning_turn = rater.turn + 2 + drawn % MOST_TURNS_TO_WARNING
    elif action == Project.CheckAction.PAUSE:
        rater.standing = Rater.Standing.PAUSED
        transaction.on_commit(lambda: give_work_back(project, rater))
    else:
        rater.standing = Rater.Standing.ASKED
    rater.save(update_fields=["standing", "standing_at", "warning_turn"])


def give_work_back(project: Project, rater: Rater) -> None:
    """What the person has open goes to others."""
    with transaction.atomic():
        cases.lock(project.pk)  # before places, as answers do
        reopen(Assignment.objects.filter(rater=rater, state=Assignment.State.LEASED))
        reach.check_project(project.pk)


def check_reach(project: Project) -> None:
    """Who gets no work any more, or again, decides which items are stuck."""
    with transaction.atomic():
        reach.check_project(project.pk)


def due_warning(rater: Rater) -> str:
    """The warning that the person is to read now, once; empty where none is due."""
    if rater.standing != Rater.Standing.WARNED or rater.turn < rater.warning_turn:
        return ""
    warned = Rater.objects.filter(pk=rater.pk, standing=Rater.Standing.WARNED)
    return str(WARNING) if warned.update(standing="") else ""
