"""Decisions of adjudicators: one label per unit and dimension that counts for the unit, in addition to people's
answers.

Nothing is overwritten: deciding anew and withdrawing add rows, and what the person had been shown stands with each.
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from annotation.models import Assignment, Decision, Item, ItemUnit, Project, Rater, Shown, Unit, User
from annotation.projects import cases, reach
from annotation.projects.raters import rater_of

ADJUDICATED = Decision.Method.ADJUDICATED


def decide(
    project: Project,
    user: User,
    unit: Unit,
    dimension: str,
    label: str,
    note: str = "",
    *,
    item: Item | None = None,
    by: tuple[Rater, dict] | None = None,
    **more,
) -> Decision:
    """Store the decision. The label is one of the dimension's; the caller has checked. The same again, by the same
    person who was shown nothing else since, adds nothing. `more` has a reason, spans, whether guidelines need it, and
    another outcome than a label, which is empty then. A caller that names the item has locked it and counts its case;
    one that decides much at once says `by` whom and what they have seen, and has called `changed`."""
    more = {"outcome": Decision.Outcome.LABEL.value, "reason": "", "spans": [], "for_guidelines": False} | more
    with transaction.atomic():
        if by is None:
            changed(project)
        newest = _newest(project, unit, dimension)
        rater, seen = by or (rater_of(project, user), seen_by(project, user, unit))
        values = {"label": label, "note": note, "decided_by_id": rater.pk, "seen": seen} | more
        if newest is not None and all(getattr(newest, name) == value for name, value in values.items()):
            return newest
        row = _add(project, unit, dimension, newest, **values)
        _counted(project, unit, item)
        return row


def withdraw(
    project: Project,
    user: User,
    unit: Unit,
    dimension: str,
    note: str = "",
    *,
    item: Item | None = None,
    number: int | None = None,
) -> Decision | None:
    """Take the decision in force back; people's answers were never touched by it. Where another `number` is in force,
    that one stays and is returned."""
    with transaction.atomic():
        changed(project)
        newest = _newest(project, unit, dimension)
        if newest is None or newest.is_withdrawn or number not in (None, newest.number):
            return newest
        rater, seen = rater_of(project, user), seen_by(project, user, unit)
        row = _add(project, unit, dimension, newest, is_withdrawn=True, note=note, decided_by=rater, seen=seen)
        _counted(project, unit, item)
        return row


def take_back(project: Project, user: User, item: Item, newest: Decision, before: Decision | None) -> None:
    """Put what was in force before the newest decision in force again, by a row of its own."""
    if before is None or before.is_withdrawn:
        withdraw(project, user, newest.unit, newest.dimension, item=item)
        return
    more = {name: getattr(before, name) for name in ("outcome", "reason", "spans", "for_guidelines")}
    decide(project, user, newest.unit, newest.dimension, before.label, before.note, item=item, **more)


def _counted(project: Project, unit: Unit, item: Item | None) -> None:
    if item is None:
        of_unit = ItemUnit.objects.filter(unit=unit, item__project=project).order_by("item")
        for pk in of_unit.values_list("item", flat=True):
            cases.recount(project, [pk])
            reach.check([pk])


def seen_by(project: Project, user: User, unit: Unit) -> dict:
    """What Assay has shown this person of the unit's item: on pages, in files, or while they labelled it themselves."""
    items = list(Item.objects.filter(project=project, item_units__unit=unit).values_list("pk", flat=True))
    rows = Shown.objects.filter(Q(item__in=items) | Q(item=None), project=project, user=user)
    rows = set(rows.values_list("what", "item"))
    shown = {what for what, _ in rows}
    own = Assignment.objects.filter(item__in=items, rater__user=user, suggestions_shown_at__isnull=False)
    shown |= {one.get("run") for exposure in own.values_list("exposure", flat=True) for one in exposure}
    # Files have pseudonyms; pages have names.
    labels, names = (
        bool({Shown.LABELS, Shown.UNNAMED_LABELS} & shown),
        any(what == Shown.LABELS and item for what, item in rows),
    )
    checkers = {str(uuid): checker for uuid, checker in project.checker_runs.values_list("uuid", "checker")}
    runs = [{"run": run, "checker": checkers[run]} for run in sorted(checkers) if run in shown]
    return {"labels": labels, "names": names, "runs": runs}


def _newest(project: Project, unit: Unit, dimension: str) -> Decision | None:
    return Decision.objects.filter(
        project=project, unit=unit, dimension=dimension, method=ADJUDICATED, is_latest=True
    ).first()


def _add(project: Project, unit: Unit, dimension: str, newest: Decision | None, **fields) -> Decision:
    if newest is not None:
        Decision.objects.filter(pk=newest.pk).update(is_latest=False)
    return Decision.objects.create(
        project=project,
        unit=unit,
        dimension=dimension,
        method=ADJUDICATED,
        number=newest.number + 1 if newest else 1,
        decided_at=timezone.now(),
        **fields,
    )


def changed(project: Project) -> None:
    """Comes first: it makes adjudicators of one project wait for each other, so that each adds to the newest row."""
    Project.objects.filter(pk=project.pk).update(label_version=F("label_version") + 1)
