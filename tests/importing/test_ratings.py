"""A table of ratings and scores becomes a project in one step, in the browser and by command, with its figures."""

import csv
import io
import json
import random

import krippendorff
import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from scipy.stats import kendalltau, mode, pearsonr, spearmanr

from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from annotation.jobs import lifecycle
from annotation.models import (
    CheckerRun,
    ColumnMapping,
    Dataset,
    Job,
    Judgement,
    LabelSet,
    Project,
    Rater,
    Response,
    Revision,
    Score,
    Span,
    Suggestion,
)
from tests.factories import make_dataset, make_user
from tests.formats.test_ratings import MQM
from tests.importing.files import command
from tests.world import client_of

pytestmark = pytest.mark.django_db

SYSTEMS = {"tower": 4, "mill": 3, "barn": 2, "shed": 1}
RATERS = ("expert_1", "expert_2", "crowd_1")


def summaries(seed: int = 3, documents: int = 6) -> str:
    """Twenty-four summaries by four systems, three raters on two criteria, three metrics: the better the system, the
    higher ratings and the first metric."""
    draw = random.Random(seed)
    columns = ["doc_id", "model", "article", "summary"]
    columns += [f"{rater}_{criterion}" for criterion in ("coherence", "fluency") for rater in RATERS]
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow([*columns, "rouge_l", "bertscore", "length_score"])
    for document in range(documents):
        for system, good in SYSTEMS.items():
            ratings = [min(5, max(1, good + draw.choice((-1, 0, 0, 1)))) for _ in range(6)]
            metrics = [good / 10 + draw.random() / 10, draw.random(), draw.random()]
            text = f"Summary of {document}\nby no {good}, “quoted”."
            rows.writerow(
                [f"d{document}", system, f"Article {document}.", text, *ratings, *(f"{m:.4f}" for m in metrics)]
            )
    return out.getvalue()


def imported(client, text: str, name: str = "summaries.csv") -> Project:
    """Upload, columns as they are guessed, dry run, import with a project: what a person clicks."""
    file = SimpleUploadedFile(name, text.encode())
    columns = client.post("/datasets/summaries/import/", {"files": file}, follow=True)
    page = columns.content.decode()
    assert "Texts with labels and scores" in page and columns.context["layout"] == "ratings"
    data = {field.html_name: field.value() for field in columns.context["form"] if field.value()}
    address = columns.redirect_chain[-1][0]
    done = client.post(address, data, follow=True)
    job = Job.objects.filter(kind="import").latest("pk")
    lifecycle.run_here(job)
    page = client.get(f"/imports/{job.uuid}/")
    assert page.status_code == 200, done.content.decode()
    form = page.context["form"]
    assert form["with_project"].value() is True
    data = {field.html_name: field.value() for field in form if field.value()}
    client.post(f"/imports/{job.uuid}/start/", data | {"project_title": "Summaries"})
    job = Job.objects.filter(kind="import").latest("pk")
    lifecycle.run_here(job)
    job.refresh_from_db()
    assert job.state == "done", job.message
    return Project.objects.get(slug="summaries")


