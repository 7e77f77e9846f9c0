"""The page on which an annotator finds what they have answered and skipped, and takes a skip back."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods

from annotation import incoming
from annotation.access import ANNOTATOR, assignment_for, project_for
from annotation.projects.raters import rater_of
from annotation.work import assigning
from annotation.work.queries import work


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def own_answers(request, slug):
    project = project_for(request.user, slug, ANNOTATOR)
    if request.method == "POST":
        try:
            uuid = incoming.uuid_of(request.POST.get("skip", ""))
        except incoming.Refused as refused:
            raise BadRequest(f"skip {refused}") from None
        try:
            assigning.take_back_skip(assignment_for(request.user, uuid), request.user)
        except assigning.AssigningError as error:
            messages.error(request, str(error))
            return redirect("own_answers", slug)
        return redirect("work_page", slug)
    rows = work.own_rows(rater_of(project, request.user))
    page = Paginator(rows, 50).get_page(request.GET.get("page"))
    context = {"project": project, "page": page, "rows": work.with_titles(project, list(page.object_list))}
    return render(request, "annotation/work/own_answers.html", context)


urlpatterns = [path("projects/<slug:slug>/work/answers/", own_answers, name="own_answers")]
