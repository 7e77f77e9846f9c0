"""From the upload to the result in the browser, without a real one: pages, choices, rights and numbers of queries."""

import csv
import io
import re
from io import BytesIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.imports import importing
from annotation.jobs import lifecycle
from annotation.models import ColumnMapping, Dataset, DatasetGrant, Evidence, Job, Project, Unit, Upload
from tests.factories import make_dataset, make_project, make_user
from tests.importing.files import druid_row, druid_rows, run, texts, write_druid
from tests.work.browser import Annotator

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner():
    return make_user("owner", is_staff=True)


@pytest.fixture
def dataset(owner):
    return make_dataset(owner, slug="rivers")


@pytest.fixture
def client(owner):
    client = Client()
    client.force_login(owner)
    return client


def send(client, dataset, name, data, **more):
    files = [SimpleUploadedFile(name, data.encode() if isinstance(data, str) else data)]
    return client.post(f"/datasets/{dataset.slug}/import/", {"files": files, **more})


def druid(tmp_path, rows):
    return write_druid(tmp_path / "d.tsv", rows).read_bytes()


def looked_at(client, response):
    """The page of the dry run that an upload led to, after the worker did it."""
    assert response.status_code == 302, response.content.decode()
    job = Job.objects.order_by("-pk").first()
    assert response["Location"] == f"/imports/{job.uuid}/"
    lifecycle.run_here(job)
    return job, client.get(response["Location"]).content.decode()


def test_from_the_upload_to_the_imported_project(client, dataset, tmp_path):
    rows = [druid_row(n, relevant="True", evidence_stance="refutes") for n in range(4)]
    response = send(client, dataset, "anything.tsv", druid(tmp_path, rows))
    dry, page = looked_at(client, response)
    assert dry.parameters["format"] == "druid"
    assert "would be created" in page
    assert "Import now" in page
    assert not Evidence.objects.exists()
    sent = {"with_project": "on", "project_title": "River stances", "task_type": "claim-evidence/six-way/1"}
    response = client.post(f"/imports/{dry.uuid}/start/", sent)
    job, page = looked_at(client, response)
    assert job.state == "done", job.message
    assert "The file was imported" in page
    assert "/projects/river-stances/" in page
    assert len(texts(dataset)) == 4
    assert Project.objects.get().decisions.count() == 8
    dry, page = looked_at(client, send(client, dataset, "again.tsv", druid(tmp_path, rows)))
    assert "already contains all of this" in page


def test_progress_survives_a_reload_and_ends_with_the_result(client, dataset, tmp_path):
    response = send(client, dataset, "d.tsv", druid(tmp_path, druid_rows(4)))
    job = Job.objects.get()
    for _ in range(2):
        page = client.get(response["Location"]).content.decode()
        assert f'hx-get="/jobs/{job.uuid}/progress/"' in page
        assert "<progress" in page
        assert "Cancel" in page
    fragment = client.get(f"/jobs/{job.uuid}/progress/")
    assert "HX-Refresh" not in fragment.headers
    lifecycle.run_here(job)
    assert client.get(f"/jobs/{job.uuid}/progress/").headers["HX-Refresh"] == "true"
    page = client.get(response["Location"]).content.decode()
    assert "hx-get" not in page
    assert "<progress" not in page


def test_cancel_and_try_again(client, dataset, tmp_path):
    send(client, dataset, "d.tsv", druid(tmp_path, druid_rows(4)))
    job = Job.objects.get()
    page = client.post(f"/jobs/{job.uuid}/cancel/", follow=True).content.decode()
    assert "cancelled" in page
    client.post(f"/jobs/{job.uuid}/resume/")
    assert lifecycle.run_here(job).state == "done"


