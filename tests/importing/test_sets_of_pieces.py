"""Pieces in named sets: what files bring, what a project judges, what alters what was judged, the way out and in."""

import json

import pytest
from django.urls import reverse

from analysis.releases import freezing
from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from analysis.sources.releases.files import zipped
from annotation.datasets.kinds import KIND_NAMED
from annotation.formats.records import (
    AnnotationRecord,
    AspectRecord,
    DecisionRecord,
    JudgementRecord,
    LostRecord,
    QuestionRecord,
    response_aspect_key,
)
from annotation.imports import importing
from annotation.imports.importing import ImportRequest, ProjectWish, dry_run, files_of_paths
from annotation.imports.labels import labels_of_set
from annotation.jobs import lifecycle
from annotation.machines.runs.checker_inputs import checker_inputs
from annotation.models import AtomicClaim, Item, Judgement, Project, Triplet, Unit
from annotation.projects import managing
from tests.exporting.test_release_round_trip import through_an_empty_assay
from tests.factories import make_dataset, make_items, make_suggestions, make_user
from tests.importing import files
from tests.importing.files import command, run, write_refchecker

pytestmark = pytest.mark.django_db
NAMES = "zero_context/nq_m1_answers.json"
TRIPLETS = "triplets/-/1"


def answer(number: int, triplets: int = 2, **more) -> dict:
    """With the labelled triplets of the extractor gpt4."""
    row = files.answer(number, triplets)
    [column] = [name for name in row if name.endswith("_response_kg")]
    return {"gpt4_response_kg": row.pop(column)} | row | more


def triplets_of(name: str, n: int, **more) -> list[dict]:
    return [{"triplet": [f"{name} {place}", "is", "so"], **more} for place in range(n)]


def two_extractors(tmp_path, n_mixtral: int = 3):
    rows = [answer(number, mixtral_response_kg=triplets_of("m", n_mixtral)) for number in (1, 2)]
    return write_refchecker(tmp_path / "zero_context" / "nq_m1_answers.json", rows)


@pytest.fixture
def judged(tmp_path):
    """A data set with triplets of two extractors, and a project with people's labels of the first."""
    dataset = make_dataset()
    wish = ProjectWish("of-gpt", piece_set="gpt4")
    job = run_wish(dataset, two_extractors(tmp_path), wish)
    assert job.state == "done", job.message
    return Project.objects.get(slug="of-gpt")


def run_wish(dataset, path, wish, **more):
    request = ImportRequest("refchecker", files_of_paths([path]), project=wish, **more)
    started = importing.start(dataset.owner, dataset, request, is_dry_run=False, wake_workers=False)
    return lifecycle.run_here(started)


def units_of(project) -> set[str]:
    return set(Item.objects.filter(project=project).values_list("item_units__unit__key", flat=True)) - {None}


def test_each_extractors_triplets_become_a_set_of_which_a_project_judges_one(judged, tmp_path):
    keys = set(Triplet.objects.values_list("key", "piece_set"))
    assert keys == {
        *((f"zero_context/m1/{number}/gpt4:{place}", "gpt4") for number in (1, 2) for place in range(2)),
        *((f"zero_context/m1/{number}/mixtral:{place}", "mixtral") for number in (1, 2) for place in range(3)),
    }
    assert units_of(judged) == {key for key, piece_set in keys if piece_set == "gpt4"}
    assert Judgement.objects.count() == 4
    other = managing.create_project(
        judged.created_by, title="Other", dataset=judged.dataset, task_type=TRIPLETS, piece_set="mixtral"
    )
    assert units_of(make_items(other)) == {key for key, piece_set in keys if piece_set == "mixtral"}
    again = run_wish(judged.dataset, tmp_path / NAMES, ProjectWish("of-gpt"))
    assert again.result["is_unchanged"] and again.result["labels_stored"]["unchanged"] == 2


def test_one_extractor_alone_stays_the_unnamed_set(tmp_path):
    dataset = make_dataset()
    run(dataset, write_refchecker(tmp_path / "zero_context" / "nq_m1_answers.json", [answer(1)]), format="refchecker")
    assert set(Triplet.objects.values_list("key", "piece_set")) == {
        ("zero_context/m1/1/0", ""),
        ("zero_context/m1/1/1", ""),
    }


