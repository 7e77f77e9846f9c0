"""A log of Inspect becomes a project whose answers people can grade beside its scorers."""

from pathlib import Path

import pytest

from annotation.models import CheckerRun, Response, Score, Suggestion
from tests.importing.tools.files import import_by_command, import_in_browser

pytestmark = pytest.mark.django_db

LOG = Path(__file__).parents[2] / "formats/tools/samples/inspect.eval"


def test_a_log_becomes_a_project_with_its_scorers():
    project, dry = import_in_browser(LOG)
    assert (project.type.anchor_kind, [one.slug for one in project.type.dimensions]) == ("response", ["grade"])
    assert Response.objects.count() == 6 and dry["from_checkers"] == {"includes": 6, "length": 6}
    runs = {run.checker: run for run in CheckerRun.objects.filter(project=project)}
    assert set(runs) == {"outside:includes", "outside:length"}
    grades = Suggestion.objects.filter(run=runs["outside:includes"]).values_list("label", flat=True)
    assert sorted(grades) == ["correct"] * 3 + ["incorrect"] * 3
    assert Score.objects.filter(run=runs["outside:length"]).count() == 6
    again = import_by_command(LOG.with_suffix(".json"), format="inspect", slug="again")
    assert Response.objects.filter(dataset=again.dataset).count() == 6
