"""One odd row need not stop a file: bad rows can be left out, with what hangs on them."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from annotation.jobs import lifecycle
from annotation.models import Claim, Dataset, Evidence, Job, Judgement, Project, Score
from tests.factories import make_dataset, make_user
from tests.importing.files import druid_row, write_druid
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
