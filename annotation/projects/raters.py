"""The rater that a member's labels are by, the group that they are in, and the rater whom an address names."""

from django.core.exceptions import BadRequest
from django.db import transaction
from django.shortcuts import get_object_or_404

from annotation import incoming
from annotation.models import Project, Rater, User
from annotation.projects import reach
from annotation.projects.limits import quotas


def rater_of(project: Project, user: User) -> Rater:
    """The rater that this person's labels are by, made when they first need one."""
    rater, _ = Rater.objects.get_or_create(
        project=project, user=user, defaults={"kind": Rater.Kind.MEMBER, "name": str(user)[:200]}
    )
    return rater


def why_no_group(name: str) -> str:
    """Why a group cannot be called so, since rules and quotas name it; empty where it can."""
    if len(name) > 200 or set(name) & set(";:"):
        return "a group's name has at most 200 characters, and no colon or semicolon"
    return ""


def set_group(rater: Rater, group: str) -> None:
    """Put the person into a group; empty: into none."""
    with transaction.atomic():
        Rater.objects.filter(pk=rater.pk).update(group=group)
        quotas.count_anew(rater.project)
        if rater.project.reserves_items:
            reach.check_project(rater.project_id)


def person_in(request, project: Project) -> Rater | None:
    """The person whom the address of a list names, as `person`; None: nobody is named."""
    if not (wanted := request.GET.get("person")):
        return None
    try:
        uuid = incoming.uuid_of(wanted)
    except incoming.Refused as refused:
        raise BadRequest(f"person {refused}") from None
    return get_object_or_404(Rater.objects.select_related("user"), project=project, user__uuid=uuid)
