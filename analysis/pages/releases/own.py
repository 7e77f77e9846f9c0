"""Releases of a project: freeze one, see what is in it, download it, compute figures from it, withdraw it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from analysis.models import Release
from analysis.pages.releases.forms import PublicForm, ReleaseForm, WithdrawalForm
from analysis.releases.kept import FreezingProblem, next_version, public_jobs, releases_of, start_freezing, withdraw
from analysis.releases.missing import contents, lacks
from analysis.reports.metrics import REPORTS
from annotation.access import (
    ADJUDICATOR,
    RESEARCHER,
    project_for,
    project_with_labels_for,
    roles_of,
    visible_projects,
)
from annotation.jobs.queries import progress_of
from annotation.models import Assignment, Project

# Of other releases, how many are offered for comparing.
SHOWN = 50


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_releases(request, slug):
    project = project_with_labels_for(request.user, slug)
    data = request.POST if request.method == "POST" else None
    others = projects_beside(request.user, project)
    form = ReleaseForm(data, initial={"version": next_version(project)}, project=project, others=others)
    if request.method == "POST" and form.is_valid():
        try:
            cleaned = form.cleaned_data
            with_others = [project_with_labels_for(request.user, one.slug) for one in cleaned.get("projects", ())]
            release = start_freezing(
                project,
                request.user,
                cleaned["note"],
                cleaned["version"],
                with_others,
                cleaned["filters"],
                cleaned["decisions"],
            )
        except FreezingProblem as error:
            form.add_error(error.field, str(error))
        else:
            return redirect("project_release", slug=slug, number=release.number)
    releases = (
        releases_of(project, request.user).select_related("job", "created_by", "project").order_by("-created_at", "-pk")
    )
    page = Paginator(releases, 50).get_page(request.GET.get("page"))
    counted = contents(project)
    context = {"project": project, "form": form, "page": page, "counted": counted}
    context |= {"counts": counted.values, "lacks": lacks(project, counted.values)}
    context["may_edit"] = RESEARCHER in roles_of(request.user, project)
    return render(request, "analysis/releases/list.html", context)


def projects_beside(user, project: Project) -> QuerySet[Project]:
    """The other projects on its data set in which this person sees labels, once they have no work of their own there;
    who freezes them asks `project_with_labels_for` each."""
    rows = visible_projects(user).filter(dataset=project.dataset_id).exclude(pk=project.pk)
    if not user.is_superuser:
        roles = user.memberships.filter(is_active=True, role__in=[RESEARCHER, ADJUDICATOR])
        rows = rows.filter(pk__in=roles.values("project"))
    return rows.order_by("slug")


def release_for(user, slug: str, number: int, *, as_researcher: bool = False) -> Release:
    """The release, for a user who may see the labels of all projects in it."""
    project = project_with_labels_for(user, slug)
    if as_researcher:
        project_for(user, slug, RESEARCHER)
    rows = project.releases.select_related("project__dataset", "job", "created_by", "withdrawn_by", "public_job")
    release = rows.filter(number=number).first()
    if release is None:
        raise Http404("There is no such release")
    for other in release.others.all():
        project_with_labels_for(user, other.slug)
    return release


@login_required
@require_safe
def project_release(request, slug, number):
    release = release_for(request.user, slug, number)
    project = release.project
    context = {"project": project, "release": release, "job": release.job}
    context["may_edit"] = RESEARCHER in roles_of(request.user, project)
    if release.is_ready:
        same = Release.objects.filter(project=project, labels_sha256=release.labels_sha256).exclude(pk=release.pk)
        others = project.releases.exclude(pk=release.pk).exclude(sha256="").order_by("-number")
        context |= {
            "artifacts": release.job.artifacts.order_by("pk"),
            "files": sorted((release.manifest["files"] | release.manifest.get("beside", {})).items()),
            "counts": release.manifest["counts"],
            "same_labels": list(same.order_by("number").values_list("number", flat=True)),
            "reports": [report for report in REPORTS.values() if not report.fits(project.type)],
            "others": others[:SHOWN],
            "withdrawal_form": WithdrawalForm(),
            "public_form": PublicForm(),
            "public_job": public_jobs(release).first(),
            "labelling": Assignment.objects.filter(project=project, state=Assignment.State.OPEN).count(),
        }
    elif not release.job.is_finished:
        context["progress"] = progress_of(release.job)
    return render(request, "analysis/releases/release.html", context)


@login_required
@require_POST
def project_release_withdraw(request, slug, number):
    release = release_for(request.user, slug, number, as_researcher=True)
    form = WithdrawalForm(request.POST)
    if not release.is_ready:
        messages.error(request, "A release that is not frozen cannot be withdrawn; cancel its job")
    elif form.is_valid():
        withdraw(release, request.user, form.cleaned_data["reason"])
        messages.success(request, "The release is withdrawn; its files stay, and every page says so")
    else:
        messages.error(request, "Say why it must not be used any more; nothing was withdrawn")
    return redirect("project_release", slug, number)
