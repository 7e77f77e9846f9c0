"""A table that counts from 1 and writes NULL where nothing is marked: said and asked in browser, command and API."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.jobs import lifecycle
from annotation.models import Job, Span
from tests.factories import make_dataset, make_user
from tests.formats import shaped
from tests.formats.test_counted_from import XSUM, marked
from tests.importing.files import command
from tests.world import client_of

pytestmark = pytest.mark.django_db


def last_job() -> Job:
    job = Job.objects.filter(kind="import").latest("pk")
    lifecycle.run_here(job)
    job.refresh_from_db()
    return job


def starts(slug: str) -> set[int]:
    spans = Span.objects.filter(judgement__revision__annotation__item__project__slug=slug)
    return set(spans.values_list("start", flat=True))


def test_the_browser_says_the_base_and_asks_for_the_word():
    rosa = make_user("rosa", is_staff=True)
    make_dataset(rosa, slug="texts")
    client = client_of(rosa)
    file = SimpleUploadedFile("x.csv", shaped.xsum_hallucination().encode())
    page = client.post("/datasets/texts/import/", {"files": [file]}, follow=True)
    client.post(page.redirect_chain[-1][0], {f.html_name: f.value() for f in page.context["form"] if f.value()})
    page = client.get(f"/imports/{last_job().uuid}/")
    shown = page.content.decode()
    assert "x.csv: of 32, fit from 1, to before the end: 32; read from 1, to before the end" in shown
    assert "x.csv: NULL" in shown
    sent = {field.html_name: field.value() for field in page.context["form"] if field.value()}
    assert sent["treat_base"] == "words" and sent["treat_nothing"] == "none"
    client.post(f"/imports/{Job.objects.get().uuid}/start/", sent | {"project_title": "Xsum"})
    job = last_job()
    assert job.state == "done" and job.result["annotations"] == 36, job.message
    assert starts("xsum") == {0}


def test_the_command_and_the_api_ask_the_same(tmp_path):
    rosa = make_user("rosa", is_staff=True)
    make_dataset(rosa, slug="texts")
    (tmp_path / "x.csv").write_text(shaped.xsum_hallucination())
    arguments = ("--format", "ratings", "--dataset", "new", "--project", "new", "--owner", rosa.email)
    code, said = command(tmp_path / "x.csv", *arguments)
    assert code == 1 and "Words in place of a highlight: say what to do with them (nothing: none, leave-out)" in said
    said_so = tmp_path / "m.json"
    said_so.write_text(json.dumps({"mapping": XSUM, "values": {"highlights": {"NULL": ""}}}))
    code, said = command(tmp_path / "x.csv", *arguments, "--mapping", said_so)
    assert code == 0 and "read from 1, to before the end): 32" in said and starts("new") == {0}
    mapping = json.dumps({"id": "id", "text": "text", "rater": "rater", "start": "start", "end": "end"})
    for treat, state in ({}, "failed"), ({"base": "one"}, "done"):
        address = f"/api/v1/datasets/texts/imports/?format=ratings&mapping={mapping}&project=from-1&treat="
        table = marked("one", quoted=False)
        sent = client_of(rosa).post(address + json.dumps(treat), data=table, content_type="text/csv")
        assert sent.status_code == 202
        job = last_job()
        assert job.state == state and (state == "done" or "base: zero, one, one-last" in job.message)
    assert starts("from-1") == {2, 4, 12}
