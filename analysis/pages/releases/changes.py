"""What changed between two releases of a project: computed once, since neither changes any more."""

from django.contrib.auth.decorators import login_required
from django.http import Http404
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from analysis.pages.releases.own import release_for
from analysis.releases.kept import comparison_job, start_comparing
from annotation.jobs.queries import progress_of
from annotation.work.label_access import labels_served


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_release_changes(request, slug, number, before):
    after, earlier = release_for(request.user, slug, number), release_for(request.user, slug, before)
    if not (after.is_ready and earlier.is_ready) or after == earlier:
        raise Http404("There are no two such releases")
    project = after.project
    if request.method == "POST":
        start_comparing(project, request.user, earlier, after)
        return redirect("project_release_changes", slug, number, before)
    job = comparison_job(project, earlier, after)
    context = {"project": project, "before": earlier, "after": after, "job": job}
    if job is not None and job.state == job.State.DONE:
        context["found"] = job.result
        labels_served(request, project)
    elif job is not None and not job.is_finished:
        context["progress"] = progress_of(job)
    return render(request, "analysis/releases/changes.html", context)
