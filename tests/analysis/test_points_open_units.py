"""Points of pictures and rows of thresholds that are about a set of units open exactly these."""

import re
from urllib.parse import quote, unquote

import pytest
from django.urls import reverse

from analysis.figures.items import Items
from analysis.figures.pictures import from_dict
from analysis.models import StoredReport
from analysis.reports.checkers.comparison import filters
from analysis.reports.metrics import get_report
from annotation.jobs import lifecycle
from annotation.models import Job, Suggestion
from tests.world import client_of
from tests.world.labels import of_dimension
from tests.world.study import run_of, study

pytestmark = pytest.mark.django_db


@pytest.fixture
def stored():
    project = study()
    run = run_of(project, "unseen")
    for number, suggestion in enumerate(Suggestion.objects.filter(run__uuid=run, dimension="stance")):
        greatest = 0.5 + (number % 10) / 25
        rest = (1 - greatest) / (len(suggestion.probabilities) - 1)
        suggestion.probabilities = {
            label: greatest if label == suggestion.label else rest for label in suggestion.probabilities
        }
        suggestion.save()
    client_of(project.created_by).get(reverse("project_comparison", args=[project.slug]), {"run": run, "all": 1})
    lifecycle.run_here(Job.objects.get(kind=Job.Kind.REPORT))
    return StoredReport.objects.get()


def opened(stored: StoredReport, figure: str) -> set[int]:
    answer = client_of(stored.project.created_by).get(
        reverse("project_behind", args=[stored.project.slug, "comparison"]),
        {"report": stored.parameters_hash, "figure": figure},
    )
    assert answer.status_code == 200, figure
    return {row.unit.pk for row in answer.context["rows"]}


def test_every_point_of_the_reliability_picture_opens_its_bin(stored):
    drawn = stored.pictures["reliability-stance"]
    [series] = from_dict(drawn["spec"]).series
    bins = [row for row in of_dimension(stored.result, "stance")["probabilities"]["bins"] if row["n"]]
    assert len(series.figures) == len(bins) > 2
    for row, figure in zip(bins, series.figures, strict=True):
        assert f"figure={quote(figure, safe='')}" in drawn["svg"]
        assert len(opened(stored, figure)) == row["n"]


def test_what_a_threshold_takes_opens_the_units_that_reach_it_and_is_stored_once_per_label(stored):
    suggestions = Suggestion.objects.filter(run__uuid=stored.parameters["run"], dimension="stance")
    given = {one.unit_id: one.probabilities for one in suggestions}
    shown = client_of(stored.project.created_by).get(
        reverse("project_comparison", args=[stored.project.slug]), {"run": stored.parameters["run"], "all": 1}
    )
    links = set(map(unquote, re.findall(r"figure=(stance.probability[^\"&]+)", shown.content.decode())))
    found = of_dimension(stored.result, "stance")["probabilities"]
    for label in found["labels"]:
        counted = Items.from_json(stored.behind).units_of(filters.of_people("stance", "label"))
        thresholds = [row["threshold"] for row in label["thresholds"]]
        for row in label["thresholds"]:
            figure = filters.reaching("stance", label["label"], thresholds, row["threshold"]).encoded
            if not row["n_taken"]:
                continue
            assert label["f1"]["undefined"] or figure in links
            reaching = {unit for unit in counted if unit in given and given[unit][label["label"]] >= row["threshold"]}
            assert opened(stored, figure) == reaching and len(reaching) == row["n_taken"]
    assert links
    assert sum(".probability." in name for name in stored.behind["columns"]) == len(found["labels"])
    units_behind = get_report("comparison").units_behind
    for wrong in ("stance.probability.supports=0.51", "stance.probability.nothing=0.5", "nothing=0.5"):
        assert units_behind(stored.behind, wrong) is None
