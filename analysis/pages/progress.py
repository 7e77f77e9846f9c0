"""The progress of a project and of each of its people, for those who lead it."""

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, PermissionDenied
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_POST, require_safe

from analysis.progress import mail, people, standouts
from annotation import incoming
from annotation.access import ADJUDICATOR, RESEARCHER, has_open_work, may_still_be_blind, project_for, roles_of
from annotation.models import Item, Project
from annotation.projects.limits import quotas
from annotation.work.hours import HOW
from annotation.work.label_access import PAGE, labels_served

# In the order of the page: name in `ProjectProgress.items`, title, and the filter of the list, if any.
ITEM_STATES = (
    ("done", "All judgements done", "judged"),
    ("begun", "Begun", ""),
    ("untouched", "Not begun", ""),
    (Item.State.STUCK, "Stuck", "stuck"),
    ("empty", "Nothing to judge", "empty"),
    (Item.State.RETIRED, "Retired", "retired"),
)


def project_for_lead(request, slug: str, channel: str = PAGE) -> tuple[Project, bool]:
    """The project, and whether figures from labels and checks are shown: not to a person who labels here and has not
    opened others' labels on purpose. An adjudicator with open work sees nothing: counts may tell checks from work."""
    project = project_for(request.user, slug, RESEARCHER, ADJUDICATOR)
    is_blind = has_open_work(request.user, project)
    if is_blind and RESEARCHER not in roles_of(request.user, project):
        raise PermissionDenied(
            "You still have items to label in this project; its progress is hidden until you finish them"
        )
    shows_labels = not (is_blind or project.is_preparing or may_still_be_blind(request.user, project))
    if shows_labels:
        labels_served(request, project, channel)
    return project, shows_labels


@login_required
@require_safe
def project_progress(request, slug):
    project, shows_labels = project_for_lead(request, slug)
    sorts = {name: one for name, one in people.SORTS.items() if shows_labels or not one.of_labels}
    shows_followed = shows_labels and project.checker_runs.exists()
    if not shows_followed:
        sorts.pop("followed", None)
    default = "look" if shows_labels else "person"
    search, sort = request.GET.get("search", "").strip()[:400], request.GET.get("sort", "")
    if not incoming.is_storable(search):
        raise BadRequest(f"search {incoming.BAD_CHARACTER}")
    if (column := sort.removeprefix("-") or default) not in sorts:
        raise BadRequest(f"sort is one of {', '.join(sorts)}")
    counted = people.counted_people(project)
    rows = people.people_of(project, counted)
    found = people.found_in(rows, search) if search else rows
    page = people.page_of(found, column, is_reversed=sort.startswith("-"), number=request.GET.get("page"))
    query = {name: value for name, value in (("search", search), ("sort", sort)) if value}
    progress = people.progress_of(project, counted)
    context = {
        "project": project,
        "shows_labels": shows_labels,
        "shows_followed": shows_followed,
        "is_researcher": RESEARCHER in roles_of(request.user, project),
        "progress": progress,
        "counted": counted,
        "lack": people.lack_of_room(project, rows, progress.pace.remaining),
        "quotas": quotas.parse(project.group_quotas),
        "states": [(title, progress.items[name], of) for name, title, of in ITEM_STATES if name in progress.items],
        "queues": (counted.values or {}).get("queues", {}),
        "sentence": people.sentence_of(rows) if shows_labels and counted.values else "",
        "rule": standouts.RULE,
        "how": HOW.format(pause=project.pay_pause_minutes),
        "page": page,
        "search": search,
        "sort": sort,
        "query": urlencode(query),
        "columns": [
            (
                name,
                one.title,
                urlencode(query | {"sort": f"-{name}" if sort == name else name}),
                _order(name, column, sort),
            )
            for name, one in sorts.items()
            if one.title
        ],
        "membership": mail.membership_of(project, request.user),
    }
    return render(request, "analysis/progress.html", context)


def _order(name: str, column: str, sort: str) -> str:
    """As `aria-sort` says it; empty where the list is sorted by another column."""
    if name != column:
        return ""
    return "descending" if people.SORTS[name].highest_first != sort.startswith("-") else "ascending"


@login_required
@require_POST
def project_weekly_mail(request, slug):
    """Choose the weekly mail, or no longer."""
    project = project_for(request.user, slug, RESEARCHER)
    if mail.choose(project, request.user, wants=request.POST.get("wants") == "yes"):
        messages.success(request, "Saved")
    else:
        messages.error(request, "The mail goes to researchers who are members of the project, and you are none")
    return redirect("project_progress", slug)


urlpatterns = [
    path("projects/<slug:slug>/progress/", project_progress, name="project_progress"),
    path("projects/<slug:slug>/progress/mail/", project_weekly_mail, name="project_weekly_mail"),
]
