"""The tables of labels of an export: final labels, and those of every rater."""

import json

import pandas as pd
import pytest
from django.core.management import call_command

from annotation.decisions import adjudicating
from annotation.formats import Options, SourceFile, get_format
from annotation.formats.records import (
    AnnotationRecord,
    ClaimRecord,
    DecisionRecord,
    RowError,
    SubSentenceRecord,
    TripletRecord,
)
from annotation.imports.column_mappings import guess_or_refuse
from annotation.imports.importing import FileChoices, ImportRequest, dry_run, files_of_paths
from annotation.imports.rows import CREATED
from annotation.jobs import lifecycle
from annotation.models import Claim, Job
from tests.factories import make_dataset, make_label_set_project
from tests.kinds import IDENTIFIERS, answer_all, bring_in, make_kind_dataset, make_kind_project
from tests.world import client_of
from tests.world.labels import items_of, make_rater, project_of, say

pytestmark = pytest.mark.django_db

QUESTIONS = {
    "name": "Everything",
    "version": 1,
    "page": "claim",
    "summary": "",
    "questions": [
        {
            "slug": "tone",
            "title": "Tone",
            "labels": [{"value": "neutral", "title": "Neutral"}, {"value": "Over-loaded", "title": "Loaded"}],
            "spans": {"title": "Words", "fields": ["claim"], "labels": ["Over-loaded"]},
        },
        {
            "slug": "topics",
            "title": "Topics",
            "answer": "labels",
            "labels": [{"value": one, "title": one.title()} for one in ("money", "health", "sport")],
        },
        {"slug": "share", "title": "Share", "answer": "number", "level": "interval"},
        {"slug": "text", "title": "Why", "answer": "text", "optional": True},
    ],
}
TEXTS = ("It rained 👩🏽‍🔬 disastrously.", '=HYPERLINK("x")', "It\tfroze,\nso they say.")
SAID = {  # claim -> rater -> answers
    1: {
        "anna": {"tone": "Over-loaded", "topics": "money|sport", "share": "0.5", "text": "@a strong word"},
        "ben": {"tone": "Over-loaded", "topics": "(none)", "share": "-2"},
    },
    2: {"anna": {"tone": "neutral", "topics": "(none)", "share": "12"}, "ben": {"tone": "Over-loaded", "share": "12"}},
    3: {"anna": {"tone": "neutral", "topics": "health"}},
}
# Claim 2: tone decided against a tie.
FINAL = {
    1: {"tone": "Over-loaded", "text": "@a strong word"},
    2: {"tone": "neutral", "topics": "(none)", "share": "12"},
    3: {"tone": "neutral", "topics": "health"},
}


@pytest.fixture
def project():
    project = make_label_set_project(QUESTIONS, TEXTS, slug="all")
    Claim.objects.filter(key="claim-1").update(metadata={"topic": "+weather"})
    raters = {name: make_rater(project, f"{name} Secret") for name in ("anna", "ben")}
    word = TEXTS[0].index("disastrously")
    for number, item in enumerate(items_of(project), 1):
        for name, answers in SAID[number].items():
            revision = say(item, raters[name], comment="hm" if name == "ben" else "", active_ms=1500)
            for question, label in answers.items():
                judgement = revision.judgements.create(unit=item.anchor, dimension=question, label=label)
                if question == "tone" and number == 1:
                    judgement.spans.create(field="claim", start=word, end=word + 12, quote="disastrously")
    second = items_of(project)[1].anchor
    adjudicating.decide(project, project.created_by, second, "tone", "neutral")
    return project


def answers_of(record: AnnotationRecord) -> dict[str, str]:
    return {one.dimension: one.label for one in record.judgements}


