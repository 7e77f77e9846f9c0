"""Pictures of a stored report: as files, and for its page."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.views.decorators.http import require_GET

from analysis.models import StoredReport
from analysis.pictures import from_dict, picture_name
from analysis.pictures.drawing import FORMS
from analysis.pictures.files import NotDrawn, drawn_file
from analysis.views.stored import stored_report_for
from annotation.access import project_with_labels_for


@login_required
@require_GET
def project_picture(request, slug, report, picture, form):
    """The picture as SVG, PDF or PNG, its caption below: the one that the page shows, of the same computation."""
    project = project_with_labels_for(request.user, slug)
    if form not in FORMS:
        raise Http404(f"Pictures come as {', '.join(FORMS)}")
    stored = stored_report_for(request.user, project, report, request.GET.get("report", ""))
    if picture not in stored.pictures:
        raise Http404("No such picture")
    try:
        content = drawn_file(stored.pictures[picture]["spec"], form)
    except NotDrawn as error:
        return HttpResponse(f"The picture could not be drawn: {error}\n", content_type="text/plain", status=503)
    response = HttpResponse(content, content_type=FORMS[form])
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-{report}-{picture}.{form}"'
    return response


def plots_of(report: StoredReport, dimension: str, kinds: tuple[str, ...]) -> dict[str, dict]:
    """A dimension's pictures by kind, of those that there are: what they show, and the SVG."""
    found = {kind: report.pictures.get(picture_name(kind, dimension)) for kind in kinds}
    return {kind: {"picture": from_dict(one["spec"]), "svg": one["svg"]} for kind, one in found.items() if one}
