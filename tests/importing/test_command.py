"""`manage.py import_dataset`: real files in full, and what it says and leaves behind."""

import json
from collections import Counter

import pytest
from django.db.models import Count

from annotation.models import (
    Annotation,
    Claim,
    ContentBatch,
    Dataset,
    Decision,
    Evidence,
    Item,
    Judgement,
    Project,
    Question,
    Rater,
    Response,
    Suggestion,
    Triplet,
    Unit,
)
from tests.factories import make_user
from tests.importing.files import (
    CLIMATE_FEVER,
    REFCHECKER,
    answer,
    command,
    druid_row,
    druid_rows,
    needs_shared_data,
    texts,
    write_druid,
    write_refchecker,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def admin():
    return make_user("admin", is_superuser=True)


@pytest.mark.slow
@needs_shared_data
def test_climate_fever_comes_in_with_every_vote_and_a_second_time_changes_nothing():
    arguments = (CLIMATE_FEVER, "--format", "climate-fever", "--dataset", "cf", "--project", "votes")
    assert command(*arguments)[0] == 0
    assert Claim.objects.published().count() == 1535
    assert Evidence.objects.published().count() == Unit.objects.published().filter(kind="evidence").count() == 7675
    project = Project.objects.get(slug="votes")
    assert project.task_type == "claim-evidence/three-way/1"
    per_pair = Counter(Item.objects.annotate(votes=Count("annotations")).values_list("votes", flat=True))
    assert per_pair == {2: 5340, 3: 1554, 4: 761, 5: 20}
    assert set(project.raters.values_list("kind", flat=True)) == {Rater.Kind.SLOT}
    assert project.raters.count() == 5
    assert not Decision.objects.exists()
    before = (Annotation.objects.count(), project.label_version)

    code, said = command(*arguments)
    assert code == 0
    assert "nothing changed" in said
    assert "18,486 unchanged" in said
    project.refresh_from_db()
    assert (Annotation.objects.count(), project.label_version) == before
    assert ContentBatch.objects.filter(state="published").count() == 1


@needs_shared_data
def test_refchecker_comes_in_with_its_published_counts_of_labels():
    code, said = command(*REFCHECKER, "--format", "refchecker", "--dataset", "rc", "--project", "triplets")
    assert code == 0, said
    assert (Question.objects.count(), Response.objects.count(), Triplet.objects.count()) == (200, 1400, 7313)
    for setting, expected in {
        "zero_context": {"entailment": 1047, "neutral": 1818, "contradiction": 454},
        "accurate_context": {"entailment": 3350, "neutral": 368, "contradiction": 276},
    }.items():
        judged = Judgement.objects.filter(unit__triplet__response__context_setting=setting)
        assert Counter(judged.values_list("label", flat=True)) == expected
    abstained = Item.objects.filter(unit_count=0, planned=0).values_list("anchor__response__context_setting", flat=True)
    assert Counter(abstained) == {"zero_context": 87, "accurate_context": 33}


def test_labels_of_checkers_in_refcheckers_file_become_their_runs(tmp_path):
    rows = [answer(number, 1) for number in range(2)]
    for row, label in zip(rows, ("Neutral", "Abstain"), strict=True):
        row["claude2_response_kg"][0] |= {"gemini_label": label}
    path = write_refchecker(tmp_path / "zero_context" / "nq_gpt4_answers.json", rows)
    code, said = command(path, "--format", "refchecker", "--dataset", "rc", "--project", "triplets")
    assert code == 0 and "In the file: checker gemini, 1 unit\n" in said
    gemini = Suggestion.objects.get(run__checker="outside:gemini", run__project__slug="triplets")
    assert (gemini.label, gemini.unit.triplet.key) == ("neutral", "zero_context/gpt4/0/0")


def test_a_dry_run_writes_nothing(tmp_path):
    file = write_druid(tmp_path / "d.tsv", druid_rows(4))
    code, said = command(file, "--format", "druid", "--dataset", "d", "--dry-run")
    assert code == 0
    assert "Would be claim: 2 created" in said
    assert "Would be evidence: 4 created" in said
    assert not Dataset.objects.exists()
    assert not ContentBatch.objects.exists()


def test_one_bad_row_and_nothing_comes_in(tmp_path):
    rows = [*druid_rows(4), druid_row(9, evidence_stance="maybe", relevant="True"), druid_row(10, claim_date="soon")]
    file = write_druid(tmp_path / "d.tsv", rows)
    for more in (("--dry-run",), (), ("--project", "p")):
        code, said = command(file, "--format", "druid", "--dataset", "d", *more)
        assert code == 1
        assert "d.tsv:6: evidence_stance: 'maybe' is not one of the labels" in said
        assert "d.tsv:7: claim_date: 'soon' is not a date" in said
        assert "2 bad rows" in said
        assert not Dataset.objects.exists()
        assert not Project.objects.exists()
        assert not Evidence.objects.exists()


def test_a_corrected_file_updates_what_changed_and_says_so(tmp_path):
    command(write_druid(tmp_path / "d.tsv", druid_rows(6)), "--format", "druid", "--dataset", "d")
    first = Evidence.objects.get(key=druid_row(3)["id"]).pk
    corrected = druid_rows(6)
    corrected[3]["evidence"] = "It did freeze."
    corrected.append(druid_row(6))
    code, said = command(write_druid(tmp_path / "d2.tsv", corrected), "--format", "druid", "--dataset", "d")
    assert code == 0
    assert "evidence: 1 created, 1 changed, 5 unchanged" in said
    assert "claim: 1 created, 0 changed, 3 unchanged" in said
    changed = Evidence.objects.get(key=druid_row(3)["id"])
    assert (changed.pk, changed.version, changed.text) == (first, 1, "It did freeze.")
    assert len(texts(Dataset.objects.get())) == 7


def test_druid_labels_become_decisions(tmp_path):
    rows = [
        druid_row(0, relevant="True", evidence_stance="refutes"),
        druid_row(1, relevant="False", evidence_stance="not_applicable"),
        druid_row(2),
    ]
    file = write_druid(tmp_path / "d.tsv", rows)
    assert command(file, "--format", "druid", "--dataset", "d", "--project", "p")[0] == 0
    found = Decision.objects.values_list("unit__key", "dimension", "label", "method")
    assert set(found) == {
        (rows[0]["id"], "relevance", "relevant", "imported"),
        (rows[0]["id"], "stance", "refutes", "imported"),
        (rows[1]["id"], "relevance", "not_relevant", "imported"),
    }
    rows[0]["evidence_stance"] = "supports"
    code, said = command(write_druid(file, rows), "--format", "druid", "--dataset", "d", "--project", "p")
    assert "1 changed, 2 unchanged" in said
    history = Decision.objects.filter(dimension="stance").order_by("number").values_list("label", "is_latest")
    assert list(history) == [("refutes", False), ("supports", True)]


def test_a_project_of_another_data_set_is_refused(tmp_path):
    file = write_druid(tmp_path / "d.tsv", druid_rows(2))
    assert command(file, "--format", "druid", "--dataset", "one", "--project", "p")[0] == 0
    code, said = command(file, "--format", "druid", "--dataset", "two", "--project", "p")
    assert code == 1
    assert "belongs to another data set" in said
    assert not Dataset.objects.filter(slug="two").exists()


def test_labels_that_the_task_does_not_have_are_bad_rows(tmp_path):
    file = write_druid(tmp_path / "d.tsv", [druid_row(0, relevant="True", evidence_stance="insufficient-neutral")])
    arguments = (file, "--format", "druid", "--dataset", "d", "--project", "p")
    code, said = command(*arguments, "--task-type", "claim-evidence/three-way/1")
    assert code == 1
    assert "d.tsv:2: evidence_stance: 'insufficient-neutral' is not one of the labels refutes, not_enough_info" in said
    assert not Project.objects.exists()


def test_a_table_is_read_with_a_mapping_from_a_file_or_guessed(tmp_path):
    table = tmp_path / "own.csv"
    table.write_text("nr,statement,says\n1,Rivers freeze.,They do.\n2,Rivers freeze.,They do not.\n", encoding="utf-8")
    mapping = tmp_path / "mapping.json"
    mapping.write_text(json.dumps({"mapping": {"claim": "statement", "evidence": "says", "evidence_id": "nr"}}))
    code, said = command(table, "--format", "table", "--dataset", "own", "--mapping", mapping)
    assert code == 0, said
    assert set(texts(Dataset.objects.get()).values()) == {"They do.", "They do not."}
    code, said = command(table, "--format", "table", "--dataset", "other")
    assert code == 1
    assert "No column could be guessed for evidence" in said


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--dataset", "../x"), "is not a short name"),
        (("--dataset", "d", "--owner", "nobody@example.org"), "no account"),
        (("--dataset", "d", "--project", "p", "--task-type", "no/such/1"), "There is no task type"),
    ],
)
def test_what_cannot_be_done_is_said_and_leaves_nothing(tmp_path, arguments, reason):
    code, said = command(write_druid(tmp_path / "d.tsv", druid_rows(2)), "--format", "druid", *arguments)
    assert code == 1
    assert reason in said
    assert not Dataset.objects.exists()