@pytest.mark.parametrize("kind", ["tsv", "csv", "parquet"])
def test_tables_of_labels_come_back_to_the_same_labels_as_they_are_guessed(project, tmp_path, kind):
    call_command("export_dataset", "all", tmp_path, kinds=["jsonl", f"table-{kind}"], verbosity=0)
    pseudonyms = {rater.pseudonym: rater.name.split()[0] for rater in project.raters.all()}
    accepted = {one.slug: one.values for one in project.type.dimensions}

    def read(table: str) -> list:
        source = SourceFile(tmp_path / f"{table}.{kind}")
        guess = guess_or_refuse(source)
        format, mapping = guess.format, dict(guess.chosen.mapping)
        found = list(get_format(format).read([source], Options(mapping=mapping, labels=accepted)))
        assert format == "ratings" and not [one for one in found if isinstance(one, RowError)]
        assert [one.text for one in found if isinstance(one, ClaimRecord)] == list(TEXTS)
        return found

    words = "text_label"  # its name is a column of the table; words come back beside the labels
    ratings = [one for one in read("ratings") if isinstance(one, AnnotationRecord)]
    said = {(one.item, pseudonyms[one.rater]): answers_of(one) for one in ratings}
    assert said == {
        (f"claim-{number}", who): {name: label for name, label in answers.items() if name != "text"}
        for number, by_rater in SAID.items()
        for who, answers in by_rater.items()
    }
    first = next(one for one in ratings if one.item == "claim-1" and pseudonyms[one.rater] == "anna")
    assert [span.quote for one in first.judgements for span in one.spans] == ["disastrously"]
    assert first.metadata["row"][words] == ["@a strong word"]
    decided: dict = {}
    for one in read("labels"):
        if isinstance(one, DecisionRecord):
            decided.setdefault(int(one.unit[-1]), {})[one.dimension] = one.label
    assert decided == {n: {name: label for name, label in of.items() if name != "text"} for n, of in FINAL.items()}


def test_tables_of_every_kind_pass_a_dry_run_and_keep_their_texts(tmp_path):
    """Also those of answers without a text or a model, and of pieces of several answers to one question."""
    dataset, empty = make_kind_dataset(1), make_dataset()
    bring_in(
        dataset, [TripletRecord("q0/r1/t0", "q0/r1", 0, "a", "b", "c"), SubSentenceRecord("q0/r1/s0", "q0/r1", 0, "d")]
    )
    for identifier in IDENTIFIERS:
        project = make_kind_project(identifier, dataset=dataset)
        answer_all(project, people=1)
        folder = tmp_path / project.slug
        call_command("export_dataset", project.slug, folder, kinds=["table-csv"], verbosity=0)
        for name in ("labels", "ratings"):
            guess = guess_or_refuse(SourceFile(folder / f"{name}.csv"))
            format, mapping = guess.format, dict(guess.chosen.mapping)
            assert format == "ratings"
            wanted = ImportRequest(format, files_of_paths([folder / f"{name}.csv"]), FileChoices(mapping=mapping))
            findings = dry_run(wanted, empty)
            assert not findings.errors, (identifier, name, findings.errors)
            table = pd.read_csv(folder / f"{name}.csv", dtype=str, keep_default_na=False)
            kind = "response" if "system" in table else "pair" if "context" in table else "claim"
            assert findings.content[kind][CREATED] == table["id"].nunique(), (identifier, name)
            assert findings.decisions or findings.annotations


