"""A task type from outside the package: a file, a line in the tuple, a template, as CONTRIBUTING.md says, and nothing
else anywhere. It is chosen in the browser, labelled, measured, exported and imported like those that Assay has."""

import json
import re
from pathlib import Path

import pytest
from django.core.management import call_command
from playwright.sync_api import expect

from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from annotation import task_types
from annotation.jobs import lifecycle
from annotation.models import Project, Revision
from config.task_type_checks import problems_among, problems_of
from tests import factories
from tests.eighth_type.headline_tone import HEADLINE_TONE
from tests.web.pages import LabellingPage, stored
from tests.work.browser import Annotator
from tests.world import client_of

IDENTIFIER = "headline-tone/-/1"
TEMPLATES = Path(__file__).parent / "eighth_type" / "templates"


@pytest.fixture(autouse=True)
def eighth(monkeypatch, settings):
    """The two edits that CONTRIBUTING.md asks for: the tuple's line, and a template where templates are."""
    monkeypatch.setitem(task_types.TASK_TYPES.entries, IDENTIFIER, HEADLINE_TONE)
    [engine] = settings.TEMPLATES
    settings.TEMPLATES = [engine | {"DIRS": [*engine["DIRS"], TEMPLATES]}]


@pytest.fixture
def researcher():
    return factories.make_user("rosa", is_staff=True)


@pytest.fixture
def annotators():
    return [factories.make_user("anna"), factories.make_user("ben")]


@pytest.fixture
def project(researcher, annotators) -> Project:
    """Made with the form in the browser; its items by the job that this starts."""
    dataset = factories.make_dataset(researcher, slug="reports")
    factories.make_claim_evidence(dataset, 4, claims=4)
    client = client_of(researcher)
    assert HEADLINE_TONE.title in client.get("/projects/new/").content.decode()
    data = {
        "title": "Tones", "dataset": dataset.pk, "task_type": IDENTIFIER, "overlap": 2, "multiple_percent": 100,
        "order": "file", "prefill": "off", "minimum_seconds": 0, "lease_minutes": 60,
    }  # fmt: skip
    response = client.post("/projects/new/", data)
    project = Project.objects.get(slug="tones")
    assert response.url == "/projects/tones/"
    lifecycle.run_here(project.jobs.get())
    project.refresh_from_db()
    for person in annotators:
        factories.join(project, person)
    return project


def judgement(unit: str, dimension: str, label: str, *spans: dict) -> dict:
    return {"unit": unit, "dimension": dimension, "label": label, "spans": list(spans)}


# What each of two people says of the four reports: tone, and its reason where it is asked.
SAID = (
    [("alarmed", "put_on"), ("sober", None), ("cheerful", "borne_out"), ("sober", None)],
    [("alarmed", "borne_out"), ("sober", None), ("cheerful", "borne_out"), ("alarmed", "put_on")],
)


def label_all(project: Project, annotators) -> None:
    for person, answers in zip(annotators, SAID, strict=True):
        annotator = Annotator(person, project)
        items = map(str, project.items.order_by("position").values_list("uuid", flat=True))
        said = dict(zip(items, answers, strict=True))
        while (given := annotator.next())["state"] == "item":
            payload = given["payload"]
            [unit] = payload["units"]
            tone, reason = said[payload["item"]]
            span = {"field": "evidence", "start": 0, "end": 6, "quote": "Report"}
            judgements = [judgement(unit, "tone", tone, span)]
            judgements += [judgement(unit, "reason", reason)] if reason else []
            response = annotator.submit(payload, judgements, free_text="Harbour open")
            assert response.status_code == 200, response.content


@pytest.mark.django_db
def test_the_description_fits_the_house():
    assert problems_of(HEADLINE_TONE) == []
    assert list(problems_among(task_types.every_task_type())) == []


