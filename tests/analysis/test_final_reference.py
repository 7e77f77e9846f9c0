"""The reference "decision, else majority": what exports hold, so that checkers are held against published labels."""

import json

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from analysis.releases import freezing
from analysis.reports.checkers.comparison.result import others_of
from analysis.reports.checkers.comparison.show import references_with_model
from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from annotation.decisions import adjudicating
from annotation.jobs import lifecycle
from annotation.models import Decision, RuleRun
from tests.factories import make_suggestions
from tests.world.labels import items_of, make_rater, of_dimension, project_of, say

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"
# unit -> labels of three people, decision; the checker says relevant everywhere. By hand: final labels are yes, no
# (decided against two of three), yes (decided a tie), none (dropped), none (a tie), no, yes (imported, after nobody).
SAID = [(YES, YES, NO), (YES, YES, NO), (YES, NO), (YES, YES), (YES, NO), (NO, NO), ()]
FINAL = [YES, NO, YES, None, None, NO, YES]


@pytest.fixture
def judged():
    project = project_of(len(SAID))
    raters = [make_rater(project) for _ in range(3)]
    items = items_of(project)
    for item, labels in zip(items, SAID, strict=True):
        for rater, label in zip(raters, labels, strict=False):
            say(item, rater, label)
    decide = {1: NO, 2: YES}
    for place, label in decide.items():
        adjudicating.decide(project, project.created_by, items[place].anchor, "relevance", label)
    common = {"project": project, "dimension": "relevance"}
    rule = RuleRun.objects.create(project=project, name="drop", version=1, kind="majority", created_at=timezone.now())
    dropped = {"method": "rule", "rule": "drop", "rule_run": rule, "outcome": "dropped"}
    Decision.objects.create(**common, unit=items[3].anchor, **dropped)
    Decision.objects.create(**common, unit=items[1].anchor, method="imported", label=YES)  # an adjudication stands
    Decision.objects.create(**common, unit=items[6].anchor, method="imported", label=YES)
    run = make_suggestions(project, checker="always", labels={"relevance": YES, "stance": "supports"})
    return project, items, run


def test_final_labels_are_those_of_the_export_and_a_checker_is_held_against_them(judged, tmp_path):
    project, items, run = judged
    report = get_report("comparison").compute(project, run=str(run.uuid), reference="final", touched=True)
    relevance = of_dimension(report, "relevance")
    assert relevance["confusion"] == [[3, 0], [2, 0]]  # of 5 labels the checker has 3 right
    assert (relevance["votes"]["decided"], relevance["votes"]["tied"], relevance["votes"]["unlabelled"]) == (5, 1, 1)
    call_command("export_dataset", project.slug, tmp_path / "export", kinds=["jsonl"], verbosity=0)
    rows = map(json.loads, (tmp_path / "export" / "claims.jsonl").read_text().splitlines())
    relevant = {row["id"]: row["relevant"] for row in rows}
    assert [relevant[item.key] for item in items] == [None if one is None else one == YES for one in FINAL]
    freezing.write_release(project, tmp_path / "release")
    from_files = get_report("comparison").compute(
        source_of_files(tmp_path / "release"), run=str(run.uuid), reference="final", touched=True
    )
    frozen = of_dimension(from_files, "relevance")
    assert [frozen[name] for name in ("confusion", "votes", "accuracy")] == [
        relevance[name] for name in ("confusion", "votes", "accuracy")
    ]


def test_a_decision_that_saw_the_checker_leaves_the_unit_out_and_a_person_is_held_against_others(judged):
    project, items, run = judged
    seen = {"runs": [{"run": str(run.uuid), "checker": run.checker}]}
    Decision.objects.filter(unit=items[2].anchor, method="adjudicated").update(seen=seen)
    report = get_report("comparison").compute(project, run=str(run.uuid), reference="final")
    assert of_dimension(report, "relevance")["confusion"] == [[2, 0], [2, 0]]
    left = report["decisions_left_out"]
    assert (left["n"], left["n_all"]) == (1, 3) and "had been shown what always says" in left["words"]
    assert others_of(get_report("comparison").read(report)) == "the decision, else the majority of the others"
    # The third person labelled units 0 and 1, where the others say yes, and the decision no.
    people = [one for one in of_dimension(report, "relevance")["labellers"]["labellers"] if one["kind"] == "person"]
    third = min(people, key=lambda one: one["accuracy"]["n_pairable"])["accuracy"]
    assert (third["n_pairable"], third["estimate"]) == (2, 0.5)


def test_it_is_the_default_where_there_are_decisions_beside_labels(judged, client):
    project, items, run = judged
    offered = references_with_model(DatabaseSource(project))
    assert list(offered)[:2] == ["final", "majority"]
    client.force_login(project.created_by)
    address = reverse("project_comparison", args=[project.slug])
    client.get(address)
    for job in project.jobs.filter(kind="report"):
        lifecycle.run_here(job)
    page = client.get(address).content.decode()
    assert "against decision, else majority" in page and "Final label: decision, else majority" in page
    project.decisions.all().delete()
    assert next(iter(references_with_model(DatabaseSource(project)))) == "majority"
