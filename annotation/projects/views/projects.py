"""The list of projects, and the pages of one: overview, members, guidelines and settings."""

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import incoming, task_words
from annotation.access import (
    ADJUDICATOR,
    ANNOTATOR,
    RESEARCHER,
    has_open_work,
    may_create,
    project_for,
    roles_of,
    sees_labels,
    visible_datasets,
)
from annotation.editing import SharedForm, last_change, locked
from annotation.jobs import counts
from annotation.markdown import render as render_markdown
from annotation.models import Assignment, Invitation, Job, Project, SettingsChange, User
from annotation.projects import cases, invitations
from annotation.projects import guidelines as guideline_service
from annotation.projects import managing as service
from annotation.projects.accounts.pasted import MOST
from annotation.projects.forms.accounts import ProjectInvitationForm
from annotation.projects.forms.administration import InvitePeopleForm
from annotation.projects.forms.cards import CardForm
from annotation.projects.forms.projects import GuidelinesForm, ProjectForm, ProjectSettingsForm, RolesForm
from annotation.projects.item_job import start_item_job
from annotation.projects.queries import guidelines, members
from annotation.projects.queries import projects as queries
from annotation.projects.queries.next_steps import after_overview
from annotation.projects.settings import SETTINGS, in_words
from annotation.projects.views.accounts import announce, limit_invitations, link_of, plan_and_invite

What = SettingsChange.What

# Steps a researcher can take -> the state they lead to, and what takes it.
MOVES = {
    "open": (Project.State.OPEN, service.open_project),
    "pause": (Project.State.PAUSED, service.pause_project),
    "close": (Project.State.CLOSED, service.close_project),
}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_new(request):
    if not may_create(request.user):
        raise PermissionDenied("Your account may not create projects; ask a site administrator")
    datasets = visible_datasets(request.user).order_by("title")
    wanted = {name: request.GET[name] for name in ("dataset", "task_type") if name in request.GET}
    form = ProjectForm(request.POST or None, datasets=datasets, user=request.user, initial=wanted)
    if request.method == "POST" and form.is_valid():
        project = service.create_project(request.user, **form.arguments())
        job = start_item_job(project, request.user)
        if job.progress_total:
            messages.success(request, "Project created. Its items follow in a moment; meanwhile, invite annotators")
        else:
            messages.success(request, "Project created")
        return redirect("project_options" if "adapt" in request.POST else "project_detail", project.slug)
    return render(request, "annotation/projects/new.html", {"form": form, "datasets": datasets})


def is_annotators(roles) -> bool:
    """Whether a page is one of annotators, who read it in their language."""
    return ANNOTATOR in roles and not {RESEARCHER, ADJUDICATOR} & set(roles)


@login_required
@require_safe
def project_detail(request, slug):
    project = project_for(request.user, slug)
    roles = roles_of(request.user, project)
    if is_annotators(roles):
        request.translate()
    [row] = queries.project_rows(request.user, [project])
    shown = [one for one in SETTINGS.values() if one.is_public or RESEARCHER in roles]
    context = {
        "waiting": cases.waiting(project) if sees_labels(request.user, project) else 0,
        "project": project,
        "row": row,
        "task": task_words.in_words(row.type.title, row.type),
        "roles": roles,
        "has_open_work": has_open_work(request.user, project, roles),
        "sees_labels": sees_labels(request.user, project),
        "guideline": guidelines.current_guideline(project),
        "guidelines_changed": ANNOTATOR in roles and guidelines.changed_for(project, request.user),
        "settings": in_words({one.name: getattr(project, one.name) for one in shown}),
        "job": project.filled_by or project.jobs.filter(kind=Job.Kind.ITEMS).order_by("-pk").first(),
    }
    if RESEARCHER in roles:
        effects = queries.effects_of_moves(row.counted, queries.count_annotators(project))
        known = {"annotators": queries.count_annotators(project), "waiting": context["waiting"]}
        context |= known | {
            "counts": row.numbers,
            "next": after_overview(project, row, sees_labels=context["sees_labels"], **known),
            "stuck": queries.stuck_items(project),
            "runs": project.checker_runs.select_related("job").order_by("-pk")[:5],
            "outside": queries.outside_raters(project),
            "moves": [
                (name, effects[name])
                for name, (state, _) in MOVES.items()
                if project.state in service.TRANSITIONS[state]
            ],
            "held": row.numbers.get(Assignment.State.LEASED, 0),
            "holders": queries.holders(project) if row.numbers.get(Assignment.State.LEASED) else 0,
        }
    return render(request, "annotation/projects/detail.html", context)


