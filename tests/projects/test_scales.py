"""Scales with anchors, “Cannot judge”, rubrics and trees of labels: what is an answer, figures, files, releases."""

import json
import uuid
from dataclasses import replace

import krippendorff
import numpy as np
import pandas as pd
import pytest
from django.core.management import call_command

from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.releases.files import zipped
from analysis.sources.releases.frames import ReleaseSource
from annotation.formats.tables.questions import question_of
from annotation.models import Decision, Judgement, LabelSet
from annotation.projects.presets import PRESETS
from annotation.task_types import Dimension
from annotation.task_types.base import CANNOT_JUDGE
from annotation.task_types.label_sets import description_of, problems_of, task_type_of
from annotation.work import assigning
from annotation.work.queries.opaque import unit_id
from config import task_type_checks
from tests.exporting.test_release_round_trip import through_an_empty_assay
from tests.factories import join, make_label_set_project, make_user
from tests.world import client_of
from tests.world.labels import items_of, make_rater, of_dimension, of_name, say

ANCHORS = [{"at": 0, "title": "No meaning"}, {"at": 50, "title": "Half of it"}, {"at": 100, "title": "All of it"}]
NUMBER = {"min": 0, "max": 100, "step": 1, "anchors": ANCHORS}
SCORE = {"slug": "score", "title": "Score", "answer": "number", "level": "interval", "number": NUMBER}
TONE = {
    "slug": "tone",
    "title": "Tone",
    "labels": [{"value": "calm", "title": "Calm"}, {"value": "loud", "title": "Loud"}],
    "cannot_judge": True,
}
SCALES = {"name": "Scales", "version": 1, "page": "claim", "questions": [TONE, SCORE | {"cannot_judge": True}]}
TEXTS = tuple(f"Claim number {n}." for n in range(40))


def plain(dimension: Dimension) -> Dimension:
    """Without levels, whose groups are called as they are written."""
    return replace(dimension, derived=())


def tree() -> dict:
    paths = {"lost": "card", "broken": "card", "abroad": "cash/machine", "fee": "cash/machine", "desk": "cash/branch"}
    labels = [{"value": value, "title": value.title(), "group": group} for value, group in paths.items()]
    question = {"slug": "intent", "title": "Intent", "labels": [*labels, {"value": "other", "title": "Other"}]}
    return {"name": "Intents", "version": 1, "page": "claim", "questions": [question]}


@pytest.mark.parametrize("description", [SCALES, tree(), *PRESETS.values()])
def test_descriptions_come_back_as_they_are(description):
    kind = task_type_of(description)
    again = task_type_of(description_of(kind, description["page"], description["name"]))
    assert again.dimensions == kind.dimensions
    assert task_type_checks.problems_of(replace(kind, dimensions=tuple(map(plain, kind.dimensions)))) == []


@pytest.mark.parametrize(
    ("number", "place", "words"),
    [
        ({"anchors": ANCHORS}, "", "needs a minimum and a maximum"),
        (NUMBER | {"anchors": ANCHORS[::-1]}, "", "ascending order"),
        (NUMBER | {"anchors": ANCHORS[:1]}, "", "has 1 anchors; a scale has 2 to 11"),
        (NUMBER | {"anchors": [ANCHORS[0], {"at": 101, "title": "More"}]}, ".2.at", "from 0 to 100 in steps of 1"),
        (NUMBER | {"anchors": [ANCHORS[0], {"at": float("nan"), "title": "?"}]}, ".2.at", "is not a number"),
        (NUMBER | {"anchors": [ANCHORS[0], {"at": 50, "title": ""}]}, ".2.title", "is empty"),
        (NUMBER | {"anchors": "0 = none"}, "", "is not a list"),
    ],
)
def test_anchors_that_do_not_fit_are_named(number, place, words):
    wrong = problems_of(SCALES | {"questions": [SCORE | {"number": number}]})
    assert [at for at, _ in wrong] == [f"questions.1.number.anchors{place}"] and words in wrong[0][1]


def test_a_label_cannot_be_called_as_the_answer_that_one_cannot_judge():
    [wrong] = problems_of(
        SCALES | {"questions": [TONE | {"labels": [*TONE["labels"], {"value": CANNOT_JUDGE, "title": CANNOT_JUDGE}]}]}
    )
    assert wrong[0] == "questions.1.labels.3.value"


