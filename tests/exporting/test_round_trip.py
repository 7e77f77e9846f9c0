"""Content and annotations of an export, imported into an empty Assay, export again byte for byte."""

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.decisions import adjudicating
from annotation.exports.tools import tools_for
from annotation.models import Decision, LabelSet, Project
from annotation.projects.options import set_options
from annotation.work.queries.pages import load_page, stated_in
from tests.factories import LABEL_SET, make_label_set_project, make_project, make_user
from tests.kinds import answer_all, make_kind_project
from tests.world.exported import KEYS, TEXTS, export, make_rich_project, through_an_empty_assay
from tests.world.labels import items_of, make_rater, say

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 4, 5, 6, 7, 89, tzinfo=UTC)


def lines(content: bytes) -> list[dict]:
    return [json.loads(line) for line in content.decode().splitlines()]


@pytest.mark.parametrize("identifier", ["claim-evidence/six-way/1", "claim-evidence/three-way/1"])
def test_claims_evidence_and_annotations_come_out_as_they_went_in(tmp_path, identifier):
    project = make_rich_project(identifier=identifier)
    first = export(project, tmp_path / "first")
    names = ["annotations.jsonl", "claims.jsonl", "claims.parquet", "claims.tsv", "decisions.jsonl", "manifest.json"]
    names.append("undecided.tsv")
    assert list(first) == names
    second = through_an_empty_assay(tmp_path / "first", tmp_path / "second", project.slug, identifier)
    assert second == first


def imported(folder: Path, names: tuple[str, ...], project: str, **more) -> Project:
    files = [str(folder / name) for name in names]
    chosen = {"format": "assay", "dataset": project, "project": project, "owner": "owner@example.org"}
    call_command("import_dataset", *files, **chosen | more, verbosity=0)
    return Project.objects.get(slug=project)


def test_a_folder_brings_its_label_set_and_options_and_files_of_other_tools_are_passed_over(tmp_path):
    make_user("owner", is_superuser=True)
    project = make_label_set_project(LABEL_SET, ("It rained.", "It froze."), slug="tones")
    options = {"captions": {"tone": {"title": "Wording", "labels": {"neutral": {"title": "Plain"}}}}}
    set_options(project, project.created_by, options)
    people = [make_rater(project, f"Secret {number}") for number in range(2)]
    for item, *labels in zip(items_of(project), ("neutral", "neutral"), ("neutral", "loaded"), strict=True):
        for person, label in zip(people, labels, strict=True):
            say(item, person).judgements.create(unit=item.anchor, dimension="tone", label=label)
    kinds = [part for kind in ("jsonl", *tools_for(project)) for part in ("--format", kind)]
    first = export(project, tmp_path / "first", *kinds)
    LabelSet.objects.all().delete()
    again = imported(tmp_path / "first", ("",), "again", with_settings=True)
    assert LabelSet.objects.get().description == LABEL_SET
    assert (again.type.dimension("tone").title, again.options) == ("Wording", options)
    second = export(again, tmp_path / "second", *kinds)
    assert {name for name in first if first[name] != second[name]} == {
        "manifest.json"
    }  # the project is called otherwise
    assert {
        "label-studio.xml",
        "doccano.zip",
        "inception.zip",
        "argilla.zip",
        "potato.zip",
        "undecided.tsv",
    } < first.keys()


