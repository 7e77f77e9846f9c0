"""Pictures of a stored report: as files, and for its page."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from analysis.figures.pictures import from_dict
from analysis.figures.pictures.files import NotDrawn, drawn_file
from analysis.figures.pictures.spec import FORMS
from analysis.figures.tabular import WRITERS
from analysis.pages.files import ENDINGS, FILES, computed_anew
from analysis.pages.stored import figures_served, stored_report_for
from annotation.access import project_with_labels_for
from annotation.work.label_access import FILE

# Ending -> how tables are written so.
NUMBERS = {ending: form for form, ending in ENDINGS.items()}
TYPES = FORMS | {ending: f"{FILES[form]}; charset=utf-8" for ending, form in NUMBERS.items()}


@login_required
@require_safe
def project_picture(request, slug, report, picture, form):
    """The picture as SVG, PDF or PNG, its caption below, or its numbers in every form of tables. `version` is the
    computation that the page shows, as with tables."""
    project = project_with_labels_for(request.user, slug)
    if form not in TYPES:
        raise Http404(f"Pictures come as {', '.join(TYPES)}")
    asked = request.GET.get("report", "")
    stored = stored_report_for(request.user, project, report, asked, computed_at__isnull=False)
    if outdated := computed_anew(request, stored):
        return outdated
    if picture not in stored.pictures:
        raise Http404("No such picture")
    spec = stored.pictures[picture]["spec"]
    try:
        content = _numbers(spec, form) if form in NUMBERS else drawn_file(spec, form)
    except NotDrawn as error:
        return HttpResponse(f"The picture could not be drawn: {error}\n", content_type="text/plain", status=503)
    figures_served(request, stored, FILE)
    response = HttpResponse(content, content_type=TYPES[form])
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-{report}-{picture}.{form}"'
    return response


def _numbers(spec: dict, ending: str) -> str:
    return WRITERS[NUMBERS[ending]]([from_dict(spec).table()]) + "\n"