def test_pandas_reads_the_same_labels_and_what_is_undecided_is_empty_and_said(project, tmp_path):
    kinds = ["jsonl", "table-csv", "table-parquet"]
    call_command("export_dataset", "all", tmp_path, kinds=kinds, verbosity=0)
    labels = pd.read_csv(tmp_path / "labels.csv", dtype=str, keep_default_na=False)
    columns = ["id", "text", "tone", "topics", "share", "text_label"]
    made = [f"{one}.by" for one in columns[2:]]
    kept = [f"{one}{part}" for one in columns[2:5] for part in (".raters", ".soft")]  # answers in words have none
    assert list(labels.columns) == [*columns, *made, *kept, "undecided", "metadata"]
    for number, row in enumerate(labels.to_dict("records"), 1):
        assert {name: row[name] for name in columns[2:-1]} == {
            name: FINAL[number].get(name, "") for name in columns[2:-1]
        }
    assert list(labels["tone.by"]) == ["majority", "adjudicated", "majority"]
    assert list(labels["undecided"]) == ["topics: tied; share: tied", "", "share: not answered"]
    names = {rater.name.split()[0]: rater.pseudonym for rater in project.raters.all()}
    assert json.loads(labels["tone.raters"][1]) == {names["anna"]: "neutral", names["ben"]: "Over-loaded"}
    assert [json.loads(one) for one in labels["tone.soft"]] == [
        {"Over-loaded": 1.0},
        {"Over-loaded": 0.5, "neutral": 0.5},
        {"neutral": 1.0},
    ]
    # Of several labels, the share of raters who chose each; ben chose none of claim 1's.
    assert json.loads(labels["topics.soft"][0]) == {"money": 0.5, "sport": 0.5}
    assert json.loads(labels["share.soft"][0]) == {"-2": 0.5, "0.5": 0.5} and labels["share.soft"][2] == ""
    # What a spreadsheet would run has an apostrophe, and pseudonyms stand for names.
    assert list(labels["text"]) == [TEXTS[0], f"'{TEXTS[1]}", TEXTS[2]] and labels["text_label"][0][:2] == "'@"
    assert json.loads(labels["metadata"][0]) == {"topic": "+weather"}
    assert "Secret" not in (tmp_path / "ratings.csv").read_text()
    ratings = pd.read_parquet(tmp_path / "ratings.parquet").sort_values(["id", "comment"]).reset_index(drop=True)
    topics = [one if one is None else list(one) for one in ratings["topics"]]
    assert topics == [["money", "sport"], [], [], None, ["health"]]
    assert list(ratings["share"].dropna()) == [0.5, -2, 12, 12] and ratings["text"][0] == TEXTS[0]
    assert set(ratings["seconds"]) == {1.5} and not ratings["surplus"].any()
    assert len(ratings) == 5 and ratings["rater"].nunique() == 2


def test_the_page_and_the_api_offer_the_tables_and_rows_without_a_label_can_go(project, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    client = client_of(project.created_by)
    assert "Tables of labels (CSV)" in client.get("/projects/all/exports/").content.decode()
    body = {"kinds": ["table-csv"], "without_label": "leave-out"}
    answer = client.post("/api/v1/projects/all/exports/", body, content_type="application/json")
    assert answer.status_code == 202
    lifecycle.run_here(job := Job.objects.get(kind="export"))
    files = {one.file_name: one.uuid for one in job.artifacts.all()}
    table = client.get(f"/artifacts/{files['all-labels.csv']}/")
    assert table["Content-Type"].startswith("text/csv")
    lines = b"".join(table.streaming_content).decode().splitlines()
    assert [line.partition(",")[0] for line in lines] == ['"id"', "claim-2"]
    manifest = json.loads(b"".join(client.get(f"/artifacts/{files['all-manifest.json']}/").streaming_content))
    lost = [what for what, _ in manifest["lost"]["table-csv"]]
    assert "Decisions" not in lost and any("Levels" in what for what in lost)


def test_units_of_one_item_have_a_row_each(tmp_path):
    project = project_of(1, "triplets/-/1")
    [item] = items_of(project)
    say(item, make_rater(project), labels={0: "Entailment", 2: "Neutral"})
    call_command("export_dataset", project.slug, tmp_path, kinds=["table-tsv"], verbosity=0)
    labels, ratings = (
        pd.read_csv(tmp_path / f"{name}.tsv", sep="\t", dtype=str, keep_default_na=False)
        for name in ("labels", "ratings")
    )
    assert list(labels["entailment"]) == ["Entailment", "", "Neutral"] and set(labels["item"]) == {item.key}
    assert labels["undecided"][1] == "entailment: not answered" and len(set(labels["text"])) == 3
    assert list(ratings["id"]) == [labels["id"][0], labels["id"][2]] and set(labels["system"]) != {""}
