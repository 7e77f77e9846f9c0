"""That Assay served a person others' labels of a project: their answers there from then on are marked
(`Revision.labels_seen`).

Whatever answers a request with labels, decisions or figures made from them calls `labels_served` before the answer
leaves the server, so that nothing this person says after reading it can be stored unmarked. Having the right to see
them counts for nothing.
"""

from __future__ import annotations

from django.utils import timezone

from annotation.models import Annotation, Decision, Item, LabelAccess, Project

PAGE, FILE, API = LabelAccess.Channel.PAGE, LabelAccess.Channel.FILE, LabelAccess.Channel.API


def labels_served(request, project: Project, channel: str = PAGE, *, item: Item | None = None) -> None:
    """Note that the response to this request holds others' answers in the project, or about the item where one is
    named. Without any, there is nothing to note."""
    if request.method == "HEAD" or LabelAccess.objects.filter(project=project, user=request.user).exists():
        return
    if others_said(request.user, project, item):
        row = LabelAccess(project=project, user=request.user, channel=channel, first_at=timezone.now())
        LabelAccess.objects.bulk_create([row], ignore_conflicts=True)  # two pages that were opened at once


def others_said(user, project: Project, item: Item | None = None) -> bool:
    """Whether there are labels or decisions of anybody else, files included."""
    labels = Annotation.objects.filter(item=item) if item else Annotation.objects.filter(item__project=project)
    decisions = Decision.objects.filter(project=project)
    if item:
        decisions = decisions.filter(unit__item_units__item=item)
    return labels.exclude(rater__user=user).exists() or decisions.exclude(decided_by__user=user).exists()
