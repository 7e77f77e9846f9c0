"""The last part of a new study: people and guidelines, on one page that is found again from the project's overview."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods

from annotation.access import ANNOTATOR, RESEARCHER, project_for
from annotation.editing import last_change, locked
from annotation.models import Project, SettingsChange
from annotation.projects import guidelines as service
from annotation.projects import invitations, managing
from annotation.projects.forms.starting import StartForm
from annotation.projects.queries.guidelines import current_guideline
from annotation.projects.views.accounts import announce, in_a_sentence, limit_invitations, link_of

MOST_NAMED = 20


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@limit_invitations
def project_start(request, slug):
    project = project_for(request.user, slug, RESEARCHER)
    with locked(project, request.method == "POST"):
        current = current_guideline(project)
        markdown = current.markdown if current and current.markdown else service.guidelines_template(project.type)
        form = StartForm(request.POST or None, initial={"markdown": markdown})
        is_done = request.method == "POST" and form.is_valid()
        if is_done:
            service.publish(project, request.user, form.cleaned_data["markdown"])
            if form.cleaned_data["labels_too"]:
                roles = {*managing.active_roles(project, request.user), ANNOTATOR}
                managing.set_roles(project, request.user, roles, request.user)
    if is_done:
        _invite(request, project, form.cleaned_data["emails"])
        passes_on = not invitations.has_mail_server() and invitations.pending_in(project)
        return redirect("project_start" if passes_on else "project_detail", slug)
    if form.has_conflict:
        form.last_change = last_change(project, SettingsChange.What.GUIDELINES)
    annotators = project.memberships.filter(role=ANNOTATOR, is_active=True).select_related("user").order_by("pk")
    context = {
        "project": project,
        "form": form,
        "pending": [(one, link_of(request, one)) for one in invitations.pending_in(project)],
        "annotators": [one.user for one in annotators[:MOST_NAMED]],
        "n_annotators": annotators.count(),
    }
    return render(request, "annotation/projects/start.html", context, status=409 if form.has_conflict else 200)


def _invite(request, project: Project, emails: list[str]) -> None:
    """Invite those who are neither in the project nor invited yet."""
    members = project.memberships.filter(is_active=True).values_list("user__email", flat=True)
    known = {email.lower() for email in [*members, *(one.email for one in invitations.pending_in(project))]}
    new = [email for email in emails if email not in known]
    announce(request, *(invitations.invite(request.user, email, project=project, roles=[ANNOTATOR]) for email in new))
    if there := [email for email in emails if email in known]:
        messages.info(request, f"Already invited or in the project: {in_a_sentence(there)}")


urlpatterns = [path("projects/<slug:slug>/start/", project_start, name="project_start")]
