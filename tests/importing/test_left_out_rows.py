"""One odd row need not stop a file: bad rows can be left out, with what hangs on them."""

import csv
import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from annotation.jobs import lifecycle
from annotation.models import Claim, Dataset, Evidence, Job, Judgement, Project, Score
from tests.factories import make_dataset, make_user
from tests.importing.files import command, druid_row, write_druid
from tests.world import client_of

pytestmark = pytest.mark.django_db

SIX = "claim-evidence/six-way/1"


def rows_with_faults() -> list[dict]:
    """Forty rows: 7 has a date that there is not, 12 no claim, 20 a label that there is not."""
    rows = [druid_row(n, relevant="True", evidence_stance="refutes") for n in range(40)]
    rows[7]["evidence_date"] = "2024-02-31"
    rows[12]["claim"] = ""
    rows[20]["evidence_stance"] = "maybe"
    return rows


def test_bad_rows_are_left_out_in_the_browser(tmp_path):
    owner = make_user("owner", is_staff=True)
    dataset = make_dataset(owner, slug="rivers")
    client = client_of(owner)
    file = SimpleUploadedFile("d.tsv", write_druid(tmp_path / "d.tsv", rows_with_faults()).read_bytes())
    client.post("/datasets/rivers/import/", {"files": file})
    dry = Job.objects.get()
    lifecycle.run_here(dry)
    page = client.get(f"/imports/{dry.uuid}/").content.decode()
    assert "3 bad rows" in page and "Leave out the 3 bad rows and import the rest" in page
    sent = {"with_project": "on", "project_title": "Rivers", "task_type": SIX}
    refused = client.post(f"/imports/{dry.uuid}/start/", sent)
    assert refused.status_code == 422 and not Evidence.objects.exists()
    client.post(f"/imports/{dry.uuid}/start/", sent | {"leave_out": "on"})
    job = Job.objects.latest("pk")
    lifecycle.run_here(job)
    job.refresh_from_db()
    assert job.state == "done", job.message
    assert Evidence.objects.published().filter(dataset=dataset).count() == 37
    assert Project.objects.get().decisions.count() == 74
    page = client.get(f"/imports/{job.uuid}/").content.decode()
    assert "They were left out" in page
    listed = client.get(f"/imports/{job.uuid}/errors.csv").content.decode()
    assert all(word in listed for word in ("2024-02-31", "maybe", "claim"))


def test_what_hangs_on_a_bad_row_is_left_out_too(tmp_path):
    owner = make_user("owner", is_staff=True)
    long = {"question": {"id": "q0", "text": "Who?"}, "passages": [{"id": "p0", "text": "P", "rank": 2**40}]}
    good = {"question": {"id": "q1", "text": "What?"}, "passages": [{"id": "p1", "text": "P"}]}
    (tmp_path / "c.jsonl").write_text("\n".join(map(json.dumps, (long, good))))
    chosen = ["--format", "content", "--dataset", "c", "--owner", owner.email]
    with pytest.raises(CommandError):
        call_command("import_dataset", str(tmp_path / "c.jsonl"), *chosen, verbosity=0)
    assert not Dataset.objects.exists()
    call_command("import_dataset", str(tmp_path / "c.jsonl"), *chosen, "--leave-out", verbosity=0)
    assert [*Evidence.objects.published().values_list("text", flat=True)] == ["P"]


