"""The items behind a figure, and what they are in words."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from analysis import queries, scopes
from analysis.answers import answers_beside
from analysis.releases.files import ReleaseError
from analysis.reports import coverage
from analysis.reports.derived import with_derived
from analysis.reports.metrics import REPORTS
from analysis.reports.probabilities import BINS
from analysis.reports.reference import REFERENCES
from analysis.views.frame import TABS, as_query
from analysis.views.stored import stored_report_for
from annotation.access import project_with_labels_for

PER_PAGE = 50


@login_required
@require_GET
def project_behind(request, slug, name):
    """The items behind a figure, from the very computation that made the figure."""
    project = project_with_labels_for(request.user, slug)
    report = stored_report_for(request.user, project, name, request.GET.get("report", ""))
    figure = request.GET.get("figure", "")
    if figure not in report.behind:
        raise Http404("No such figure")
    ids, kind = report.behind[figure], REPORTS[name]
    asked = as_query(report.parameters) | scopes.as_query(project, report.scope)
    page = Paginator(ids, PER_PAGE).get_page(request.GET.get("page"))
    rows = queries.items_of_units(project, list(page.object_list), with_passages=True)
    try:
        beside = answers_beside(report, figure, rows)
    except ReleaseError as error:
        raise Http404(str(error)) from None
    return render(
        request,
        "analysis/behind.html",
        {
            "project": project,
            "report": report,
            "title": kind.title,
            "figure": _in_words(project, name, figure),
            "back": reverse(kind.page, args=kind.address(project.slug)) + "?" + urlencode(asked),
            "tab": TABS.get(name.replace("-", "_"), kind.own_page or "project_agreement"),
            "page": page,
            "rows": rows,
            "beside": beside,
            "query": urlencode({"report": report.parameters_hash, "figure": figure}),
        },
    )


AGREEMENT_PARTS = {
    "agree": "where people agree",
    "disagree": "where people disagree",
    "single": "with one label only",
    "unlabelled": "without a label",
    "drawn": "drawn for more than one judgement",
    "chosen": "not drawn, and chosen for more than one judgement",
}


def _in_words(project, name: str, figure: str) -> str:
    if name == "coverage":
        return coverage.in_words(figure)
    if name == "difference":
        return _difference_in_words(project.type, figure)
    if not REPORTS[name].own_page:
        return REPORTS[name].in_words(project.type, figure)
    slug, *parts = figure.split("/")
    dimension = with_derived(project.type).dimension(slug)
    if name == "prevalence":
        return f"{dimension.title}, {PREVALENCE_PARTS[parts[0]]}"
    if name == "annotators":
        return f"{dimension.title}, {_of_annotators(project, dimension, parts)}"
    if name == "alternative-annotator":
        run, person, side = parts
        closer = {"checker": _checker_name(project, run), "person": _person_name(project, person)}
        rival = closer["person" if side == "checker" else "checker"]
        return f"{dimension.title}, where {closer[side]} is closer to the other people than {rival}"
    if name == "agreement":
        if parts[0] == "label":
            return f"{dimension.title}, with a label {dimension.label(parts[1]).title}"
        return f"{dimension.title}, {AGREEMENT_PARTS[parts[0]]}"
    if len(parts) == 3:
        return f"{dimension.title}, {_of_comparison(*parts)}"
    people, checker = (dimension.label(part).title if part else "no label that counts" for part in parts)
    return f"{dimension.title}, people: {people}, checker: {checker}"


PREVALENCE_PARTS = {
    "both": "labelled by people and the checker",
    "others": "labelled by the checker only",
    "people": "labelled by people only",
    "neither": "labelled by neither",
    "responses-both": "in responses labelled as a whole by people and the checker",
    "responses-others": "in responses labelled as a whole by the checker only",
    "responses-people": "in responses labelled as a whole by people only",
    "responses-neither": "in responses labelled as a whole by neither",
    "responses-partly": "in responses labelled by people in part",
}
ANNOTATOR_PARTS = {
    "uncertain": "whose label stays open by Dawid-Skene",
    "outvoted": "where Dawid-Skene finds another label than the majority",
    "models": "where Dawid-Skene and MACE find different labels",
}


def _of_annotators(project, dimension, parts: list[str]) -> str:
    if parts[0] in ANNOTATOR_PARTS:
        return ANNOTATOR_PARTS[parts[0]]
    if parts[0] == "known":
        return f"with a known answer ({REFERENCES[parts[1]].lower()})"
    if parts[0] == "failed":
        return f"where {_person_name(project, parts[2])} did not give the known answer"
    _, who, truth, said = parts
    name = _person_name(project, who) or _checker_name(project, who)
    return f"{dimension.label(truth).title} by Dawid-Skene, {dimension.label(said).title} by {name}"


def _person_name(project, pseudonym: str) -> str:
    return next((rater.name for rater in project.raters.filter(pseudonym=pseudonym)), "")


def _checker_name(project, run: str) -> str:
    return next((found.checker for found in project.checker_runs.filter(uuid=run)), "a checker")


def _of_comparison(part: str, which: str, _units: str) -> str:
    if part == "only":
        return "where this run alone is right" if which == "run" else "where the other run alone is right"
    low = int(which) / BINS
    return f"where its greatest probability lies between {low:.1f} and {low + 1 / BINS:.1f}"


FAILURE_PARTS = {"gained": "of this run only", "lost": "of the other run only"}


def _difference_in_words(kind, figure: str) -> str:
    slug, *parts = figure.split("/")
    if slug == "failures":
        return f"failures {FAILURE_PARTS[parts[0]]}"
    dimension = with_derived(kind).dimension(slug)
    if parts == ["changed"]:
        return f"{dimension.title}, changed labels"
    before, now = (dimension.label(part).title if part else "no label" for part in parts)
    return f"{dimension.title}, from {before} to {now}"
