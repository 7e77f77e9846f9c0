"""What the demo is made of: every kind of judgement, texts that are plainly made up, and answers that fit the texts."""

import csv
import json
import re
from urllib.parse import urlsplit

import pytest

from annotation.demo import making
from annotation.demo.answers import FIXTURES, DemoAnswer
from annotation.demo.sets import DATASETS, PROJECTS
from annotation.formats import get_format
from annotation.formats.records import RowError
from annotation.formats.sources import Options, SourceFile
from annotation.markdown import render
from annotation.models import Dataset, Decision, Item, Judgement, Project
from annotation.projects import item_making, managing
from annotation.task_types import current_task_types, task_type
from annotation.work.queries import pages

SLUGS = [described.slug for described in PROJECTS]
EACH_PROJECT = pytest.mark.parametrize("described", PROJECTS, ids=SLUGS)
EACH_SET = pytest.mark.parametrize("described", DATASETS, ids=[described.slug for described in DATASETS])


@pytest.fixture
def people(db, settings):
    settings.DEMO = True
    return making.make_people()


def both(answer: DemoAnswer) -> list[DemoAnswer]:
    return [answer, answer.doubt] if answer.doubt else [answer]


# ---- the tables ----


def test_every_kind_of_judgement_has_a_project():
    assert {described.task_type for described in PROJECTS} == {kind.identifier for kind in current_task_types()}


def test_every_data_set_is_used_and_every_file_is_one():
    assert {described.dataset for described in PROJECTS} == {described.slug for described in DATASETS}
    files = {path.name for path in FIXTURES.iterdir() if path.suffix in (".jsonl", ".json", ".tsv")}
    assert files == {described.file for described in DATASETS}
    assert {path.stem for path in (FIXTURES / "guidelines").iterdir()} == {one.guidelines for one in PROJECTS}


def test_titles_can_be_told_apart_where_there_is_little_room():
    titles = [described.title for described in PROJECTS]
    assert len(set(titles)) == len(titles) and max(map(len, titles)) <= 36


# ---- the files ----


@EACH_SET
def test_every_row_of_a_file_can_be_read(described):
    path = FIXTURES / described.file
    records = list(get_format(described.format).read([SourceFile(path, path.name)], Options()))
    assert records and not [record for record in records if isinstance(record, RowError)]


@pytest.mark.parametrize("name", [one.file for one in DATASETS if one.format == "content"])
def test_no_answer_stands_beside_the_texts(name):
    def keys_of(value):
        if isinstance(value, dict):
            yield from value
        for below in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from keys_of(below)

    for line in (FIXTURES / name).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        assert not {"labels", "derived"} & set(keys_of(row))
        marked = [row[root] for root in ("question", "claim") if root in row] or row["pairs"]
        assert all(each["metadata"]["made_up"] is True for each in marked)


def test_no_source_could_be_a_real_one():
    hosts = set()
    for path in FIXTURES.rglob("*"):
        if path.is_file():
            hosts |= {urlsplit(url).hostname for url in re.findall(r"https?://[^\s\"<>]+", path.read_text("utf-8"))}
    with (FIXTURES / "claims.tsv").open(encoding="utf-8", newline="") as file:
        hosts |= {row["claim_source"] for row in csv.DictReader(file, delimiter="\t")}
    claims = (FIXTURES / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    hosts |= {json.loads(line)["claim"]["source"] for line in claims}
    assert len(hosts) > 20 and all(host.endswith(".example") for host in hosts)


def test_every_text_for_people_says_that_all_is_made_up():
    assert "made up" in (FIXTURES / "README.md").read_text(encoding="utf-8")
    for described in DATASETS:
        assert "made up" in described.title and "made up" in described.description
    for described in PROJECTS:
        assert "made up" in described.description and "made up" in described.guidelines_text


@EACH_PROJECT
def test_guidelines_become_headings_and_lists(described):
    html = render(described.guidelines_text)
    assert "<h3>" in html and "<em>" in html and "<table>" in html


# ---- the answers ----


@EACH_PROJECT
def test_answers_are_complete_and_their_labels_are_those_of_the_task_type(described):
    kind = task_type(described.task_type)
    for unit, truth in described.answers().items():
        for answer in both(truth):
            asked = {one.slug for one in kind.dimensions if kind.is_asked(one, answer.labels)}
            assert set(answer.labels) == asked, unit
            assert all(label in kind.dimension(slug).values for slug, label in answer.labels.items()), unit
        assert truth.doubt is None or truth.doubt.labels != truth.labels, unit


@EACH_PROJECT
def test_there_is_an_answer_for_every_unit_and_its_quotes_stand_in_the_texts(described, people):
    project = project_without_labels(described, people)
    answers = described.answers()
    judged = set()
    for item in Item.objects.filter(project=project):
        page = pages.load_page(item.pk, project.type)
        judged |= set(page.unit_keys)
        for unit in page.unit_keys:
            for answer in both(answers[unit]):
                takes = [
                    one.spans
                    for one in project.type.dimensions
                    if one.slug in answer.labels and one.may_carry(answer.labels[one.slug])
                ]
                assert answer.quotes or not any(rule.required for rule in takes), unit
                assert not answer.quotes or takes, unit
                for field, quotes in answer.quotes.items():
                    assert any(rule.takes(field) for rule in takes)
                    assert [page.contents.texts[field].count(quote) for quote in quotes] == [1] * len(quotes), unit
    assert judged == set(answers)


def project_without_labels(described, people) -> Project:
    making.import_set(next(one for one in DATASETS if one.slug == described.dataset), people["researcher"])
    assert not Judgement.objects.exists() and not Decision.objects.exists()
    project = managing.create_project(
        people["researcher"],
        title=described.title,
        dataset=Dataset.objects.get(slug=described.dataset),
        task_type=described.task_type,
    )
    item_making.plan(project)
    return project


def test_what_is_said_of_triplets_is_what_their_file_says():
    answers = next(one for one in PROJECTS if one.slug == "demo-triplets").answers()
    for row in json.loads((FIXTURES / "answers.json").read_text(encoding="utf-8")):
        for place, one in enumerate(row["demo_response_kg"]):
            answer = answers[f"{row['setting']}/{row['model']}/{row['id']}/{place}"]
            assert answer.labels == {"entailment": one["human_label"].lower()}


@EACH_PROJECT
def test_some_units_can_be_doubted_and_most_cannot(described):
    answers = described.answers().values()
    labels = {tuple(answer.labels.items()) for answer in answers}
    doubted = [answer for answer in answers if answer.doubt]
    assert len(labels) > 1 and len(doubted) >= 2
    assert len(doubted) / described.doubts <= len(answers) / 3
