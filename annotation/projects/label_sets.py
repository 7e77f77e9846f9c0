"""Label sets as rows: kept once per person, found by identifier, offered to new projects in their newest version."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import Q, QuerySet

from annotation.access import researched_projects
from annotation.models import LabelSet, User
from annotation.task_types import is_shipped, learn


def find_description(identifier: str) -> dict | None:
    """The description of a stored label set; None for a task type that Assay ships."""
    return None if is_shipped(identifier) else LabelSet.description_of(identifier)


def save_label_set(user: User, description: Mapping, follows: LabelSet | None = None) -> LabelSet:
    """The person's row of this content, made where they have none. LabelSetError where it is no label set.

    Where they have other content of the same name and version, this one gets a number behind its title here.
    """
    kind = learn(description)
    own = LabelSet.objects.filter(created_by=user)
    title, number = f"{kind.title}", 1
    namesakes = own.exclude(identifier=kind.identifier)
    if follows is not None:
        namesakes = namesakes.exclude(pk__in=chain_of(follows))
        title = follows.title if follows.description["name"] == kind.title else title
    while namesakes.filter(title=title).exists():
        number += 1
        title = f"{kind.title} ({number})"
    row, _ = own.get_or_create(
        identifier=kind.identifier,
        defaults={"created_by": user, "title": title, "description": description, "follows": follows},
    )
    return row


def chain_of(label_set: LabelSet) -> list[int]:
    """The row and all that it follows."""
    chain = [label_set.pk]
    while label_set.follows_id is not None and label_set.follows_id not in chain:
        label_set = label_set.follows
        chain.append(label_set.pk)
    return chain


def keep_label_set(user: User, identifier: str) -> None:
    """Give the person who makes a project with another person's label set a row of their own. Nothing for a task type
    that Assay ships."""
    description = find_description(identifier)
    if description is not None:
        save_label_set(user, description)


def label_sets_for(user: User) -> QuerySet[LabelSet]:
    """Those that the person made or keeps, and those of projects that they research: the oldest row of each identifier
    where it is not their own. Site administrators have all."""
    if user.is_superuser:
        return LabelSet.objects.all()
    own = LabelSet.objects.filter(created_by=user)
    used = researched_projects(user).values("task_type")
    elsewhere = (
        LabelSet.objects.filter(identifier__in=used)
        .exclude(identifier__in=own.values("identifier"))
        .order_by("identifier", "pk")
    )
    oldest: dict[str, int] = {}
    for identifier, pk in elsewhere.values_list("identifier", "pk"):
        oldest.setdefault(identifier, pk)
    return LabelSet.objects.filter(Q(created_by=user) | Q(pk__in=oldest.values()))


def newest_for(user: User) -> QuerySet[LabelSet]:
    """Of `label_sets_for`, those that no later version follows."""
    visible = label_sets_for(user)
    return visible.exclude(pk__in=visible.exclude(follows=None).values("follows"))
