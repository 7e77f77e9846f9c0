"""Files that are not what they should be: each gets its clear error, in the browser and by the command."""

import json
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.jobs import lifecycle
from annotation.models import Dataset, Evidence, Job, Upload
from tests.factories import make_dataset, make_user
from tests.importing.files import command, druid_row, druid_rows, write_druid

pytestmark = pytest.mark.django_db


def druid_bytes(tmp_path, rows=None) -> bytes:
    return write_druid(tmp_path / "good.tsv", rows or druid_rows(3)).read_bytes()


def _latin(tmp_path):
    return "d.tsv", druid_bytes(tmp_path, [druid_row(0, claim="Über")]).decode().encode("latin-1")


def _twice(tmp_path):
    return "d.tsv", druid_bytes(tmp_path, [druid_row(0), druid_row(1), druid_row(0)])


def _label(tmp_path):
    return "d.tsv", druid_bytes(tmp_path, [druid_row(0, relevant="True", evidence_stance="perhaps")])


def _empty_text(tmp_path):
    return "d.tsv", druid_bytes(tmp_path, [druid_row(0, evidence=" ")])


def _truncated(tmp_path):
    rows = [json.dumps(row) for row in druid_rows(3)]
    return "d.json", ("[" + ",".join(rows))[:-40].encode()


def _bomb(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("d.tsv", druid_bytes(tmp_path) + (b"x" * 99_999 + b"\n") * 2000)
    return "d.zip", path.read_bytes()


def _parquet(tmp_path):
    return "d.parquet", b"PAR1" + druid_bytes(tmp_path)


def _long_line(tmp_path):
    return "d.jsonl", b'{"claim": "' + b"x" * 40_000_000


def _empty(tmp_path):
    return "d.tsv", b""


BAD = {
    "wrong encoding": (_latin, "UTF-8"),
    "key twice": (_twice, "already occurs on line 2"),
    "unknown label": (_label, "is not one of the labels"),
    "empty text": (_empty_text, "is empty"),
    "truncated JSON": (_truncated, "it is cut short"),
    "zip bomb": (_bomb, "unpacks to more than"),
    "false Parquet": (_parquet, "Parquet"),
    "overlong line": (_long_line, "longer than"),
    "empty file": (_empty, "is empty"),
}


@pytest.mark.parametrize("name", BAD)
def test_the_command_says_what_is_wrong_and_leaves_nothing(tmp_path, name):
    make_user(is_superuser=True)
    make, reason = BAD[name]
    file_name, data = make(tmp_path)
    (tmp_path / file_name).write_bytes(data)
    code, said = command(tmp_path / file_name, "--format", "druid", "--dataset", "d")
    assert code == 1
    assert reason in said
    assert file_name.split(".")[0] in said
    assert "Traceback" not in said
    assert not Dataset.objects.exists()


@pytest.mark.parametrize("name", [one for one in BAD if one != "wrong encoding"])  # asked about: test_encodings
def test_the_browser_says_what_is_wrong(tmp_path, name):
    dataset = make_dataset()
    make, reason = BAD[name]
    file_name, data = make(tmp_path)
    client = Client()
    client.force_login(dataset.owner)
    file = SimpleUploadedFile(file_name, data)
    response = client.post(f"/datasets/{dataset.slug}/import/", {"files": [file], "format": "druid"})
    if response.status_code == 302:
        lifecycle.run_here(Job.objects.get())
        response = client.get(response["Location"])
    assert response.status_code == 200
    page = response.content.decode()
    assert reason in page
    assert "Import now" not in page or "Leave out the bad row" in page
    assert not Evidence.objects.exists()


@pytest.mark.parametrize("raw", [b"\xef\xbb\xbf", "crlf"])
def test_byte_order_mark_and_crlf_are_no_errors(tmp_path, raw):
    make_user(is_superuser=True)
    data = druid_bytes(tmp_path)
    data = data.replace(b"\n", b"\r\n") if raw == "crlf" else raw + data
    (tmp_path / "d.tsv").write_bytes(data)
    code, said = command(tmp_path / "d.tsv", "--format", "druid", "--dataset", "d")
    assert code == 0, said
    assert set(Evidence.objects.values_list("text", flat=True)) == {row["evidence"] for row in druid_rows(3)}


@pytest.mark.parametrize("name", ["../../../etc/passwd.tsv", "..\\..\\secret.tsv", "/etc/cron.d/x.tsv", "a\0b.tsv"])
def test_names_of_files_lead_nowhere(tmp_path, settings, name):
    settings.MEDIA_ROOT = tmp_path / "files"
    dataset = make_dataset()
    client = Client()
    client.force_login(dataset.owner)
    file = SimpleUploadedFile("d.tsv", druid_bytes(tmp_path))
    file._name = name  # Django's own class would clean it; what comes over the wire is the server's to clean
    client.post(f"/datasets/{dataset.slug}/import/", {"files": [file], "format": "druid"})
    upload = Upload.objects.get()
    stored = [path for path in (tmp_path / "files").rglob("*") if path.is_file()]
    assert [path.name for path in stored] == [upload.uuid.hex]
    assert stored[0].parent == tmp_path / "files" / "uploads"
    assert ".." not in upload.file_name
    assert not upload.file_name.startswith("/")


def test_names_inside_an_archive_lead_nowhere(tmp_path):
    make_user(is_superuser=True)
    path = tmp_path / "d.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../outside.tsv", druid_bytes(tmp_path))
    assert command(path, "--format", "druid", "--dataset", "d")[0] == 0
    assert not (tmp_path.parent.parent / "outside.tsv").exists()
    assert Evidence.objects.count() == 3


def test_turns_without_a_role_are_refused(tmp_path):
    make_user(is_superuser=True)
    file = tmp_path / "chats.jsonl"
    turns = [{"content": "Did it freeze?"}, {"content": "It did."}]
    file.write_text("".join(json.dumps({"id": n, "messages": turns, "rating": n % 3}) + "\n" for n in range(9)))
    code, text = command(file, "--dataset", "chats", "--project", "chats")
    assert code == 1 and "The turns in messages do not say whose they are. Give each a role" in text
    assert not Dataset.objects.exists()


def test_texts_among_the_numbers_of_a_scale_are_named(tmp_path):
    make_user(is_superuser=True)
    file = tmp_path / "scores.csv"
    values = [*(n % 5 for n in range(20)), "NaN", "n/a"]
    file.write_text("id,text,rating\n" + "".join(f"{n},Text {n}.,{one}\n" for n, one in enumerate(values)))
    code, text = command(file, "--format", "ratings", "--dataset", "scores", "--dry-run")
    assert code == 0 and "'NaN' and 'n/a' are no number, so the labels have no order; empty such cells." in text
