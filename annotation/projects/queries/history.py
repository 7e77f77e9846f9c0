"""What changed a project, who did it and when: the history that pages and files show."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Q, QuerySet

from annotation.models import Project, SettingsChange
from annotation.projects.cards import PART_NAMED
from annotation.projects.settings import changeable

What = SettingsChange.What
# Of an account or a data set, and never of a project.
ELSEWHERE = (What.DATASET, What.ACCOUNT)
KINDS = {value: title for value, title in What.choices if value not in ELSEWHERE}


def changes_of(project: Project, what: str = "", person: str = "") -> QuerySet[SettingsChange]:
    """Newest first, with imports into its data set. `person` is in the name of the person who did it, or in what it is
    about."""
    found = SettingsChange.objects.filter(Q(project=project) | Q(dataset=project.dataset_id, what=What.IMPORT))
    if what:
        found = found.filter(what=what)
    for word in person.split():
        found = found.filter(
            Q(user__name__icontains=word) | Q(user__username__icontains=word) | Q(about__icontains=word)
        )
    return found.select_related("user").order_by("-pk")


def values_of(change: SettingsChange) -> Iterator[tuple[str, object, object]]:
    """Titles with the values before and after."""
    titles = {}
    if change.what == What.SETTINGS:
        titles = {one.name: one.field_label for one in changeable()}
    elif change.what == What.CARD:
        titles = {name: part.title for name, part in PART_NAMED.items()}
    for name, (before, after) in change.changes.items():
        yield titles.get(name, name[:1].upper() + name[1:]), before, after


def done_by(change: SettingsChange) -> str:
    return str(change.user) if change.user else "an import or a command"