def rated(description: dict = SCALES):
    """Two people; the first cannot judge the first five scores, the second the last four tones."""
    project = make_label_set_project(description, TEXTS, overlap=0)
    people = [make_rater(project) for _ in range(2)]
    scores = np.random.default_rng(3).integers(0, 101, (2, len(TEXTS))).astype(float)
    scores[1] = np.clip(scores[0] + np.random.default_rng(4).integers(-9, 10, len(TEXTS)), 0, 100)
    for place, item in enumerate(items_of(project)):
        for who, person in enumerate(people):
            revision = say(item, person)
            tone = CANNOT_JUDGE if who == 1 and place >= 36 else ("calm", "loud")[(place + who * (place % 9 == 0)) % 2]
            score = CANNOT_JUDGE if who == 0 and place < 5 else str(int(scores[who, place]))
            for dimension, label in (("tone", tone), ("score", score)):
                Judgement.objects.create(revision=revision, unit_id=item.anchor_id, dimension=dimension, label=label)
    scores[0, :5] = np.nan
    return project, scores


@pytest.mark.django_db
def test_a_person_may_answer_that_they_cannot_judge_and_no_decision_does():
    project = make_label_set_project(SCALES, TEXTS[:2], overlap=1)
    anna = join(project, make_user("anna"))
    assignment = assigning.take(project, anna)
    page = client_of(anna).get(f"/projects/{project.slug}/work/").content.decode()
    assert page.count("data-cannot-judge") == 2 and 'type="range"' in page and "Half of it" in page
    assert "value=" not in page.partition('type="range"')[2].partition(">")[0], "no number before one is chosen"
    address = f"/api/v1/assignments/{assignment.uuid}/submit"
    place = {"unit": unit_id(project.uuid, assignment.item.anchor.key)}
    tone = place | {"dimension": "tone", "label": CANNOT_JUDGE}
    for score, status in (("nan", 422), ("100.5", 422), ("-1", 422), ("", 422), (CANNOT_JUDGE, 200)):
        body = {"client_id": str(uuid.uuid4()), "judgements": [tone, place | {"dimension": "score", "label": score}]}
        answer = client_of(anna).post(address, body, "application/json")
        assert answer.status_code == status, score
        assert status == 200 or "from 0 to 100 in steps of 1" in answer.content.decode()
    assert set(Judgement.objects.values_list("label", flat=True)) == {CANNOT_JUDGE}
    judge = client_of(join(project, make_user("judge"), "adjudicator"))
    for dimension in ("tone", "score"):
        said = {"unit": assignment.item.anchor.key, "dimension": dimension, "label": CANNOT_JUDGE}
        assert judge.post(f"/api/v1/projects/{project.slug}/decisions/", said, "application/json").status_code == 422
    assert not Decision.objects.exists()
    owner = client_of(project.created_by)
    for page in (f"items/{assignment.item.uuid}/", "agreement/", "progress/"):
        assert owner.get(f"/projects/{project.slug}/{page}").status_code == 200, page


@pytest.mark.django_db
def test_agreement_leaves_these_answers_out_and_says_how_many():
    project, scores = rated()
    result = get_report("agreement").compute(DatabaseSource(project))
    score, tone = of_dimension(result, "score"), of_dimension(result, "tone")
    alpha = of_name(score["figures"], "krippendorff_alpha_interval")
    assert alpha["estimate"] == pytest.approx(krippendorff.alpha(scores, level_of_measurement="interval"))
    assert (score["n_labels"], score["n_paired"], tone["n_labels"], tone["n_paired"]) == (75, 35, 76, 36)
    assert [one["label"] for one in tone["labels"]] == ["calm", "loud"]
    report = get_report("agreement")
    notes = " ".join(report.page_of({part: value for part, value in result.items() if part != "behind"}).notes)
    assert "Answers “Cannot judge” are left out: Tone 4, Score 5." in notes
    kind = get_report("annotators")
    assert kind.compute(DatabaseSource(project), quick=True)["made_from"]["cannot_judge"] == {"Tone": 4, "Score": 5}


@pytest.mark.django_db(transaction=True)
def test_tables_and_a_release_hold_them(tmp_path):
    project, _ = rated()
    call_command("export_dataset", project.slug, tmp_path / "tables", kinds=["table-parquet"], verbosity=0)
    rows = pd.read_parquet(tmp_path / "tables" / "ratings.parquet").to_dict("records")
    unsure = [row for row in rows if row["score.cannot_judge"] == "true"]
    assert len(unsure) == 5 and all(np.isnan(row["score"]) for row in unsure) and len(rows) == 80
    folder = tmp_path / "release"
    call_command("release", project.slug, str(folder), verbosity=0)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["labels"][1]["cannot_judge"] and len(manifest["labels"][1]["number"]["anchors"]) == 3
    sources = DatabaseSource(project), ReleaseSource(folder)
    figures = [get_report("agreement").compute(source, quick=True) for source in sources]
    assert [one["made_from"]["cannot_judge"] for one in figures] == [{"Tone": 4, "Score": 5}] * 2
    zipped(folder, tmp_path / "release.zip")
    again = through_an_empty_assay(tmp_path / "release.zip", tmp_path / "empty", project.slug)
    assert json.loads((again / "manifest.json").read_text())["release"]["sha256"] == manifest["release"]["sha256"]