def test_labels_of_other_sets_are_listed_and_stay_out(judged, tmp_path):
    wish = ProjectWish("of-mixtral", piece_set="mixtral")
    request = ImportRequest("refchecker", files_of_paths([tmp_path / NAMES]), project=wish)
    [lost] = dry_run(request, judged.dataset).lost
    assert (lost.number, lost.first) == (4, "zero_context/m1/1/gpt4:0")
    job = run_wish(judged.dataset, tmp_path / NAMES, wish)
    assert job.state == "done" and job.result["lost"][0]["number"] == 4
    project = Project.objects.get(slug="of-mixtral")
    assert units_of(project) and not Judgement.objects.filter(revision__annotation__item__project=project).exists()


def test_a_further_piece_of_another_set_alters_nothing_that_was_judged(judged, tmp_path):
    items = list(Item.objects.filter(project=judged).order_by("pk").values_list("pk", "state", "unit_count"))
    job = run(judged.dataset, two_extractors(tmp_path, n_mixtral=5), format="refchecker")
    assert (job.state, job.result["judged_count"]) == ("done", 0), job.message
    assert Triplet.objects.published().count() == 14 and not Triplet.objects.filter(version=2).exists()
    assert items == list(Item.objects.filter(project=judged).order_by("pk").values_list("pk", "state", "unit_count"))

    rows = [answer(number, triplets=3, mixtral_response_kg=triplets_of("m", 5)) for number in (1, 2)]
    path = write_refchecker(tmp_path / NAMES, rows)
    refused = run(judged.dataset, path, format="refchecker")
    assert (refused.state, refused.result["judged_count"]) == ("failed", 2)
    kept = run(judged.dataset, path, format="refchecker", on_judged="keep")
    assert kept.state == "done" and Triplet.objects.published().count() == 14