@pytest.mark.parametrize("with_decisions", [True, False])
def test_decisions_come_back_by_their_method_and_a_majority_is_none(tmp_path, with_decisions):
    """Of seven units one was decided, twice by different methods; most of the others have a majority. Without the file
    of decisions (as older exports are) only a label that is not the majority can be somebody's decision."""
    project = make_rich_project()
    make_user("owner", is_superuser=True)
    unit = project.items.get(key=KEYS[1]).anchor
    judge = make_rater(project, "Judge Secret")
    Decision.objects.filter(method="adjudicated").update(is_latest=False, decided_by=judge, note="at first")
    place = {"project": project, "unit": unit, "dimension": "stance", "method": "adjudicated"}
    Decision.objects.create(**place, number=2, is_latest=False, is_withdrawn=True, decided_by=judge)
    Decision.objects.create(**place, number=3, label="refutes", decided_by=judge, seen={"runs": []}, decided_at=NOW)
    export(project, tmp_path / "first")
    names = ("claims.jsonl", "annotations.jsonl", *(["decisions.jsonl"] if with_decisions else []))
    again = imported(tmp_path / "first", names, "again", task_type=project.task_type)
    columns = ("unit__key", "dimension", "method", "number", "label", "decided_by__pseudonym", "note", "seen")
    rows = [list(one.decisions.order_by("pk").values_list(*columns, "decided_at")) for one in (project, again)]
    if with_decisions:
        assert sorted(map(str, rows[0])) == sorted(map(str, rows[1])) and len(rows[0]) == 4
    else:
        assert [row[:5] for row in rows[1]] == [(KEYS[1], "stance", "imported", 1, "refutes")]


def test_the_layout_of_assay_itself_says_what_made_each_label(tmp_path):
    project = make_kind_project("answer-grade/-/1")
    answer_all(project)
    adjudicating.decide(project, make_user("owner", is_superuser=True), items_of(project)[0].anchor, "grade", "missing")
    export(project, tmp_path / "first")
    again = imported(tmp_path / "first", ("content.jsonl",), "again", format="content", task_type=project.task_type)
    columns = ("unit__key", "dimension", "method", "label")
    decided = [sorted(one.decisions.values_list(*columns)) for one in (project, again)]
    assert decided[0] == decided[1] and {row[2] for row in decided[1]} == {"adjudicated"}
    assert len(decided[1]) == 1 < project.items.filter(annotations__isnull=False).count()


def test_the_export_says_what_was_decided_and_who_saw_what(tmp_path):
    files = export(make_rich_project(), tmp_path / "out", "--format", "jsonl", "--format", "potato")
    claims = {row["id"]: row for row in lines(files["claims.jsonl"])}
    assert {key: (claims[key]["relevant"], claims[key]["evidence_stance"]) for key in KEYS} == {
        KEYS[0]: (True, "refutes"),  # the newest revisions; surplus does not count
        KEYS[1]: (True, "refutes"),  # adjudicated before imported
        KEYS[2]: (None, None),  # divided about relevance, so one person's stance does not stand for the unit
        KEYS[3]: (False, "not_applicable"),
        KEYS[4]: (None, "supports"),  # nobody was asked about relevance
        KEYS[5]: (True, None),  # a tie
        KEYS[6]: (None, None),  # nobody has said anything
    }
    annotations = lines(files["annotations.jsonl"])
    of_one = [row for row in annotations if row["item"] == KEYS[0]]
    assert sorted(row["suggestion_shown"] for row in of_one) == [False, False, False, True]
    assert [row["revision"] for row in of_one if row["comment"] or row["suggestion_shown"]] == [2]
    assert sum(row["surplus"] for row in of_one) == 1
    assert {row["guideline_version"] for row in of_one} == {1}
    spans = [span for row in annotations for said in row["judgements"] for span in said["spans"]]
    texts = dict(zip(KEYS, TEXTS, strict=True))
    assert len(spans) == 5
    for row in annotations:
        for span in (span for said in row["judgements"] for span in said["spans"]):
            assert texts[row["item"]][span["start"] : span["end"]] == span["quote"]
    manifest = json.loads(files["manifest.json"])
    assert manifest["counts"] == {"annotations": 13, "decisions": 2, "items": 7, "revisions": 14, "units": 7}
    with zipfile.ZipFile(tmp_path / "out/potato.zip") as opened:  # the claim stands above the evidence that is judged
        asked, shown = yaml.safe_load(opened.read("config.yaml")), lines(opened.read("data.jsonl"))
    assert [one["key"] for one in asked["instance_display"]["fields"]] == ["claim", "text"]
    assert {row["id"]: (row["claim"], row["text"]) for row in shown} == {
        row["id"]: (row["claim"], row["evidence"]) for row in claims.values()
    }


