"""Inviting many people at once: what would happen with each address, before anything does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from django.db.models.functions import Lower
from django.utils import timezone

from annotation.models import Invitation, Membership, Project, User
from annotation.projects import invitations
from annotation.projects.accounts.pasted import PastedAddress, parse_pasted


@dataclass(frozen=True)
class PlannedInvitation:
    """An address, and what an invitation means for the person: `note`, or the `problem` for which there is none."""

    line: int
    email: str
    note: str = ""
    problem: str = ""


def plan(text: str, project: Project | None, roles: Iterable[str]) -> list[PlannedInvitation]:
    """In the order of the text. A number of queries that does not depend on its length."""
    pasted = parse_pasted(text)
    good = [one.text for one in pasted if not one.problem]
    lowered = User.objects.alias(lowered=Lower("email")).filter(lowered__in=good)
    accounts = {user.email.lower(): user for user in lowered}
    open_rows = Invitation.objects.filter(
        email__in=good, project=project, accepted_at=None, expires_at__gt=timezone.now()
    )
    invited = dict(open_rows.values_list("email", "expires_at"))
    members: dict[int, set[str]] = {}
    if project is not None:
        rows = Membership.objects.filter(project=project, is_active=True, user__in=accounts.values())
        for user, role in rows.values_list("user", "role"):
            members.setdefault(user, set()).add(role)
    wanted = set(roles)
    return [_planned(one, accounts.get(one.text), project, wanted, invited, members) for one in pasted]


def _planned(
    pasted: PastedAddress, account: User | None, project: Project | None, roles: set[str], invited: dict, members: dict
) -> PlannedInvitation:
    row = PlannedInvitation(pasted.line, pasted.text, problem=pasted.problem)
    if row.problem:
        return row
    if account is not None and not account.is_active:
        return replace(row, problem="has a deactivated account: reactivate it instead")
    if account is not None and project is None:
        return replace(row, problem="has an account already")
    if account is not None and roles <= members.get(account.pk, set()):
        return replace(row, problem="has these roles in the project already")
    if row.email in invited:
        return replace(row, problem=f"has an open invitation until {invited[row.email]:%-d %B}")
    return replace(row, note="joins with the account they have" if account else "gets a new account")


def invite_all(
    by: User, rows: Iterable[PlannedInvitation], project: Project | None, roles: Iterable[str]
) -> list[Invitation]:
    """An invitation for each row without a problem."""
    roles = list(roles)
    return [invitations.invite(by, row.email, project=project, roles=roles) for row in rows if not row.problem]
