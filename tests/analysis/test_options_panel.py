"""The form of a report's page: a few options in a row, many in a folded panel by their groups."""

import re

import pytest
from django.urls import reverse

from analysis.pages.reports import IN_A_ROW
from analysis.reports.metrics import REPORTS
from tests.world import client_of
from tests.world.study import study

pytestmark = pytest.mark.django_db

PANEL = re.compile(r'<details class="options" data-stays-open( open)?>(.*?)</details>', re.S)


def panel_of(client, address: str, **asked) -> re.Match | None:
    return PANEL.search(client.get(address, asked).content.decode())


def test_many_options_stand_in_groups_and_a_few_in_a_row():
    project = study(8)
    client = client_of(project.created_by)
    panel = panel_of(client, reverse("project_comparison", args=[project.slug]))
    groups = re.findall(r"<legend>(.*?)</legend>(.*?)</fieldset>", panel[2], re.S)
    names = {group: set(re.findall(r'name="(\w+)"', fields)) for group, fields in groups}
    assert {"run", "other"} <= names["Checker"]
    assert names["Labels"] == {"reference", "touched", "ratings"}
    assert "margin" in names["Statistics"] and len(names) == 3
    row = reverse("project_prevalence", args=[project.slug])
    assert panel_of(client, row) is None
    assert 'name="reference"' in client.get(row).content.decode()


def test_the_folded_panel_says_what_was_chosen_and_is_open_where_it_was_refused():
    project = study(8)
    client = client_of(project.created_by)
    address = reverse("project_comparison", args=[project.slug])
    newest = project.checker_runs.latest("created_at").uuid

    def summary(**asked) -> tuple[bool, str]:
        panel = panel_of(client, address, **asked)
        return bool(panel[1]), re.search("<summary>(.*?)</summary>", panel[2])[1]

    assert summary() == (False, "Options")
    assert summary(run=newest, reference="final", margin="0.05") == (False, "Options")  # the form's own defaults
    assert summary(source="nowhere") == (False, "Options")  # one of the filters
    assert summary(touched="1", margin="0.1") == (
        False,
        "Options: Labels that the checker touched; Smallest difference of interest: 0.1",
    )
    assert summary(reference="imported") == (False, "Options: Reference: Imported decisions")
    assert summary(reference="nobody")[0]


@pytest.mark.parametrize("name", REPORTS)
def test_every_option_of_a_report_with_many_has_a_group(name):
    options = [option for option in REPORTS[name].options if option.on_form]
    assert len(options) <= IN_A_ROW or all(option.group for option in options)
