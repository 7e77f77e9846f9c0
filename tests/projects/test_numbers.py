"""Questions that are answered by a number: what is an answer, files, agreement, scores beside them, ratings."""

import json
import re
import uuid

import krippendorff
import numpy as np
import pytest
from django.core.management import call_command
from scipy import stats as scipy_stats

from analysis.reports.metrics import REPORTS, get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.releases.files import zipped
from analysis.sources.releases.frames import ReleaseSource
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.ratings import label_set_of
from annotation.models import CheckerRun, Decision, Judgement, LabelSet, Project, Score
from annotation.task_types.base import NumberRange, number_text
from annotation.task_types.label_sets import identifier_of, problems_of, task_type_of
from annotation.work import assigning
from annotation.work.queries.opaque import unit_id
from config import task_type_checks
from tests.exporting.test_release_round_trip import through_an_empty_assay
from tests.factories import join, make_label_set_project, make_suggestions, make_user
from tests.world import client_of
from tests.world.labels import items_of, make_rater, of_dimension, of_name, say

SHARE = {
    "slug": "share",
    "title": "Share",
    "answer": "number",
    "level": "ratio",
    "number": {"min": 0, "max": 100, "step": 0.5, "unit": "%"},
}
CLEAR = {
    "slug": "clear",
    "title": "Clear",
    "labels": [{"value": "yes", "title": "Yes"}, {"value": "no", "title": "No"}],
}
ESTIMATES = {"name": "Estimates", "version": 1, "page": "claim", "questions": [CLEAR, SHARE]}
TEXTS = tuple(f"Claim number {n}." for n in range(60))
DRAWN = np.random.default_rng(4).integers(0, 201, 60) / 2
SAID = np.array([DRAWN, np.clip(DRAWN + np.random.default_rng(5).integers(-20, 20, 60) / 2, 0, 100)])


def labelled(description: dict = ESTIMATES):
    project = make_label_set_project(description, TEXTS, overlap=0)
    people = [make_rater(project) for _ in range(2)]
    for place, item in enumerate(items_of(project)):
        for person, numbers in zip(people, SAID, strict=True):
            revision = say(item, person)
            if len(description["questions"]) > 1:
                Judgement.objects.create(revision=revision, unit_id=item.anchor_id, dimension="clear", label="yes")
            number = number_text(numbers[place])
            Judgement.objects.create(revision=revision, unit_id=item.anchor_id, dimension="share", label=number)
    return project


def test_numbers_have_one_spelling_and_a_range():
    assert [number_text(one) for one in (3.0, -0.0, 0.1, 1e-7, 1e21, -2.50, 1 / 3)] == [
        *("3", "0", "0.1", "0.0000001", "1000000000000000000000", "-2.5", "0.3333333333333333"),
    ]
    whole, free = NumberRange(0, 100, 0.5), NumberRange()
    assert all(map(whole.holds, ("0", "100", "0.5", "99.5")))
    assert not any(map(whole.holds, ("0.0", "-0.5", "100.5", "0.25", "1e1", "", "nan", "inf", "５", " 5", "5_0")))
    assert all(map(free.holds, ("-7", "0.3333333333333333", "12345678.9")))
    assert NumberRange(0.1, 1, 0.1).holds("0.3"), "steps are exact though floats are not"
    assert NumberRange(step=0.001).holds("1" + 30 * "0") and not NumberRange(step=3).holds("1" + 30 * "0")
    assert str(whole) == "a number from 0 to 100 in steps of 0.5"


def test_what_is_such_a_question():
    kind = task_type_of(ESTIMATES)
    assert task_type_checks.problems_of(kind) == []
    assert kind.dimension("share").title_of("2.5") == "2.5 %"

    def wrong(**changes) -> list[str]:
        return [place for place, _ in problems_of(ESTIMATES | {"questions": [CLEAR, SHARE | changes]})]

    number = "questions.2.number"
    assert wrong(level="nominal") == ["questions.2.level"]
    assert wrong(labels=CLEAR["labels"]) == ["questions.2.labels"]
    assert wrong(number={"min": -1}) == [f"{number}.min"] == wrong(number={"min": float("nan")})
    assert wrong(number={"min": 5, "max": 5}) == [f"{number}.max"]
    assert wrong(number={"min": 0, "step": 0}) == [f"{number}.step"]
    assert wrong(number={"min": 0, "max": 1e300}) == [f"{number}.max"] == wrong(number={"min": 0, "max": "7"})
    assert wrong(number={"min": 0, "mean": 3}) == [f"{number}.mean"]
    assert wrong(number=[0, 1]) == [number]
    asked = CLEAR | {"slug": "why", "title": "Why", "asked_when": {"question": "share", "labels": ["5"]}}
    assert [place for place, _ in problems_of(ESTIMATES | {"questions": [SHARE, asked]})] == [
        "questions.2.asked_when.labels"
    ]
    same = ESTIMATES | {"questions": [CLEAR, SHARE | {"number": {"unit": "%", "min": 0.0, "max": 100.0, "step": 0.5}}]}
    assert identifier_of(same) == identifier_of(ESTIMATES)


