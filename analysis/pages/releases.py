"""Releases of a project: freeze one, see what is in it, download it, and compute figures from it."""

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from analysis.models import Release
from analysis.releases.kept import VersionTaken, next_version, start_freezing
from analysis.releases.missing import contents, lacks
from analysis.reports.metrics import REPORTS
from annotation.access import RESEARCHER, project_with_labels_for, roles_of
from annotation.jobs.queries import progress_of


class ReleaseForm(forms.Form):
    version = forms.RegexField(
        r"^[0-9]+(\.[0-9]+){0,2}$",
        max_length=40,
        required=False,
        help_text="What readers cite, such as 1.0.0: raise the first number where labels changed.",
        error_messages={"invalid": "Write a version of numbers with dots, such as 1.0.0"},
    )
    note = forms.CharField(
        label="What it is for", max_length=2000, required=False, help_text="Such as the paper, or what changed."
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_releases(request, slug):
    project = project_with_labels_for(request.user, slug)
    form = ReleaseForm(request.POST if request.method == "POST" else None, initial={"version": next_version(project)})
    if request.method == "POST" and form.is_valid():
        try:
            release = start_freezing(project, request.user, form.cleaned_data["note"], form.cleaned_data["version"])
        except VersionTaken as error:
            form.add_error("version", str(error))
        else:
            return redirect("project_release", slug=slug, number=release.number)
    releases = project.releases.select_related("job", "created_by").order_by("-number")
    page = Paginator(releases, 50).get_page(request.GET.get("page"))
    counts = contents(project)
    context = {"project": project, "form": form, "page": page, "counts": counts, "lacks": lacks(project, counts)}
    context["may_edit"] = RESEARCHER in roles_of(request.user, project)
    return render(request, "analysis/releases.html", context)


@login_required
@require_safe
def project_release(request, slug, number):
    project = project_with_labels_for(request.user, slug)
    release = project.releases.select_related("job", "created_by").filter(number=number).first()
    if release is None:
        raise Http404("There is no such release")
    context = {"project": project, "release": release, "job": release.job}
    if release.is_ready:
        same = Release.objects.filter(project=project, labels_sha256=release.labels_sha256).exclude(pk=release.pk)
        context |= {
            "artifacts": release.job.artifacts.order_by("pk"),
            "files": sorted((release.manifest["files"] | release.manifest.get("beside", {})).items()),
            "counts": release.manifest["counts"],
            "same_labels": list(same.order_by("number").values_list("number", flat=True)),
            "reports": [report for report in REPORTS.values() if not report.fits(project.type)],
        }
    elif not release.job.is_finished:
        context["progress"] = progress_of(release.job)
    return render(request, "analysis/release.html", context)
