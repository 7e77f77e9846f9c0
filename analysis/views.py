"""Pages of figures. Nothing is computed here: stored reports are shown, workers refresh them."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_GET
from django_htmx.http import retarget

from analysis import charts, queries
from analysis.models import StoredReport
from analysis.reports import alternative_annotator, annotators, coverage, stored
from analysis.reports.agreement import GROUPS
from analysis.reports.derived import with_derived
from analysis.reports.metrics import REPORTS
from analysis.reports.probabilities import BINS
from analysis.reports.reference import REFERENCES
from analysis.reports.tables import tables_of
from analysis.reports.tabular import WRITERS
from annotation.access import project_with_labels_for
from annotation.models import UnitKind

# Pages without a tab of their own stand behind another's.
TABS = {
    "annotators": "project_agreement",
    "alternative_annotator": "project_comparison",
    "prevalence": "project_comparison",
}


def _render(request, name: str, project, report: StoredReport | None, context: dict):
    """The page; for htmx, which asks again and again, only what has changed since it last asked."""
    state = _state(report) if report else ""
    seen = f"{report.computed_at} {state}" if report else ""
    context |= {"project": project, "links": _links(project, name), "tab": TABS.get(name, f"project_{name}")}
    if report is not None:
        behind = reverse("project_behind", args=[project.slug, report.name])
        as_files = reverse("project_report_tables", args=[project.slug, report.name])
        of_report = urlencode({"report": report.parameters_hash})
        context |= {
            "report": report,
            "result": report.result,
            "state": state,
            "failure": stored.failed(report),
            "seen": seen,
            "here": request.get_full_path(),
            "behind": f"{behind}?{of_report}",
            "as_files": f"{as_files}?{of_report}",
        }
    if report is None or not request.htmx:
        response = render(request, f"analysis/{name}.html", context)
    elif request.headers.get("X-Seen") == seen:
        response = HttpResponse(status=204)  # htmx leaves the page as it is
    elif request.headers.get("X-Seen", "").startswith(f"{report.computed_at} "):
        response = retarget(render(request, "analysis/parts/state.html", context), "#state")
    else:
        response = render(request, f"analysis/parts/{name}.html", context)
    patch_vary_headers(response, ["HX-Request"])  # the same address has both
    return response


def _state(report: StoredReport) -> str:
    if stored.is_refreshing(report):
        return "computing"
    if not stored.is_stale(report):
        return "fresh"
    return "failed" if stored.failed(report) else "resting"


def _links(project, name: str) -> list[tuple[str, str]]:
    """Further pages of figures that this project has: their names and titles."""
    has_labels = queries.has_labelling_run(project)
    pages = (
        ("annotators", "Annotators", True),
        ("alternative_annotator", "Could a checker stand in for a person?", has_labels),
        ("prevalence", "How common each label is", has_labels),
        ("rates", "Rates by model", _has_rates(project)),
        ("coverage", "Coverage of aspects", coverage.covering_dimension(project.type) is not None),
    )
    return [(f"project_{page}", title) for page, title, is_here in pages if is_here and page != name]


def _has_rates(project) -> bool:
    return project.type.anchor_kind == UnitKind.RESPONSE


MAX_K = 50  # more labels of one aspect are nowhere asked for


def _chosen(request, name: str, allowed, default: str) -> str:
    """A choice from the address; anything not offered is refused rather than guessed."""
    value = request.GET.get(name, "") or default
    if value not in allowed:
        raise Http404(f"{name} is one of {', '.join(allowed)}")
    return value


@login_required
@require_GET
def project_agreement(request, slug):
    project = project_with_labels_for(request.user, slug)
    raters = _chosen(request, "raters", GROUPS, "all")
    report = stored.stored_report(project, "agreement", {"raters": raters}, request.user)
    return _render(request, "agreement", project, report, {"raters": raters, "groups": GROUPS})


@login_required
@require_GET
def project_annotators(request, slug):
    project = project_with_labels_for(request.user, slug)
    choices = annotators.CHECKERS if queries.has_labelling_run(project) else {"without": annotators.CHECKERS["without"]}
    checkers = _chosen(request, "checkers", choices, "without")
    parameters = {"checkers": checkers, "units": "uncertain"}
    report = stored.stored_report(project, "annotators", parameters, request.user)
    return _render(request, "annotators", project, report, {"checkers": checkers, "choices": choices})


@login_required
@require_GET
def project_alternative_annotator(request, slug):
    project = project_with_labels_for(request.user, slug)
    if not queries.has_labelling_run(project):
        return _render(request, "alternative_annotator", project, None, {})
    epsilon = _chosen(request, "epsilon", alternative_annotator.EPSILONS, str(alternative_annotator.EPSILON))
    scoring = _chosen(request, "scoring", alternative_annotator.SCORINGS, "scale")
    parameters = {"epsilon": float(epsilon), "scoring": scoring}
    report = stored.stored_report(project, "alternative-annotator", parameters, request.user)
    context = {
        "epsilon": epsilon,
        "epsilons": alternative_annotator.EPSILONS,
        "scoring": scoring,
        "scorings": alternative_annotator.SCORINGS,
        "has_run": True,
    }
    return _render(request, "alternative_annotator", project, report, context)


@login_required
@require_GET
def project_prevalence(request, slug):
    project = project_with_labels_for(request.user, slug)
    runs = queries.labelling_runs(queries.runs_with_suggestions(project))
    if not runs:
        return _render(request, "prevalence", project, None, {})
    references = {name: REFERENCES[name] for name in queries.references_of(project)}
    run = _chosen(request, "run", [str(found.uuid) for found in runs], str(runs[0].uuid))
    reference = _chosen(request, "reference", references, "majority")
    report = stored.stored_report(project, "prevalence", {"run": run, "reference": reference}, request.user)
    context = {"runs": runs, "run": run, "references": references, "reference": reference}
    return _render(request, "prevalence", project, report, context)


@login_required
@require_GET
def project_comparison(request, slug):
    project = project_with_labels_for(request.user, slug)
    runs = queries.runs_with_suggestions(project)
    references = {name: REFERENCES[name] for name in queries.references_of(project)}
    if not runs:
        return _render(request, "comparison", project, None, {})
    run = _chosen(request, "run", [str(found.uuid) for found in runs], str(runs[0].uuid))
    reference = _chosen(request, "reference", references, "majority")
    touched = _chosen(request, "touched", ("0", "1"), "0") == "1"
    parameters = {"run": run, "reference": reference, "touched": touched}
    if request.GET.get("score"):
        names = queries.score_names(next(found for found in runs if str(found.uuid) == run))
        parameters["score"] = _chosen(request, "score", names, "")
    others = [found for found in queries.labelling_runs(runs) if str(found.uuid) != run]
    if run not in [str(found.uuid) for found in queries.labelling_runs(runs)]:
        others = []  # scores have no labels that could be set against another run's
    # Where somebody chose for the run what stood at the other, there is no other any more.
    other = "" if request.GET.get("other", "") in ("", run) else request.GET["other"]
    if other:
        parameters["other"] = _chosen(request, "other", [str(found.uuid) for found in others], "")
    report = stored.stored_report(project, "comparison", parameters, request.user)
    pictures = {
        dimension["dimension"]: charts.confusion(dimension["confusion"], dimension["labels"])
        for dimension in report.result.get("dimensions", [])
    }
    reliability = {
        dimension["dimension"]: charts.reliability(dimension["probabilities"]["bins"])
        for dimension in report.result.get("dimensions", [])
        if dimension["probabilities"]
    }
    context = {
        "runs": runs,
        "reliability": reliability,
        "run": run,
        "references": references,
        "reference": reference,
        "touched": touched,
        "other": other,
        "others": others,
        "pictures": pictures,
    }
    return _render(request, "comparison", project, report, context)


@login_required
@require_GET
def project_difference(request, slug):
    project = project_with_labels_for(request.user, slug)
    runs = queries.runs_with_suggestions(project)
    if len(runs) < 2:
        return _render(request, "difference", project, None, {"runs": []})
    known = [str(found.uuid) for found in runs]
    run = _chosen(request, "run", known, known[0])
    others = [uuid for uuid in known if uuid != run]
    # Where somebody chose for both what stood at the other, the other moves on.
    other = others[0] if request.GET.get("other") == run else _chosen(request, "other", others, others[0])
    report = stored.stored_report(project, "difference", {"run": run, "other": other}, request.user)
    changed = {one["dimension"]: one for one in report.result.get("dimensions", []) if not one["derived_from"]}
    context = {"runs": runs, "run": run, "other": other, "changed": changed}
    if changed:
        default = next((slug for slug, one in changed.items() if one["n_changed"]), next(iter(changed)))
        dimension = _chosen(request, "dimension", changed, default)
        page = Paginator(report.behind.get(f"{dimension}/changed", []), 50).get_page(request.GET.get("page"))
        context |= {
            "dimension": dimension,
            "page": page,
            "changes": queries.changes_of(
                project, other, run, project.type.dimension(dimension), list(page.object_list)
            ),
            "query": urlencode({"run": run, "other": other, "dimension": dimension}),
        }
    return _render(request, "difference", project, report, context)


@login_required
@require_GET
def project_rates(request, slug):
    project = project_with_labels_for(request.user, slug)
    if not _has_rates(project):
        raise Http404("This project's items are not answers of models")
    references = {name: REFERENCES[name] for name in queries.references_of(project)}
    reference = _chosen(request, "reference", references, "majority")
    report = stored.stored_report(project, "rates", {"reference": reference}, request.user)
    return _render(request, "rates", project, report, {"references": references, "reference": reference})


@login_required
@require_GET
def project_coverage(request, slug):
    project = project_with_labels_for(request.user, slug)
    if coverage.covering_dimension(project.type) is None:
        raise Http404("This project does not judge which aspects an answer covers")
    references = {name: coverage.TITLES[name] for name in queries.references_of(project)}
    # Where nobody labelled here and the file brought decisions, those are what there is to see.
    default = "majority" if queries.has_labels(project) or len(references) == 1 else list(references)[1]
    reference = _chosen(request, "reference", references, default)
    ties = _chosen(request, "ties", coverage.TIES, "excluded")
    k = int(_chosen(request, "k", [str(number) for number in range(1, MAX_K + 1)], "1"))
    report = stored.stored_report(project, "coverage", {"reference": reference, "k": k, "ties": ties}, request.user)
    most = max(report.result.get("most_labels", 0), project.overlap, k)
    query = request.GET.copy()
    query.pop("page", None)
    context = {
        "references": references,
        "reference": reference,
        "ties": ties,
        "all_ties": coverage.TIES,
        "k": k,
        "all_k": range(1, min(most, MAX_K) + 1),
        "page": Paginator(report.result.get("responses", []), 50).get_page(request.GET.get("page")),
        "query": query.urlencode(),
    }
    return _render(request, "coverage", project, report, context)


FILES = {"md": "text/markdown", "csv": "text/csv", "latex": "text/x-tex"}
ENDINGS = {"md": "md", "csv": "csv", "latex": "tex"}


@login_required
@require_GET
def project_report_tables(request, slug, name):
    """The tables of a stored report as a file."""
    project = project_with_labels_for(request.user, slug)
    form = _chosen(request, "format", FILES, "md")
    report = StoredReport.objects.filter(
        project=project, name=name, parameters_hash=request.GET.get("report", ""), computed_at__isnull=False
    ).first()
    if report is None:
        raise Http404("No such report")
    text = WRITERS[form](tables_of(report.result)) + "\n"
    response = HttpResponse(text, content_type=f"{FILES[form]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-{name}.{ENDINGS[form]}"'
    return response


@login_required
@require_GET
def project_behind(request, slug, name):
    """The items behind a figure, from the very computation that made the figure."""
    project = project_with_labels_for(request.user, slug)
    if name not in REPORTS:
        raise Http404("No such report")
    report = StoredReport.objects.filter(
        project=project, name=name, parameters_hash=request.GET.get("report", "")
    ).first()
    figure = request.GET.get("figure", "")
    if report is None or figure not in report.behind:
        raise Http404("No such figure")
    ids = report.behind[figure]
    page = Paginator(ids, 50).get_page(request.GET.get("page"))
    return render(
        request,
        "analysis/behind.html",
        {
            "project": project,
            "report": report,
            "title": REPORTS[name].title,
            "figure": _in_words(project, name, figure),
            "back": reverse(REPORTS[name].page, args=[project.slug]) + "?" + urlencode(_as_query(report.parameters)),
            "tab": TABS.get(name.replace("-", "_"), REPORTS[name].page),
            "page": page,
            "rows": queries.items_of_units(project, list(page.object_list)),
            "query": urlencode({"report": report.parameters_hash, "figure": figure}),
        },
    )


AGREEMENT_PARTS = {
    "agree": "where people agree",
    "disagree": "where people disagree",
    "single": "with one label only",
    "unlabelled": "without a label",
}


def _in_words(project, name: str, figure: str) -> str:
    if name == "coverage":
        return coverage.in_words(figure)
    if name == "difference":
        return _difference_in_words(project.type, figure)
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
}
ANNOTATOR_PARTS = {
    "uncertain": "whose label stays open by Dawid-Skene",
    "outvoted": "where Dawid-Skene finds another label than the majority",
    "models": "where Dawid-Skene and MACE find different labels",
}


def _of_annotators(project, dimension, parts: list[str]) -> str:
    if parts[0] in ANNOTATOR_PARTS:
        return ANNOTATOR_PARTS[parts[0]]
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


def _as_query(parameters: dict) -> dict:
    return {
        name: int(value) if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else value
        for name, value in parameters.items()
    }