def test_scores_and_labels_of_left_out_texts_are_left_out(tmp_path):
    owner = make_user("owner", is_staff=True)
    lines = [
        "id,text,rater,label,score_x",
        "1,A b.,r1,good,0.5",
        "1,C d.,r2,bad,0.5",
        "2,E f.,r1,bad,much",
        "3,G h.,r2,good,1",
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    mapping = {"id": "id", "text": "text", "rater": "rater", "label/label": "label", "score/x": "score_x"}
    (tmp_path / "m.json").write_text(json.dumps(mapping))
    chosen = ["--format", "ratings", "--dataset", "t", "--project", "t", "--owner", owner.email, "--leave-out"]
    call_command("import_dataset", str(tmp_path / "t.csv"), *chosen, "--mapping", str(tmp_path / "m.json"), verbosity=0)
    assert [*Claim.objects.order_by("key").values_list("key", "text")] == [("1", "A b."), ("3", "G h.")]
    assert [*Judgement.objects.order_by("unit__key").values_list("unit__key", "label")] == [
        ("1", "good"),
        ("3", "good"),
    ]
    assert [*Score.objects.order_by("unit__key").values_list("unit__key", "value")] == [("1", 0.5), ("3", 1.0)]


ODD = """id,text,who,tone,note
1,A b.,ann,Calm,x
1,A b.,ann,Calm,x
1,A b.,ben,calm,x
2,C d.,ann,rude,=1+1
2,C d.,ann,calm,late
3,E f.,,rude,
3,E f.,,rude,
3,E f.,,calm,
"""
ROLES = {"id": "id", "text": "text", "rater": "who", "label/tone": "tone"}


def dry_run_of(client, text: str, roles: dict) -> Job:
    """In the browser: upload, name the columns, dry run."""
    columns = client.post("/datasets/t/import/", {"files": SimpleUploadedFile("t.csv", text.encode())}, follow=True)
    names, role_of = text.split("\n")[0].split(","), {column: role for role, column in roles.items()}
    sent = {}
    for number, name in enumerate(names):
        role, *rest = role_of.get(name, "").split("/")
        sent[f"role-{number}"] = role and f"ratings/{role}"
        sent |= {f"{part}-{number}": value for part, value in zip(("name", "rater"), rest, strict=False)}
    client.post(columns.redirect_chain[-1][0].partition("&layout")[0] + "&layout=ratings", sent, follow=True)
    job = Job.objects.latest("pk")
    lifecycle.run_here(job)
    job.refresh_from_db()
    return job


def test_odd_rows_are_sorted_and_asked_about_in_the_browser():
    owner = make_user("owner", is_staff=True)
    make_dataset(owner, slug="t")
    client = client_of(owner)
    dry = dry_run_of(client, ODD, ROLES)
    assert {(one["kind"], one["what"], one["number"]) for one in dry.result["odd"]} == {
        ("merged", "", 1), ("identical", "", 1), ("revisions", "", 1), ("places", "", 1),
        ("spellings", "tone: calm (3), Calm (2)", 5), ("unnamed", "", 3),
    }  # fmt: skip
    page = client.get(f"/imports/{dry.uuid}/")
    assert "Identical rows with labels and no named rater" in page.content.decode()
    form = page.context["form"]
    sent = {field.html_name: field.value() for field in form if field.value()} | {"project_title": "T"}
    assert "treat_identical" not in sent and sent["treat_revisions"] == "revisions"
    assert "treat_unnamed" not in sent
    refused = client.post(f"/imports/{dry.uuid}/start/", sent)
    assert refused.status_code == 422 and "Choose how to read these rows" in refused.content.decode()
    assert sent["treat_spellings"] == "apart"
    sent |= {"treat_identical": "leave-out", "treat_revisions": "leave-out", "treat_unnamed": "places"}
    sent |= {"treat_spellings": "fold"}
    client.post(f"/imports/{dry.uuid}/start/", sent)
    job = Job.objects.latest("pk")
    lifecycle.run_here(job)
    job.refresh_from_db()
    assert job.state == "done", job.message
    said = Judgement.objects.values_list("unit__key", "revision__annotation__rater__name", "label")
    assert sorted(said) == [
        ("1", "ann", "Calm"), ("1", "ben", "Calm"), ("2", "ann", "rude"), ("3", "place 1", "rude"),
        ("3", "place 2", "Calm"),
    ]  # fmt: skip
    page = client.get(f"/imports/{job.uuid}/").content.decode()
    assert "2 rows were left out, as was chosen" in page
    answer = client.get(f"/imports/{job.uuid}/left-out.csv")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert [(row["on line"], row["id"], row["tone"], row["note"]) for row in rows] == [
        ("6", "2", "calm", "late"), ("8", "3", "rude", ""),
    ]  # fmt: skip
    assert "same row as on line 7" in rows[1]["reason"]
    assert client_of(make_user("stranger")).get(f"/imports/{job.uuid}/left-out.csv").status_code == 404


def test_columns_of_several_labels_are_chosen_in_the_browser():
    owner = make_user("owner", is_staff=True)
    make_dataset(owner, slug="t")
    text = "text,who,topics\nA b.,ann,Money|Health\nC d.,ann,(none)\n"
    dry = dry_run_of(client_of(owner), text, {"text": "text", "rater": "who", "labels/topics": "topics"})
    assert dict(dry.parameters["choices"]["mapping"])["labels/topics"] == "topics"
    assert dry.result["labels"] == {"topics": {"Health|Money": 1, "(none)": 1}} and not dry.result["odd"]


def test_odd_rows_are_treated_as_the_command_says(tmp_path):
    owner = make_user("owner", is_staff=True)
    (tmp_path / "t.csv").write_text(ODD)
    (tmp_path / "m.json").write_text(json.dumps(ROLES))
    chosen = ["--format", "ratings", "--dataset", "t", "--project", "t", "--owner", owner.email]
    chosen += ["--mapping", str(tmp_path / "m.json")]
    for wrong, reason in (
        ([], "Identical rows .* say what to do"),
        (["--treat", "identical=toss"], "no choice 'toss'"),
        (["--treat", "twins=places"], "no odd rows of the kind 'twins'"),
    ):
        with pytest.raises(CommandError, match=reason):
            call_command("import_dataset", str(tmp_path / "t.csv"), *chosen, *wrong, verbosity=0)
    assert not Dataset.objects.exists()
    treat = ["--treat", "identical=places,spellings=leave-out,unnamed=places"]
    call_command("import_dataset", str(tmp_path / "t.csv"), *chosen, *treat, verbosity=0)
    said = Judgement.objects.filter(revision__is_latest=True)
    assert sorted(said.values_list("unit__key", "revision__annotation__rater__name", "label")) == [
        ("1", "ann", "Calm"), ("2", "ann", "rude"), ("3", "place 1", "rude"), ("3", "place 2", "rude"),
    ]  # fmt: skip


def test_values_that_are_no_labels_are_one_line_each_and_can_be_mapped(tmp_path):
    owner = make_user("owner", is_staff=True)
    (tmp_path / "a.csv").write_text("id,text,who,tone\n1,A b.,ann,calm\n2,C d.,ann,rude\n")
    (tmp_path / "b.csv").write_text(
        "id,text,who,tone\n1,A b.,ben,mild\n2,C d.,ben,mild\n1,A b.,cleo,n/a\n2,C d.,cleo,harsh\n"
    )
    chosen = ["--format", "ratings", "--dataset", "t", "--project", "t", "--owner", owner.email]
    (tmp_path / "m.json").write_text(json.dumps(ROLES))
    mapped = ["--mapping", str(tmp_path / "m.json")]
    call_command("import_dataset", str(tmp_path / "a.csv"), *chosen, *mapped, verbosity=0)
    with pytest.raises(CommandError, match="Values that are not labels"):
        call_command("import_dataset", str(tmp_path / "b.csv"), *chosen, *mapped, verbosity=0)
    odd = Job.objects.latest("pk").result["odd"]
    assert [(one["what"], one["number"]) for one in odd] == [("tone: mild", 2), ("tone: n/a", 1), ("tone: harsh", 1)]
    said = {"mapping": ROLES, "values": {"tone": {"mild": "calm", "n/a": ""}}}
    (tmp_path / "m.json").write_text(json.dumps(said))
    treat = ["--treat", "unmapped=leave-out"]
    call_command("import_dataset", str(tmp_path / "b.csv"), *chosen, *mapped, *treat, verbosity=0)
    by_others = Judgement.objects.exclude(revision__annotation__rater__name="ann")
    assert sorted(by_others.values_list("unit__key", "label")) == [("1", "calm"), ("2", "calm")]


def test_files_of_imports_go_with_their_data_set(tmp_path, settings, django_capture_on_commit_callbacks):
    settings.MEDIA_ROOT = tmp_path / "files"
    make_user("admin", is_superuser=True)
    path = write_druid(tmp_path / "d.tsv", rows_with_faults())

    def kept() -> list[str]:
        return [path.parent.name for path in settings.MEDIA_ROOT.rglob("*") if path.is_file()]

    for more, files in ((), []), (("--leave-out",), ["imports"]):
        with django_capture_on_commit_callbacks(execute=True):
            assert command(path, "--format", "druid", "--dataset", "rivers", *more)[0] == (not more)
        assert (Dataset.objects.exists(), kept()) == (bool(more), files)
