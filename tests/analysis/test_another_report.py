"""A report is a folder and a line: one from outside goes through page, items, files and the command."""

import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.models import StoredReport
from analysis.reports.metrics import REPORTS
from annotation.jobs import lifecycle
from annotation.models import Job
from tests.analysis.another_report.report import REPORT
from tests.world import client_of
from tests.world.labels import items_of, make_rater, project_of, say

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(monkeypatch):
    monkeypatch.setitem(REPORTS.entries, REPORT.name, REPORT)
    project = project_of(3)
    anna, ben = make_rater(project, "Anna"), make_rater(project, "Ben")
    for item in items_of(project):
        say(item, anna, "not_relevant")
    say(items_of(project)[0], ben, "not_relevant")
    return project


def test_its_page_begins_with_its_answer_and_opens_its_figures(project):
    client, where = client_of(project.created_by), reverse("project_report", args=[project.slug, "labels"])
    assert "Labels by person" in client.get(reverse("project_reports", args=[project.slug])).content.decode()
    client.get(where, {"at_least": "2"})
    lifecycle.run_here(Job.objects.get(kind=Job.Kind.REPORT))
    html = client.get(where, {"at_least": "2"}).content.decode()
    assert "1 people gave 3 labels." in html and "Labels of 1 people were counted." in html
    assert client.get(where, {"at_least": "0"}).status_code == 404
    report = StoredReport.objects.get()
    figure = REPORT.page_of(report.result).tables()[0].columns[1].items(REPORT.read(report.result).people[0])
    behind = reverse("project_behind", args=[project.slug, "labels"])
    answer = client.get(behind, {"report": report.parameters_hash, "figure": figure.encoded}).content.decode()
    assert "<h1>3 units behind a figure</h1>" in answer and "Annotator: Anna" in answer
    files = reverse("project_report_tables", args=[project.slug, "labels"])
    table = client.get(files, {"report": report.parameters_hash, "format": "csv"}).content.decode()
    assert table.splitlines()[0] == "table,Person,Labels" and table.splitlines()[1].endswith(",3")


def test_the_command_writes_it(project, capsys):
    call_command("report", project.slug, "labels", format="json")
    assert sorted(row["n"] for row in json.loads(capsys.readouterr().out)["people"]) == [1, 3]
    call_command("report", project.slug, "labels", at_least=2)
    assert "1 people gave 3 labels." in capsys.readouterr().out