def test_the_tables_that_contributing_names_are_there():
    root = TEMPLATES.parent.parent.parent
    rows = re.findall(r"^\| .* \| (.*) \|$", (root / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    tables = [found for row in rows for found in re.findall(r"`([A-Z_]+)`.*? in `([\w/]+\.py)`", row)]
    assert len(tables) >= 8
    for name, path in tables:
        assert re.search(rf"^{name}\b", (root / path).read_text(encoding="utf-8"), re.MULTILINE), (name, path)


@pytest.mark.django_db
def test_its_page_and_its_answers_follow_from_the_description(project, annotators):
    person = Annotator(annotators[0], project)
    given = person.next()
    payload = given["payload"]
    assert "What it is about" in given["html"] and 'data-field="evidence"' in given["html"]
    assert payload["task_type"] == IDENTIFIER
    assert [(one["slug"], [label["key"] for label in one["labels"]]) for one in payload["dimensions"]] == [
        ("tone", ["1", "2", "3"]), ("reason", ["1", "2"]),
    ]  # fmt: skip
    [unit] = payload["units"]
    for judgements, word in (
        ([], "Tone has no answer"),
        ([judgement(unit, "tone", "gloomy")], "no such label"),
        ([judgement(unit, "tone", "sober"), judgement(unit, "reason", "put_on")], "not asked"),
        ([judgement(unit, "tone", "alarmed")], "Reason has no answer"),
    ):
        refused = person.submit(payload, judgements)
        assert refused.status_code == 422 and word in refused.content.decode()
    assert person.submit(payload, [judgement(unit, "tone", "sober")]).status_code == 200


@pytest.mark.django_db
def test_agreement_is_that_computed_by_hand(project, annotators, researcher):
    label_all(project, annotators)
    found = get_report("agreement").compute(DatabaseSource(project))["dimensions"]
    tone, reason = (next(one for one in found if one["title"] == title) for title in ("Tone", "Reason"))
    stirred = next(one for one in found if one["title"] == "Stirred, derived from Tone")
    figures = {one["name"]: one["estimate"] for one in tone["figures"]}
    assert figures["percent_agreement"] == pytest.approx(3 / 4)
    # Labels: alarmed 3, sober 3, cheerful 2. Observed disagreement 2/8; expected 2(3*3 + 3*2 + 3*2)/(8*7) = 42/56.
    assert figures["krippendorff_alpha_nominal"] == pytest.approx(1 - (2 / 8) / (42 / 56))
    assert [label["n"] for label in tone["labels"]] == [3, 3, 2]
    assert "krippendorff_alpha_ordinal" in figures
    assert reason["n_labels"] == 5
    # Stirred 5, calm 3: observed 2/8, expected 2 * 5 * 3 / (8 * 7).
    coarse = {one["name"]: one["estimate"] for one in stirred["figures"]}
    assert coarse["krippendorff_alpha_nominal"] == pytest.approx(1 - (2 / 8) / (30 / 56))
    page = client_of(researcher).get(f"/projects/{project.slug}/agreement/")
    lifecycle.run_here(project.jobs.get(kind="report"))
    page = client_of(researcher).get(f"/projects/{project.slug}/agreement/").content.decode()
    assert "Cheerful" in page and "75" in page


@pytest.mark.django_db
def test_its_export_comes_back_byte_for_byte(project, annotators, tmp_path):
    label_all(project, annotators)
    call_command("export_dataset", project.slug, str(tmp_path / "first"), verbosity=0)
    first = {path.name: path.read_bytes() for path in (tmp_path / "first").iterdir()}
    lines = [json.loads(line) for line in first["annotations.jsonl"].splitlines()]
    assert {line["task_type"] for line in lines} == {IDENTIFIER} and len(lines) == 8
    assert {line["free_text"]["answer"] for line in lines} == {"Harbour open"}
    passages = [passage for line in first["content.jsonl"].splitlines() for passage in json.loads(line)["passages"]]
    assert sorted(passage["labels"]["tone"] for passage in passages if "labels" in passage) == [
        "alarmed", "cheerful", "sober",
    ]  # a tie is no label  # fmt: skip
    assert {passage["derived"]["stirred"] for passage in passages if "derived" in passage} == {"calm", "stirred"}
    files = [str(tmp_path / "first" / name) for name in ("content.jsonl", "annotations.jsonl")]
    chosen = ["--format", "assay", "--dataset", "again", "--project", "again", "--task-type", IDENTIFIER]
    factories.make_user("owner", is_superuser=True)
    call_command("import_dataset", *files, *chosen, "--owner", "owner@example.org", verbosity=0)
    call_command("export_dataset", "again", str(tmp_path / "second"), verbosity=0)
    for name in ("annotations.jsonl", "content.jsonl"):
        assert (tmp_path / "second" / name).read_bytes() == first[name]


@pytest.mark.django_db
def test_a_project_can_ask_it_in_its_own_way(project, annotators, researcher):
    client = client_of(researcher)
    shown = client.get(f"/projects/{project.slug}/questions/")
    data = {field.html_name: field.value() for field in shown.context["form"] if field.value()}
    data |= {"hidden.reason": "on", "spans.tone": "required", "order.tone": ["cheerful", "sober", "alarmed"]}
    client.post(f"/projects/{project.slug}/questions/", data)
    project.refresh_from_db()
    assert set(project.options) == {"hidden", "spans", "order"}
    payload = Annotator(annotators[0], project).next()["payload"]
    [tone] = payload["dimensions"]
    assert [label["value"] for label in tone["labels"]] == ["cheerful", "sober", "alarmed"]
    assert tone["spans"]["required"] is True


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_it_is_labelled_in_a_browser_by_keyboard(project, annotators, open_context):
    page = LabellingPage(open_context(annotators[0]).new_page(), project).open()
    assert page.text("evidence").startswith("Report 0")
    page.press("3")  # cheerful; the page goes on to the reason
    page.press("2", "h", "ArrowRight", "Enter", "Escape")
    expect(page.page.locator("[data-status]")).to_have_text("Complete")
    assert page.chosen() == ["cheerful", "put_on"] and len(page.chips()) == 1
    answered = page.answer()
    page.answer("2")  # sober: no reason is asked
    page.is_saved()
    assert stored(answered, annotators[0]) == {"tone": "cheerful", "reason": "put_on"}
    assert Revision.objects.count() == 2
