"""Times that no zone or no order of day and month goes with: asked or said, chosen in browser, command and API."""

import json
from datetime import UTC, datetime

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.imports import importing
from annotation.imports.importing import ImportRequest
from annotation.jobs import lifecycle
from annotation.models import Dataset, Job, Revision
from tests.factories import make_dataset, make_user
from tests.formats.test_times import MET
from tests.importing.files import command
from tests.world import client_of

pytestmark = pytest.mark.django_db
TABLE = "\n".join(["id,text,rater,label,time", *(f"{n},text {n},r,yes,{time}" for n, time in enumerate(MET))])


def last_job() -> Job:
    job = Job.objects.filter(kind="import").latest("pk")
    lifecycle.run_here(job)
    job.refresh_from_db()
    return job


def stored(slug: str = "times") -> set[datetime]:
    return set(Revision.objects.filter(annotation__item__project__slug=slug).values_list("submitted_at", flat=True))


def right(hour_of_local: int, april: datetime) -> set[datetime]:
    march = [datetime(2026, 3, 29, hour, 30, tzinfo=UTC) for hour in (0, 2, 9)]
    return {*march, datetime(2026, 3, 29, hour_of_local, 30, tzinfo=UTC), april}


def test_the_browser_asks_for_the_order_and_says_the_zone():
    rosa = make_user("rosa", is_staff=True)
    make_dataset(rosa, slug="texts")
    client = client_of(rosa)
    page = client.post("/datasets/texts/import/", {"files": [SimpleUploadedFile("t.csv", TABLE.encode())]}, follow=True)
    client.post(page.redirect_chain[-1][0], {f.html_name: f.value() for f in page.context["form"] if f.value()})
    page = client.get(f"/imports/{last_job().uuid}/")
    assert "t.csv: read as times in UTC" in page.content.decode()
    sent = {field.html_name: field.value() for field in page.context["form"] if field.value()}
    # What the other dates of the file show was no answer, so it is none of the choices and nothing is preselected.
    assert "treat_dates" not in sent and sent["treat_zone"] == "UTC"
    assert [choice for choice, _ in page.context["form"].fields["treat_dates"].choices] == ["day-first", "month-first"]
    dry_run = Job.objects.get()
    address = f"/imports/{dry_run.uuid}/start/"
    for treat in ({}, {"treat_dates": "rows"}):
        assert client.post(address, sent | treat | {"project_title": "Times"}).status_code == 422
    chosen = {"treat_dates": "day-first", "treat_zone": "America/New_York"}
    client.post(address, sent | {"project_title": "Times"} | chosen)
    assert last_job().state == "done"
    assert stored() == right(6, datetime(2026, 4, 3, 14, tzinfo=UTC))


def test_the_zone_is_asked_together_with_the_order():
    """Also where no time of the file can be read before the order is known."""
    rosa = make_user("rosa", is_staff=True)
    make_dataset(rosa, slug="texts")
    client = client_of(rosa)
    table = "id,text,rater,label,time\n1,One.,r,yes,03/04/2026 10:00\n2,Two.,r,no,04/03/2026 10:00\n"
    page = client.post("/datasets/texts/import/", {"files": [SimpleUploadedFile("t.csv", table.encode())]}, follow=True)
    client.post(page.redirect_chain[-1][0], {f.html_name: f.value() for f in page.context["form"] if f.value()})
    dry_run = last_job()
    page = client.get(f"/imports/{dry_run.uuid}/")
    sent = {field.html_name: field.value() for field in page.context["form"] if field.value()}
    chosen = {"project_title": "Times", "treat_dates": "day-first", "treat_zone": "America/New_York"}
    client.post(f"/imports/{dry_run.uuid}/start/", sent | chosen)
    assert last_job().state == "done"
    assert stored() == {datetime(2026, 4, 3, 14, tzinfo=UTC), datetime(2026, 3, 4, 15, tzinfo=UTC)}


def test_the_page_of_a_refused_import_leads_back_to_the_choices():
    rosa = make_user("rosa", is_staff=True)
    dataset = make_dataset(rosa, slug="texts")
    client = client_of(rosa)
    page = client.post("/datasets/texts/import/", {"files": [SimpleUploadedFile("t.csv", TABLE.encode())]}, follow=True)
    client.post(page.redirect_chain[-1][0], {f.html_name: f.value() for f in page.context["form"] if f.value()})
    dry_run = last_job()
    importing.start(rosa, dataset, ImportRequest.from_json(dry_run.parameters), is_dry_run=False)
    job = last_job()
    assert job.state == "failed" and "say what to do with them (dates: day-first, month-first)" in job.message
    shown = client.get(f"/imports/{job.uuid}/").content.decode()
    assert "Choose how to read these rows: Dates such as 03/04/2026." in shown and "day-first" not in shown
    assert f'href="/imports/{dry_run.uuid}/">Back to the dry run' in shown and "Try again" not in shown


def test_the_command_and_the_api_take_the_same_choices(tmp_path):
    rosa = make_user("rosa", is_staff=True)
    make_dataset(rosa, slug="texts")
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    arguments = (path, "--format", "ratings", "--dataset", "new", "--project", "new", "--owner", rosa.email)
    code, said = command(*arguments)
    assert code == 1 and "(dates: day-first, month-first); " in said
    assert not Dataset.objects.filter(slug="new").exists()
    code, said = command(*arguments, "--treat", "dates=month-first,zone=Mars/Olympus")
    assert code == 1 and "choices are UTC, a zone such as Europe/Berlin" in said
    code, said = command(*arguments, "--treat", "dates=month-first")
    assert code == 0 and "Times without a time zone (" in said and "read as times in UTC): 2, first in" in said
    assert stored("new") == right(2, datetime(2026, 3, 4, 10, tzinfo=UTC))
    mapping = json.dumps({role: role.partition("/")[0] for role in ("id", "text", "rater", "label/label", "time")})
    treat = json.dumps({"dates": "month-first", "zone": "America/New_York"})
    address = f"/api/v1/datasets/texts/imports/?format=ratings&mapping={mapping}&project=times&treat={treat}"
    assert client_of(rosa).post(address, data=TABLE, content_type="text/csv").status_code == 202
    job = last_job()
    assert job.state == "done" and {one["kind"] for one in job.result["odd"]} == {"dates", "zone"}
    assert stored() == right(6, datetime(2026, 3, 4, 15, tzinfo=UTC))
