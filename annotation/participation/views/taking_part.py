"""Pages of a person about their own way through a project. They stay open to who has left it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import incoming
from annotation.access import ANNOTATOR
from annotation.markdown import render as render_markdown
from annotation.models import ConsentForm, ConsentWithdrawal, Membership, Participation, Project
from annotation.participation import consent, joining, leaving, panels, steps
from annotation.participation.queries import newest_consent_form
from annotation.projects import managing
from annotation.projects.raters import rater_of


def own_project(request, slug: str) -> Project:
    """A project in which the person labels or did so; 404 otherwise."""
    own = Membership.objects.filter(project__slug=slug, user=request.user, role=ANNOTATOR)
    membership = own.select_related("project").first()
    if membership is None:
        raise Http404("No such project")
    membership.project.is_left = not membership.is_active
    return membership.project


@login_required
@require_safe
def taking_part(request, slug):
    """What the person consented to, how it ended, and the ways back and out."""
    project = own_project(request, slug)
    rater = rater_of(project, request.user)
    newest = rater.consents.select_related("form").order_by("-form__version").first()
    promise = consent.promise_to(rater)
    context = {
        "project": project,
        "participation": joining.participation_of(request.user, project),
        "consent": newest,
        "html": mark_safe(render_markdown(newest.form.markdown)) if newest else "",  # sanitised there
        "withdrawal": ConsentWithdrawal.objects.filter(rater=rater).select_related("by").first(),
        "promise": ConsentForm.OnWithdrawal(promise).label,
    }
    return render(request, "annotation/participation/taking_part.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def give_consent(request, slug):
    project = own_project(request, slug)
    form = newest_consent_form(project)
    if form is None or project.is_left:
        return redirect("taking_part", slug)
    if request.method == "POST":
        answer = request.POST.get("consent", "")
        if answer == "no":
            _decline(project, request.user)
            return redirect("taking_part", slug)
        try:
            version = incoming.whole_in_words(request.POST.get("version", ""), 1, incoming.MAX_INTEGER)
        except incoming.Refused:
            version = 0
        if answer != "yes":
            return HttpResponse("Choose yes or no", status=400, content_type="text/plain")
        if consent.give(project, request.user, version):
            return redirect("work_page", slug)
        messages.warning(request, _("The text has changed since you opened the page. Please read it again"))
        return redirect("give_consent", slug)
    context = {"project": project, "form": form, "html": mark_safe(render_markdown(form.markdown))}
    return render(request, "annotation/participation/give_consent.html", context)


def _decline(project: Project, user) -> None:
    with transaction.atomic():
        participation = joining.participation_of(user, project)
        if participation is not None:
            leaving.end(participation, Participation.State.RETURNED)
        managing.remove_member(project, user, ANNOTATOR)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def finish_study(request, slug):
    """Finishes, or stops before the end, and shows what the person takes back to their panel."""
    project = own_project(request, slug)
    participation = joining.participation_of(request.user, project)
    if participation is None:
        raise Http404("You came to this project by no study link")
    is_active = participation.state == Participation.State.ACTIVE
    step = steps.outlook_of(project, request.user)[1] if is_active else None
    if request.method == "POST" and request.POST.get("do") == "return":
        leaving.end(participation, Participation.State.RETURNED)
        return redirect("finish_study", slug)
    if request.method == "POST" and step is not None:
        if step.name != steps.FINISH:
            return redirect(step.url(project))
        leaving.end(participation, Participation.State.COMPLETE)
        return redirect("finish_study", slug)
    code, url = panels.ending_of(participation)
    context = {"project": project, "participation": participation, "is_active": is_active, "step": step}
    return render(request, "annotation/participation/finish.html", context | {"code": code, "url": url})


@login_required
@require_POST
def withdraw_consent(request, slug):
    project = own_project(request, slug)
    consent.withdraw(project, request.user, request.user)
    messages.success(request, _("You have withdrawn your consent"))
    return redirect("taking_part", slug)


urlpatterns = [
    path("projects/<slug:slug>/taking-part/", taking_part, name="taking_part"),
    path("projects/<slug:slug>/taking-part/consent/", give_consent, name="give_consent"),
    path("projects/<slug:slug>/taking-part/finish/", finish_study, name="finish_study"),
    path("projects/<slug:slug>/taking-part/withdraw/", withdraw_consent, name="withdraw_consent"),
]
