"""The list of accounts, for administrators."""

from __future__ import annotations

from dataclasses import dataclass

from allauth.mfa.models import Authenticator
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.db.models.expressions import Value
from django.db.models.functions import Coalesce, Lower, NullIf

from annotation.access import RESEARCHER
from annotation.models import Dataset, Membership, Project, User

ROWS = 40
SEARCH_CHARS = 200
STATES = {
    "all": ("All", Q()),
    "active": ("Active", Q(is_active=True)),
    "deactivated": ("Deactivated", Q(is_active=False)),
    "administrators": ("Administrators", Q(is_superuser=True)),
}


@dataclass(frozen=True)
class SortedColumn:
    title: str
    by: object
    is_number: bool = False


# The shown name is the email's where there is none.
COLUMNS = {
    "person": SortedColumn("Person", Lower(Coalesce(NullIf("name", Value("")), "username"))),
    "email": SortedColumn("Email", Lower("email")),
    "projects": SortedColumn("Projects", F("project_count"), is_number=True),
    "last-sign-in": SortedColumn("Last sign-in", F("last_login")),
    "joined": SortedColumn("Joined", F("date_joined")),
}


def account_rows(search: str = "", state: str = "all", sort: str = "person") -> QuerySet[User]:
    """Accounts whose name or email contains every word of `search`. A minus before a column's name turns the order."""
    rows = User.objects.filter(STATES.get(state, STATES["all"])[1])
    for word in search[:SEARCH_CHARS].split():
        rows = rows.filter(Q(name__icontains=word) | Q(email__icontains=word))
    rows = rows.annotate(
        project_count=Count("memberships__project", filter=Q(memberships__is_active=True), distinct=True),
        has_second_factor=second_factor(),
    )
    column = COLUMNS.get(sort.removeprefix("-"), COLUMNS["person"])
    by = column.by.desc(nulls_last=True) if sort.startswith("-") else column.by.asc(nulls_first=True)
    return rows.order_by(by, "pk")


def second_factor() -> Exists:
    return Exists(Authenticator.objects.filter(user=OuterRef("pk"), type=Authenticator.Type.TOTP))


def own_projects(account: User) -> list[Project]:
    """Projects that the person is in, with `their_roles`, and `is_alone` where nobody else is a researcher of it."""
    roles: dict[int, list[str]] = {}
    for project, role in Membership.objects.filter(user=account, is_active=True).values_list("project", "role"):
        roles.setdefault(project, []).append(role)
    others = Membership.objects.filter(project=OuterRef("pk"), role=RESEARCHER, is_active=True, user__is_active=True)
    found = Project.objects.filter(pk__in=roles).annotate(has_others=Exists(others.exclude(user=account)))
    projects = list(found.order_by("title", "pk"))
    for project in projects:
        project.their_roles = sorted(roles[project.pk])
        project.is_alone = RESEARCHER in project.their_roles and not project.has_others
    return projects


def own_datasets(account: User) -> QuerySet[Dataset]:
    return Dataset.objects.filter(owner=account).order_by("title", "pk")
