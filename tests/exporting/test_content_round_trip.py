"""Every kind of judgement in Assay's own layout: imported, judged, exported, imported into an empty Assay, exported
again byte for byte."""

import json

import pytest

from annotation.models import Dataset, Decision, Project
from annotation.task_types import every_task_type, task_type
from tests.factories import make_project
from tests.world.content import (
    ARABIC,
    ROWS,
    import_content,
    judged_project,
    through_an_empty_assay,
    write_rows,
)
from tests.world.exported import export

pytestmark = pytest.mark.django_db

IN_THIS_LAYOUT = [each.identifier for each in every_task_type() if each.export_layout == "content"]
# Their published layouts cannot hold this content: evidence of questions, and ids that are not RefChecker's.
NOT_HELD_ELSEWHERE = ["claim-evidence/three-way/1", "triplets/-/1"]
ITEMS = {
    "question": ["Q2", "alone", "q/ä"],
    "claim": ["C2", "c1"],
    "response-question": ["Q2/r0", "an empty one", "q/ä/r0", "q/ä/r2"],
    "response-claim": ["C2/r0", "c1/r0", "c1/r1"],
    "response": ["C2/r0", "Q2/r0", "an empty one", "c1/r0", "c1/r1", "q/ä/r0", "q/ä/r2"],
    "evidence": ["c1/p0", "c1/p1", "c1/p2", "passage of its own", "q/ä/p0", "q/ä/p2"],
    "comparison": ["q/ä/comparison-0", "q/ä/comparison-1"],
    "pair": ["across", "c1/pair-0", "q/ä/pair-0", "zz", "é"],
    "atomic_claim": ["q/ä/r0/c0", "q/ä/r0/c1", "q/ä/r0/c2"],
}


def lines(content: bytes) -> list[dict]:
    return [json.loads(line) for line in content.decode().splitlines()]


def slug_of(identifier: str) -> str:
    return identifier.replace("/", "-").replace("---", "-")


@pytest.fixture
def dataset(tmp_path) -> Dataset:
    return import_content(write_rows(tmp_path / "content.jsonl"))


def test_the_layout_serves_every_type_but_those_of_published_layouts():
    others = {
        each.identifier: each.export_layout for each in every_task_type() if each.identifier not in IN_THIS_LAYOUT
    }
    assert others == {
        "claim-evidence/six-way/1": "druid",
        "claim-evidence/three-way/1": "druid",
        "triplets/-/1": "responses",
    }
    assert len(IN_THIS_LAYOUT) == 16


@pytest.mark.slow
@pytest.mark.on_postgresql
def test_every_type_comes_out_of_an_empty_assay_as_it_went_in(tmp_path, dataset):
    projects, first = {}, {}
    for identifier in IN_THIS_LAYOUT + NOT_HELD_ELSEWHERE:
        project = judged_project(dataset, identifier, slug_of(identifier))
        folder = tmp_path / project.slug
        projects[folder], first[project.slug] = project, export(project, folder)
    for folder, project in projects.items():
        found = first[project.slug]
        named = [name for name in found if name != "undecided.tsv"]
        assert named == ["annotations.jsonl", "content.jsonl", "decisions.jsonl", "manifest.json"]
        description = project.type
        items = ITEMS.get(f"{description.anchor_kind}-{description.anchor_parent}") or ITEMS[description.anchor_kind]
        assert sorted(project.items.values_list("key", flat=True), key=str.encode) == items, folder
        annotations = lines(found["annotations.jsonl"])
        assert {row["item"] for row in annotations} == set(
            project.items.filter(unit_count__gt=0).values_list("key", flat=True)
        )
        assert all(row["comment"] == f"Why: {ARABIC} 👩🏽‍🔬" for row in annotations)
    second = through_an_empty_assay(tmp_path / "second", projects)
    for slug, files in first.items():
        for name, content in files.items():
            assert second[slug][name] == content, (slug, name)


def exported(tmp_path, dataset, identifier: str) -> dict[str, bytes]:
    return export(judged_project(dataset, identifier, slug_of(identifier)), tmp_path / "out")


def labels_in(row: dict, at: str = "") -> list[tuple[str, dict]]:
    """Place and labels of every labelled object in a line."""
    found = [(at, row["labels"])] if "labels" in row else []
    for name, value in row.items():
        place = f"{at}.{name}" if at else name
        for each in value if isinstance(value, list) else [value]:
            found += labels_in(each, place) if isinstance(each, dict) and name != "labels" else []
    return found


def test_a_line_holds_what_its_item_needs_and_labels_of_its_own_units_alone(tmp_path, dataset):
    for identifier, places in {
        "sufficient-context/-/1": {"question"},
        "answer-grade/-/1": {"responses"},
        "aspect-coverage/-/1": {"responses.aspects"},
        "triplets/sub-sentences/1": {"responses.sub_sentences"},
        "nli/three-way/1": {"pairs"},
        "preference/-/1": {"comparisons"},
        "nli/atomic-claim/1": {"responses.atomic_claims"},
        "nli/aspect-relevance/1": {"aspects"},
        "claim-evidence/three-way/1": {"passages"},
        "triplets/-/1": {"responses.triplets"},
        "evidence-inclusion/-/1": {"responses"},
        "claim-verdict/four-way/1": {"claim"},
    }.items():
        project = judged_project(dataset, identifier, slug_of(identifier))
        rows = lines(export(project, tmp_path / project.slug)["content.jsonl"])
        found = [labelled for row in rows for labelled in labels_in(row)]
        assert {place for place, _ in found} == places, identifier
        dimensions = {dimension.slug for dimension in project.type.dimensions}
        assert {name for _, labels in found for name in labels} <= dimensions
        for row in rows:
            assert len(row.get("responses", [])) <= 1 and len(row.get("pairs", [])) <= 1


