"""Matched documents and claims of a project: by people, by decisions, by a checker."""

import io
import json

import pytest
from django.core.management import call_command

from analysis.reports.metrics import get_report
from annotation.models import Decision, Item, Judgement, Pair, Suggestion, Unit
from tests.factories import make_project, make_suggestions
from tests.pairing.harbour import bring_in, line, make
from tests.world.labels import make_rater, project_of, say

UNSEEN = {"runs": []}  # whoever decided had been shown no suggestion
pytestmark = pytest.mark.django_db
E, N, C, NO = "entailment", "neutral", "contradiction", "non-entailment"


def document(name, text, **about):
    return {"id": name, "text": text, "method": "hyde", "model": "m1", **about}


@pytest.fixture
def dataset(tmp_path):
    """Two claims with one piece of gold evidence each; documents a (two sentences) and b of c1, d and e of c2."""
    one = line(1, gold=("Gold.",), documents=(document("a", "A one. A two."), document("b", "B one.", model="m2")))
    two = line(2, gold=("Gold.",), documents=(document("d", "D one."), document("e", "E one.", model="m2")))
    dataset = bring_in(tmp_path, one, two)
    make(dataset)
    return dataset


def labelled(project, rater, **labels):
    """Labels by the pair's hypothesis, spaces left out."""
    for name, label in labels.items():
        hypothesis = f"{name[0].upper()} {name[1:]}."
        item = Item.objects.get(project=project, anchor__pair__hypothesis=hypothesis)
        revision = say(item, rater)
        Judgement.objects.create(revision=revision, unit=item.anchor, dimension="entailment", label=label)


def matched(project, **parameters):
    return get_report("matched").compute(project, **parameters)


def rows_of(report, source="all", side="people"):
    """Documents, then claims."""
    return [row for row in report["shares"] if (row["source"], row["side"]) == (source, side)]


def counts(report, *which):
    return [(row["matched"], row["unmatched"], row["undecided"]) for row in rows_of(report, *which)]


def test_a_document_is_matched_by_one_pair_and_a_claim_by_one_document(dataset):
    project = make_project(dataset, "nli/two-way/1")
    one, two = make_rater(project), make_rater(project)
    labelled(project, one, Aone=NO, Atwo=E, Bone=NO, Done=NO)
    labelled(project, two, Aone=NO, Bone=E)  # b is tied, e without a label
    report = matched(project)
    assert report["pairs"] == {"people": {"entailed": 1, "other": 2, "left_out": {"without a label": 1, "tied": 1}}}
    assert counts(report) == [(1, 1, 2), (1, 0, 1)]
    documents, claims = rows_of(report)
    assert (documents["share"]["estimate"], claims["share"]["estimate"]) == (0.5, 1.0)
    assert (documents["lowest"], documents["highest"]) == (0.25, 0.75)
    assert sorted((row["name"], row["people"]) for row in report["documents"]) == [
        ("a", "matched"),
        ("b", "undecided"),
        ("d", "unmatched"),
        ("e", "undecided"),
    ]
    assert {row["name"]: row["people"] for row in report["claims"]} == {"c1": "matched", "c2": "undecided"}
    assert counts(report, "hyde/m1/-") == [(1, 1, 0), (1, 1, 0)]
    assert counts(report, "hyde/m2/-") == [(0, 0, 2), (0, 0, 2)]
    assert rows_of(report, "hyde/m2/-")[1]["share"]["undefined"] == "none is decided yet"


def test_labels_other_than_entailment_count_together(dataset):
    """Neutral against contradiction is a tie of labels, and none about entailment."""
    project = make_project(dataset, "nli/three-way/1")
    one, two, three = (make_rater(project) for _ in range(3))
    labelled(project, one, Done=N, Eone=E)
    labelled(project, two, Done=C, Eone=N)
    labelled(project, three, Eone=C)
    found = {row["name"]: row["people"] for row in matched(project)["documents"]}
    assert (found["d"], found["e"]) == ("unmatched", "unmatched")