def test_bad_rows_are_listed_and_can_be_downloaded(client, dataset, tmp_path):
    rows = [*druid_rows(2), druid_row(2, claim_date="=1+1"), druid_row(3, is_gold="<b>|perhaps</b>")]
    job, page = looked_at(client, send(client, dataset, "d.tsv", druid(tmp_path, rows)))
    assert "2 bad rows" in page
    assert "Leave out the 2 bad rows and import the rest" in page
    assert "&lt;b&gt;|perhaps" in page
    table = list(csv.reader(io.StringIO(client.get(f"/imports/{job.uuid}/errors.csv").content.decode())))
    assert table[0] == ["file", "line", "column", "value", "reason"]
    assert table[1][:4] == ["d.tsv", "4", "claim_date", "'=1+1"]
    response = client.get(f"/imports/{job.uuid}/errors.md")
    assert "attachment" in response["Content-Disposition"]
    assert "\\<b\\>\\|perhaps\\</b\\>" in response.content.decode()
    refused = client.post(f"/imports/{job.uuid}/start/", follow=True)
    assert refused.status_code == 422 and "Nothing can be imported with bad rows" in refused.content.decode()
    assert not Evidence.objects.exists()


def test_all_bad_rows_are_counted_and_a_thousand_listed(client, dataset, tmp_path):
    job, page = looked_at(
        client, send(client, dataset, "d.tsv", druid(tmp_path, [druid_row(n, claim_date="x") for n in range(1203)]))
    )
    assert "1,203 bad rows" in page
    assert "The first 1,000 are listed" in page
    assert len(client.get(f"/imports/{job.uuid}/errors.csv").content.decode().splitlines()) == 1001


def test_judged_rows_need_a_choice(client, dataset, tmp_path):
    run(dataset, write_druid(tmp_path / "first.tsv", druid_rows(2)))
    person = make_user()
    annotator = Annotator(person, make_project(dataset, annotators=[person], overlap=1))
    for _ in range(2):
        annotator.submit(annotator.next()["payload"])
    changed = druid(tmp_path, druid_rows(2, evidence="Changed."))
    dry, page = looked_at(client, send(client, dataset, "d.tsv", changed))
    assert "2 changed rows already judged" in page
    assert druid_row(1)["id"] in page
    assert client.post(f"/imports/{dry.uuid}/start/").status_code == 422
    job, page = looked_at(client, client.post(f"/imports/{dry.uuid}/start/", {"on_judged": "supersede"}))
    assert "2 changed rows got a new version" in page
    assert set(texts(dataset).values()) == {"Changed."}


TABLE = "statement,what it says,verdict on it\nRivers freeze.,They do.,yes indeed\nRivers freeze.,Never.,not at all\n"
CLAIM_AND_EVIDENCE = {"role-0": "claim-evidence/claim", "role-1": "claim-evidence/evidence"}


def test_columns_are_mapped_and_remembered(client, dataset):
    response = send(client, dataset, "own.csv", TABLE)
    assert response.status_code == 302
    assert response["Location"].startswith("/datasets/rivers/import/columns/?file=")
    page = client.get(response["Location"]).content.decode()
    assert "They do." in page
    assert "Guessed from the names" in page
    assert re.search(r'name="role-0".*?<option value="claim-evidence/claim" selected>', page, re.S)
    refused = client.post(response["Location"], {"role-0": "claim-evidence/claim"}).content.decode()
    assert "No column is chosen for evidence" in refused
    twice = client.post(
        response["Location"], {"role-0": "claim-evidence/claim", "role-1": "claim-evidence/claim"}
    ).content.decode()
    assert "The column statement has this role already" in twice
    job, page = looked_at(client, client.post(response["Location"], CLAIM_AND_EVIDENCE))
    assert dict(job.parameters["choices"]["mapping"]) == {"claim": "statement", "evidence": "what it says"}
    assert "Import now" in page
    assert ColumnMapping.objects.count() == 1
    again = client.get(send(client, dataset, "next.csv", TABLE)["Location"]).content.decode()
    assert "Filled in from your earlier mapping" in again
    assert re.search(r'name="role-1".*?<option value="claim-evidence/evidence" selected>', again, re.S)


def test_the_roles_say_what_a_table_holds(client, dataset):
    """Whatever it was guessed to hold: the page that has claims with evidence takes labels by raters, too."""
    where = send(client, dataset, "own.csv", TABLE)["Location"]
    both = {"role-0": "claim-evidence/claim", "role-1": "pairs/hypothesis"}
    mixed = client.post(where, both).content.decode()
    assert "“Claim” (Claims and evidence) and “Hypothesis” (Premises and hypotheses)" in mixed
    roles = {"role-0": "ratings/context", "role-1": "ratings/text", "role-2": "ratings/label", "rater-2": "ann"}
    job, _ = looked_at(client, client.post(f"{where}&layout=claim-evidence", roles | {"name-2": "Verdict"}))
    assert job.parameters["format"] == "ratings" and "Filled in" in client.get(where).content.decode()
    assert job.result["labels"] == {"verdict": {"yes indeed": 1, "not at all": 1}}
    assert ColumnMapping.objects.get().layout == "ratings"


