"""What is in a release before it is frozen, and what its readers would miss."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Count
from django.urls import reverse

from analysis.reports.words.numbers import n_of
from annotation.jobs import counts
from annotation.jobs.counts import Counted
from annotation.models import Annotation, Decision, Disagreement, Item, ItemUnit, Project, Rater
from annotation.projects.cards import missing_in


@dataclass(frozen=True, slots=True)
class Lack:
    """`address` is where something can be done about it."""

    words: str
    address: str
    action: str


def contents(project: Project) -> Counted:
    """Counts of what would be frozen now."""
    return counts.counted("release", project)


def count_contents(projects: Iterable[Project]) -> dict[int, dict]:
    return {project.pk: _counted(project) for project in projects}


def _counted(project: Project) -> dict:
    items = Item.objects.filter(project=project).exclude(state__in=Item.LEFT_OUT)
    answers = Annotation.objects.filter(item__project=project, is_surplus=False).exclude(item__state__in=Item.LEFT_OUT)
    # Units whose latest answers have two most frequent labels, and no decision.
    ties = Disagreement.objects.filter(project=project, is_tied=True, has_decision=False).order_by()
    n_items = items.count()
    return {
        "items": n_items,
        "silent": n_items - answers.order_by().values("item").distinct().count(),
        "units": ItemUnit.objects.filter(item__in=items).count(),
        "answers": answers.count(),
        "raters": answers.exclude(rater__kind=Rater.Kind.SLOT).values("rater").distinct().count(),
        "decisions": Decision.objects.in_force().filter(project=project).count(),
        "ties": dict(ties.values_list("dimension").annotate(n=Count("pk"))),
    }


def lacks(project: Project, numbers: Mapping | None) -> list[Lack]:
    """What is missing, the labels first, as far as they have been counted."""
    items = reverse("project_items", args=[project.slug])
    found = []
    if numbers and numbers["silent"]:
        found.append(Lack(f"{n_of(numbers['silent'], 'items')} without an answer", items, "Items"))
    ties = numbers["ties"] if numbers else {}
    for title, n in [(one.title, ties[one.slug]) for one in project.type.asked_dimensions if one.slug in ties]:
        found.append(Lack(f"{title}: {n_of(n, 'units')} tied and undecided", f"{items}?filter=undecided", "Items"))
    slots = project.raters.filter(kind=Rater.Kind.SLOT, annotations__isnull=False).exists()
    if numbers and numbers["raters"] < 2 and not slots:
        who = "one person" if numbers["raters"] else "nobody"
        members = reverse("project_members", args=[project.slug])
        found.append(Lack(f"{who.capitalize()} labelled, so agreement is not known", members, "Members"))
    guideline = project.guidelines.order_by("-version").values_list("markdown", flat=True).first()
    if not (guideline or "").strip():
        found.append(Lack("No guidelines", reverse("project_guidelines", args=[project.slug]), "Guidelines"))
    card = reverse("project_card", args=[project.slug])
    return found + [Lack(words, card, "Card") for words in missing_in(project.card)]
