"""Runs of versions that took a letter missing from a server's answer for one of probability 0 are listed and marked,
and what they stored stays as it is."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.machines.runs import suggesting
from annotation.models import CheckerRun, Score, Suggestion, Unit
from models_runtime import registry
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 4)
    return factories.make_project(dataset)


@pytest.fixture
def run(project, serve):
    """Builds the stored run of a version, with these suggestions' probabilities or scores."""
    serve(lambda request, n: None)

    def make(checker, version, probabilities=(), scores=()) -> CheckerRun:
        made = suggesting.start_run(project, project.created_by, checker, wake_workers=False, again=True)
        CheckerRun.objects.filter(pk=made.pk).update(version=version)
        units = list(Unit.objects.order_by("pk"))
        for unit, shares in zip(units, probabilities, strict=False):
            label = max(shares, key=shares.get)
            Suggestion.objects.create(
                run=made, unit=unit, dimension="relevance", label=label, probability=shares[label], probabilities=shares
            )
        for unit, told in zip(units, scores, strict=False):
            Score.objects.bulk_create(Score(run=made, unit=unit, name=name, value=v) for name, v in told.items())
        return made

    return make


FALSE, TRUE = ({"relevant": p, "not_relevant": 1.0 - p} for p in (1.0, 0.5))
TINY = {"relevant": 1.0, "not_relevant": 0.0004}


@pytest.mark.parametrize(
    ("checker", "version", "told", "units"),
    [
        ("llm", "1", {"probabilities": [FALSE, TRUE, FALSE, TINY]}, 2),
        ("llm", "1", {"probabilities": [TRUE, TINY]}, 0),
        ("llm", "2", {"probabilities": [FALSE]}, 0),
        ("verdict", "1", {"scores": [{"verdict": 1.0, "verdict_true": 1.0, "verdict_false": 0.0}]}, 1),
        ("verdict", "1", {"scores": [{"verdict": 1.0, "verdict_true": 0.9, "verdict_false": 0.1}]}, 0),
    ],
)
def test_a_run_with_probabilities_that_nobody_told_is_marked(client, project, run, checker, version, told, units):
    made = run(checker, version, **told)
    before = list(Suggestion.objects.values()) + list(Score.objects.values())
    client.force_login(project.created_by)
    page = client.get(reverse("run_detail", args=[made.uuid])).content.decode()
    listed = client.get(reverse("project_runs", args=[project.slug])).content.decode()
    said = StringIO()
    call_command("doubtful_runs", stdout=said)
    assert ("doubtful probabilities" in page) == ("doubtful probabilities" in listed) == bool(units)
    assert (str(made.uuid) in said.getvalue()) == bool(units)
    if units:
        assert f"{units} unit" in page and f"{units} units" in said.getvalue()
    assert list(Suggestion.objects.values()) + list(Score.objects.values()) == before


def test_answers_of_such_versions_are_taken_over_by_no_run():
    fallible = ("llm", "source-reference", "model-knowledge", "verdict", "masked-reference-server")
    assert "1" not in {registry.get_info(slug).version for slug in fallible}
