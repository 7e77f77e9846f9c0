"""A project with imported decisions, a checker's run and no labels by raters, as after an import of gold labels: every
report uses the decisions, or begins with how many there are and why they do not serve."""

import html
import re

import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.models import StoredReport
from analysis.reports.metrics import REPORTS, get_report
from analysis.reports.text import as_text
from analysis.sources.project import ProjectOutline
from annotation.jobs import lifecycle
from annotation.machines.runs import suggesting
from annotation.models import Annotation, Job, Judgement, Project, Revision, Span
from tests.factories import make_user
from tests.world import client_of
from tests.world.remembered import remembered
from tests.world.study import WORLDS

pytestmark = pytest.mark.django_db
N = 24
VALUES = ("Supports", "Refutes", "Neutral")


@remembered
def decided() -> Project:
    """Two pieces of evidence for each claim, with a stance by nobody in particular."""
    import tempfile
    from pathlib import Path

    user = make_user(is_superuser=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gold.csv"
        said = ("is hot", "cures colds")
        rows = (f"Tea {n // 2} cures colds,Tea {n // 2} {said[n % 2]}.,{VALUES[n % 3]}" for n in range(N))
        path.write_text("claim,evidence,label\n" + "\n".join(rows) + "\n")
        named = {"format": "table", "dataset": "gold", "project": "gold", "owner": user.email}
        call_command("import_dataset", str(path), **named)
    project = Project.objects.get(slug="gold")
    for checker in ("lexical", "fake"):
        run = suggesting.start_run(project, user, checker, {}, wake_workers=False)
        assert lifecycle.run_here(run.job).state == "done"
    assert project.decisions.count() == N and not Annotation.objects.filter(item__project=project).exists()
    return project


def answered(project: Project, name: str, given: dict) -> tuple[dict, str]:
    """The result as the command computes it, and the first sentence of its page."""
    report, outline = get_report(name), ProjectOutline(project)
    values = report.resolve_options(outline, report.values(outline, given))
    result = report.compute(project, **values)
    return result, report.page_of(result).answer.sentences[0]


FITTING = ("agreement", "spans", "comparison", "annotators", "alternative-annotator", "prevalence", "prefill-trial")
FITTING += ("planning", "difference", "druid")
USING = ("comparison", "prevalence", "druid")


@pytest.mark.parametrize("name", FITTING)
def test_a_report_of_claims_uses_the_decisions_or_begins_with_them(name):
    project = decided()
    report = get_report(name)
    result, first = answered(project, name, {})
    text = as_text(result)
    if name in USING:
        assert result["reference"] == "imported"
        assert first == f"Reference: {N} imported decisions (Stance); there are no labels by raters."
        assert re.search(r"Stance|conflicting", text) and "0." in " ".join(report.page_of(result).answer.sentences)
        _, first = answered(project, name, {"reference": "majority"})
        assert first.startswith(f"There are no labels by raters, but {N} imported decisions (Stance). To use them,")
        assert "reference: imported" in first
    elif report.reads_people:
        title = report.title
        assert first.startswith(f"There are {N} imported decisions (Stance) and no labels by raters: “{title}” needs ")
        assert "labels by" in first.partition("needs")[2]
    else:
        assert "imported" not in first
    assert first is not None and "Nobody has labelled" not in text


def test_no_report_of_claims_is_left_out():
    project = decided()
    fitting = {name for name, report in REPORTS.items() if not report.fits(project.type)}
    assert fitting - {"calibration"} == set(FITTING)  # calibration needs a run of a prompt


@pytest.mark.parametrize("name", [name for name, one in REPORTS.items() if name not in FITTING])
def test_the_other_reports_begin_with_the_decisions_too(name):
    project, given = WORLDS[name]()
    for model in (Span, Judgement, Revision, Annotation):
        model.objects.all().delete()
    outline, report = ProjectOutline(project), get_report(name)
    if outline.references() == ["majority"]:
        kind = project.type
        dimension = kind.dimensions[0]
        units = {unit for item in project.items.all() for unit in item.item_units.values_list("unit_id", flat=True)}
        for place, unit in enumerate(sorted(units)):
            values = dimension.values
            project.decisions.create(
                unit_id=unit, dimension=dimension.slug, label=values[place % len(values)], method="imported"
            )
    result, first = answered(project, name, {key: value for key, value in given.items() if key != "reference"})
    if report.needs_raters:
        assert " imported decisions (" in first and "needs labels by" in first
    else:
        assert result["reference"] == "imported" and first.startswith("Reference: ")
        assert " imported decisions (" in first or " imported decision (" in first


def page_of(project: Project, name: str, given: dict) -> str:
    report, client = get_report(name), client_of(project.created_by)
    address = reverse(report.page, args=report.address(project.slug))
    client.get(address, given)
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        assert lifecycle.run_here(job).state == "done"
    return html.unescape(client.get(address, given).content.decode())


def test_pages_link_to_what_uses_the_decisions():
    project = decided()
    comparison = reverse("project_comparison", args=[project.slug])
    page = page_of(project, "agreement", {})
    assert f'href="{comparison}?reference=imported">Compare a checker with the imported decisions</a>' in page
    page = page_of(project, "druid", {"reference": "majority"})
    assert 'href="?reference=imported">Use the imported decisions as the reference</a>' in page
    page = page_of(project, "druid", {})
    assert f"Reference: {N} imported decisions (Stance)" in page and "Use the imported decisions" not in page
    stored = StoredReport.objects.get(name="druid", parameters__reference="imported")
    assert stored.result["made_from"]["decisions_alone"]["n"] == N
    assert f"report {project.slug} druid --reference imported" in page


def test_labels_come_before_decisions_once_there_are_any():
    """And another project beside keeps the reference that it has."""
    project, _ = WORLDS["prevalence"]()
    outline = ProjectOutline(project)
    assert outline.references() == ["majority", "imported"]
    assert outline.reference_for("adjudicated") == "majority" and outline.reference_for("imported") == "imported"
    assert ProjectOutline(decided()).reference_for("majority") == "imported"
    result, first = answered(project, "prevalence", {})
    assert result["reference"] == "majority" and "decisions_alone" not in result["made_from"]
    assert "imported" not in first