def test_a_table_of_ratings_becomes_a_project_with_figures():
    rosa = make_user("rosa", is_staff=True)
    make_user("expert_1")  # an account that is called like somebody in the file, who is nobody here
    make_dataset(rosa, slug="summaries")
    text = summaries()
    project = imported(client_of(rosa), text)
    assert project.task_type == LabelSet.objects.get().identifier
    assert [(one.slug, one.level) for one in project.type.dimensions] == [
        ("coherence", "interval"), ("fluency", "interval"),
    ]  # fmt: skip
    assert Response.objects.count() == 24 and Response.objects.filter(text__contains="\n").count() == 24
    assert set(project.raters.values_list("name", "kind")) == {(name, Rater.Kind.EXTERNAL) for name in RATERS}
    assert Judgement.objects.count() == 24 * 6
    runs = CheckerRun.objects.order_by("checker")
    assert [run.checker for run in runs] == ["outside:bertscore", "outside:length_score", "outside:rouge_l"]
    assert Score.objects.count() == 72
    # The figures of the reports are those of the table.
    rows = list(csv.DictReader(io.StringIO(text)))
    agreement = get_report("agreement").compute(DatabaseSource(project))["dimensions"][0]
    alpha = next(one for one in agreement["figures"] if one["name"] == "krippendorff_alpha_interval")
    table = np.array([[float(row[f"{rater}_coherence"]) for row in rows] for rater in RATERS])
    expected = krippendorff.alpha(reliability_data=table, level_of_measurement="interval")
    assert alpha["estimate"] == pytest.approx(expected)
    run = str(runs.get(checker="outside:rouge_l").uuid)
    found = get_report("comparison").compute(DatabaseSource(project), run=run, other=str(runs[0].uuid))
    assert found["dimensions"][0]["dimension"] == "coherence"
    score = np.array([float(row["rouge_l"]) for row in rows])
    people = table.mean(axis=0)
    shown = {one["name"]: one["estimate"] for one in found["dimensions"][0]["correlations"]}
    for name, function in (("pearson", pearsonr), ("spearman", spearmanr), ("kendall_tau_b", kendalltau)):
        assert shown[name] == pytest.approx(function(score, people).statistic), name
    model = np.array([row["model"] for row in rows])
    means = [[side[model == system].mean() for system in SYSTEMS] for side in (score, people)]
    systems = {
        one["coefficient"]: one["estimate"]
        for one in found["dimensions"][0]["associations"]["levels"]
        if one["level"] == "system"
    }
    assert systems["Pearson"] == pytest.approx(pearsonr(*means).statistic)
    assert systems["Kendall's tau-b"] == pytest.approx(kendalltau(*means).statistic)
    documents = np.array([row["doc_id"] for row in rows])
    [of_documents] = [
        one["estimate"]
        for one in found["dimensions"][0]["associations"]["levels"]
        if (one["over"], one["coefficient"]) == ("mean of claims or questions", "Pearson")
    ]
    within = [pearsonr(score[documents == one], people[documents == one]).statistic for one in set(documents)]
    assert of_documents == pytest.approx(np.mean(within))
    # Two metrics beside each other: the difference of their correlations with people.
    other = np.array([float(row["bertscore"]) for row in rows])
    [difference] = [one for one in found["dimensions"][0]["scores"] if one["name"] == "pearson"]
    expected = pearsonr(score, people).statistic - pearsonr(other, people).statistic
    assert difference["estimate"] == pytest.approx(expected)
    median = get_report("comparison").compute(DatabaseSource(project), run=run, ratings="median")
    [shown] = [one for one in median["dimensions"][0]["correlations"] if one["name"] == "spearman"]
    assert shown["estimate"] == pytest.approx(spearmanr(score, np.median(table, axis=0)).statistic)
    # The majority's rating, where there is one.
    major = get_report("comparison").compute(DatabaseSource(project), run=run, ratings="label")
    [shown] = [one for one in major["dimensions"][0]["correlations"] if one["name"] == "spearman"]
    voted = np.array([len(set(three)) < 3 for three in table.T])
    expected = spearmanr(score[voted], mode(table[:, voted], axis=0).mode).statistic
    assert (shown["estimate"], shown["n_pairable"]) == (pytest.approx(expected), voted.sum()) and not voted.all()