def test_decisions_and_a_checker_stand_beside_people(dataset):
    project = make_project(dataset, "nli/two-way/1")
    unit = Unit.objects.get(kind="pair", pair__hypothesis="E one.")
    Decision.objects.create(
        project=project, unit=unit, dimension="entailment", label=E, method="adjudicated", seen=UNSEEN
    )
    run = make_suggestions(project, labels={"entailment": NO})
    Suggestion.objects.filter(run=run, unit__pair__hypothesis="B one.").update(label=E)
    Suggestion.objects.filter(run=run, unit__pair__hypothesis="D one.").delete()
    report = matched(project, reference="adjudicated", run=str(run.uuid))
    assert report["pairs"]["checker"] == {"entailed": 1, "other": 3, "left_out": {"without a suggestion": 1}}
    assert counts(report) == [(1, 0, 3), (1, 0, 1)]
    assert counts(report, "all", "checker") == [(1, 2, 1), (1, 0, 1)]
    rows = {row["name"]: (row["people"], row["checker"]) for row in report["documents"]}
    assert rows["b"] == ("undecided", "matched") and rows["e"] == ("matched", "unmatched")
    picture = get_report("matched").page_of(report).answer.picture
    assert [item.value for item in picture.items if item.row == "all"] == [1.0, pytest.approx(1 / 3)]


def test_beside_a_checker_only_labels_it_did_not_touch_count(dataset):
    project = make_project(dataset, "nli/two-way/1")
    run = make_suggestions(project, labels={"entailment": E})
    rater = make_rater(project)
    item = Item.objects.get(project=project, anchor__pair__hypothesis="D one.")
    revision = say(item, rater, shown=True)
    Judgement.objects.create(revision=revision, unit=item.anchor, dimension="entailment", label=E)
    alone, beside = matched(project), matched(project, run=str(run.uuid))
    touched = matched(project, run=str(run.uuid), touched=True)
    assert [report["pairs"]["people"]["entailed"] for report in (alone, beside, touched)] == [1, 0, 1]


def test_pairs_of_no_document_are_counted_and_left_out(dataset):
    pair = Pair.objects.get(hypothesis="E one.")
    Pair.objects.filter(pk=pair.pk).update(response=None)
    report = matched(make_project(dataset, "nli/two-way/1"))
    assert (report["n_pairs"], report["n_pairs_of_no_document"]) == (4, 1)
    assert "e" not in {row["name"] for row in report["documents"]}


def test_other_projects_and_wrong_choices_are_refused(dataset):
    with pytest.raises(ValueError, match="judges something else"):
        matched(project_of(1))
    project = make_project(dataset, "nli/two-way/1")
    with pytest.raises(ValueError, match="reference is one of"):
        matched(project, reference="best")
    with pytest.raises(ValueError, match="has no finished checker run"):
        matched(project, run="00000000-0000-4000-8000-000000000000")
    Pair.objects.update(response=None)
    with pytest.raises(ValueError, match="None of the project's pairs comes from a document"):
        matched(project)


def test_the_command_prints_it(dataset):
    project = make_project(dataset, "nli/two-way/1")
    make_suggestions(project, labels={"entailment": E})
    labelled(project, make_rater(project), Aone=NO, Atwo=E)
    out = io.StringIO()
    call_command("report", project.slug, "matched", "--run", "fake", stdout=out)
    rows = [line.split() for line in out.getvalue().splitlines()]
    assert any(row[:4] == ["hyde/m1/-", "people", "documents", "1.0000"] for row in rows)
    assert any(
        row[:3] == ["all", "people", "documents"] and row[-5:] == ["1", "0", "3", "0.2500", "1.0000"] for row in rows
    )
    out = io.StringIO()
    call_command("report", project.slug, "matched", "--format", "json", stdout=out)
    assert rows_of(json.loads(out.getvalue()))[0]["matched"] == 1
