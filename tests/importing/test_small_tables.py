"""Small tables come in as they are, by every door of an import, and each says in a line how it read the columns. For
reports from files and `assay judge` see tests/analysis/test_small_tables.py and tests/judge/test_choosing.py."""

import csv
import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from annotation.jobs import lifecycle
from annotation.models import CheckerRun, Job, Judgement, Project, Suggestion
from tests.factories import make_dataset, make_user
from tests.importing.files import command
from tests.world import client_of

pytestmark = pytest.mark.django_db

LABELS = ["good", "bad", "fair"] * 5
TEXTS = [(f"t{place}", f"The river froze {place} times.") for place in range(len(LABELS))]


def table(header, rows) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([header, *rows])
    return out.getvalue()


def beside(*columns: str) -> str:
    """A column of labels for each of these."""
    rows = [[*text, *(LABELS[(place + n // 2) % 15] for n in range(len(columns)))] for place, text in enumerate(TEXTS)]
    return table(["text_id", "text", *columns], rows)


# What is in the file, what the line says, and how many judgements and suggestions it has.
TABLES = {
    "wide": (beside("ann_1", "ann_2", "ann_3"), "3 raters with columns of their own: ann_1, ann_2, ann_3.", 45, 0),
    "long": (
        table(
            ["annotator", "text_id", "rating"],
            [[who, key, label] for (key, _), label in zip(TEXTS, LABELS, strict=True) for who in ("ada", "ben", "eve")],
        ),
        "3 raters from annotator.",
        45,
        0,
    ),
    "long with judge": (
        table(
            ["annotator", "text_id", "rating", "judge"],
            [
                [who, key, label, LABELS[place // 2]]
                for place, ((key, _), label) in enumerate(zip(TEXTS, LABELS, strict=True))
                for who, label in (("ada", label), ("ben", LABELS[place - 1]))
            ],
        ),
        "1 column of a checker's labels: judge.",
        30,
        15,
    ),
    "judge": (beside("ann_1", "ann_2", "judge"), "1 column of a checker's labels: judge.", 30, 15),
}


@pytest.fixture
def rosa():
    rosa = make_user("rosa", is_staff=True)
    make_dataset(rosa, slug="texts")
    return rosa


def finished() -> Job:
    job = lifecycle.run_here(Job.objects.filter(kind="import").latest("pk"))
    job.refresh_from_db()
    assert job.state == "done", job.message
    return job


def stored() -> tuple[int, int]:
    return Judgement.objects.count(), Suggestion.objects.count()


@pytest.mark.parametrize("name", TABLES)
def test_in_the_browser(rosa, name):
    text, words, *counts = TABLES[name]
    client = client_of(rosa)
    sent = [SimpleUploadedFile(f"{name}.csv", text.encode())]
    page = client.post("/datasets/texts/import/", {"files": sent}, follow=True)
    assert page.context["layout"] == "ratings" and words in page.context["read_as"]
    form = {field.html_name: field.value() for field in page.context["form"] if field.value()}
    client.post(page.redirect_chain[-1][0], form)
    assert words in finished().result["read_as"]
    page = client.get(f"/imports/{Job.objects.get(kind='import').uuid}/")
    form = {field.html_name: field.value() for field in page.context["form"] if field.value()}
    client.post(f"/imports/{page.context['job'].uuid}/start/", form | {"project_title": "Texts"})
    finished()
    assert stored() == tuple(counts)


@pytest.mark.parametrize("name", TABLES)
def test_by_command(rosa, tmp_path, name):
    text, words, *counts = TABLES[name]
    path = tmp_path / f"{name}.csv"
    path.write_text(text, encoding="utf-8")
    code, said = command(path, "--format", "ratings", "--dataset", "texts", "--project", "texts")
    assert code == 0 and words in next(line for line in said.splitlines() if line.startswith("Columns read as: "))
    assert stored() == tuple(counts)


@pytest.mark.parametrize("name", TABLES)
def test_by_the_api(rosa, name):
    text, words, *counts = TABLES[name]
    client, address = client_of(rosa), "/api/v1/datasets/texts/imports/?project=texts"
    sent = {"data": text, "content_type": "text/csv"}
    assert client.post(f"{address}&dry_run=true", **sent).status_code == 202
    dry = finished()
    assert words in client.get(f"/api/v1/jobs/{dry.uuid}/").json()["result"]["read_as"]
    refused = client.post(address, **sent).json()["detail"]
    assert words in refused and "with format=ratings: " in refused
    mapping = json.dumps(dict(dry.parameters["choices"]["mapping"]))
    assert client.post(f"{address}&format=ratings&mapping={mapping}", **sent).status_code == 202
    finished()
    assert stored() == tuple(counts)


def test_the_judge_becomes_a_run_that_is_compared_with_people(rosa, tmp_path):
    path = tmp_path / "judged.csv"
    path.write_text(TABLES["judge"][0], encoding="utf-8")
    assert command(path, "--format", "ratings", "--dataset", "texts", "--project", "texts")[0] == 0
    project = Project.objects.get()
    assert CheckerRun.objects.get(project=project).checker == "outside:judge"
    assert project.raters.filter(kind="external").count() == 2
    shown = io.StringIO()
    call_command("report", project.slug, "comparison", stdout=shown)
    words = shown.getvalue()
    assert "judge 1 has an accuracy of" in words
    assert not [line for line in words.splitlines() if "outside:" in line]