def test_the_same_scores_twice_are_one_run_and_others_a_new_one(tmp_path):
    rosa = make_user("rosa", is_staff=True)
    (tmp_path / "one.csv").write_text(summaries())
    chosen = ["--format", "ratings", "--dataset", "sums", "--project", "sums", "--owner", rosa.email]
    call_command("import_dataset", str(tmp_path / "one.csv"), *chosen, verbosity=0)
    assert CheckerRun.objects.count() == 3 and Project.objects.get().state == "open"
    call_command("import_dataset", str(tmp_path / "one.csv"), *chosen, verbosity=0)
    assert CheckerRun.objects.count() == 3 and Judgement.objects.count() == 24 * 6
    lines = (tmp_path / "one.csv").read_text().replace(",0.4", ",0.5").splitlines(keepends=True)
    (tmp_path / "two.csv").write_text("".join(lines))
    call_command("import_dataset", str(tmp_path / "two.csv"), *chosen, verbosity=0)
    again = CheckerRun.objects.filter(checker="outside:rouge_l").order_by("pk")
    assert [run.version for run in again] == ["1", "2"]
    assert not Suggestion.objects.exists()
    # What else is known of a checker is part of what it is: other parameters, another run.
    roles = {"document": "doc_id", "system": "model", "text": "summary", "score/rouge_l": "rouge_l"}
    roles |= {"label/fluency/a": "expert_1_fluency"}
    chosen = [
        "--mapping",
        str(tmp_path / "m.json"),
        "--dataset",
        "named",
        "--project",
        "named",
        *chosen[:2],
        *chosen[-2:],
    ]
    for parameters in ({"stemmer": True}, {"stemmer": True}, {}):
        said = {"mapping": roles, "checkers": {"rouge_l": {"version": "1.5.5", "parameters": parameters}}}
        (tmp_path / "m.json").write_text(json.dumps(said))
        call_command("import_dataset", str(tmp_path / "one.csv"), *chosen, verbosity=0)
    named = CheckerRun.objects.filter(version="1.5.5").order_by("pk")
    assert [(run.checker, run.parameters) for run in named] == [
        ("outside:rouge_l", {"stemmer": True}), ("outside:rouge_l", {}),
    ]  # fmt: skip
    # Other scores of that very version: refused before anything is stored, the dry run included, or a further run.
    more = summaries(documents=7).splitlines(keepends=True)
    more = "".join(more[: 2 * 24 + 1] + more[-2:]).replace("d6,shed", "d9,tower").replace("Article 6.", "Article 9.")
    (tmp_path / "two.csv").write_text(more)
    for dry in (["--dry-run"], []):
        with pytest.raises(CommandError, match="rouge_l 1.5.5 with these parameters and other scores; give"):
            call_command("import_dataset", str(tmp_path / "two.csv"), *chosen, *dry, verbosity=0)
    assert named.all().count() == 2 and not Response.objects.filter(dataset__slug="named", key="d9/tower").exists()
    said["checkers"]["rouge_l"]["existing"] = "new"
    (tmp_path / "m.json").write_text(json.dumps(said))
    for _ in range(2):
        call_command("import_dataset", str(tmp_path / "two.csv"), *chosen, verbosity=0)
    assert named.all().count() == 3 and Response.objects.filter(dataset__slug="named", key="d9/tower").exists()


def test_a_bad_score_imports_nothing(tmp_path):
    rosa = make_user("rosa", is_staff=True)
    (tmp_path / "bad.csv").write_text("id,text,rater,label,score_x\n1,A b.,r1,good,0.5\n1,A b.,r2,bad,1e999\n")
    mapping = '{"id": "id", "text": "text", "rater": "rater", "label/label": "label", "score/x": "score_x"}'
    (tmp_path / "mapping.json").write_text(mapping)
    chosen = ["--format", "ratings", "--dataset", "bad", "--project", "bad", "--owner", rosa.email]
    with pytest.raises(CommandError):
        call_command("import_dataset", str(tmp_path / "bad.csv"), *chosen, "--mapping", str(tmp_path / "mapping.json"))
    assert not Dataset.objects.exists() and not CheckerRun.objects.exists() and not LabelSet.objects.exists()