@pytest.mark.django_db
def test_agreement_is_given_for_each_level_of_a_tree():
    project = make_label_set_project(tree(), TEXTS, overlap=0)
    values = task_type_of(tree()).dimensions[0].values
    drawn = np.random.default_rng(5).integers(0, 6, (2, len(TEXTS)))
    drawn[1] = np.where(np.random.default_rng(6).random(len(TEXTS)) < 0.5, drawn[0], drawn[1])
    people = [make_rater(project) for _ in range(2)]
    for place, item in enumerate(items_of(project)):
        for who, person in enumerate(people):
            label = values[drawn[who, place]]
            Judgement.objects.create(
                revision=say(item, person), unit_id=item.anchor_id, dimension="intent", label=label
            )
    result = get_report("agreement").compute(DatabaseSource(project), quick=True)
    for slug, groups in (("intent.level1", [0, 0, 1, 1, 1, 2]), ("intent.level2", [0, 0, 1, 1, 2, 3])):
        figure = of_name(of_dimension(result, slug)["figures"], "krippendorff_alpha_nominal")
        coded = np.array(groups)[drawn]
        assert figure["estimate"] == pytest.approx(krippendorff.alpha(coded, level_of_measurement="nominal")), slug
    assert [one["label"] for one in of_dimension(result, "intent.level2")["labels"]] == [
        *("card", "cash/machine", "cash/branch", "Other"),
    ]


def test_a_label_that_is_called_like_a_group_is_of_the_group():
    named = [
        ("cash", "Cash", ""),
        ("machine", "Machine", "Cash"),
        ("fee", "Fee", "Cash/Machine"),
        ("desk", "Desk", "Cash"),
    ]
    labels = [{"value": value, "title": title} | ({"group": group} if group else {}) for value, title, group in named]
    labels.append({"value": "other", "title": "Other"})
    levels = task_type_of(tree() | {"questions": [{"slug": "intent", "title": "Intent", "labels": labels}]})
    first, second = levels.dimensions[0].derived
    assert dict(first.of) == dict.fromkeys(("cash", "machine", "fee", "desk"), "Cash") | {"other": "Other"}
    assert dict(second.of) == {
        "cash": "Cash", "machine": "Cash/Machine", "fee": "Cash/Machine", "desk": "Cash", "other": "Other"
    }  # fmt: skip


def test_labels_of_a_table_that_are_paths_make_a_tree():
    made = question_of("intent", ["card/lost", "cash/fee", "card/broken"], {}, "Intent", None, False)
    assert problems_of(tree() | {"questions": [made]}) == []
    assert [(one["value"], one["group"]) for one in made["labels"]] == [
        ("card/broken", "card"),
        ("card/lost", "card"),
        ("cash/fee", "cash"),
    ]
    for values in (["yes/no", "n/a"], ["card/lost", "card/broken", "other"], ["a/", "a/b", "a/c"]):
        made = question_of("intent", values, {}, "Intent", None, False)
        assert not any("group" in one for one in made["labels"]), values


@pytest.mark.django_db
def test_the_form_begins_with_a_rubric_and_adds_confidence():
    client = client_of(make_user("rosa", is_staff=True))
    form = client.get("/label-sets/new/?from=rubric").content.decode()
    assert form.count('name="questions.4.title"') == 1 and "Completeness" in form
    form = client.get("/label-sets/new/?from=esa").content.decode()
    assert "33 = Some meaning preserved" in form and "Minor = 1, Major = 5" in form
    said = {
        "name": "Scores", "page": "claim", "do": "add-confidence",
        "questions.1.title": "Score", "questions.1.level": "nominal", "questions.1.answer": "number",
        "questions.1.number.min": "0", "questions.1.number.max": "100", "questions.1.labels.1.title": "",
        "questions.1.number.anchors": "0 = Nothing\n100 = All", "questions.1.cannot_judge": "on",
    }  # fmt: skip
    added = client.post("/label-sets/new/", said).content.decode()
    assert 'value="Confidence"' in added and 'value="Fairly sure"' in added
    del said["do"]
    wrong = client.post("/label-sets/new/", said | {"questions.1.number.anchors": "0 = Nothing\n200 = All"})
    assert "is not a number from 0 to 100" in wrong.content.decode()
    client.post("/label-sets/new/", said)
    [question] = LabelSet.objects.get().description["questions"]
    assert question["cannot_judge"] and [one["at"] for one in question["number"]["anchors"]] == [0, 100]
