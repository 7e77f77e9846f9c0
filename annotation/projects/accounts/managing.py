"""What administrators do with an account. Each change is in its history."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import contextmanager

from allauth.mfa.models import Authenticator
from django.db import transaction

from annotation import editing
from annotation.access import ANNOTATOR, RESEARCHER
from annotation.models import Assignment, Dataset, GroupGrant, Membership, Project, SettingsChange, User
from annotation.projects import cases, managing, reach
from annotation.projects.item_making import reopen
from annotation.projects.label_sets import keep_label_set

ADMINISTRATOR, CREATOR, MEMBER = "administrator", "creator", "member"
RIGHTS = {
    ADMINISTRATOR: "Administrator: everything, everywhere",
    CREATOR: "May create data sets and projects",
    MEMBER: "What the roles in projects allow",
}


class AccountError(Exception):
    """What was asked for cannot be done; the message is for the administrator who asked."""


def rights_of(account: User) -> str:
    return ADMINISTRATOR if account.is_superuser else CREATOR if account.is_staff else MEMBER


def record(by: User | None, account: User, name: str, before: object, after: object) -> None:
    editing.record(by, account, SettingsChange.What.ACCOUNT, {name: before}, {name: after}, str(account))


@contextmanager
def _keeping_an_administrator(account: User):
    """The block may take away an administrator's rights: it is refused for the last one, also where two administrators
    do this to each other at the same moment."""
    with transaction.atomic():
        others = User.objects.select_for_update(no_key=True).filter(is_superuser=True, is_active=True).order_by("pk")
        remaining = [one for one in others if one.pk != account.pk]
        account.refresh_from_db(fields=["is_active", "is_staff", "is_superuser"])
        if account.is_superuser and account.is_active and not remaining:
            raise AccountError(
                f"{account} is the last administrator of this site. Make another person an administrator first"
            )
        yield


def deactivate(by: User, account: User) -> str:
    """End the account's sessions and tokens, and return the items that are assigned to it. Labels and roles stay."""
    with _keeping_an_administrator(account):
        if not account.is_active:
            return f"{account} was deactivated already"
        account.is_active = False
        account.save(update_fields=["is_active"])
        record(by, account, "state", "active", "deactivated")
        returned = sum(_return_work(project, account) for project in _labelled_projects(account))
    items = f" {returned} assigned item{'s' if returned != 1 else ''} went back to the others." if returned else ""
    return f"{account} can no longer sign in.{items}"


def _labelled_projects(account: User) -> Iterable[Project]:
    roles = Membership.objects.filter(user=account, role=ANNOTATOR, is_active=True)
    return Project.objects.filter(pk__in=roles.values("project")).order_by("pk")


def _return_work(project: Project, account: User) -> int:
    cases.lock(project.pk)  # before places, as answers do
    returned = reopen(project.assignments.filter(rater__user=account, state=Assignment.State.LEASED))
    reach.check_project(project.pk)
    return returned


def reactivate(by: User, account: User) -> str:
    with transaction.atomic():
        changed = User.objects.filter(pk=account.pk, is_active=False).update(is_active=True)
        account.is_active = True
        if changed:
            record(by, account, "state", "deactivated", "active")
            for project in _labelled_projects(account):
                reach.check_project(project.pk)
    return f"{account} can sign in again, with the same password and roles. API tokens have to be made anew"


def set_rights(by: User | None, account: User, rights: str) -> str:
    with _keeping_an_administrator(account) if rights != ADMINISTRATOR else transaction.atomic():
        before = rights_of(account)
        account.is_superuser = rights == ADMINISTRATOR
        account.is_staff = rights in (ADMINISTRATOR, CREATOR)
        account.save(update_fields=["is_superuser", "is_staff"])
        if before != rights:
            record(by, account, "rights", RIGHTS[before], RIGHTS[rights])
        if by is not None and list(RIGHTS).index(rights) < list(RIGHTS).index(before):
            GroupGrant.objects.filter(user=account, right=rights).delete()  # no group takes back what a person gave
    return f"Rights of {account}: {RIGHTS[rights]}"


def reset_second_factor(by: User, account: User) -> str:
    """Remove the codes of an app and the recovery codes, and sign the person out everywhere."""
    if by.pk == account.pk:
        raise AccountError(
            "Change your own second factor under Two-factor authentication, which asks for your password"
        )
    with transaction.atomic():
        removed, _ = Authenticator.objects.filter(user=account).delete()
        if not removed:
            return f"{account} has no second factor"
        for session in account.usersession_set.all():
            session.end()
        record(by, account, "second factor", "set up", "reset")
    return f"{account} signs in with the password alone now, and can set up a second factor again"


def hand_over(by: User, account: User, to: User, leaves: bool = False) -> str:
    """Make `to` the owner of the account's data sets and a researcher of its projects. With `leaves`, the account is no
    longer a researcher of them."""
    if to.pk == account.pk or not to.is_active:
        raise AccountError("Choose another person, whose account is active")
    with transaction.atomic():
        roles = Membership.objects.filter(user=account, role=RESEARCHER, is_active=True)
        projects = list(Project.objects.filter(pk__in=roles.values("project")).order_by("pk"))
        datasets = list(Dataset.objects.select_for_update(no_key=True).filter(owner=account).order_by("pk"))
        for project in projects:
            managing.set_roles(project, to, {*managing.active_roles(project, to), RESEARCHER}, by)
            keep_label_set(to, project.task_type)
            if leaves:
                managing.set_roles(project, account, {*managing.active_roles(project, account)} - {RESEARCHER}, by)
        for dataset in datasets:
            dataset.owner = to
            dataset.save(update_fields=["owner"])
            what = SettingsChange.What.DATASET
            editing.record(by, dataset, what, {"owner": str(account)}, {"owner": str(to)})
        if not projects and not datasets:
            raise AccountError(f"{account} is a researcher of no project and owns no data set")
        named = [one.slug for one in (*projects, *datasets)]
        record(by, account, "handed over", "", [f"to {to}", *named])
        record(by, to, "received", "", [f"from {account}", *named])
    counts = [
        f"{len(projects)} project{'s' * (len(projects) != 1)}",
        f"{len(datasets)} data set{'s' * (len(datasets) != 1)}",
    ]
    return f"{to} is now a researcher of {counts[0]} and owner of {counts[1]} that {account} had"
