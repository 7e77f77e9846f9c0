"""Pages of figures with templates of their own. Nothing is computed here: stored reports are shown, workers refresh
them."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404
from django.views.decorators.http import require_GET

from analysis import queries
from analysis.models import StoredReport
from analysis.reports import alternative_annotator, annotators, coverage
from analysis.reports.agreement import GROUPS
from analysis.reports.reference import REFERENCES
from analysis.views.frame import chosen, has_rates, render_report, report_of
from analysis.views.pictures import plots_of
from annotation.access import project_with_labels_for

MAX_K = 50  # more labels of one aspect are nowhere asked for


def _plots(report: StoredReport, *kinds: str) -> dict[str, dict]:
    """Each dimension's pictures of these kinds."""
    return {one["dimension"]: plots_of(report, one["dimension"], kinds) for one in report.result.get("dimensions", [])}


@login_required
@require_GET
def project_agreement(request, slug):
    project = project_with_labels_for(request.user, slug)
    raters = chosen(request, "raters", GROUPS, "all")
    report = report_of(request, project, "agreement", {"raters": raters})
    context = {"raters": raters, "groups": GROUPS, "has_groups": queries.has_groups(project)}
    context["plots"] = _plots(report, "per-label", "by-source")
    return render_report(request, "agreement", project, report, context)


@login_required
@require_GET
def project_annotators(request, slug):
    project = project_with_labels_for(request.user, slug)
    choices = annotators.CHECKERS if queries.has_labelling_run(project) else {"without": annotators.CHECKERS["without"]}
    checkers = chosen(request, "checkers", choices, "without")
    parameters = {"checkers": checkers, "units": "uncertain"}
    report = report_of(request, project, "annotators", parameters)
    context = {"checkers": checkers, "choices": choices, "plots": _plots(report, "competence")}
    return render_report(request, "annotators", project, report, context)


@login_required
@require_GET
def project_alternative_annotator(request, slug):
    project = project_with_labels_for(request.user, slug)
    if not queries.has_labelling_run(project):
        return render_report(request, "alternative_annotator", project, None, {})
    epsilon = chosen(request, "epsilon", alternative_annotator.EPSILONS, str(alternative_annotator.EPSILON))
    scoring = chosen(request, "scoring", alternative_annotator.SCORINGS, "scale")
    parameters = {"epsilon": float(epsilon), "scoring": scoring}
    report = report_of(request, project, "alternative-annotator", parameters)
    context = {
        "epsilon": epsilon,
        "epsilons": alternative_annotator.EPSILONS,
        "scoring": scoring,
        "scorings": alternative_annotator.SCORINGS,
        "has_run": True,
        "plots": _plots(report, "stand-in"),
    }
    return render_report(request, "alternative_annotator", project, report, context)


@login_required
@require_GET
def project_prevalence(request, slug):
    project = project_with_labels_for(request.user, slug)
    runs = queries.labelling_runs(queries.runs_with_suggestions(project))
    if not runs:
        return render_report(request, "prevalence", project, None, {})
    references = {name: REFERENCES[name] for name in queries.references_of(project)}
    run = chosen(request, "run", [str(found.uuid) for found in runs], str(runs[0].uuid))
    reference = chosen(request, "reference", references, "majority")
    report = report_of(request, project, "prevalence", {"run": run, "reference": reference})
    context = {"runs": runs, "run": run, "references": references, "reference": reference}
    context["plots"] = _plots(report, "prevalence")
    return render_report(request, "prevalence", project, report, context)


@login_required
@require_GET
def project_difference(request, slug):
    project = project_with_labels_for(request.user, slug)
    runs = queries.runs_with_suggestions(project)
    if len(runs) < 2:
        return render_report(request, "difference", project, None, {"runs": []})
    known = [str(found.uuid) for found in runs]
    run = chosen(request, "run", known, known[0])
    others = [uuid for uuid in known if uuid != run]
    # Where somebody chose for both what stood at the other, the other moves on.
    other = others[0] if request.GET.get("other") == run else chosen(request, "other", others, others[0])
    report = report_of(request, project, "difference", {"run": run, "other": other})
    changed = {one["dimension"]: one for one in report.result.get("dimensions", []) if not one["derived_from"]}
    context = {"runs": runs, "run": run, "other": other, "changed": changed}
    if changed:
        default = next((slug for slug, one in changed.items() if one["n_changed"]), next(iter(changed)))
        dimension = chosen(request, "dimension", changed, default)
        page = Paginator(report.behind.get(f"{dimension}/changed", []), 50).get_page(request.GET.get("page"))
        context |= {
            "dimension": dimension,
            "page": page,
            "changes": queries.changes_of(
                project, other, run, project.type.dimension(dimension), list(page.object_list)
            ),
            "query": urlencode({"run": run, "other": other, "dimension": dimension}),
        }
    return render_report(request, "difference", project, report, context)


@login_required
@require_GET
def project_rates(request, slug):
    project = project_with_labels_for(request.user, slug)
    if not has_rates(project):
        raise Http404("This project's items are not answers of models")
    references = {name: REFERENCES[name] for name in queries.references_of(project)}
    reference = chosen(request, "reference", references, "majority")
    report = report_of(request, project, "rates", {"reference": reference})
    return render_report(request, "rates", project, report, {"references": references, "reference": reference})


@login_required
@require_GET
def project_coverage(request, slug):
    project = project_with_labels_for(request.user, slug)
    if coverage.covering_dimension(project.type) is None:
        raise Http404("This project does not judge which aspects an answer covers")
    references = {name: coverage.TITLES[name] for name in queries.references_of(project)}
    # Where nobody labelled here and the file brought decisions, those are what there is to see.
    default = "majority" if queries.has_labels(project) or len(references) == 1 else list(references)[1]
    reference = chosen(request, "reference", references, default)
    ties = chosen(request, "ties", coverage.TIES, "excluded")
    k = int(chosen(request, "k", [str(number) for number in range(1, MAX_K + 1)], "1"))
    report = report_of(request, project, "coverage", {"reference": reference, "k": k, "ties": ties})
    most = max(report.result.get("most_labels", 0), project.overlap, k)
    query = request.GET.copy()
    query.pop("page", None)
    page = Paginator(report.result.get("responses", []), 50).get_page(request.GET.get("page"))
    context = {
        "references": references,
        "reference": reference,
        "ties": ties,
        "all_ties": coverage.TIES,
        "k": k,
        "all_k": range(1, min(most, MAX_K) + 1),
        "page": page,
        "item_of": queries.items_by_key(project, [row["response"] for row in page]),
        "query": query.urlencode(),
    }
    return render_report(request, "coverage", project, report, context)
