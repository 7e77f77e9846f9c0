"""Content that people judged is never silently altered."""

import pytest

from annotation.models import Claim, Evidence, Item, Judgement, Question, Response, StagedChange, Triplet, Unit
from tests.factories import make_dataset, make_project, make_suggestions, make_user
from tests.importing.files import answer, druid_row, druid_rows, run, texts, write_druid, write_refchecker
from tests.work.browser import Annotator

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]

SECOND = druid_row(1)["id"]


@pytest.fixture
def judged(tmp_path):
    """Six pieces of evidence under three claims; one person judged all of them but the last claim's."""
    dataset = make_dataset()
    assert run(dataset, write_druid(tmp_path / "d.tsv", druid_rows(6))).state == "done"
    person = make_user()
    project = make_project(dataset, annotators=[person], overlap=1, order="file")
    annotator = Annotator(person, project)
    for _ in range(4):
        assert annotator.submit(annotator.next()["payload"]).status_code == 200
    return dataset, project, annotator


def corrected(tmp_path, **changed):
    rows = druid_rows(6)
    rows[1] |= changed or {"evidence": "It did freeze."}
    rows[5]["evidence"] = "Nobody judged this one."
    return write_druid(tmp_path / "corrected.tsv", rows)


def test_by_default_such_an_import_is_refused_with_the_rows(judged, tmp_path):
    dataset, _, _ = judged
    before = texts(dataset)
    job = run(dataset, corrected(tmp_path))
    assert job.state == "failed"
    assert "1 changed row already judged" in job.message
    assert job.result["judged"] == [{"kind": "evidence", "key": SECOND, "columns": ["text"]}]
    assert texts(dataset) == before
    assert not StagedChange.objects.exists()


def test_keep_leaves_judged_rows_and_takes_the_rest(judged, tmp_path):
    dataset, _, _ = judged
    job = run(dataset, corrected(tmp_path), on_judged="keep")
    assert (job.state, job.result["published"]) == ("done", {"kept": 1, "updated": 1})
    assert texts(dataset)[SECOND] == druid_row(1)["evidence"]
    assert texts(dataset)[druid_row(5)["id"]] == "Nobody judged this one."


def test_supersede_makes_a_new_version_and_a_new_item_and_keeps_what_was_judged(judged, tmp_path):
    dataset, project, annotator = judged
    judgements = set(Judgement.objects.values_list("pk", "unit__evidence__text"))
    job = run(dataset, corrected(tmp_path), on_judged="supersede")
    assert (job.state, job.result["published"]["superseded"]) == ("done", 1)
    assert texts(dataset)[SECOND] == "It did freeze."
    assert set(Judgement.objects.values_list("pk", "unit__evidence__text")) == judgements
    old, new = Unit.objects.filter(key=SECOND).order_by("version")
    assert (old.version, new.version) == (1, 2)
    assert old.superseded_at is not None
    assert (old.evidence.text, new.evidence.text) == (druid_row(1)["evidence"], "It did freeze.")
    states = dict(Item.objects.filter(key=SECOND).values_list("anchor_id", "state"))
    assert states == {old.pk: "retired", new.pk: "active"}
    waiting = {annotator.submit(annotator.next()["payload"]).status_code for _ in range(3)}
    assert waiting == {200}
    assert annotator.next()["state"] == "empty"
    assert Judgement.objects.filter(unit=new).exists()


def test_a_changed_claim_renews_everything_that_was_shown_with_it(judged, tmp_path):
    dataset, _, _ = judged
    rows = druid_rows(6)
    rows[0]["claim"] = rows[1]["claim"] = "The river never froze."
    rows.append(druid_row(7, under=0, claim=rows[0]["claim"]))
    file = write_druid(tmp_path / "corrected.tsv", rows)
    assert run(dataset, file).result["judged"][0] == {"kind": "claim", "key": "c0", "columns": ["text"]}
    job = run(dataset, file, on_judged="supersede")
    assert job.state == "done", job.message
    claim = Claim.objects.published().get(key="c0")
    assert claim.text == "The river never froze."
    under = Evidence.objects.published().filter(claim=claim)
    assert {row.key: row.version for row in under} == {
        rows[0]["id"]: 2,
        rows[1]["id"]: 2,
        rows[6]["id"]: 1,
    }
    assert Evidence.objects.filter(claim__superseded_at__isnull=False).count() == 2
    assert Evidence.objects.published().filter(claim__superseded_at__isnull=False).count() == 0
    assert run(dataset, file).result["is_unchanged"]


def test_what_a_checker_has_results_for_gets_a_new_version_without_asking(tmp_path):
    dataset = make_dataset()
    run(dataset, write_druid(tmp_path / "d.tsv", druid_rows(2)))
    make_suggestions(make_project(dataset))
    rows = druid_rows(2, evidence="Changed.")
    job = run(dataset, write_druid(tmp_path / "d.tsv", rows))
    assert (job.state, job.result["judged_count"], job.result["published"]) == (
        "done",
        0,
        {"superseded": 2, "updated": 0},
    )
    assert Unit.objects.published().filter(suggestions__isnull=False).count() == 0
    assert Unit.objects.filter(suggestions__isnull=False).exists()


@pytest.fixture
def judged_answers(tmp_path):
    dataset = make_dataset()
    file = write_refchecker(tmp_path / "zero_context" / "nq_gpt4_answers.json", [answer(1), answer(2)])
    job = run(dataset, file, format="refchecker", project="labelled")
    assert job.state == "done", job.message
    return dataset, file


def test_one_more_triplet_under_a_judged_response_needs_the_choice(judged_answers):
    dataset, file = judged_answers
    write_refchecker(file, [answer(1, triplets=3), answer(2)])
    job = run(dataset, file, format="refchecker")
    assert (job.state, job.result["judged_count"]) == ("failed", 1)

    assert run(dataset, file, format="refchecker", on_judged="keep").state == "done"
    assert Triplet.objects.published().count() == 4

    assert run(dataset, file, format="refchecker", on_judged="supersede").state == "done"
    renewed = Response.objects.published().get(key__endswith="/1")
    assert renewed.version == 2
    assert sorted(renewed.triplet_set.values_list("index", "version")) == [(0, 2), (1, 2), (2, 1)]
    item = Item.objects.get(anchor__response=renewed)
    assert (item.state, item.unit_count) == ("active", 3)


def test_a_changed_passage_renews_the_question_with_its_responses(judged_answers):
    dataset, file = judged_answers
    write_refchecker(file, [answer(1, context=["Another passage."]), answer(2)])
    assert run(dataset, file, format="refchecker").state == "failed"
    assert run(dataset, file, format="refchecker", on_judged="supersede").state == "done"
    question = Question.objects.published().get(key__endswith="/1")
    assert question.version == 2
    assert [row.text for row in Evidence.objects.published().filter(question=question)] == ["Another passage."]
    assert Triplet.objects.published().filter(response__question=question).count() == 2
    old = Triplet.objects.filter(version=1, superseded_at__isnull=False)
    assert {row.response.question.evidence_set.get().text for row in old} == {"Passage of 1."}
