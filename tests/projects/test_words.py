"""Questions that are answered in words: optional or not, in answers, decisions, exports and releases, in no figure."""

import json
import uuid

import pytest
from django.core.management import call_command

from analysis.reports.metrics import REPORTS, get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.releases.files import zipped
from annotation.decisions.queries import find_items
from annotation.exports.tools import lost_in
from annotation.models import Decision, Judgement, LabelSet
from annotation.task_types.label_sets import problems_of, task_type_of
from annotation.work import assigning
from annotation.work.answer_rules import InvalidSubmission, check
from annotation.work.queries.opaque import unit_id
from config import task_type_checks
from tests.exporting.test_release_round_trip import through_an_empty_assay
from tests.factories import join, make_label_set_project, make_user
from tests.world import client_of
from tests.world.labels import items_of, make_rater, say

CLEAR = {
    "slug": "clear",
    "title": "Clear",
    "labels": [{"value": "yes", "title": "Yes"}, {"value": "no", "title": "No"}],
}
WHY = {"slug": "why", "title": "Why", "answer": "text", "asked_when": {"question": "clear", "labels": ["no"]}}
BETTER = {"slug": "better", "title": "Better", "answer": "text", "optional": True}
WORDS = {"name": "Words", "version": 1, "page": "claim", "questions": [CLEAR, WHY, BETTER]}
TEXTS = ("It rained.", "It froze.")
LONG = "Who is meant?\n\n“They” | (none)\t😀 " + "x" * 2000


def test_what_is_such_a_question():
    kind = task_type_of(WORDS)
    assert task_type_checks.problems_of(kind) == []
    why = kind.dimension("why")
    assert all(map(why.takes, ("a", LONG, "x" * 10_000, "(none)")))
    assert not any(map(why.takes, ("", " a", "a\n", "a\r\nb", "x" * 10_001)))

    def wrong(question: dict) -> list[str]:
        return [place for place, _ in problems_of(WORDS | {"questions": [question]})]

    assert wrong(BETTER | {"labels": CLEAR["labels"]}) == ["questions.1.labels"]
    assert wrong(BETTER | {"level": "interval"}) == ["questions.1.level"]
    assert wrong(BETTER | {"optional": 1}) == ["questions.1.optional"] == wrong(CLEAR | {"optional": True})
    assert wrong(BETTER | {"role": "stance"}) == ["questions.1.role"]
    spans = {"title": "Where", "fields": ["claim"]}
    assert wrong(BETTER | {"spans": spans}) == ["questions.1.spans"]


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ([("clear", "yes")], ""),
        ([("clear", "yes"), ("better", LONG)], ""),
        ([("clear", "no"), ("why", "Vague.")], ""),
        ([("clear", "no")], "Why has no answer"),
        ([("clear", "yes"), ("why", "Vague.")], "Why is not asked here"),
        ([("clear", "yes"), ("better", "")], "Better takes a text of 1 to 10,000 characters"),
    ],
)
def test_an_optional_text_may_be_missing_and_others_may_not(said, wrong):
    judgements = [{"unit": "u", "dimension": name, "label": label} for name, label in said]
    if wrong:
        with pytest.raises(InvalidSubmission, match=wrong):
            check(task_type_of(WORDS), ["u"], {"claim": "It rained."}, judgements)
    else:
        found = check(task_type_of(WORDS), ["u"], {"claim": "It rained."}, judgements)
        assert [(one.dimension, one.label) for one in found] == said


@pytest.mark.django_db
def test_the_form_the_page_and_a_decision_take_words():
    client = client_of(make_user("rosa", is_staff=True))
    said = {
        "name": "Words", "page": "claim",
        "questions.1.title": "Better", "questions.1.level": "nominal", "questions.1.answer": "text",
        "questions.1.optional": "on", "questions.1.labels.1.title": "",
    }  # fmt: skip
    client.post("/label-sets/new/", said)
    row = LabelSet.objects.get()
    assert task_type_of(row.description).dimensions == task_type_of(WORDS | {"questions": [BETTER]}).dimensions
    assert "A text, optional" in client.get(f"/label-sets/{row.pk}/").content.decode()

    project = make_label_set_project(WORDS, TEXTS, overlap=1)
    anna = join(project, make_user("anna"))
    assignment = assigning.take(project, anna)
    assert "data-text" in client_of(anna).get(f"/projects/{project.slug}/work/").content.decode()
    unit = unit_id(project.uuid, assignment.item.anchor.key)
    judgements = [{"unit": unit, "dimension": name, "label": said} for name, said in (("clear", "no"), ("why", LONG))]
    body = {"client_id": str(uuid.uuid4()), "judgements": judgements}
    address = f"/api/v1/assignments/{assignment.uuid}/submit"
    assert client_of(anna).post(address, body, "application/json").status_code == 200
    assert Judgement.objects.get(dimension="why").label == LONG
    owner = client_of(project.created_by)
    for page in ("questions/", f"items/{assignment.item.uuid}/", "agreement/", "items/?filter=disagreed"):
        assert owner.get(f"/projects/{project.slug}/{page}").status_code == 200, page
    judge = client_of(join(project, make_user("judge"), "adjudicator"))
    address = f"/api/v1/projects/{project.slug}/decisions/"
    decision = {"unit": assignment.item.anchor.key, "dimension": "why"}
    assert judge.post(address, decision | {"label": " "}, "application/json").status_code == 422
    assert judge.post(address, decision | {"label": "Two\r\nlines"}, "application/json").status_code == 200
    assert Decision.objects.get().label == "Two\nlines"


def labelled():
    project = make_label_set_project(WORDS, TEXTS, overlap=0)
    people = [make_rater(project) for _ in range(2)]
    for item in items_of(project):
        for number, person in enumerate(people):
            revision, place = say(item, person), {"unit_id": item.anchor_id}
            Judgement.objects.create(revision=revision, **place, dimension="clear", label="no")
            Judgement.objects.create(revision=revision, **place, dimension="why", label=f"{LONG}{number}")
    return project


@pytest.mark.django_db
def test_no_figure_counts_words_and_nobody_disagrees_in_them():
    project = labelled()
    assert not find_items(project, filter="disagreed").exists()
    result = get_report("agreement").compute(DatabaseSource(project))
    assert [one["dimension"] for one in result["dimensions"]] == ["clear"]
    assert "Who is meant" not in json.dumps(result)
    assert not [lost for lost in lost_in(project, "label-studio") if "words" in lost[0]]  # text areas hold them
    told = get_report("agreement").page_of({part: value for part, value in result.items() if part != "behind"})
    assert "Not counted here: Why, Better, answered by numbers or in words." in " ".join(told.notes)
    alone = task_type_of(WORDS | {"questions": [BETTER]})
    assert all(kind.fits(alone) for kind in REPORTS.values())


@pytest.mark.django_db(transaction=True)
def test_a_release_is_the_same_again(tmp_path):
    project = labelled()
    folder = tmp_path / "release"
    call_command("release", project.slug, str(folder), verbosity=0)
    manifest = json.loads((folder / "manifest.json").read_text())
    lines = [json.loads(line) for line in (folder / "annotations.jsonl").read_text().splitlines()]
    assert lines[0]["judgements"][1]["label"].startswith(LONG)
    assert "why" not in (folder / "content.jsonl").read_text()
    zipped(folder, tmp_path / "release.zip")
    again = through_an_empty_assay(tmp_path / "release.zip", tmp_path / "empty", project.slug)
    second = json.loads((again / "manifest.json").read_text())
    assert second["release"]["sha256"] == manifest["release"]["sha256"]
