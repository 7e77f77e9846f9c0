"""Rights that groups of a sign-in provider give and take. What a person gave stays: only a right that a group gave
(`GroupGrant`) is taken back, at the first sign-in after the person left the group."""

from __future__ import annotations

import logging
from collections.abc import Set

from django.db import transaction

from annotation.models import GroupGrant, Membership, Project, User
from annotation.projects import managing as projects
from annotation.projects.accounts import managing
from annotation.projects.accounts.managing import ADMINISTRATOR, CREATOR, MEMBER, AccountError

log = logging.getLogger(__name__)


def apply_groups(user: User, provider: str, rights: Set[str]) -> None:
    """Make `rights` those that the provider's groups give. One that cannot be given or taken is logged."""
    kept = set(GroupGrant.objects.filter(user=user, provider=provider).values_list("right", flat=True))
    for right in sorted(kept - rights):
        _change(user, provider, right, gives=False)
    for right in sorted(rights - kept):
        _change(user, provider, right, gives=True)


def _change(user: User, provider: str, right: str, *, gives: bool) -> None:
    grant = {"user": user, "provider": provider, "right": right}
    try:
        with transaction.atomic():
            if gives:
                if _give(user, right):
                    GroupGrant.objects.get_or_create(**grant)
            else:
                _take(user, right)
                GroupGrant.objects.filter(**grant).delete()
    except (AccountError, projects.ProjectError) as problem:
        log.warning("The groups of %s at %s do not change the right %s: %s", user, provider, right, problem)


def _give(user: User, right: str) -> bool:
    """Whether the person did not have it before."""
    if right == ADMINISTRATOR:
        has = user.is_superuser
        if not has:
            managing.set_rights(None, user, ADMINISTRATOR)
        return not has
    if right == CREATOR:
        has = user.is_staff
        if not has:
            managing.set_rights(None, user, CREATOR)
        return not has
    project, role = _place_of(right)
    if project is None:
        raise AccountError("there is no such project")
    if Membership.objects.filter(project=project, user=user, role=role, is_active=True).exists():
        return False
    _set_roles(project, user, {*projects.active_roles(project, user), role})
    return True


def _take(user: User, right: str) -> None:
    if right == ADMINISTRATOR:
        if user.is_superuser:
            is_creator = GroupGrant.objects.filter(user=user, right=CREATOR).exists()
            managing.set_rights(None, user, CREATOR if is_creator else MEMBER)
    elif right == CREATOR:
        if managing.rights_of(user) == CREATOR:
            managing.set_rights(None, user, MEMBER)
    else:
        project, role = _place_of(right)
        if project is not None:
            _set_roles(project, user, set(projects.active_roles(project, user)) - {role})


def _place_of(right: str) -> tuple[Project | None, str]:
    slug, _, role = right.partition("/")
    return Project.objects.filter(slug=slug).first(), role


def _set_roles(project: Project, user: User, roles: set[str]) -> None:
    projects.set_roles(project, user, roles)
