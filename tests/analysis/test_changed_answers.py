"""Answers that changed after a decision, and labels whose captions changed, are said with both."""

import csv
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command

from analysis.releases import freezing
from analysis.reports.labels.changed import CAPTIONS, REVISED, captions_of_answers, revised_after_decisions
from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from annotation.decisions import adjudicating, desk
from annotation.models import Decision, Project
from annotation.projects.options import OPTIONS_VERSION, set_options
from tests.factories import make_user
from tests.world import client_of
from tests.world.labels import items_of, make_rater, project_of, say

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


@pytest.fixture
def revised():
    """Decisions at noon on units 0 to 2. By hand: on unit 0 one person changed their relevance after it, and lost their
    stance with it; on unit 1 somebody changed before it, and somebody answered first after it; on unit 2 a change took
    nothing back; unit 3 was not decided."""
    project = project_of(4)
    anna, ben = make_rater(project, "Anna"), make_rater(project, "Ben")
    items, hour = items_of(project), timedelta(hours=1)
    say(items[0], anna, YES, "supports", submitted_at=NOON - hour)
    say(items[0], anna, NO, submitted_at=NOON + hour)
    say(items[0], ben, YES, "refutes", submitted_at=NOON - hour)
    say(items[1], anna, YES, submitted_at=NOON - 2 * hour)
    say(items[1], anna, NO, submitted_at=NOON - hour)
    say(items[1], ben, YES, submitted_at=NOON + hour)
    say(items[2], anna, YES, submitted_at=NOON - hour)
    say(items[2], anna, YES, submitted_at=NOON + hour, comment="only a comment")
    say(items[3], anna, YES, submitted_at=NOON - hour)
    say(items[3], anna, NO, submitted_at=NOON + hour)
    for item in items[:3]:
        adjudicating.decide(project, project.created_by, item.anchor, "relevance", YES)
    adjudicating.decide(project, project.created_by, items[0].anchor, "stance", "supports")
    Decision.objects.update(decided_at=NOON)
    return project, items


def test_reports_say_how_many_answers_changed_after_a_decision_and_show_both(revised, tmp_path):
    project, _ = revised
    changes = [
        ["Relevance", "Relevant", "Not relevant", "Relevant", 1],
        ["Stance", "Supports", "", "Supports", 1],
    ]
    expected = {"answers": 2, "units": 1, "changes": changes}
    assert revised_after_decisions(DatabaseSource(project)) == expected
    freezing.write_release(project, tmp_path / "release")
    assert revised_after_decisions(source_of_files(tmp_path / "release")) == expected
    report = get_report("agreement")
    result = report.compute(project)
    assert result["made_from"][REVISED] == expected
    said = " ".join(report.page_of(result).notes)
    assert "2 answers on 1 unit were changed after the decision" in said
    assert "Relevance Relevant, now Not relevant, decided Relevant (1)" in said
    assert "Stance Supports, now not answered, decided Supports (1)" in said
    Decision.objects.update(decided_at=None)
    assert REVISED not in report.compute(Project.objects.get(pk=project.pk))["made_from"]


def test_the_table_of_ratings_has_the_answer_at_the_decision(revised, tmp_path):
    project, items = revised
    call_command("export_dataset", project.slug, tmp_path, kinds=["table-tsv"], verbosity=0)
    with open(tmp_path / "ratings.tsv", newline="") as table:
        rows = [row for row in csv.DictReader(table, delimiter="\t") if row["at_decision"]]
    assert [(row["id"], row["at_decision"], row["relevance"]) for row in rows] == [
        (items[0].key, "relevance: relevant; stance: supports", NO)
    ]


def test_the_item_page_and_the_desk_show_the_answer_at_the_decision(revised):
    project, items = revised
    client = client_of(project.created_by)
    page = client.get(f"/projects/{project.slug}/items/{items[0].uuid}/").content.decode()
    assert "2 answers changed after the decision" in page and "at the decision: Relevant" in page
    assert "at the decision: Supports" in page
    for item in items[1:]:
        assert "at the decision" not in client.get(f"/projects/{project.slug}/items/{item.uuid}/").content.decode()
    payload = desk.parts(project, make_user(), items[0])["payload"]
    said = {(one["dimension"], one["label"]) for one in payload["revised"]}
    letters = {
        one["letter"] for one in payload["said"] if not any(j["dimension"] == "stance" for j in one["judgements"])
    }
    assert said == {("relevance", YES), ("stance", "supports")}
    assert {one["letter"] for one in payload["revised"]} == letters


def test_answers_under_captions_that_changed_are_not_pooled_in_silence(tmp_path):
    project = project_of(3)
    anna, ben = make_rater(project), make_rater(project)
    items = items_of(project)
    say(items[0], anna, YES)
    say(items[0], ben, YES)
    say(items[1], anna, NO)
    options = {"captions": {"relevance": {"labels": {YES: {"title": "About the claim"}}}}}
    set_options(project, project.created_by, options)
    say(items[1], ben, YES, metadata={OPTIONS_VERSION: 1})
    say(items[2], ben, NO, metadata={OPTIONS_VERSION: 1})
    expected = [["Relevance", YES, [["Relevant", 2], ["About the claim", 1]]]]
    assert captions_of_answers(DatabaseSource(project)) == expected
    freezing.write_release(project, tmp_path / "release")
    assert captions_of_answers(source_of_files(tmp_path / "release")) == expected
    report = get_report("agreement")
    result = report.compute(project)
    assert result["made_from"][CAPTIONS] == expected
    assert "Relevance: Relevant (2), About the claim (1)" in " ".join(report.page_of(result).notes)