def test_a_data_set_of_the_hub_comes_in_by_its_name(tmp_path, monkeypatch, settings):
    import huggingface_hub

    settings.MEDIA_ROOT, asked = tmp_path, []

    def download(name, *, local_dir, **options):
        asked.append((name, options["repo_type"], options["revision"], options["allow_patterns"], options["endpoint"]))
        if name == "nobody/none":
            raise huggingface_hub.errors.LocalEntryNotFoundError("no such data set")
        (local_dir / ".cache").mkdir(parents=True)
        (local_dir / ".cache" / "train.csv.metadata").write_text("x")
        (local_dir / "train.csv").write_text("id,text,annotator,label\n1,A b.,ann,good\n1,A b.,ben,bad\n")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    arguments = ("--format", "ratings", "--dataset", "moods", "--project", "moods")
    code, said = command("hf:harbour/moods@v2:train*", *arguments)
    assert code == 0 and Judgement.objects.count() == 2, said
    assert asked == [("harbour/moods", "dataset", "v2", "train*", settings.HUB)]
    for name, reason in (("hf:nobody/none", "no such data set"), ("hf:moods", "write hf:OWNER/NAME")):
        code, said = command(name, *arguments)
        assert code == 1 and reason in said


def test_without_an_administrator_it_says_how_to_make_one(tmp_path, admin):
    admin.delete()
    code, said = command(write_druid(tmp_path / "d.tsv", druid_rows(2)), "--format", "druid", "--dataset", "d")
    assert code == 1
    assert "create_admin EMAIL" in said and "--owner EMAIL" in said
    assert not Dataset.objects.exists()


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("own.csv", "claim,evidence\nThe lake freezes.,It did.\n", "Table with columns of your own (table)"),
        ("rated.csv", "text,human,judge\n" + "A b c d.,good,bad\nD e f g.,bad,bad\n" * 4, "(ratings)"),
    ],
)
def test_the_format_is_guessed_and_the_columns_are_said_once(admin, tmp_path, name, text, title):
    (tmp_path / name).write_text(text, encoding="utf-8")
    code, said = command(tmp_path / name, "--dataset", "lakes")
    assert code == 0 and title in said and said.count("read as") == 1, said


def test_files_of_several_formats_need_one_named(admin, tmp_path):
    paths = [write_druid(tmp_path / "d.tsv", druid_rows(2)), tmp_path / "own.csv"]
    paths[1].write_text("claim,evidence\nThe lake freezes.,It did.\n", encoding="utf-8")
    code, said = command(*paths, "--dataset", "lakes")
    assert code and "look like several formats" in said and "--format" in said


def test_a_header_alone_is_not_called_up_to_date(tmp_path):
    (tmp_path / "header.csv").write_text("claim,evidence\n")
    for more in ([], ["--dry-run"]):
        code, said = command(tmp_path / "header.csv", "--format", "table", "--dataset", "none", *more)
        assert code and "nothing to import" in said and "up to date" not in said
    assert not Dataset.objects.filter(slug="none").exists()
    (tmp_path / "none.json").write_text("[]")
    code, said = command(tmp_path / "none.json", "--format", "table", "--dataset", "none")
    assert code and "none.json has no rows" in said