def test_what_stands_inside_columns_of_json_is_columns_too():
    """As SummEval has it: several raters of two groups in lists, metrics in an object, one id for all systems."""
    rosa = make_user("rosa", is_staff=True)
    make_dataset(rosa, slug="summaries")
    lines = []
    for row in csv.DictReader(io.StringIO(summaries(documents=2))):
        said = {rater: {name: int(row[f"{rater}_{name}"]) for name in ("coherence", "fluency")} for rater in RATERS}
        lines.append(
            {
                "id": row["doc_id"],
                "model_id": row["model"],
                "decoded": row["summary"],
                "text": row["article"],  # as in the file that is paired with its articles
                "expert_annotations": [said["expert_1"], said["expert_2"]],
                "turker_annotations": [said["crowd_1"]],
                "metric_scores": {"rouge": {"rouge_l": float(row["rouge_l"])}},
                "references": ["A.", "B."],
            }
        )
    text = "\n".join(map(json.dumps, lines))
    client = client_of(rosa)
    project = imported(client, text, "model_annotations.jsonl")
    # The mapping is remembered, and leaves as a file that another Assay's page takes.
    kept = client.get(f"/imports/{Job.objects.filter(kind='import').latest('pk').uuid}/columns.json").content
    assert json.loads(kept)["mapping"]["label/fluency/expert_annotations/2"] == "expert_annotations.2.fluency"
    for given in (None, kept):
        file = SimpleUploadedFile("model_annotations.jsonl", text.encode())
        columns = client.post("/datasets/summaries/import/", {"files": file}, follow=True)
        if given:
            ColumnMapping.objects.all().delete()
            address = columns.redirect_chain[-1][0]
            columns = client.post(address, {"mapping": SimpleUploadedFile("m.json", given)}, follow=True)
        page = columns.content.decode()
        assert "Filled in from your earlier mapping" in page and "Summary of 0" in page
        wrong = client.post(
            columns.request["PATH_INFO"] + "?" + columns.request["QUERY_STRING"],
            {"mapping": SimpleUploadedFile("m.json", kept.replace(b"model_id", b"modelled"))},
            follow=True,
        )
        assert "does not have these columns of the mapping: modelled" in wrong.content.decode()
    assert sorted(project.raters.values_list("name", flat=True)) == [
        "expert_annotations/1", "expert_annotations/2", "turker_annotations/1",
    ]  # fmt: skip
    assert [one.slug for one in project.type.dimensions] == ["coherence", "fluency"]
    assert Judgement.objects.count() == 8 * 6 and Response.objects.count() == 8
    assert CheckerRun.objects.get().checker == "outside:metric_scores.rouge.rouge_l" and Score.objects.count() == 8
    first = Response.objects.order_by("pk").first()
    assert first.metadata == {"references": ["A.", "B."]}
    assert (first.text, first.question.text) == (lines[0]["decoded"], "Article 0.")


def hanna(prompts: int = 5) -> str:
    """As HANNA has its stories: a row per worker, six criteria, what people wrote among the systems."""
    draw, out = random.Random(5), io.StringIO()
    rows = csv.writer(out)
    criteria = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")
    columns = ("Story ID", "Prompt", "Human", "Story", "Model", *criteria)
    rows.writerow([*columns, "Worker ID", "Assignment ID", "Work time in seconds", "Name"])
    for prompt in range(prompts):
        for system, good in {"Human": 4, "Fusion": 2, "HINT": 1}.items():
            text = f"A door that was called {prompt} opened.\n\n“It is {system},” said the keeper of keys."
            number = 10 * prompt + good
            for worker in range(3):
                ratings = [min(5, max(1, good + draw.choice((-1, 0, 0, 1)))) for _ in criteria]
                more = [
                    f"A{(prompt + worker) % 4}",
                    f"3{number}{worker}",
                    40.5 + draw.randrange(400),
                    f"T{number}{worker}",
                ]
                rows.writerow(
                    [number, f"Prompt {prompt}.", "The story of a human being.", text, system, *ratings, *more]
                )
    return out.getvalue()


def test_stories_as_hanna_has_them_need_no_further_word():
    rosa = make_user("rosa", is_staff=True)
    make_dataset(rosa, slug="summaries")
    project = imported(client_of(rosa), hanna(), "hanna_stories_annotations.csv")
    assert [one.slug for one in project.type.dimensions] == [
        "relevance", "coherence", "empathy", "surprise", "engagement", "complexity",
    ]  # fmt: skip
    assert Response.objects.count() == 15 and Response.objects.filter(model="Human").count() == 5
    assert Response.objects.first().metadata == {"Human": "The story of a human being."}
    assert project.raters.count() == 4 and Judgement.objects.count() == 15 * 3 * 6 and not CheckerRun.objects.exists()
    kept = [one["row"] for one in Revision.objects.values_list("metadata", flat=True)]
    assert all(one.keys() == {"Assignment ID", "Work time in seconds", "Name"} for one in kept) and len(kept) == 45


