"""What the pages of agreement and of the comparison begin with, and what is computed when asked for alone."""

import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.models import StoredReport
from analysis.reports.metrics import get_report
from annotation.models import Job
from tests.analysis.looks import compute_pages
from tests.world.study import WORLDS

pytestmark = pytest.mark.django_db
NAMES = ("agreement", "comparison")


def computed(name: str) -> tuple[dict, dict]:
    """The first part, and all of it."""
    project, options = WORLDS[name]()
    report, first = get_report(name), {key: value for key, value in options.items() if key != "all"}
    return report.compute(project, **first), report.compute(project, **options)


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_and_every_table_of_the_first_part_are_among_all(name):
    report = get_report(name)
    first, every = map(report.page_of, computed(name))
    assert first.answer.sentences == every.answer.sentences and first.answer.n == every.answer.n
    headlines, same = (
        [(one.question, one.value, one.interval) for one in page.answer.headlines] for page in (first, every)
    )
    assert headlines == same and len(headlines) == 2
    assert not first.more and every.more
    tables = {table.title: table.grid() for table in every.tables()}
    assert len([one for one in first.tables() if one.rows]) < len([one for one in every.tables() if one.rows])
    for table in first.tables():
        grid, whole = table.grid(), tables[table.title]
        places = [whole.columns.index(column) for column in grid.columns]
        assert set(grid.columns) <= set(whole.columns)
        rows = {tuple(map(str, (row[place] for place in places))) for row in whole.rows}
        assert {tuple(map(str, row)) for row in grid.rows} <= rows, table.title


def test_what_is_left_out_of_the_first_part_is_not_computed(monkeypatch):
    project, _ = WORLDS["agreement"]()
    for name in ("gwet_ac", "brennan_prediger", "scott_pi", "agreement_difference"):
        monkeypatch.setattr(f"analysis.reports.agreement.agreement.parts.{name}", None)
    result = get_report("agreement").compute(project)
    assert result["all"] is False
    for question in result["dimensions"]:
        assert {"krippendorff", "scikit-learn"} <= {one["package"] for one in question["recomputed"]}
        assert not question["by_source"] and "analytic" not in question["figures"][0]


def test_a_split_that_was_asked_for_stays_in_the_first_part(capsys):
    project, _ = WORLDS["agreement"]()
    call_command("report", project.slug, "agreement", "--split", "claim.source")
    assert "by source of the claim" in capsys.readouterr().out


def test_a_link_on_the_page_computes_the_rest_and_another_leads_back(client):
    project, _ = WORLDS["agreement"]()
    address = reverse("project_agreement", args=[project.slug])
    compute_pages(client, project.created_by, [address, f"{address}?since=2026-01-01"])
    assert Job.objects.filter(kind=Job.Kind.REPORT).count() == StoredReport.objects.count() == 2
    page = client.get(f"{address}?since=2026-01-01").content.decode()
    assert 'href="?since=2026-01-01&amp;all=1#more"' in page and "against chance</caption>" not in page
    assert 'class="headlines"' in page and 'name="all"' not in page
    compute_pages(client, project.created_by, [f"{address}?all=1"])
    page = client.get(f"{address}?all=1").content.decode()
    assert "Stance: against chance</caption>" in page and 'href="?"' in page
    assert "manage.py report" in page and " --all --format json" in page