@pytest.mark.django_db
def test_the_form_the_page_and_a_decision_take_numbers():
    client = client_of(make_user("rosa", is_staff=True))
    said = {
        "name": "Shares", "page": "claim",
        "questions.1.title": "Share", "questions.1.level": "nominal", "questions.1.answer": "number",
        "questions.1.number.min": "0", "questions.1.number.max": "abc", "questions.1.number.unit": "1000",
        "questions.1.labels.1.title": "",
    }  # fmt: skip
    refused = client.post("/label-sets/new/", said).content.decode()
    assert "is not a number below" in refused
    shown = refused.partition('name="questions.1.number_level"')[2]  # a level of its own, not that of labels
    assert re.match(
        r'><option value="interval" selected>[^<]*</option><option value="ratio">[^<]*</option></select>', shown
    )
    said["questions.1.number_level"] = "ratio"
    said |= {"questions.1.number.max": "100", "questions.1.number.step": "0.5"}
    client.post("/label-sets/new/", said)
    assert LabelSet.objects.get().description["questions"][0]["number"]["unit"] == "1000"
    client.post("/label-sets/new/", said | {"name": "Percent", "questions.1.number.unit": "%"})
    row = LabelSet.objects.latest("pk")
    assert row.description["questions"] == [SHARE]
    following = client.get(f"/label-sets/{row.pk}/next/").content.decode()
    assert 'value="0.5"' in following and '<option value="ratio" selected>Ratio: numbers' in following
    assert "from 0 to 100 in steps of 0.5" in client.get(f"/label-sets/{row.pk}/").content.decode()

    project = make_label_set_project(row.description, TEXTS[:2], overlap=1)
    anna = join(project, make_user("anna"))
    assignment = assigning.take(project, anna)
    assert 'min="0" max="100" step="0.5"' in client_of(anna).get(f"/projects/{project.slug}/work/").content.decode()
    address = f"/api/v1/assignments/{assignment.uuid}/submit"
    place = {"unit": unit_id(project.uuid, assignment.item.anchor.key), "dimension": "share"}
    for number, status in (("7.25", 422), ("101", 422), ("07", 422), ("7.5", 200)):
        body = {"client_id": str(uuid.uuid4()), "judgements": [place | {"label": number}]}
        assert client_of(anna).post(address, body, "application/json").status_code == status, number
    assert Judgement.objects.get().label == "7.5"
    owner = client_of(project.created_by)
    for page in ("questions/", f"items/{assignment.item.uuid}/", "agreement/"):
        assert owner.get(f"/projects/{project.slug}/{page}").status_code == 200, page
    judge = client_of(join(project, make_user("judge"), "adjudicator"))

    def decided(label: str):
        said = {"unit": assignment.item.anchor.key, "dimension": "share", "label": label}
        return judge.post(f"/api/v1/projects/{project.slug}/decisions/", said, "application/json")

    assert "from 0 to 100 in steps of 0.5" in decided("8.2").content.decode()
    for said in ("8,5", "nan", "1e400", "8\0", ""):
        assert decided(said).status_code in (400, 422), said
    assert decided("8.0").status_code == 200
    assert Decision.objects.get().label == "8"
    withdrawn = {"unit": assignment.item.anchor.key, "dimension": "share", "number": 1}
    address = f"/projects/{project.slug}/items/{assignment.item.uuid}/withdraw/"
    assert judge.post(address, withdrawn).status_code == 302
    assert not Decision.objects.in_force().exists()