def content_file(tmp_path, *questions, name="content.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(line) + "\n" for line in questions), encoding="utf-8")
    return path


def test_the_content_format_makes_keys_of_sets_and_lets_no_piece_change_its_set(tmp_path):
    dataset = make_dataset()
    aspects = [{"text": "Price"}, {"text": "Cost", "set": "ICAT-A"}, {"id": "mine", "text": "Time", "set": "people"}]
    line = {"question": {"id": "q", "text": "Why?"}, "aspects": aspects}
    assert run(dataset, content_file(tmp_path, line), format="content").state == "done"
    rows = {row.key: row.piece_set for row in KIND_NAMED["aspect"].model.objects.published()}
    assert rows == {"q/a0": "", "q/ICAT-A:a1": "ICAT-A", "mine": "people"}
    aspects[2]["set"] = "ICAT-A"
    job = run(dataset, content_file(tmp_path, line), format="content")
    assert job.state == "failed"
    assert "belongs to people already" in job.result["errors"][0]["reason"]
    aspects[2] = {"text": "Time", "set": "a/b"}
    job = run(dataset, content_file(tmp_path, line), format="content")
    assert "without / or line breaks" in job.result["errors"][0]["reason"]


def test_a_table_with_a_column_of_sets_has_a_place_for_it(tmp_path):
    rows = [
        ("A1", "Anna", "wrote", "it", "gpt4"),
        ("A1", "Anna", "wrote", "it", "people"),
        ("A1", "It", "is", "old", "gpt4"),
    ]
    path, mapping = tmp_path / "t.csv", tmp_path / "m.json"
    path.write_text("response,head,relation,tail,extractor\n" + "".join(",".join(row) + "\n" for row in rows))
    fields = ("response", "head", "relation", "tail")
    mapping.write_text(json.dumps({name: name for name in fields} | {"piece_set": "extractor"}))
    make_user("boss", is_superuser=True)
    code, out = command(path, "--format", "table", "--dataset", "d", "--mapping", mapping)
    assert code == 0 and "Sets of triplet: gpt4 2, people 1" in out, out
    keys = Triplet.objects.order_by("pk").values_list("key", flat=True)
    assert [key.rsplit("/", 1)[1] for key in keys] == ["gpt4:0", "people:0", "gpt4:1"]


def test_what_is_said_of_an_aspect_of_another_set_is_told_by_the_aspect():
    aspects = [AspectRecord("q # 1/a0", "q", 0, "x"), AspectRecord("q/S:a0", "q", 0, "y", piece_set="S")]
    units = [response_aspect_key("r # 2", one.key) for one in aspects]
    said = [
        AnnotationRecord("r # 2", "Ann", tuple(JudgementRecord(unit, "coverage", "covered") for unit in units)),
        DecisionRecord(units[0], "coverage", "covered"),
    ]
    found = list(labels_of_set([QuestionRecord("q"), *aspects, *said], "response_aspect", "S"))
    assert found[:3] == [QuestionRecord("q"), *aspects]
    assert [one.unit for one in found[3].judgements] == [units[1]]
    assert found[4] == LostRecord(found[4].what, 2, units[0]) and len(found) == 5


def test_a_scorer_of_coverage_reads_the_aspects_and_claims_of_the_units_set(tmp_path):
    dataset = make_dataset()
    line = {
        "question": {"id": "q", "text": "Why?"},
        "aspects": [{"text": "Price"}, {"text": "Cost", "set": "S"}, {"text": "Time", "set": "T"}],
        "responses": [{"text": "So.", "atomic_claims": [{"text": "Old."}, {"text": "New.", "set": "S"}]}],
    }
    assert run(dataset, content_file(tmp_path, line), format="content").state == "done"
    kind, fields = "aspect-coverage/-/1", {}
    for name in ("", "S", "T"):
        project = managing.create_project(
            dataset.owner, title=f"p{name}", dataset=dataset, task_type=kind, piece_set=name
        )
        [unit] = Unit.objects.filter(item_units__item__project=make_items(project))
        fields[name] = checker_inputs(project.type, [unit.pk], with_origin=True)[unit.pk].fields
    assert [fields[name]["aspects"] for name in fields] == [("Price",), ("Cost",), ("Time",)]
    assert [fields[name]["atomic_claims"] for name in fields] == [("Old.",), ("New.",), ("Old.",)]
    assert AtomicClaim.objects.count() == 2


def test_a_release_of_a_set_comes_in_again_as_it_was(judged, tmp_path):
    make_suggestions(judged)
    first = freezing.write_release(judged, tmp_path / "first")
    assert first["settings"]["piece_set"] == "gpt4"
    zipped(tmp_path / "first", tmp_path / "first.zip")
    again = through_an_empty_assay(tmp_path / "first.zip", tmp_path / "second", judged.slug)
    second = json.loads((again / "manifest.json").read_text(encoding="utf-8"))
    assert second["release"]["sha256"] == first["release"]["sha256"]
    assert second["settings"] == first["settings"]
    assert source_of_files(again).piece_set == "gpt4"


def test_reports_name_the_set_and_stand_beside_another_one(judged):
    other = managing.create_project(
        judged.created_by, title="Other", dataset=judged.dataset, task_type=TRIPLETS, piece_set="mixtral"
    )
    make_suggestions(make_items(other))
    report = get_report("refchecker")
    result = report.compute(DatabaseSource(judged), quick=True, other_pieces=other.slug)
    assert result["made_from"]["piece_set"] == "gpt4"
    assert [one["pieces"] for one in result["granularity"]] == ["Triplets of mixtral"]
    assert "The pieces are those of the set gpt4." in report.page_of(result).notes[-1]
    agreement = get_report("agreement")
    assert "of the set gpt4" in " ".join(agreement.page_of(agreement.compute(DatabaseSource(judged), quick=True)).notes)


def test_pages_list_the_sets_and_a_new_project_takes_one_of_them(judged, client):
    boss = make_user("boss", is_superuser=True)
    managing.add_member(judged, boss, "researcher")
    client.force_login(boss)
    page = client.get(reverse("dataset_detail", args=[judged.dataset.slug])).content.decode()
    exports = client.get(reverse("project_exports", args=[judged.slug])).content.decode()
    assert "Assay&#x27;s own layout: RefChecker&#x27;s layout holds" in exports
    assert "Sets of pieces" in page and '<bdi>mixtral</bdi>: <span class="num">6</span>' in page
    assert "<bdi>gpt4</bdi>" in client.get(reverse("project_detail", args=[judged.slug])).content.decode()
    form = {"title": "T", "dataset": judged.dataset.pk, "task_type": TRIPLETS, "overlap": 1, "multiple_percent": 100}
    form |= {"order": "random", "prefill": "off", "minimum_seconds": 0, "lease_minutes": 60}
    page = client.post(reverse("project_new"), form).content.decode()
    assert "Name the set: the data set has gpt4, mixtral" in page
    page = client.post(reverse("project_new"), form | {"task_type": "answer-grade/-/1", "piece_set": "mixtral"})
    assert "This task judges no pieces of a set" in page.content.decode()
    assert client.post(reverse("project_new"), form | {"piece_set": "mixtral"}).status_code == 302
    assert Project.objects.get(title="T").piece_set == "mixtral"