def test_nobody_is_named_anywhere(tmp_path):
    project = make_rich_project()
    files = export(project, tmp_path / "out")
    for rater in project.raters.exclude(kind="slot"):
        for content in files.values():
            assert rater.name.encode() not in content
            assert rater.user is None or rater.user.email.encode() not in content
    assert b"Secret" not in b"".join(files.values()) and b"@example.org" not in b"".join(files.values())
    named = {row["annotator"] for row in lines(files["annotations.jsonl"])}
    assert named == set(project.raters.values_list("pseudonym", flat=True))


def test_rows_stand_in_the_order_of_the_bytes_of_their_keys(tmp_path):
    files = export(make_rich_project(), tmp_path / "out")
    ordered = sorted(KEYS, key=str.encode)
    assert [row["id"] for row in lines(files["claims.jsonl"])] == ordered
    assert [row["item"] for row in lines(files["annotations.jsonl"])] == sorted(
        (row["item"] for row in lines(files["annotations.jsonl"])), key=str.encode
    )
    tsv = files["claims.tsv"].decode()
    assert [tsv.index(f"\n{key}\t") for key in ordered] == sorted(tsv.index(f"\n{key}\t") for key in ordered)


def test_cells_that_a_spreadsheet_would_run_are_escaped_in_tsv_only(tmp_path):
    files = export(make_rich_project(), tmp_path / "out")
    formula = TEXTS[3]
    assert "\t\"'=HYPERLINK(" in files["claims.tsv"].decode()
    assert "\t=HYPERLINK" not in files["claims.tsv"].decode() and '\t"=HYPERLINK' not in files["claims.tsv"].decode()
    assert formula in [row["evidence"] for row in lines(files["claims.jsonl"])]


def test_parquet_holds_the_same_rows(tmp_path):
    import pandas as pd

    files = export(make_rich_project(), tmp_path / "out")
    frame = pd.read_parquet(tmp_path / "out" / "claims.parquet")
    assert frame.astype(object).where(frame.notna(), None).to_dict("records") == lines(files["claims.jsonl"])


STATED = {"start": 0, "end": 4, "quote": "1963"}
REFCHECKER = {
    "id": "q-1",
    "question": "Wann fror der Hafen zu? ❄️",
    "context": ["Erste Quelle: 1963.", "Zweite: 1929.\nZeile."],
    "response": "1963 und 1929.",
    "claude2_response_kg": [
        {"triplet": ["Hafen", "fror zu", "1963"], "human_label": "Entailment", "stated_in": STATED},
        {"triplet": ["Hafen", "fror zu", "1929"], "human_label": "Contradiction", "note": 3},
        {"triplet": ["Hafen", "ist", '"blau"']},
    ],
}
ABSTAINED = {"id": "q-2", "question": "Und sonst?", "context": ["Nichts."], "response": "", "claude2_response_kg": []}


def triplet_project(tmp_path) -> Project:
    make_user("owner", is_superuser=True)
    folder = tmp_path / "zero_context"
    folder.mkdir()
    for model in ("nq_gpt4_answers.json", "nq_Zed_answers.json"):
        (folder / model).write_text(json.dumps([REFCHECKER, ABSTAINED]), encoding="utf-8")
    call_command(
        "import_dataset",
        *sorted(map(str, folder.iterdir())),
        "--format",
        "refchecker",
        "--dataset",
        "answers",
        "--project",
        "triplets",
        verbosity=0,
    )
    project = Project.objects.get(slug="triplets")
    item = project.items.order_by("key").first()
    anna = make_rater(project, "Anna Secret")
    say(item, anna, labels={0: "neutral", 1: "contradiction", 2: "bad_triplet"}, comment="eins")
    say(item, anna, labels={0: "neutral", 1: "contradiction", 2: "neutral"})
    unit = item.item_units.get(index=0).unit
    Decision.objects.create(
        project=project, unit=unit, dimension="entailment", label="entailment", method="adjudicated"
    )
    return project


