"""Pages on which researchers write what people consent to, and withdraw consent for a person who asks them to."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods

from annotation.access import ANNOTATOR, RESEARCHER, project_for
from annotation.editing import last_change, locked
from annotation.markdown import render as render_markdown
from annotation.models import ConsentForm, ConsentWithdrawal, SettingsChange, User
from annotation.participation import consent
from annotation.participation.forms import ConsentTextForm
from annotation.projects.raters import rater_of

PER_PAGE = 10


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def study_consent(request, slug):
    project = project_for(request.user, slug, RESEARCHER)
    with locked(project, request.method == "POST"):
        current = project.consent_forms.order_by("-version").first()
        initial = {name: getattr(current, name) for name in ("markdown", "on_withdrawal")} if current else {}
        form = ConsentTextForm(request.POST if request.method == "POST" else None, initial=initial)
        if request.method == "POST" and form.is_valid():
            made = consent.publish(project, request.user, **form.cleaned_data)
            messages.success(request, f"Version {made.version} is now in force")
            return redirect("study_consent", slug)
    if form.has_conflict:
        form.last_change = last_change(project, SettingsChange.What.CONSENT)
    versions = project.consent_forms.select_related("created_by").annotate(given=Count("consents")).order_by("-version")
    page = Paginator(versions, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "project": project,
        "form": form,
        "current": current,
        "html": render_markdown(current.markdown) if current else "",
        "page": page,
        "withdrawn": ConsentWithdrawal.objects.filter(rater__project=project).count(),
    }
    return render(request, "annotation/participation/consent.html", context, status=409 if form.has_conflict else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def withdraw_member(request, slug, uuid):
    """For a person who asked a researcher instead of pressing the button."""
    project = project_for(request.user, slug, RESEARCHER)
    member = get_object_or_404(
        User.objects.filter(memberships__project=project, memberships__role=ANNOTATOR).distinct(), uuid=uuid
    )
    rater = rater_of(project, member)
    if request.method == "POST":
        consent.withdraw(project, member, request.user)
        messages.success(request, f"The consent of {member} is withdrawn")
        return redirect("project_members", slug)
    context = {
        "project": project,
        "member": member,
        "promise": ConsentForm.OnWithdrawal(consent.promise_to(rater)).label,
        "withdrawal": ConsentWithdrawal.objects.filter(rater=rater).select_related("by").first(),
    }
    return render(request, "annotation/participation/withdraw.html", context)


urlpatterns = [
    path("projects/<slug:slug>/consent/", study_consent, name="study_consent"),
    path("projects/<slug:slug>/members/<uuid:uuid>/withdraw/", withdraw_member, name="withdraw_member"),
]
