"""A question that the project asks and no file answered leaves out no unit of the next one, and takes no room; checkers
are compared on the same units. CLIMATE-FEVER has stances and says nothing of relevance."""

import json

import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.models import StoredReport
from analysis.reports.metrics import get_report
from annotation.jobs import lifecycle
from annotation.machines.runs import suggesting
from annotation.models import Job, Project, Suggestion
from tests.analysis.test_real_data import CLIMATE_FEVER
from tests.factories import make_suggestions, make_user
from tests.world.labels import of_dimension

pytestmark = pytest.mark.django_db
N = 12


@pytest.fixture
def project(tmp_path):
    """Every claim has evidence that repeats it and evidence of something else; no vote says whether it is relevant."""
    lines = [
        {
            "claim_id": str(number),
            "claim": f"Glacier number {number} is melting quickly",
            "claim_label": "SUPPORTS",
            "evidences": [
                {"evidence_id": "a", "evidence": f"Glacier number {number} is melting quickly.", "votes": ["SUPPORTS"]},
                {"evidence_id": "b", "evidence": "Bread needs flour, salt, water.", "votes": ["NOT_ENOUGH_INFO"]},
            ],
        }
        for number in range(N)
    ]
    path = tmp_path / "climate-fever.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return imported(path)


def imported(path) -> Project:
    user = make_user(is_superuser=True)
    call_command(
        *("import_dataset", str(path), "--format", "climate-fever", "--dataset", "cf", "--project", "cf"),
        *("--task-type", "claim-evidence/three-way/1", "--owner", user.email),
    )
    return Project.objects.get(slug="cf")


def finished(project: Project, checker: str, **parameters):
    run = suggesting.start_run(project, project.created_by, checker, parameters, wake_workers=False)
    assert lifecycle.run_here(run.job).state == "done"
    return run


def compared(run, **options) -> dict:
    return get_report("comparison").compute(run.project, run=str(run.uuid), all=True, **options)


def test_a_checkers_no_to_a_question_that_nobody_answered_leaves_out_no_unit(project):
    run = finished(project, "lexical")
    said = Suggestion.objects.filter(run=run)
    assert said.filter(dimension="relevance", label="not_relevant").count() >= N
    assert said.filter(dimension="stance").count() == 2 * N and run.job.parameters["asked_anyway"] == ["stance"]
    run.refresh_from_db()
    assert run.provenance["asked_anyway"] == ["stance"]
    stance = of_dimension(compared(run), "stance")
    assert stance["accuracy"]["n_pairable"] == 2 * N and not stance["accuracy"]["left_out"]
    assert stance["accuracy"]["estimate"] == 1.0 and stance["n_checker_not_asked"] == 0 and not stance["with_unasked"]


def test_where_people_answered_it_the_condition_holds(project):
    """The same units, once somebody says what bears on the claim: the checker is not asked about the rest."""
    from tests.world.labels import items_of, make_rater, say

    rater = make_rater(project, "Anna")
    for item in items_of(project):
        say(item, rater, "relevant", "supports")
    run = finished(project, "lexical")
    assert Suggestion.objects.filter(run=run, dimension="stance").count() == N
    stance = of_dimension(compared(run, touched=True), "stance")
    assert stance["n_checker_not_asked"] >= N and run.job.parameters["asked_anyway"] == []


def test_a_question_without_a_label_takes_no_room(project, client):
    run = finished(project, "lexical")
    client.force_login(project.created_by)
    for name in ("comparison", "agreement"):
        client.get(reverse(f"project_{name}", args=[project.slug]))
        for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
            lifecycle.run_here(job)
        page = client.get(reverse(f"project_{name}", args=[project.slug])).content.decode()
        assert "<h2>Stance" in page and "<h2>Relevance" not in page
        assert "Nobody answered: Relevance." in page
    result = compared(run)
    assert [one["dimension"] for one in result["dimensions"]] == ["stance"] and result["unanswered"] == ["Relevance"]
    assert not any("Relevance" in table.title for table in get_report("comparison").tables(result))


def test_checkers_are_compared_on_the_same_units_unless_asked_otherwise(project):
    full, partial = finished(project, "lexical"), finished(project, "fake")
    some = Suggestion.objects.filter(run=partial, dimension="stance").order_by("unit__key")[:10].values_list("pk")
    Suggestion.objects.filter(run=partial, dimension="stance").exclude(pk__in=[pk for (pk,) in some]).delete()
    # A checker without any stance shrinks the units of nobody.
    silent = make_suggestions(project, checker="silent")
    Suggestion.objects.filter(run=silent, dimension="stance").delete()
    rows = {row["id"]: row for row in of_dimension(compared(full), "stance")["labellers"]["labellers"]}
    assert [rows[str(run.uuid)]["accuracy"]["n_pairable"] for run in (full, partial, silent)] == [10, 10, 0]
    rows = {row["id"]: row for row in of_dimension(compared(full, own_units=True), "stance")["labellers"]["labellers"]}
    assert [rows[str(run.uuid)]["accuracy"]["n_pairable"] for run in (full, partial)] == [2 * N, 10]
    tables = {table.title: table for table in get_report("comparison").tables(compared(full))}
    [table] = [table for title, table in tables.items() if "every checker and every person" in title]
    assert "compared on the units that all of them label" in table.note


@pytest.mark.slow
@pytest.mark.skipif(not CLIMATE_FEVER.exists(), reason="the CLIMATE-FEVER file is not there")
def test_the_figures_of_the_documentation_come_out_on_all_of_climate_fever(client):
    """docs/benchmarks.md: 5,174 pairs with a majority; `lexical` .524 and .424. The journey on all of CLIMATE-FEVER has
    `embedding`'s."""
    project = imported(CLIMATE_FEVER)
    run = str(finished(project, "lexical").uuid)
    client.force_login(project.created_by)
    address = reverse("project_comparison", args=[project.slug])
    client.get(address, {"run": run})
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    stance = of_dimension(StoredReport.objects.get(project=project, name="comparison").result, "stance")
    [row] = [row for row in stance["labellers"]["labellers"] if row["id"] == run]
    assert row["accuracy"]["n_pairable"] == 5_174
    assert np.round([row["accuracy"]["estimate"], row["macro_f1"]["estimate"]], 3).tolist() == [0.524, 0.424]
    page = client.get(address, {"run": run}).content.decode()
    assert "0.524" in page and "0.424" in page and "5,174" in page
