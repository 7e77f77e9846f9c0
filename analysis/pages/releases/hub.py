"""A release in a repository of a hub: which files would go there, sending them, and what became of it."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from analysis.models import HubToken
from analysis.pages.releases.forms import HubForm
from analysis.pages.releases.own import release_for
from analysis.releases.hub.asking import HubError, check_repository, files_to_send, forget_token, start_publishing

SHOWN = 20


@sensitive_post_parameters("token")
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_release_hub(request, slug, number):
    release = release_for(request.user, slug, number, as_researcher=True)
    if not release.is_ready:
        raise Http404("The release is not frozen")
    if "forget" in request.POST:
        forget_token(request.user)
        messages.success(request, "Your token is forgotten")
        return redirect("project_release_hub", slug, number)
    form = HubForm(request.POST if request.method == "POST" else None)
    files = None
    if request.method == "POST" and form.is_valid():
        cleaned = form.cleaned_data
        try:
            if "dry_run" in request.POST:
                check_repository(cleaned["repository"])
                files = files_to_send(release, cleaned["with_comments"])
            else:
                start_publishing(
                    release,
                    request.user,
                    cleaned["repository"],
                    cleaned["token"],
                    is_private=not cleaned["is_public"],
                    **{name: cleaned[name] for name in ("is_update", "with_comments", "keeps_token")},
                )
                return redirect("project_release_hub", slug, number)
        except HubError as error:
            form.add_error(error.field or None, str(error))
    context = {
        "project": release.project,
        "release": release,
        "form": form,
        "files": files,
        "hub": settings.HUB,
        "token": HubToken.objects.filter(user=request.user).first(),
        "publications": release.publications.select_related("job", "created_by").order_by("-pk")[:SHOWN],
    }
    return render(request, "analysis/releases/hub.html", context)