def test_triplets_with_question_context_and_abstained_answers_come_out_as_they_went_in(tmp_path):
    project = triplet_project(tmp_path)
    first = export(project, tmp_path / "first")
    assert list(first) == ["annotations.jsonl", "decisions.jsonl", "manifest.json", "responses.jsonl", "undecided.tsv"]
    rows = lines(first["responses.jsonl"])
    assert [(row["model"], row["id"]) for row in rows] == [
        ("Zed", "q-1"),
        ("Zed", "q-2"),
        ("gpt4", "q-1"),
        ("gpt4", "q-2"),
    ]
    assert rows[0]["question"] == REFCHECKER["question"] and rows[0]["context"] == REFCHECKER["context"]
    assert rows[1]["claude2_response_kg"] == []
    decided = [triplet.get("decided_label") for triplet in rows[0]["claude2_response_kg"]]
    assert decided == ["entailment", "contradiction", "neutral"]
    assert [triplet.get("stated_in") for triplet in rows[0]["claude2_response_kg"]] == [STATED, None, None]
    page = load_page(project.items.get(key="zero_context/gpt4/q-1").pk, project.type)
    assert stated_in(page) == [[0, 4], None, None]
    second = through_an_empty_assay(tmp_path / "first", tmp_path / "second", "triplets", "triplets/-/1")
    assert second == first


def test_marked_passages_of_triplets_come_out_as_they_went_in(tmp_path):
    project = make_project(triplet_project(tmp_path).dataset, "triplets/-/1", slug="marked")
    answer_all(project)
    first = export(project, tmp_path / "first")
    spans = [span for row in lines(first["annotations.jsonl"]) for said in row["judgements"] for span in said["spans"]]
    assert spans and {(span["field"], span["quote"]) for span in spans} == {("passage-1", "Erste")}
    assert "responses.jsonl" in first
    second = through_an_empty_assay(tmp_path / "first", tmp_path / "second", "marked", "triplets/-/1")
    assert second == first


def test_retired_items_are_left_out_and_said_so_outside_the_files(tmp_path, capsys):
    project = make_rich_project()
    project.items.filter(key=KEYS[0]).update(state="retired")
    call_command("export_dataset", project.slug, str(tmp_path / "out"))
    assert "their content was superseded: 1 items" in capsys.readouterr().out
    assert KEYS[0] not in (tmp_path / "out" / "annotations.jsonl").read_text(encoding="utf-8")


def test_the_number_of_queries_does_not_grow_with_rows(tmp_path):
    from tests.world.labels import project_of

    for identifier in ("triplets/-/1", "claim-evidence/six-way/1"):
        asked = {}
        for rows in (4, 12):
            project = project_of(rows, identifier)
            for item in items_of(project):
                labels = {0: "neutral", 2: "entailment"} if identifier.startswith("triplets") else None
                say(item, make_rater(project), "relevant" if labels is None else None, labels=labels)
            with CaptureQueriesContext(connection) as queries:
                export(project, tmp_path / project.slug)
            asked[rows] = len(queries)
        assert asked[4] == asked[12] <= 20


def test_a_project_without_items_exports_empty_files(tmp_path):
    from tests.factories import make_dataset, make_project

    files = export(make_project(make_dataset(), slug="empty"), tmp_path / "out")
    assert files["annotations.jsonl"] == b"" and files["claims.jsonl"] == b""
    assert json.loads(files["manifest.json"])["counts"]["items"] == 0
