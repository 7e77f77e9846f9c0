"""What is in a release before it is frozen, and what its readers would miss."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q
from django.urls import reverse

from annotation.models import Annotation, Decision, Item, ItemUnit, Judgement, Project, Rater
from annotation.projects.cards import missing_in


@dataclass(frozen=True, slots=True)
class Lack:
    """`address` is where something can be done about it."""

    words: str
    address: str
    action: str


def contents(project: Project) -> dict[str, int]:
    """Counts of what would be frozen now."""
    items = Item.objects.filter(project=project).exclude(state=Item.State.RETIRED)
    answers = Annotation.objects.filter(item__project=project, is_surplus=False).exclude(item__state=Item.State.RETIRED)
    return {
        "items": items.count(),
        "units": ItemUnit.objects.filter(item__in=items).count(),
        "answers": answers.count(),
        "labellers": answers.exclude(rater__kind=Rater.Kind.SLOT).values("rater").distinct().count(),
        "decisions": Decision.objects.in_force().filter(project=project).count(),
    }


def lacks(project: Project, counts: dict[str, int]) -> list[Lack]:
    """What is missing, the labels first."""
    items = reverse("project_items", args=[project.slug])
    found = []
    few = Item.objects.filter(project=project).exclude(state=Item.State.RETIRED)
    few = few.annotate(n=Count("annotations", filter=Q(annotations__is_surplus=False)))
    silent = few.filter(n=0).count()
    if silent:
        found.append(Lack(f"{silent:,} items have no answer", items, "Items"))
    for title, n in undecided(project):
        found.append(Lack(f"{title}: {n:,} units are divided and nobody decided", items, "Items"))
    slots = project.raters.filter(kind=Rater.Kind.SLOT, annotations__isnull=False).exists()
    if counts["labellers"] < 2 and not slots:
        who = "one person" if counts["labellers"] else "nobody"
        members = reverse("project_members", args=[project.slug])
        found.append(Lack(f"{who.capitalize()} labelled, so agreement is not known", members, "Members"))
    guideline = project.guidelines.order_by("-version").values_list("markdown", flat=True).first()
    if not (guideline or "").strip():
        found.append(Lack("No guidelines", reverse("project_guidelines", args=[project.slug]), "Guidelines"))
    card = reverse("project_card", args=[project.slug])
    return found + [Lack(words, card, "Card") for words in missing_in(project.card)]


def undecided(project: Project) -> list[tuple[str, int]]:
    """By question, units whose latest answers have two most frequent labels, and no decision."""
    found = []
    rows = Judgement.objects.filter(
        revision__is_latest=True,
        revision__annotation__item__project=project,
        revision__annotation__is_surplus=False,
    ).exclude(revision__annotation__item__state=Item.State.RETIRED)
    for dimension in project.type.asked_dimensions:
        votes = rows.filter(dimension=dimension.slug).order_by().values_list("unit", "label").annotate(n=Count("pk"))
        best: dict[int, tuple[int, int]] = {}
        for unit, _, n in votes.iterator(chunk_size=10_000):
            most, ties = best.get(unit, (0, 0))
            best[unit] = (n, 1) if n > most else (most, ties + (n == most))
        divided = {unit for unit, (_, ties) in best.items() if ties > 1}
        if divided:
            decided = Decision.objects.in_force().filter(project=project, dimension=dimension.slug)
            divided -= set(decided.values_list("unit", flat=True))
        if divided:
            found.append((dimension.title, len(divided)))
    return found