def test_the_line_of_a_grade_says_what_it_comes_to(tmp_path, dataset):
    project = judged_project(dataset, "answer-grade/-/1", "grades")
    unit = project.items.get(key="Q2/r0").anchor
    Decision.objects.update_or_create(
        project=project, unit=unit, dimension="grade", method="adjudicated", defaults={"label": "acceptable"}
    )
    files = export(project, tmp_path / "out")
    assert [row for row in lines(files["content.jsonl"]) if row["question"]["id"] == "Q2"] == [
        {
            "question": {"id": "Q2", "text": "A question without passages?"},
            "aspects": [{"id": "Q2/a0", "text": "one"}],
            "responses": [
                {
                    "id": "Q2/r0",
                    "text": "Yes 👍🏽.",
                    "labels": {"grade": "acceptable"},
                    "methods": {"grade": "adjudicated"},
                    "derived": {"outcome": "correct"},
                }
            ],
        }
    ]
    (grade,) = json.loads(files["manifest.json"])["labels"]
    assert [label["value"] for label in grade["labels"]] == ["perfect", "acceptable", "incorrect", "missing"]
    assert grade["derived"][0]["from"] == {
        "perfect": "correct",
        "acceptable": "correct",
        "incorrect": "hallucinate",
        "missing": "abstain",
    }


def test_passages_stand_in_the_order_in_which_people_saw_them(tmp_path, dataset):
    files = exported(tmp_path, dataset, "sufficient-context/-/1")
    row = next(row for row in lines(files["content.jsonl"]) if row["question"]["id"] == "q/ä")
    assert [passage["id"] for passage in row["passages"]] == ["passage of its own", "q/ä/p0", "q/ä/p2"]
    assert row["passages"][1] == {
        "id": "q/ä/p0",
        "text": ARABIC,
        "title": "Chronik",
        "url": "https://e.example.org/1",
        "date": "1963-01-01",
        "gold": True,
        "rank": 2,
    }
    spans = [
        span
        for said in lines(files["annotations.jsonl"])
        for judgement in said["judgements"]
        for span in judgement["spans"]
    ]
    assert {span["field"] for span in spans} == {"passage-1"}  # by rank: the second of the file
    assert {span["quote"] for span in spans} == {"Cafe\u0301"}
    assert all("free_text" in said for said in lines(files["annotations.jsonl"]))


def test_a_pair_of_two_roots_brings_its_response_on_a_line_before(tmp_path, dataset):
    rows = lines(exported(tmp_path, dataset, "nli/two-way/1")["content.jsonl"])
    assert rows[0]["question"]["id"] == "Q2" and rows[0]["responses"][0]["id"] == "Q2/r0"
    assert rows[1]["claim"]["id"] == "c1" and "responses" not in rows[1]
    assert (rows[1]["pairs"][0]["passage"], rows[1]["pairs"][0]["response"]) == ("c1/p1", "Q2/r0")
    assert list(rows[-1]) == ["pairs"]


def test_what_a_project_asks_otherwise_stands_in_the_manifest_and_never_changes_a_label(tmp_path, dataset):
    from annotation.projects.options import set_options

    project = make_project(dataset, "answer-grade/-/1", slug="options")
    captions = {"grade": {"title": "Note", "labels": {"perfect": {"title": "Sehr gut"}}}}
    set_options(project, project.created_by, {"captions": captions})
    manifest = json.loads(export(Project.objects.get(slug="options"), tmp_path / "out")["manifest.json"])
    assert manifest["options"] == {"captions": captions}
    assert manifest["options_versions"] == {"1": {"captions": captions}}
    plain = task_type("answer-grade/-/1").dimension("grade")
    assert [label["title"] for label in manifest["labels"][0]["labels"]] == [label.title for label in plain.labels]


@pytest.mark.parametrize("identifier", IN_THIS_LAYOUT)
def test_the_number_of_queries_does_not_grow_with_rows(tmp_path, identifier, django_assert_max_num_queries):
    def numbered(row: dict, n: int) -> dict:
        text = json.dumps(row, ensure_ascii=False)
        for old in ("q/ä", "its own", "an empty one", "Kälte", '"c1', "across", "Q2/r0"):
            text = text.replace(old, f"{old}{n}" if old != "Q2/r0" else f"c1{n}/r1")
        return json.loads(text)

    many = [numbered(ROWS[0], n) for n in range(6)]
    claims = [numbered(ROWS[3], n) for n in range(6)]
    dataset = import_content(write_rows(tmp_path / "content.jsonl", [*many, *claims]))
    project = make_project(dataset, identifier, slug="many")
    assert project.items.count() >= 6
    with django_assert_max_num_queries(18):
        export(project, tmp_path / "out")