@login_required
@require_POST
def project_state(request, slug):
    project = project_for(request.user, slug, RESEARCHER)
    _, move = MOVES.get(request.POST.get("move", ""), (None, None))
    if move is None:
        return HttpResponse("There is no such step", status=400, content_type="text/plain")
    try:
        move(project, request.user)
        messages.success(request, f"The project is {project.state} now")
    except service.ProjectError as error:
        messages.error(request, error)
    return redirect("project_detail", slug)


@login_required
@require_POST
def project_make_items(request, slug):
    """Make the items that the project lacks: after more was imported, or after the first job failed."""
    project = project_for(request.user, slug, RESEARCHER)
    return redirect("job_detail", start_item_job(project, request.user).uuid)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_settings(request, slug):
    project = project_for(request.user, slug, RESEARCHER)
    with locked(project, request.method == "POST"):
        form = ProjectSettingsForm(request.POST or None, project=project)
        if request.method == "POST" and form.is_valid():
            service.update_project(project, request.user, **form.cleaned_data)
            messages.success(request, "Saved")
            return redirect("project_settings", slug)
    status = _conflict(form, project, What.SETTINGS)
    context = {
        "project": project,
        "form": form,
        "type": project.type,
        "fixed": in_words({one.name: getattr(project, one.name) for one in SETTINGS.values() if not one.can_change}),
        "missing": counts.counted("missing-items", project),
    }
    return render(request, "annotation/projects/settings.html", context, status=status)


def _conflict(form: SharedForm, row: Project, what: str, about: str = "") -> int:
    """The status of a page with this form, which learns whose change it meets."""
    if not form.has_conflict:
        return 200
    form.last_change = last_change(row, what, about)
    return 409


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_card(request, slug):
    """What its researchers say of the data in the card of the next release."""
    project = project_for(request.user, slug, RESEARCHER)
    with locked(project, request.method == "POST"):
        form = CardForm(request.POST if request.method == "POST" else None, initial=project.card)
        if request.method == "POST" and form.is_valid():
            service.set_card(project, form.cleaned_data, request.user)
            messages.success(request, "Saved for the next release")
            return redirect("project_card", slug)
    status = _conflict(form, project, What.CARD)
    return render(request, "annotation/projects/card.html", {"project": project, "form": form}, status=status)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@limit_invitations
def project_members(request, slug):
    project = project_for(request.user, slug, RESEARCHER)
    form = ProjectInvitationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        announce(request, invitations.invite(request.user, project=project, **form.cleaned_data))
        return redirect("project_members", slug)
    return _members_page(request, project, form)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@limit_invitations
def invite_members(request, slug):
    """What would happen with each address first; then, if it is asked for, the invitations of those that are right."""
    project = project_for(request.user, slug, RESEARCHER)
    form = InvitePeopleForm(*((request.POST, request.FILES) if request.method == "POST" else ()))
    planned, made = {}, []
    if request.method == "POST" and form.is_valid():
        planned, made = plan_and_invite(request, form, project)
    if made:
        announce(request, *made)
        return redirect("project_members", slug)
    context = {"project": project, "form": form, "most": MOST} | planned
    return render(request, "annotation/projects/invite_members.html", context)


def _members_page(request, project: Project, form: ProjectInvitationForm, refused: dict | None = None):
    """`refused`: a form of roles that met another person's change, by its member."""
    pending = Invitation.objects.filter(project=project, accepted_at=None, expires_at__gt=timezone.now())
    pending = pending.select_related("project", "invited_by").order_by("-pk")
    invited = Paginator(pending, members.PER_PAGE).get_page(request.GET.get("invitations"))
    search, sort = request.GET.get("search", "").strip()[:400], request.GET.get("sort", "")
    if not incoming.is_storable(search):
        raise BadRequest(f"search {incoming.BAD_CHARACTER}")
    if (column := sort.removeprefix("-") or "person") not in members.SORTS:
        raise BadRequest(f"sort is one of {', '.join(members.SORTS)}")
    paginator, counted = members.member_pages(project, search, column, is_reversed=sort.startswith("-"))
    page = paginator.get_page(request.GET.get("page"))
    query = {name: value for name, value in (("search", search), ("sort", sort)) if value}
    context = {
        "project": project,
        "form": form,
        "members": [
            (one, (refused or {}).get(one.user) or RolesForm(initial={"roles": sorted(one.roles)}))
            for one in members.with_users(page.object_list)
        ],
        "counted": counted,
        "page": page,
        "search": search,
        "sort": sort,
        "query": urlencode(query),
        "place": urlencode(query | ({"page": page.number} if page.number > 1 else {})),
        # Of each column: its title, what a click on it sorts by, and how it is sorted now.
        "columns": [
            (title, urlencode(query | {"sort": f"-{name}" if sort == name else name}), _order(name, column, sort))
            for name, (title, *_) in members.SORTS.items()
        ],
        "invited": invited,
        "pending": [(one, link_of(request, one)) for one in invited if not invitations.obstacle(one)],
    }
    return render(request, "annotation/projects/members.html", context, status=409 if refused else 200)


