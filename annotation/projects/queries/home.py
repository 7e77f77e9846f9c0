"""What a person's home page shows: where to go on, what is new, and their projects in groups."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from django.db.models import BooleanField, Count, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet, Subquery
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from annotation.access import ANNOTATOR, RESEARCHER, researched_projects, visible_projects
from annotation.models import (
    Annotation,
    Decision,
    Guideline,
    GuidelineAcknowledgement,
    Item,
    Project,
    Rater,
    Shown,
    User,
)
from annotation.projects.limits import last_day
from annotation.projects.queries.outlook import WITH_WORK, Outlook, outlooks
from annotation.projects.queries.projects import ProjectRow

# From so many projects on they can be searched and grouped.
MANY = 10
GROUPS = {"": _("Newest first"), "state": _("By state"), "dataset": _("By data set")}
NEWS_AGE = timedelta(days=14)


@dataclass(frozen=True)
class LeadOn:
    """The project to go on with, whether the person has answered something there, and their last day, if any."""

    project: Project
    outlook: Outlook
    has_begun: bool
    last_day: date | None


@dataclass(frozen=True)
class News:
    project: Project
    text: str
    url: str


def _labelled(user: User) -> QuerySet[Project]:
    """Open projects in which the person labels."""
    own = user.memberships.filter(role=ANNOTATOR, is_active=True)
    return Project.objects.filter(pk__in=own.values("project_id"), state=Project.State.OPEN)


def lead_on(user: User) -> LeadOn | None:
    """The project that the person answered in last of those that have work for them, else the first one that has."""
    last = Annotation.objects.filter(rater=OuterRef("pk")).order_by("-created_at").values("created_at")[:1]
    own = Rater.objects.filter(user=user, project=OuterRef("pk")).annotate(last=Subquery(last)).values("last")[:1]
    projects = _labelled(user).annotate(last=Subquery(own)).order_by(F("last").desc(nulls_last=True), "title", "pk")
    projects = [one for one in projects if not one.lacks_type]
    found = outlooks(user, projects) if projects else {}
    for project in projects:
        if project.pk in found and found[project.pk].name in WITH_WORK:
            day = last_day.of_person(user, [project]).get(project.pk)
            return LeadOn(project, found[project.pk], project.last is not None, day)
    return None


def news_for(user: User) -> list[News]:
    """What happened in the last days that the person has not looked at yet, in a fixed number of queries."""
    since = timezone.now() - NEWS_AGE
    return [*_replies(user), *_newer_guidelines(user, since), *_decisions(user, since)]


def _replies(user: User) -> Iterable[News]:
    """However old they are."""
    raters = Rater.objects.filter(user=user, project__in=visible_projects(user)).select_related("project")
    unread = Count("threads", filter=Q(threads__is_unread=True))
    for rater in raters.annotate(n=unread).filter(n__gt=0).order_by("project__title", "project"):
        words = ngettext("{n} reply to a comment of yours", "{n} replies to comments of yours", rater.n).format(
            n=f"{rater.n:,}"
        )
        yield News(rater.project, words, reverse("my_work", args=[rater.project.slug]) + "?filter=replied")


def _newer_guidelines(user: User, since) -> Iterable[News]:
    newest = Guideline.objects.filter(project=OuterRef("project")).order_by("-version")
    known = GuidelineAcknowledgement.objects.filter(rater=OuterRef("pk")).order_by("-version").values("version")[:1]
    raters = Rater.objects.filter(user=user, project__in=_labelled(user)).select_related("project")
    raters = raters.annotate(
        newest=Subquery(newest.values("version")[:1]),
        newest_at=Subquery(newest.values("created_at")[:1]),
        known=Subquery(known),
    )
    for rater in raters.filter(known__lt=F("newest"), newest_at__gte=since).order_by("-newest_at"):
        url = reverse("project_guidelines", args=[rater.project.slug])
        yield News(
            rater.project, gettext("The guidelines have changed: version {version}").format(version=rater.newest), url
        )


def _decisions(user: User, since) -> Iterable[News]:
    """Decisions of adjudicators on items that the person answered, where the project shows them."""
    projects = visible_projects(user).filter(shows_decisions=True)
    made = Decision.objects.in_force().filter(
        project=OuterRef("item__project"),
        unit__item_units__item=OuterRef("item"),
        method=Decision.Method.ADJUDICATED,
        created_at__gte=since,
    )
    seen = Shown.objects.filter(user=user, item=OuterRef("item"), what=Shown.DECISION)
    raters = Rater.objects.filter(user=user, project__in=projects)
    answers = Annotation.objects.filter(rater__in=raters).exclude(item__state__in=Item.LEFT_OUT)
    answers = answers.filter(Exists(made), ~Exists(seen)).order_by().values("rater__project")
    counted = {row["rater__project"]: row["n"] for row in answers.annotate(n=Count("pk"))}
    for project in Project.objects.filter(pk__in=counted).order_by("title", "pk"):
        n = counted[project.pk]
        url = reverse("my_work", args=[project.slug]) + "?filter=decided"
        yield News(
            project,
            ngettext("{n} of your answers has a new decision", "{n} of your answers have a new decision", n).format(
                n=f"{n:,}"
            ),
            url,
        )


def projects_of(user: User, group: str = "", search: str = "") -> QuerySet[Project]:
    """Those that the person may see, in the order of the groups; closed ones come last."""
    projects = visible_projects(user).select_related("dataset")
    if search:
        found = Q(title__icontains=search) | Q(slug__icontains=search)
        if group == "dataset":
            found |= Q(dataset__title__icontains=search, pk__in=researched_projects(user).values("pk"))
        projects = projects.filter(found)
    first = {"state": ("state",), "dataset": ("dataset__title", "dataset")}.get(group, ())
    closed = ExpressionWrapper(Q(state=Project.State.CLOSED), output_field=BooleanField())
    return projects.alias(is_closed=closed).order_by("is_closed", *first, "-created_at", "-pk")


def group_of(row: ProjectRow, group: str) -> str:
    if group == "state":
        return row.project.get_state_display()
    if group == "dataset":
        return str(row.project.dataset) if RESEARCHER in row.roles else gettext("Other projects")
    return ""


def is_folded(row: ProjectRow) -> bool:
    """Whether nothing is left to do there: for an annotator by their outlook, for others by the state."""
    if row.project.state == Project.State.CLOSED:
        return True
    return row.roles == [ANNOTATOR] and row.outlook is not None and row.outlook.is_over
