"""A release's page for everybody, where a researcher says so: card, hashes, citation and the download, and nothing else
of the project."""

from functools import wraps

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from analysis.models import Release
from analysis.pages.releases.forms import PublicForm
from analysis.pages.releases.own import release_for
from analysis.releases.cards.citation import citation_words
from analysis.releases.kept import close_public_page, start_public_page
from analysis.sources.releases.archives import archive_of
from analysis.sources.releases.files import Files, ReleaseError
from annotation.access import has_open_work, visible_projects
from annotation.exports.releasing import artifact_path
from annotation.exports.views import serve_file
from annotation.markdown import render as render_markdown
from annotation.models import Artifact, Project
from annotation.work.label_access import labels_served

ANYWAY = "anyway"


@login_required
@require_POST
def project_release_public(request, slug, number):
    release = release_for(request.user, slug, number, as_researcher=True)
    if "close" in request.POST:
        close_public_page(release)
        messages.success(request, "The page is closed; only members of the project see the release now")
    elif not release.is_ready:
        messages.error(request, "A release that is not frozen has nothing to show")
    else:
        form = PublicForm(request.POST)
        form.is_valid()
        start_public_page(release, request.user, form.cleaned_data["with_comments"])
        messages.success(request, "The public files are being made; the page opens when they are")
    return redirect("project_release", slug, number)


def _public(request, uuid) -> tuple[Release, Artifact]:
    """404 where the release has no public page. What is public is public, also to who still labels in its project: they
    could sign out. But the page shows what others said, so they are asked first, and their later answers are marked."""
    rows = Release.objects.filter(uuid=uuid, public_since__isnull=False)
    release = rows.select_related("project", "public_job__project", "withdrawn_by").first()
    archive = archive_of(release.public_job) if release else None
    if release is None or archive is None:
        raise Http404("There is no such page")
    if ANYWAY not in request.GET and any(has_open_work(request.user, one) for one in _own(request.user, release)):
        raise StillLabelling
    return release, archive


class StillLabelling(PermissionDenied):
    """The reader has items to label in a project of the release, and has not chosen to read it anyway."""


def _asking_first(view):
    """To who still labels in the release's project, the question whether they read it anyway."""

    @wraps(view)
    def answer(request, uuid):
        try:
            return view(request, uuid)
        except StillLabelling:
            return render(request, "analysis/releases/public_asked.html", {"anyway": ANYWAY}, status=403)

    return answer


def _own(user, release: Release) -> QuerySet[Project]:
    """Of the release's projects those that the reader has a part in, if we know them."""
    if not user.is_authenticated:
        return Project.objects.none()
    ids = [release.project_id, *release.others.values_list("pk", flat=True)]
    return visible_projects(user).filter(pk__in=ids)


@require_safe
@_asking_first
def public_release(request, uuid):
    release, archive = _public(request, uuid)
    try:
        files = Files(artifact_path(archive))
        # Without the hub's metadata, and the title, which the page has already.
        card = files.text("README.md").split("---\n", 2)[-1].lstrip("\n").partition("\n")[2]
    except ReleaseError:
        raise Http404("The files of this page are gone") from None
    context = {
        "release": release,
        "archive": archive,
        "card": render_markdown(card),
        "citation": citation_words(files.manifest),
        "frozen": files.manifest["release"],
        "anyway": f"?{ANYWAY}=1" if ANYWAY in request.GET else "",
    }
    for project in _own(request.user, release):
        labels_served(request, project)
    return _shown_to_all(render(request, "analysis/releases/public.html", context))


@require_safe
@_asking_first
def public_release_file(request, uuid):
    release, archive = _public(request, uuid)
    return _shown_to_all(serve_file(request, archive, lambda user, job: _own(user, release)))


def _shown_to_all(response: HttpResponse) -> HttpResponse:
    """Search engines may list it: it is there to be found."""
    response["X-Robots-Tag"] = "all"
    return response