@pytest.mark.django_db
def test_agreement_and_scores_count_numbers_and_other_reports_say_that_they_do_not():
    project = labelled()
    found = of_dimension(get_report("agreement").compute(DatabaseSource(project)), "share")
    for level in ("interval", "ratio"):
        figure = of_name(found["figures"], f"krippendorff_alpha_{level}")
        assert figure["estimate"] == pytest.approx(krippendorff.alpha(SAID, level_of_measurement=level))
        assert figure["low"] < figure["estimate"] < figure["high"]
    items = items_of(project)
    run = make_suggestions(project, labels={"clear": "yes"})
    CheckerRun.objects.filter(pk=run.pk).update(origin={"gives": "scores"})
    run.job.result = {"scores": ["metric"]}
    run.job.save()
    scores = DRAWN + np.random.default_rng(6).normal(0, 5, 60)
    Score.objects.bulk_create(
        Score(run=run, unit_id=item.anchor_id, name="metric", value=score)
        for item, score in zip(items, scores, strict=True)
    )
    compared = get_report("comparison").compute(DatabaseSource(project), run=str(run.uuid))
    [share] = compared["dimensions"]
    assert (share["dimension"], share["labels"], share["confusion"]) == ("share", [], [])
    rated = {one["name"]: one["estimate"] for one in share["correlations"]}
    expected = scipy_stats.pearsonr(SAID.mean(axis=0), scores).statistic
    assert rated["pearson"] == pytest.approx(expected)
    told = {part: value for part, value in compared.items() if part != "behind"}
    assert get_report("comparison").page_of(told) and get_report("comparison").methods(told)

    CheckerRun.objects.filter(pk=run.pk).update(origin={})
    for name in ("annotators", "prevalence"):
        kind = get_report(name)
        options = {"run": str(run.uuid)} if any(one.name == "run" for one in kind.options) else {}
        result = kind.compute(DatabaseSource(project), quick=True, **options)
        notes = kind.page_of({part: value for part, value in result.items() if part != "behind"}).notes
        assert "Not counted here: Share, answered by numbers or in words." in " ".join(notes), name
    alone = task_type_of(ESTIMATES | {"questions": [SHARE]})
    assert [name for name, kind in REPORTS.items() if not kind.fits(alone)] == ["agreement", "comparison"]


@pytest.mark.django_db(transaction=True)
def test_a_release_is_the_same_again(tmp_path):
    project = labelled(ESTIMATES | {"questions": [SHARE]})
    folder = tmp_path / "release"
    call_command("release", project.slug, str(folder), verbosity=0)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["labels"][0]["number"] == {"least": 0, "most": 100, "step": 0.5, "unit": "%"}
    figures = [
        of_dimension(get_report("agreement").compute(source, quick=True), "share")["figures"]
        for source in (DatabaseSource(project), ReleaseSource(folder))
    ]
    assert figures[0] == figures[1]
    zipped(folder, tmp_path / "release.zip")
    again = through_an_empty_assay(tmp_path / "release.zip", tmp_path / "empty", project.slug)
    second = json.loads((again / "manifest.json").read_text())
    assert second["release"]["sha256"] == manifest["release"]["sha256"]


@pytest.mark.django_db(transaction=True)
def test_a_table_of_continuous_ratings_comes_in_as_numbers(tmp_path):
    make_user("rosa", is_staff=True, is_superuser=True)
    rows = ["text,annotator_1,annotator_2,metric_score"]
    scores = (DRAWN / 7).round(4)
    rows += [f"{text},{a:.2f},{b},{s}" for text, a, b, s in zip(TEXTS, *SAID, scores, strict=True)]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(rows))
    found = label_set_of(
        [SourceFile(path, path.name)],
        Options(mapping={"text": "text", "label/quality/1": "annotator_1", "label/quality/2": "annotator_2"}),
        "Quality",
    )
    assert found["questions"] == [
        {"slug": "quality", "title": "Quality", "answer": "number", "level": "interval"},
    ]
    call_command(
        *("import_dataset", str(path), "--format", "ratings", "--dataset", "rated", "--project", "rated"), verbosity=0
    )
    result = get_report("agreement").compute(DatabaseSource(Project.objects.get(slug="rated")))
    alpha = of_name(result["dimensions"][0]["figures"], "krippendorff_alpha_interval")
    assert alpha["estimate"] == pytest.approx(krippendorff.alpha(SAID, level_of_measurement="interval"))
