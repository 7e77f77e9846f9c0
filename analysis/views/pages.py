"""Pages of figures with templates of their own. Nothing is computed here: stored reports are shown, workers refresh
them."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404
from django.views.decorators.http import require_safe

from analysis import queries
from analysis.models import StoredReport
from analysis.reports import alternative_annotator, annotators, coverage
from analysis.reports.agreement import GROUPS
from analysis.reports.reference import REFERENCES
from analysis.views.asked import Asked
from analysis.views.frame import has_rates, names_of, render_report, report_of
from analysis.views.pictures import plots_of
from annotation.access import project_with_labels_for

PAGE_UNITS = ("uncertain",)  # a page cannot list all units; the command does


def _plots(report: StoredReport | None, *kinds: str) -> dict[str, dict]:
    """Each dimension's pictures of these kinds."""
    found = report.result.get("dimensions", []) if report else []
    return {one["dimension"]: plots_of(report, one["dimension"], kinds) for one in found}


@login_required
@require_safe
def project_agreement(request, slug):
    project = project_with_labels_for(request.user, slug)
    asked = Asked(request, project, "agreement")
    raters = asked.choice("raters", GROUPS, "all", "Labels by")
    report = report_of(asked, {"raters": raters})
    context = {"raters": raters, "groups": GROUPS, "has_groups": queries.has_groups(project)}
    context["plots"] = _plots(report, "per-label", "by-source")
    return render_report(asked, report, context)


@login_required
@require_safe
def project_annotators(request, slug):
    project = project_with_labels_for(request.user, slug)
    choices = annotators.CHECKERS if queries.has_labelling_run(project) else {"without": annotators.CHECKERS["without"]}
    asked = Asked(request, project, "annotators")
    checkers = asked.choice("checkers", choices, "without", "Labels by")
    units = asked.choice("units", PAGE_UNITS, PAGE_UNITS[0])
    touched = asked.option("touched", "Labels")
    parameters = {"checkers": checkers, "units": units} | ({"touched": True} if touched else {})
    report = report_of(asked, parameters)
    context = {"checkers": checkers, "choices": choices, "touched": touched, "plots": _plots(report, "competence")}
    return render_report(asked, report, context)


@login_required
@require_safe
def project_alternative_annotator(request, slug):
    project = project_with_labels_for(request.user, slug)
    asked = Asked(request, project, "alternative-annotator")
    if not queries.has_labelling_run(project):
        return render_report(asked, None, {})
    epsilon = asked.choice("epsilon", alternative_annotator.EPSILONS, str(alternative_annotator.EPSILON), "Epsilon")
    scoring = asked.choice("scoring", alternative_annotator.SCORINGS, "scale", "Closeness")
    min_units, touched = asked.option("min_units"), asked.option("touched", "Labels")
    parameters = {"epsilon": float(epsilon), "scoring": scoring}
    if min_units != alternative_annotator.MIN_UNITS:
        parameters["min_units"] = min_units
    if touched:
        parameters["touched"] = True
    report = report_of(asked, parameters)
    context = {
        "epsilon": epsilon,
        "epsilons": alternative_annotator.EPSILONS,
        "scoring": scoring,
        "scorings": alternative_annotator.SCORINGS,
        "min_units": min_units,
        "touched": touched,
        "has_run": True,
        "plots": _plots(report, "stand-in"),
    }
    return render_report(asked, report, context)


@login_required
@require_safe
def project_prevalence(request, slug):
    project = project_with_labels_for(request.user, slug)
    asked = Asked(request, project, "prevalence")
    runs = queries.labelling_runs(queries.runs_with_suggestions(project))
    if not runs:
        return render_report(asked, None, {})
    references = {name: REFERENCES[name] for name in queries.references_of(project)}
    run = asked.choice("run", names_of(runs), str(runs[0].uuid), "Run")
    reference = asked.choice("reference", references, "majority", "People's labels")
    touched = asked.option("touched", "Labels")
    parameters = {"run": run, "reference": reference} | ({"touched": True} if touched else {})
    report = report_of(asked, parameters)
    context = {"runs": runs, "run": run, "references": references, "reference": reference, "touched": touched}
    context["plots"] = _plots(report, "prevalence")
    return render_report(asked, report, context)


@login_required
@require_safe
def project_difference(request, slug):
    project = project_with_labels_for(request.user, slug)
    runs = queries.runs_with_suggestions(project)
    asked = Asked(request, project, "difference")
    if len(runs) < 2:
        return render_report(asked, None, {"runs": []})
    known = names_of(runs)
    run = asked.choice("run", known, next(iter(known)), "to")
    others = {uuid: name for uuid, name in known.items() if uuid != run}
    first = next(iter(others))
    # Where somebody chose for both what stood at the other, the other moves on.
    other = first if request.GET.get("other") == run else asked.choice("other", others, first, "From")
    report = report_of(asked, {"run": run, "other": other})
    found = report.result.get("dimensions", []) if report else []
    changed = {one["dimension"]: one for one in found if not one["derived_from"]}
    context = {"runs": runs, "run": run, "other": other, "changed": changed}
    if changed:
        default = next((slug for slug, one in changed.items() if one["n_changed"]), next(iter(changed)))
        titles = {slug: one["title"] for slug, one in changed.items()}
        dimension = asked.choice("dimension", titles, default)
        page = Paginator(report.behind.get(f"{dimension}/changed", []), 50).get_page(request.GET.get("page"))
        context |= {
            "dimension": dimension,
            "page": page,
            "changes": queries.changes_of(
                project, other, run, project.type.dimension(dimension), list(page.object_list)
            ),
            "query": urlencode({"run": run, "other": other, "dimension": dimension}),
        }
    return render_report(asked, report, context)


@login_required
@require_safe
def project_rates(request, slug):
    project = project_with_labels_for(request.user, slug)
    if not has_rates(project):
        raise Http404("This project's items are not answers of models")
    references = {name: REFERENCES[name] for name in queries.references_of(project)}
    asked = Asked(request, project, "rates")
    reference = asked.choice("reference", references, "majority", "Labels from")
    report = report_of(asked, {"reference": reference})
    return render_report(asked, report, {"references": references, "reference": reference})


@login_required
@require_safe
def project_coverage(request, slug):
    project = project_with_labels_for(request.user, slug)
    if coverage.covering_dimension(project.type) is None:
        raise Http404("This project does not judge which aspects an answer covers")
    references = {name: coverage.TITLES[name] for name in queries.references_of(project)}
    # Where nobody labelled here and the file brought decisions, those are what there is to see.
    default = "majority" if queries.has_labels(project) or len(references) == 1 else list(references)[1]
    asked = Asked(request, project, "coverage")
    reference = asked.choice("reference", references, default, "Labels from")
    ties = asked.choice("ties", coverage.TIES, "excluded", "Tied aspects")
    k = asked.option("k")
    report = report_of(asked, {"reference": reference, "k": k, "ties": ties})
    result = report.result if report else {}
    most = max(result.get("most_labels", 0), project.overlap, k)
    query = request.GET.copy()
    query.pop("page", None)
    page = Paginator(result.get("responses", []), 50).get_page(request.GET.get("page"))
    context = {
        "references": references,
        "reference": reference,
        "ties": ties,
        "all_ties": coverage.TIES,
        "k": k,
        "all_k": range(1, min(most, coverage.MOST_LABELS) + 1),
        "page": page,
        "item_of": queries.items_by_key(project, [row["response"] for row in page]),
        "query": query.urlencode(),
    }
    return render_report(asked, report, context)
