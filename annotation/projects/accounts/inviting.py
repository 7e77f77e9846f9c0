"""Inviting many people at once: what would happen with each address, before anything does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from django.db import transaction
from django.db.models.functions import Lower
from django.utils import timezone

from annotation.models import Invitation, Membership, Project, User
from annotation.projects import invitations
from annotation.projects.accounts.pasted import PastedAddress, parse_pasted
from annotation.projects.raters import why_no_group


@dataclass(frozen=True)
class PlannedInvitation:
    """An address, and what an invitation means for the person: `note`, or the `problem` for which there is none.
    `roles` and `group` are those that they get."""

    line: int
    email: str
    note: str = ""
    problem: str = ""
    roles: tuple[str, ...] = ()
    group: str = ""


def plan(text: str, project: Project | None, roles: Iterable[str]) -> list[PlannedInvitation]:
    """In the order of the text: with `roles` where a row of a table names no others. A number of queries that does not
    depend on its length."""
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
    usual = tuple(roles)
    return [_planned(one, accounts.get(one.text), project, usual, invited, members) for one in pasted]


def _planned(
    pasted: PastedAddress, account: User | None, project: Project | None, usual: tuple, invited: dict, members: dict
) -> PlannedInvitation:
    row = PlannedInvitation(pasted.line, pasted.text, problem=pasted.problem, roles=usual)
    if not row.problem and project is not None:
        row = _with_place(row, pasted)
    if row.problem:
        return row
    if account is not None and not account.is_active:
        return replace(row, problem="has a deactivated account: reactivate it instead")
    if account is not None and project is None:
        return replace(row, problem="has an account already")
    if account is not None and set(row.roles) <= members.get(account.pk, set()):
        return replace(row, problem="has these roles in the project already")
    if row.email in invited:
        return replace(row, problem=f"has an open invitation until {invited[row.email]:%-d %B}")
    return replace(row, note="joins with the account they have" if account else "gets a new account")


def _with_place(row: PlannedInvitation, pasted: PastedAddress) -> PlannedInvitation:
    """The row with the roles and the group that its line names."""
    named = tuple(dict.fromkeys(filter(None, (one.strip().lower() for one in re.split(r"[,;/|]", pasted.roles)))))
    if unknown := [one for one in named if one not in Membership.Role.values]:
        known = ", ".join(Membership.Role.values)
        return replace(row, problem=f"has the role {unknown[0][:80]!r}; enter {known}, or leave the cell empty")
    row = replace(row, roles=named or row.roles, group=pasted.group)
    if row.group and (problem := why_no_group(row.group)):
        return replace(row, problem=f"has a group that cannot be: {problem}")
    if row.group and Membership.Role.ANNOTATOR not in row.roles:
        return replace(row, problem="has a group, which only annotators can have")
    return row


def invite_all(by: User, rows: Iterable[PlannedInvitation], project: Project | None) -> list[Invitation]:
    """An invitation for each row without a problem, or none at all."""
    with transaction.atomic():
        return [
            invitations.invite(by, row.email, project=project, roles=row.roles, group=row.group)
            for row in rows
            if not row.problem
        ]
