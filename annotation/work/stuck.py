"""Stuck items (`annotation.projects.reach`): why nobody is left for them, and what a researcher can do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Exists, OuterRef

from annotation.models import Annotation, Assignment, Item, Membership, Project, User
from annotation.projects import cases, reach
from annotation.work.assigning import AssigningError


@dataclass(frozen=True)
class Skip:
    name: str
    reason: str
    labels_here: bool  # whether they still do


@dataclass
class WhyStuck:
    """Who has had the item, by name, and how many places are open."""

    missing: int = 0
    skips: list[Skip] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    holding: list[str] = field(default_factory=list)

    @property
    def can_ask_again(self) -> bool:
        return any(skip.labels_here for skip in self.skips)


def _annotators(user: OuterRef) -> Exists:
    active = Membership.objects.filter(role=Membership.Role.ANNOTATOR, is_active=True, user__is_active=True)
    return Exists(active.filter(project=OuterRef("project"), user=user))


def why_stuck(items: Iterable[Item]) -> dict[int, WhyStuck]:
    """Of those that are stuck, by number: two queries."""
    found = {item.pk: WhyStuck() for item in items if item.state == Item.State.STUCK}
    if not found:
        return found
    rows = Assignment.objects.filter(item__in=found).annotate(labels_here=_annotators(OuterRef("rater__user")))
    columns = ("item_id", "state", "rater__name", "skip_reason", "labels_here")
    for item, state, name, reason, labels_here in rows.order_by("pk").values_list(*columns):
        if state == Assignment.State.OPEN:
            found[item].missing += 1
        elif state == Assignment.State.SKIPPED:
            found[item].skips.append(Skip(name, reason, labels_here))
        elif state == Assignment.State.LEASED:
            found[item].holding.append(name)
    # A late answer has no place, and those of imported files count for nobody here.
    answers = Annotation.objects.filter(item__in=found, rater__user__isnull=False).order_by("pk")
    for item, name in answers.values_list("item_id", "rater__name"):
        found[item].answered.append(name)
    return found


def _ask_again(item: Item, by: User) -> None:
    skipped = Assignment.objects.filter(item=item, state=Assignment.State.SKIPPED).select_related("rater")
    rows = list(skipped.annotate(labels_here=_annotators(OuterRef("rater__user"))).filter(labels_here=True))
    if not rows:
        raise AssigningError("Nobody who skipped this item still labels here")
    for row in rows:  # its place is the one that was opened for it
        row.note = f"{row.rater.name} skipped it and was asked again by {by}"
        row.state, row.rater, row.leased_at = Assignment.State.CANCELLED, None, None
        row.save(update_fields=["note", "state", "rater", "leased_at"])
    Assignment.objects.filter(item=item, state=Assignment.State.OPEN).update(returned=True)


def _do_without(item: Item, by: User) -> None:
    note = f"Not asked for any more, by {by}"
    places = Assignment.objects.filter(item=item, state=Assignment.State.OPEN)
    places.update(state=Assignment.State.CANCELLED, returned=False, note=note)


def _hand_over(item: Item, by: User) -> None:
    places = list(Assignment.objects.filter(item=item, state=Assignment.State.OPEN).order_by("pk").values_list("pk"))
    _do_without(item, by)
    reason = f"No annotator is left for the {'answer' if len(places) == 1 else 'answers'} missing; handed over by {by}"
    Assignment.objects.filter(pk__in=places[0]).update(is_flagged=True, skip_reason=reason)
    cases.count(item.project, item.project.type, [item.pk])


# Name in the form -> what a button says, and what it does to an item that is locked.
WAYS: dict[str, tuple[str, Callable[[Item, User], None]]] = {
    "again": ("Ask again", _ask_again),
    "without": ("Do without", _do_without),
    "desk": ("Hand over to adjudicators", _hand_over),
}


def take_way(project: Project, items: Iterable[Item], way: str, by: User) -> tuple[int, int]:
    """Do this to each of the items that is still stuck, in a transaction of its own: for how many it was done, and for
    how many it could not be. `way` is a name of WAYS."""
    done = refused = 0
    for item in items:
        item.project = project
        try:
            with transaction.atomic():
                cases.lock(project.pk, item.pk)
                if not Item.objects.filter(pk=item.pk, state=Item.State.STUCK).exists():
                    continue
                WAYS[way][1](item, by)
                reach.check([item.pk])
            done += 1
        except AssigningError:
            refused += 1
    return done, refused