def test_a_mapping_goes_from_one_assay_to_another_as_a_file(client, dataset, tmp_path):
    table = "claim,what it says,verdict on it\nA b.,One.,backs\nA c.,Two.,attacks\n"
    where = send(client, dataset, "own.csv", table)["Location"]
    chosen = CLAIM_AND_EVIDENCE | {"role-2": "claim-evidence/stance"}
    labels = {"value-stance-0": "refutes", "value-stance-1": "supports"}
    asked = client.post(where, chosen)  # the values of labels are asked for once their column is known
    assert "Choose below what the values" in client.get(asked["Location"]).content.decode()
    job, _ = looked_at(client, client.post(where, chosen | labels))
    kept = client.get(f"/imports/{job.uuid}/columns.json").content
    ColumnMapping.objects.all().delete()

    def fill_in(said: bytes) -> tuple[str, str]:
        response = client.post(where, {"mapping": SimpleUploadedFile("columns.json", said)})
        return response["Location"], client.get(response["Location"]).content.decode()

    for wrong, says in (
        (b"{", "is not JSON"),
        (b"{}", "no object “mapping”"),
        (b'{"mapping": {"claim": "assertion"}}', "does not have these columns of the mapping: assertion"),
        (b'{"mapping": {"clame": "claim"}}', "There is no field &#x27;clame&#x27;"),
        (b'{"format": "ratings", "mapping": {"tekst": "claim"}}', "there is no role &#x27;tekst&#x27;"),
        (b'{"mapping": {"claim": "claim"}, "values": {"stance": "x"}}', "“values” is not an object"),
    ):
        assert says in fill_in(wrong)[1]
    assert not ColumnMapping.objects.exists()
    address, page = fill_in(kept)
    assert address.endswith("&layout=claim-evidence") and "Filled in from your earlier mapping" in page
    assert re.search(r'name="role-1".*?<option value="claim-evidence/evidence" selected>', page, re.S)
    again, _ = looked_at(client, client.post(address, chosen | labels))
    assert client.get(f"/imports/{again.uuid}/columns.json").content == kept
    (tmp_path / "own.csv").write_text(table)
    (tmp_path / "columns.json").write_bytes(kept)
    named = {"format": "table", "dataset": "elsewhere", "mapping": tmp_path / "columns.json"}
    call_command("import_dataset", str(tmp_path / "own.csv"), owner=dataset.owner.email, verbosity=0, **named)
    assert Job.objects.latest("pk").result["labels"] == {"stance": {"supports": 1, "refutes": 1}}


def test_values_of_labels_are_mapped(client, dataset):
    table = "claim,evidence,stance\nA b.,One.,backs\nA b.,Two.,attacks\nA b.,Three.,\n"
    where = send(client, dataset, "own.csv", table)["Location"]
    page = client.get(where).content.decode()
    assert "Stance label: “attacks” means" in page
    columns = CLAIM_AND_EVIDENCE | {"role-2": "claim-evidence/stance"}
    job, page = looked_at(client, client.post(where, columns))
    assert "2 bad rows" in page
    labels = {"value-stance-0": "refutes", "value-stance-1": "supports"}
    job, page = looked_at(client, client.post(where, columns | labels))
    assert job.result["labels"] == {"stance": {"supports": 1, "refutes": 1}}
    assert "Create a project with the labels in the file" in page


def test_several_files_of_refchecker_come_in_together(client, dataset):
    files = [
        SimpleUploadedFile(f"nq_{model}_answers.json", b'[{"id": "1", "response": "", "claude2_response_kg": []}]')
        for model in ("gpt4", "claude2")
    ]
    response = client.post("/datasets/rivers/import/", {"files": files})
    job, page = looked_at(client, response)
    assert job.parameters["format"] == "refchecker"
    assert job.result["content"]["response"]["created"] == 2