def _order(name: str, column: str, sort: str) -> str:
    """As `aria-sort` says it; empty where the list is sorted by another column."""
    if name != column:
        return ""
    return "descending" if members.SORTS[name][2] != sort.startswith("-") else "ascending"


@login_required
@require_POST
def member_roles(request, slug, uuid):
    project = project_for(request.user, slug, RESEARCHER)
    user = get_object_or_404(User.objects.filter(memberships__project=project).distinct(), uuid=uuid)
    try:
        with locked(project):
            form = RolesForm(request.POST, initial={"roles": service.active_roles(project, user)})
            if form.is_valid():
                service.set_roles(project, user, form.cleaned_data["roles"], request.user)
                messages.success(request, f"The roles of {user} were saved")
    except service.ProjectError as error:
        messages.error(request, error)
    if _conflict(form, project, What.ROLES, str(user)) == 409:
        return _members_page(request, project, ProjectInvitationForm(), {user: form})
    if not form.is_valid():
        messages.error(request, "There is no such role")
    # The list that the form was in.
    return redirect(f"{reverse('project_members', args=[slug])}?{request.GET.urlencode()}".rstrip("?"))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_guidelines(request, slug):
    project = project_for(request.user, slug, *([RESEARCHER] if request.method == "POST" else []))
    if is_annotators(roles_of(request.user, project)):
        request.translate()
    with locked(project, request.method == "POST"):
        current = guidelines.current_guideline(project)
        form = GuidelinesForm(request.POST or None, initial={"markdown": current.markdown if current else ""})
        if request.method == "POST" and form.is_valid():
            guideline = guideline_service.publish(project, request.user, form.cleaned_data["markdown"])
            messages.success(request, f"Version {guideline.version} is now in force")
            return redirect("project_guidelines", slug)
    status = _conflict(form, project, What.GUIDELINES)
    page = Paginator(project.guidelines.select_related("created_by").order_by("-version"), 10).get_page(
        request.GET.get("page")
    )
    counted = counts.counted("guideline-answers", project)
    context = {
        "project": project,
        "form": form,
        "counted": counted,
        "current": current,
        "html": render_markdown(current.markdown) if current else "",
        "is_researcher": RESEARCHER in roles_of(request.user, project),
        "page": page,
        "versions": guidelines.guideline_versions(project, page.object_list, counted.values),
    }
    return render(request, "annotation/projects/guidelines.html", context, status=status)


@login_required
@require_POST
def guidelines_preview(request):
    text = request.POST.get("markdown", request.POST.get("guidelines", ""))[:200_000]
    return render(request, "annotation/projects/preview.html", {"html": render_markdown(text)})


urlpatterns = [
    path("guidelines/preview/", guidelines_preview, name="guidelines_preview"),
    path("projects/new/", project_new, name="project_new"),
    path("projects/<slug:slug>/", project_detail, name="project_detail"),
    path("projects/<slug:slug>/state/", project_state, name="project_state"),
    path("projects/<slug:slug>/make-items/", project_make_items, name="project_make_items"),
    path("projects/<slug:slug>/settings/", project_settings, name="project_settings"),
    path("projects/<slug:slug>/card/", project_card, name="project_card"),
    path("projects/<slug:slug>/members/", project_members, name="project_members"),
    path("projects/<slug:slug>/members/invite/", invite_members, name="invite_members"),
    path("projects/<slug:slug>/members/<uuid:uuid>/", member_roles, name="member_roles"),
    path("projects/<slug:slug>/guidelines/", project_guidelines, name="project_guidelines"),
]