def test_errors_as_wmt_marks_them_need_no_further_word():
    """They are read as their own format; severities are those of highlights."""
    rosa = make_user("rosa", is_staff=True)
    make_dataset(rosa, slug="summaries")
    client = client_of(rosa)
    file = SimpleUploadedFile("mqm_newstest.tsv", MQM.encode())
    client.post("/datasets/summaries/import/", {"files": file}, follow=True)
    job = Job.objects.get(kind="import")
    lifecycle.run_here(job)
    job.refresh_from_db()
    assert (job.parameters["format"], job.state) == ("wmt-mqm", "done"), job.message
    page = client.get(f"/imports/{job.uuid}/")
    data = {field.html_name: field.value() for field in page.context["form"] if field.value()}
    client.post(f"/imports/{job.uuid}/start/", data | {"project_title": "Errors"})
    done = Job.objects.filter(kind="import").latest("pk")
    lifecycle.run_here(done)
    done.refresh_from_db()
    assert done.state == "done", done.message
    marked = {(one.label, one.severity) for one in Span.objects.all()}
    assert marked == {
        ("Accuracy/Mistranslation", "Major"), ("Fluency/Grammar", "Minor"), ("Accuracy/Omission", "Major"),
    }  # fmt: skip


def test_bad_rows_are_told_without_the_labels_of_rows_that_come_after_them(tmp_path, monkeypatch):
    """A score per row of one rater each, as the translation task has them, and a row that contradicts another."""
    monkeypatch.setattr("annotation.imports.staging.BATCH_RECORDS", 4)
    make_user("admin", is_superuser=True)
    rows = [f"s{n % 3},{n // 3},r{n % 2},Source {n // 3},Target {n},-{n}.5" for n in range(30)]
    rows[7] = rows[7].replace("Source 2", "Another source")
    path = tmp_path / "mqm.csv"
    path.write_text("\n".join(["system,seg_id,rater,source,translation,mqm", *rows]))
    arguments = (path, "--format", "ratings", "--dataset", "mqm", "--project", "mqm")
    code, said = command(*arguments)
    assert code == 1 and "1 bad row" in said and not Dataset.objects.exists()
    assert "documents from seg_id" in said and "mqm" in said
    assert command(*arguments, "--leave-out")[0] == 0 and Judgement.objects.count() == 29


def test_values_are_mapped_in_the_browser_where_another_task_is_chosen():
    rosa = make_user("rosa", is_staff=True)
    make_dataset(rosa, slug="tones")
    client = client_of(rosa)

    def run(address: str, data: dict) -> tuple[Job, object]:
        client.post(address, data)
        job = lifecycle.run_here(Job.objects.filter(kind="import").latest("pk"))
        return job, client.get(f"/imports/{job.uuid}/")

    def brought(rows: str, **more):
        file = SimpleUploadedFile("tones.csv", ("id,text,annotator,tone\n" + rows).encode())
        columns = client.post("/datasets/tones/import/", {"files": file}, follow=True)
        asked = {field.html_name: field.value() for field in columns.context["form"] if field.value()}
        dry, page = run(columns.redirect_chain[-1][0], asked)
        form = {field.html_name: field.value() for field in page.context["form"] if field.value()}
        return run(f"/imports/{dry.uuid}/start/", form | more)

    job, _ = brought("1,A b.,ann,calm\n2,C d.,ann,rude\n1,A b.,ben,rude\n2,C d.,ben,calm\n", project_title="Tones")
    assert job.state == "done"
    kind = Project.objects.get().task_type
    rows = "3,E f.,ann,mild\n3,E f.,ben,n/a\n4,G h.,ann,calm\n4,G h.,ben,odd\n"
    job, page = brought(rows, project_title="More", task_type=kind)
    assert job.state == "failed" and Project.objects.count() == 1
    form = page.context["form"]
    assert [field.label for field in form] == [f"Tone: “{one}” means" for one in ("mild", "n/a", "odd")]
    address = f"/imports/{job.uuid}/start/"
    assert client.post(address, {"value-0": "calm"}).status_code == 422  # nothing is guessed
    job, _ = run(address, {"value-0": "calm", "value-1": "-", "value-2": "!"})
    assert job.state == "done", job.message
    said = Judgement.objects.filter(revision__annotation__item__project=Project.objects.get(slug="more"))
    assert sorted(said.values_list("unit__key", "label")) == [("3", "calm"), ("4", "calm")]
    assert "odd" in "".join(map(bytes.decode, client.get(f"/imports/{job.uuid}/left-out.csv").streaming_content))