def test_many_files_of_a_table_have_a_short_address(client, dataset, owner, monkeypatch):
    """Web servers refuse long ones, and a hundred ids are 4 kB."""
    rows = [f"Premise,Hypothesis,label\nIt rains {n}.,It is wet.,neutral\n" for n in range(60)]
    files = [SimpleUploadedFile(f"{n}.csv", text.encode()) for n, text in enumerate(rows)]
    response = client.post("/datasets/rivers/import/", {"files": files})
    where = response["Location"]
    assert len(where) < 200
    page = client.get(where).content.decode()
    assert "0.csv and 59 more with the same columns" in page
    assert all(len(found) < 200 for found in re.findall(r'(?:href|action)="([^"]*files?=[^"]*)"', page))
    mapping = {"role-0": "pairs/premise", "role-1": "pairs/hypothesis", "role-2": "pairs/label"}
    job, _ = looked_at(client, client.post(f"{where}&layout=pairs", mapping | {"value-label-0": "neutral"}))
    assert len(job.parameters["files"]) == 60
    monkeypatch.setattr(importing, "fitting_task_type", None)  # the page of a dry run reads no file
    assert "Create a project with the labels in the file" in client.get(f"/imports/{job.uuid}/").content.decode()
    later = Client()
    later.force_login(owner)
    assert "choose them again" in later.get(where, follow=True).content.decode()


def test_the_form_of_a_table_with_many_columns_can_be_sent(client, dataset):
    columns = ["text", "annotator_1", *(f"note {n}" for n in range(300))]
    table = ",".join(columns) + "\n" + "\n".join(",".join([f"Text {n}.", "yes", *["x"] * 300]) for n in range(3))
    where = send(client, dataset, "wide.csv", table)["Location"]
    fields = {f"{part}-{n}": "" for part in ("role", "name", "rater", "scale") for n in range(len(columns))}
    mapping = {"role-0": "ratings/text", "role-1": "ratings/label", "name-1": "Fluent", "rater-1": "1"}
    job, _ = looked_at(client, client.post(f"{where}&layout=ratings", fields | mapping))
    assert job.state == Job.State.DONE and job.parameters["format"] == "ratings"


def test_a_form_that_is_cut_off_stores_nothing(owner, dataset):
    start = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\nclaim,evidence\nA b.,One.\n'
    browser = Client()
    browser.force_login(owner)
    environ = {"REQUEST_METHOD": "POST", "PATH_INFO": "/datasets/rivers/import/"}
    environ |= {"CONTENT_TYPE": "multipart/form-data; boundary=x", "wsgi.input": BytesIO(start)}
    refused = browser.request(**environ, CONTENT_LENGTH=str(len(start) + 9))
    assert refused.status_code == 400 and "broke off" in refused.content.decode()
    assert not Upload.objects.exists()
    environ["wsgi.input"] = BytesIO(start + b"\r\n--x--")
    assert browser.request(**environ, CONTENT_LENGTH=str(len(start) + 7)).status_code == 302
    assert Upload.objects.get().size == 25


def test_a_body_over_the_limit_is_refused_unread(client, dataset, settings):
    settings.UPLOAD_LIMIT = 1024**2
    response = send(client, dataset, "d.tsv", b"x" * (3 * 1024**2))
    assert response.status_code == 413
    assert "limit is 1 MB" in response.content.decode()
    assert not Upload.objects.exists()


def test_uploads_are_protected_against_forged_requests(owner, dataset):
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    assert send(client, dataset, "d.tsv", b"x").status_code == 403


def test_only_who_may_change_the_data_set_imports_into_it(client, dataset, owner, tmp_path):
    job, _ = looked_at(client, send(client, dataset, "d.tsv", druid(tmp_path, druid_rows(2))))
    upload = Upload.objects.get()
    stranger, reader = make_user(), make_user()
    DatasetGrant.objects.create(dataset=dataset, user=reader, can_edit=False)
    pages = [
        "/datasets/rivers/import/",
        f"/datasets/rivers/import/columns/?file={upload.uuid}",
        f"/imports/{job.uuid}/",
        f"/imports/{job.uuid}/errors.csv",
        f"/jobs/{job.uuid}/progress/",
    ]
    for person, first in ((stranger, 404), (reader, 403)):
        other = Client()
        other.force_login(person)
        found = [other.get(page).status_code for page in pages]
        assert found == [first, first, 404, 404, 404]
        assert other.post(f"/imports/{job.uuid}/start/").status_code == 404
        assert other.post(f"/jobs/{job.uuid}/cancel/").status_code == 404
    assert Client().get(pages[0]).status_code == 302
    elsewhere = make_dataset(owner)
    assert client.get(f"/datasets/{elsewhere.slug}/import/columns/?file={upload.uuid}").status_code == 404
    assert client.get("/datasets/rivers/import/columns/?file=nonsense").status_code == 404


