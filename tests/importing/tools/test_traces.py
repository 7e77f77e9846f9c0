"""An export of traces becomes a project of conversations, which people judge and judges have judged."""

from pathlib import Path

import pytest

from annotation.models import CheckerRun, Claim, Judgement, Suggestion
from annotation.rendering import render
from tests.importing.tools.files import import_by_command, import_in_browser

pytestmark = pytest.mark.django_db

TRACES = Path(__file__).parents[2] / "formats/tools/samples/traces_mlflow.jsonl"


def test_traces_become_conversations_with_feedback():
    project, _ = import_in_browser(TRACES)
    assert [one.title for one in project.type.dimensions] == ["helpful", "correct"]
    assert {run.checker for run in CheckerRun.objects.filter(project=project)} == {"outside:judge-1", "outside:checker"}
    assert list(Judgement.objects.values_list("label", flat=True)) == ["4", "4"]
    assert sorted(Suggestion.objects.values_list("label", flat=True)) == ["5", "5", "true", "true"]
    assert 'class="turn is-tool-call"' in render(Claim.objects.get(text__contains="Bern").text).html
    again = import_by_command(TRACES, format="traces", slug="again")
    assert Claim.objects.filter(dataset=again.dataset).count() == 2
