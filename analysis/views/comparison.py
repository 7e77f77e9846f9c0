"""A checker against people: its page."""

from django.contrib.auth.decorators import login_required
from django.views.decorators.http import require_safe

from analysis import queries
from analysis.models import StoredReport
from analysis.reports import association_tables, run_tables
from analysis.reports.equivalence import MARGIN
from analysis.reports.reference import DAWID_SKENE, WITH_MODEL
from analysis.reports.tabular import Table
from analysis.views.asked import Asked
from analysis.views.frame import names_of, render_report, report_of
from analysis.views.pictures import plots_of
from annotation.access import project_with_labels_for
from annotation.models import Rater

MARGINS = ("0.01", "0.02", "0.03", "0.05", "0.1")
# Pictures of a dimension: those that the page draws itself, with links, and those that stand as they were drawn.
OWN, DRAWN = ("confusion", "reliability"), ("roc", "precision-recall")
OF_EVERYBODY = ("labellers", "checkers-people")


@login_required
@require_safe
def project_comparison(request, slug):
    project = project_with_labels_for(request.user, slug)
    asked = Asked(request, project, "comparison")
    runs = queries.runs_with_suggestions(project)
    if not runs:
        return render_report(asked, None, {})
    references = _references(project)
    known = {str(found.uuid): found for found in runs}
    run = asked.choice("run", names_of(runs), next(iter(known)), "Run")
    reference = asked.choice("reference", references, "majority", "Reference")
    touched = asked.option("touched", "Labels")
    margin = asked.choice("margin", MARGINS, f"{MARGIN:g}", "Does not matter below")
    own_units = asked.option("own_units")
    parameters = {"run": run, "reference": reference, "touched": touched, "margin": float(margin)}
    if own_units:
        parameters["own_units"] = True
    mine = queries.score_names(known[run])
    if request.GET.get("score") and "run" not in asked.wrong:
        parameters["score"] = asked.choice("score", mine, "", "Score")
    others = _others(runs, known[run], mine)
    # Where somebody chose for the run what stood at the other, there is no other any more.
    is_same = request.GET.get("other", "") == run
    other = "" if is_same else asked.choice("other", {"": "no other run"} | names_of(others), "", "Beside")
    if other:
        parameters["other"] = other
    theirs = [name for name in queries.score_names(known[other])] if other else mine
    other_score = _other_score(asked, theirs, "" if other else parameters.get("score") or next(iter(mine), ""))
    if other_score:
        parameters["other_score"] = other_score
    report = report_of(asked, parameters)
    found = report.result.get("dimensions", []) if report else []
    context = {
        "runs": runs,
        "run": run,
        "references": references,
        "reference": reference,
        "touched": touched,
        "scores": mine,
        "score": parameters.get("score") or next(iter(mine), ""),
        "margin": margin,
        "own_units": own_units,
        "several_checkers": len({one.checker for one in queries.labelling_runs(runs)}) > 1,
        "margins": MARGINS,
        "other": other,
        "others": others,
        "other_score": other_score,
        "other_scores": theirs if mine else [],
        "plots": {one["dimension"]: plots_of(report, one["dimension"], (*OWN, *DRAWN)) for one in found},
        "curves": DRAWN,
        "beside": {one["dimension"]: _beside(report, one) for one in found},
    }
    return render_report(asked, report, context)


def _references(project) -> dict[str, str]:
    """Where somebody who labelled has a name, a model of the people too."""
    here = queries.references_of(project)
    if queries.annotators_of(project).exclude(kind=Rater.Kind.SLOT).exists():
        here = [*here, DAWID_SKENE]
    return {name: title for name, title in WITH_MODEL.items() if name in here}


def _others(runs: list, run, scores: list[str]) -> list:
    """Runs that this one can be set against: both give labels, or both give scores."""
    labelling = queries.labelling_runs(runs)
    return [
        found
        for found in runs
        if found != run and ((found in labelling and run in labelling) or (scores and queries.score_names(found)))
    ]


def _other_score(asked: Asked, names: list[str], same: str) -> str:
    """A score to set against; where somebody chose for the score what stood here, there is none any more."""
    given = asked.request.GET.get("other_score", "")
    if given in ("", same) or asked.wrong & {"run", "other"}:
        return ""
    return asked.choice("other_score", names, "", "Beside score")


def _beside(report: StoredReport, dimension: dict) -> list[tuple[str, list[dict]]]:
    """What stands beside the run's own figures: headings, each with its pictures and tables."""
    result, slug = report.result, dimension["dimension"]
    parts = []
    if dimension["associations"]:
        tables = association_tables.associations(result, dimension["title"], dimension["associations"])
        parts.append(("Correlations: chance, segment and system level", _tables("a", slug, tables)))
    if dimension["scores"]:
        parts.append(
            ("Two scores", _tables("s", slug, run_tables.scores(result, dimension["title"], dimension["scores"])))
        )
    if dimension["rivals"]:
        tables = run_tables.rivals(result, dimension["title"], dimension["rivals"], dimension.get("several"))
        parts.append(("Beside every other checker", _tables("v", slug, tables)))
    if dimension["labellers"]:
        tables = run_tables.labellers(result, dimension["title"], dimension["labellers"])
        plots = list(plots_of(report, slug, OF_EVERYBODY).values())
        parts.append(("Beside every checker and every person", [*plots, *_tables("e", slug, tables)]))
    return parts


def _tables(prefix: str, slug: str, tables: list[Table]) -> list[dict]:
    return [{"table": table, "id": f"{prefix}-{slug}-{place}"} for place, table in enumerate(tables)]
