"""Errors in segments: scores by the stated weights, means of raters and of segments, intervals over documents."""

import numpy as np
import pytest

from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from annotation.models import Annotation, Question
from annotation.task_types.label_sets import task_type_of
from tests.factories import make_project
from tests.world.study import GRADED, graded

pytestmark = pytest.mark.django_db


def expected(project) -> dict[str, list[float]]:
    """Each system's scores, added up one by one."""
    weights = {("Accuracy", "Major"): 5.0, ("Punctuation", "Minor"): 0.1}
    found: dict[str, dict[str, list[float]]] = {}
    for one in Annotation.objects.filter(item__project=project):
        spans = one.revisions.get().judgements.get().spans.all()
        system, _, _ = one.item.key.partition("/")
        of_system = found.setdefault(system, {})
        of_system.setdefault(one.item.key, []).append(-sum(weights[span.label, span.severity] for span in spans))
    return {name: [float(np.mean(scores)) for scores in of.values()] for name, of in found.items()}


def test_a_system_has_the_mean_of_its_segments():
    project = graded()
    result = get_report("errors").compute(DatabaseSource(project))
    scores = expected(project)
    systems = {one["system"]: one for one in result["systems"]}
    assert list(systems) == ["s1", "s2"] and (result["clusters"], result["n_answers"]) == ("document", 48)
    for name, of_system in scores.items():
        assert systems[name]["score"]["estimate"] == pytest.approx(np.mean(of_system))
        assert systems[name]["score"]["n_pairable"] == len(of_system) == 12
        assert systems[name]["score"]["interval"]["n_clusters"] == 6
        assert systems[name]["score"]["low"] < systems[name]["score"]["estimate"] < systems[name]["score"]["high"]
    every = [*scores["s1"], *scores["s2"]]
    assert result["all"]["score"]["estimate"] == pytest.approx(np.mean(every))
    each = {
        (one["system"], one["value"]): one["each"]["estimate"] for one in result["severities"] + result["categories"]
    }
    assert each["s1", "Major"] == each["s1", "Accuracy"] == 0
    assert each["s1", "Minor"] == each["s1", "Punctuation"] == pytest.approx(1 / 3)
    assert "Minor Punctuation 0.1" in result["formula"]


def test_segments_of_one_document_are_drawn_by_source_text():
    project = graded()
    Question.objects.filter(dataset=project.dataset).update(metadata={"doc": "the only one"})
    report = get_report("errors")
    result = report.compute(DatabaseSource(project))
    assert (result["clusters"], result["n_documents"]) == ("source text", 1)
    assert result["all"]["score"]["interval"]["n_clusters"] == 12
    [sentence] = report.page_of(result).answer.sentences
    assert "(mean, 95 % interval). All segments are of one document: intervals do not allow for other" in sentence
    [sentence] = report.page_of(report.compute(DatabaseSource(project), quick=True)).answer.sentences
    assert "on average (mean)." in sentence and "interval" not in sentence


def test_agreement_is_given_for_each_severity():
    [found] = get_report("spans").compute(DatabaseSource(graded()), quick=True)["dimensions"]
    severities = {one["label"]: one for one in found["severities"]}
    f1 = {
        name: {figure["name"]: figure["estimate"] for figure in one["figures"]}["exact_f1"]
        for name, one in severities.items()
    }
    # Major errors are marked by both alike, minor ones never by both.
    assert f1 == {"Minor": 0, "Major": 1}


def test_what_has_no_severities_is_refused():
    report = get_report("errors")
    assert "none" in report.fits(make_project(graded().dataset, "answer-grade/-/1").type)
    assert report.fits(task_type_of(GRADED)) == ""


def test_segments_without_answers_are_left_out():
    project = graded()
    result = get_report("errors").compute(DatabaseSource(make_project(project.dataset, project.task_type, slug="new")))
    assert result["n_without"] == 24 and result["all"]["score"]["estimate"] is None
