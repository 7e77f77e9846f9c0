"""A file that Excel saved in an old encoding comes in as it reads there, by browser, command and API."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.jobs import lifecycle
from annotation.models import Claim, Dataset, Evidence, Job, Project
from tests.factories import make_dataset, make_user
from tests.formats.test_encodings import EXCEL
from tests.importing.files import command, druid_row, write_druid
from tests.world import client_of

pytestmark = pytest.mark.django_db
TEXTS = {"007": 'Größe; "quoted", comma\nnew line', "7": "x, y", "1e5": "z"}


@pytest.fixture
def rosa():
    rosa = make_user("rosa", is_staff=True)
    make_dataset(rosa, slug="texts")
    return rosa


def filled(page) -> dict:
    return {field.html_name: field.value() for field in page.context["form"] if field.value()}


def last_job() -> Job:
    job = Job.objects.filter(kind="import").latest("pk")
    lifecycle.run_here(job)
    job.refresh_from_db()
    return job


def dropped(client, raw: bytes, **chosen: str):
    """The page of the dry run."""
    sent = {"files": [SimpleUploadedFile("excel.csv", raw)], **chosen}
    page = client.post("/datasets/texts/import/", sent, follow=True)
    if "layout" in page.context:
        client.post(page.redirect_chain[-1][0], filled(page))
    return page, client.get(f"/imports/{last_job().uuid}/")


def stored() -> dict[str, str]:
    return dict(Claim.objects.published().values_list("key", "text"))


def test_the_browser_says_its_guess_twice_and_imports_it(rosa):
    client = client_of(rosa)
    columns, page = dropped(client, EXCEL.encode("cp1252"))
    assert "excel.csv: read as Windows-1252, such as “007;&quot;Größe" in columns.content.decode()
    shown = page.content.decode()
    assert "excel.csv: read as Windows-1252" in shown and not Claim.objects.exists()
    assert page.context["form"]["treat_encoding"].value() == "guess"
    client.post(f"/imports/{Job.objects.get().uuid}/start/", filled(page) | {"project_title": "Excel"})
    assert last_job().state == "done" and stored() == TEXTS
    assert set(Project.objects.get().raters.values_list("name", flat=True)) == {"Änna", "Bob"}


def test_the_browser_reads_a_file_as_it_is_told(rosa):
    client = client_of(rosa)
    columns, page = dropped(client, EXCEL.encode("mac-roman"), encoding="windows-1250")
    assert "read as Windows-1250" in columns.content.decode()
    assert page.context["form"]["treat_encoding"].value() == "windows-1250"
    columns, page = dropped(client, EXCEL.encode("mac-roman"), encoding="mac-roman")
    client.post(f"/imports/{Job.objects.latest('pk').uuid}/start/", filled(page) | {"project_title": "Mac"})
    assert last_job().state == "done" and stored() == TEXTS


def test_an_encoding_that_is_chosen_after_the_dry_run_holds_for_names_of_columns_and_labels(rosa):
    client = client_of(rosa)
    rows = "".join(f"t{place},Text {place} hier.,{who},{label}\n" for place in range(6)
                   for who, label in (("Änna", "süß"), ("Bob", "groß")))  # fmt: skip
    raw = f"id,text,annotator,größe\n{rows}".encode("mac-roman")
    _, page = dropped(client, raw, encoding="windows-1252")
    assert "grš§e" in page.content.decode()
    sent = filled(page) | {"project_title": "Mac", "treat_encoding": "mac-roman"}
    client.post(f"/imports/{Job.objects.latest('pk').uuid}/start/", sent)
    job = last_job()
    assert job.state == "done", job.message
    project = Project.objects.get()
    [question] = project.type.dimensions
    assert question.slug == "grosse" and {label.title for label in question.labels} == {"süß", "groß"}
    assert set(project.raters.values_list("name", flat=True)) == {"Änna", "Bob"}


def test_the_command_asks_and_takes_the_answer(rosa, tmp_path):
    path = tmp_path / "excel.csv"
    path.write_bytes(EXCEL.encode("cp1252"))
    arguments = (path, "--format", "ratings", "--dataset", "new", "--project", "new", "--owner", rosa.email)
    for more in ((), ("--dry-run",)):
        code, said = command(*arguments, *more)
        assert code == 1 and "excel.csv: read as Windows-1252, such as “007;" in said
        assert "encoding: guess, windows-1252" in said and not Dataset.objects.filter(slug="new").exists()
    code, said = command(*arguments, "--treat", "encoding=guess")
    assert code == 0 and stored() == TEXTS


def test_the_api_says_the_guess_and_takes_the_choice(rosa):
    client, raw = client_of(rosa), EXCEL.encode("cp1252")
    address = "/api/v1/datasets/texts/imports/?name=excel.csv&"
    sent = {"data": raw, "content_type": "text/csv"}
    assert client.post(f"{address}dry_run=true", **sent).status_code == 202
    [odd] = [one for one in last_job().result["odd"] if one["kind"] == "encoding"]
    assert "read as Windows-1252" in odd["what"] and odd["is_open"]
    mapping = json.dumps({"id": "id", "text": "text", "rater": "rater", "label/label": "label"})
    for treat, state in ({}, "failed"), ({"encoding": "windows-1252"}, "done"):
        asked = f"{address}format=ratings&mapping={mapping}&project=excel&treat={json.dumps(treat)}"
        assert client.post(asked, **sent).status_code == 202
        job = last_job()
        assert job.state == state, job.message
        assert state == "done" or "encoding: guess, windows-1252" in job.message
    assert stored() == TEXTS


def test_every_format_of_text_is_read_in_its_encoding(rosa, tmp_path):
    path = write_druid(tmp_path / "d.tsv", [druid_row(0, evidence="Über Köln.")])
    path.write_bytes(path.read_text().encode("latin-1"))
    code, said = command(path, "--format", "druid", "--dataset", "texts", "--treat", "encoding=guess")
    assert code == 0 and Evidence.objects.published().get().text == "Über Köln."


def test_half_a_surrogate_pair_is_replaced_by_choice(rosa, tmp_path):
    """In the browser beside a bad row; without the choice both are bad rows."""
    lines = [{"id": str(n), "text": text, "rater": "r", "label": "yes"} for n, text in enumerate(("a\ud800", "b", ""))]
    raw = "\n".join(map(json.dumps, lines)).encode()
    client = client_of(rosa)
    _, page = dropped(client, raw)
    assert "half of a surrogate pair" in page.content.decode()
    sent = filled(page) | {"project_title": "Halves"}
    address = f"/imports/{Job.objects.latest('pk').uuid}/start/"
    assert sent["treat_characters"] == "leave-out"
    assert client.post(address, sent).status_code == 422
    assert client.post(address, sent | {"treat_characters": "replace"}).status_code == 302
    job = last_job()
    assert job.state == "failed" and job.message.startswith("1 bad row")
    assert client.post(address, sent | {"treat_characters": "replace", "leave_out": "on"}).status_code == 302
    assert last_job().state == "done" and stored() == {"0": "a\ufffd", "1": "b"}