def test_making_a_data_set_leads_to_its_first_import(client):
    response = client.post("/datasets/new/", {"title": "Lakes", "slug": "lakes"})
    assert response["Location"] == "/datasets/lakes/import/"
    assert Dataset.objects.get().title == "Lakes"
    assert client.post("/datasets/new/", {"title": "Lakes", "slug": "lakes"}).status_code == 200
    for slug in ("great-lakes", "great-lakes-2"):  # without a short name it is made from the title
        assert client.post("/datasets/new/", {"title": "Great Lakes"})["Location"] == f"/datasets/{slug}/import/"
    plain = Client()
    plain.force_login(make_user())
    assert plain.get("/datasets/new/").status_code == 403


def queries(client, page):
    with CaptureQueriesContext(connection) as captured:
        assert client.get(page).status_code == 200
    return len(captured)


@pytest.mark.parametrize("page", ["/datasets/", "/datasets/rivers/", "/datasets/rivers/import/"])
def test_pages_ask_no_more_questions_when_there_is_more(client, dataset, owner, tmp_path, page):
    def more(number):
        run(dataset, write_druid(tmp_path / f"{number}.tsv", [druid_row(number, under=number)]))
        make_dataset(owner)
        make_project(dataset, with_items=False)

    more(1)
    client.get(page)
    few = queries(client, page)
    for number in range(2, 8):
        more(number)
    assert queries(client, page) == few


CONTENT = (
    '{"question": {"id": "q1", "text": "When?"}, "passages": [{"text": "In 1963."}],'
    ' "aspects": ["the year", "the cold"],'
    ' "responses": [{"text": "1963", "labels": {"grade": "perfect"}, "sub_sentences": [{"text": "It froze."}],'
    ' "atomic_claims": [{"text": "It froze."}]}], "pairs": [{"premise": "In 1963.", "hypothesis": "Once."}]}\n'
)


def test_content_of_every_kind_is_recognised_named_and_made_into_a_project(client, dataset):
    dry, page = looked_at(client, send(client, dataset, "anything.jsonl", CONTENT))
    assert dry.parameters["format"] == "content" and not Unit.objects.exists()
    rows = re.findall(r'<th scope="row">([^<]+)</th><td class="num">(\d+)', page)
    assert rows == [
        ("Questions", "1"),
        ("Evidence", "1"),
        ("Responses", "1"),
        ("Sub-sentences", "1"),
        ("Atomic claims", "1"),
        ("Aspects", "2"),
        ("Pairs", "1"),
    ]
    assert '<option value="answer-grade/-/1" selected>' in page  # what the labels of the file are of
    chosen = {"with_project": "on", "project_title": "Grades", "task_type": "answer-grade/-/1"}
    response = client.post(f"/imports/{dry.uuid}/start/", chosen)
    job, page = looked_at(client, response)
    assert job.state == "done", job.message
    project = Project.objects.get(slug="grades")
    assert project.decisions.values_list("unit__key", "label").get() == ("q1/r0", "perfect")
    assert "1 new decisions" in page
    # The same file again, changed: what was decided is named in words.
    changed = CONTENT.replace('"the cold"', '"the wind"').replace(
        '"It froze."}],', '"It froze."}, {"text": "More."}],', 1
    )
    dry, page = looked_at(client, send(client, dataset, "anything.jsonl", changed))
    assert "one more sub-sentence" in page and "<td>aspect</td>" in page


def test_a_bad_line_of_content_is_listed_with_its_place(client, dataset):
    _, page = looked_at(
        client, send(client, dataset, "c.jsonl", CONTENT + '{"aspects": ["the year"], "pairs": []}\n', format="content")
    )
    assert "<td>aspects[0]</td>" in page and "has no question: the line lacks it" in page
    assert "Leave out the bad row and import the rest" in page
