"""A format is its module and a line: one from outside goes through the browser and the command like the others."""

import json
import sys
import types

import pytest
from django.core.checks import run_checks
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.formats import FORMATS, Format
from annotation.jobs import lifecycle
from annotation.models import Claim, Job, Project
from tests.factories import make_dataset, make_user
from tests.importing import outside_format
from tests.importing.files import command
from tests.world import client_of

LINES = [
    {"letter_id": "l1", "letter": "The bridge was closed.", "holds": "supported"},
    {"letter_id": "l2", "letter": "The bridge was sold.", "holds": "refuted"},
]


@pytest.fixture(autouse=True)
def letters(monkeypatch):
    monkeypatch.setitem(FORMATS.entries, "letters", outside_format.INFO)


def jsonl() -> str:
    return "".join(json.dumps(line) + "\n" for line in LINES)


def run_latest() -> Job:
    return lifecycle.run_here(Job.objects.latest("pk"))


@pytest.mark.django_db
def test_it_goes_through_the_pages():
    owner = make_user("owner", is_staff=True)
    dataset = make_dataset(owner, slug="post")
    client = client_of(owner)
    page = f"/datasets/{dataset.slug}/import/"
    assert "Letters to the editor" in client.get(page).content.decode()
    client.post(page, {"files": [SimpleUploadedFile("post.jsonl", jsonl().encode())]})
    dry = run_latest()
    assert dry.parameters["format"] == "letters" and dry.result["content"]["claim"]["created"] == 2
    sent = {"with_project": "on", "project_title": "Post", "task_type": "claim-verdict/three-way/1"}
    assert client.post(f"/imports/{dry.uuid}/start/", sent).status_code == 302
    assert run_latest().state == "done"
    assert Project.objects.get().decisions.count() == 2


@pytest.mark.django_db
def test_it_goes_through_the_command(tmp_path):
    make_user("owner", is_staff=True)
    path = tmp_path / "post.jsonl"
    path.write_text(jsonl(), encoding="utf-8")
    options = (path, "--format", "letters", "--dataset", "post", "--project", "post")
    code, said = command(*options, "--dry-run")
    assert code == 0 and "Would be claim: 2 created" in said
    assert command(*options)[0] == 0
    assert Claim.objects.count() == 2 and Project.objects.get().task_type == "claim-verdict/three-way/1"


def test_a_wrong_module_is_no_format(monkeypatch):
    plain = {"title": "T", "extensions": (".json",)}
    monkeypatch.setitem(sys.modules, "wrong_format", module := types.ModuleType("wrong_format"))
    with pytest.raises(ModuleNotFoundError, match="no_such_module_anywhere"):
        FORMATS.load("no_such_module_anywhere:INFO")
    with pytest.raises(AttributeError, match="INFO"):
        FORMATS.load("wrong_format:INFO")
    module.INFO = Format(slug="lost", reader=None, **plain)
    with pytest.raises(ValueError, match="has no reader"):
        FORMATS.load("wrong_format:INFO")
    module.INFO = "lost"
    with pytest.raises(ValueError, match="no annotation.formats.Format"):
        FORMATS.load("wrong_format:INFO")


def test_a_task_type_that_there_is_not_is_an_error_at_start(monkeypatch):
    assert [error for error in run_checks() if error.id == "assay.E002"] == []
    lost = Format(slug="lost", reader=outside_format.read, task_type="claims/of/9", title="T", extensions=(".json",))
    monkeypatch.setitem(FORMATS.entries, "lost", lost)
    [told] = [error.msg for error in run_checks() if error.id == "assay.E002"]
    assert told == "the format lost fits the task type 'claims/of/9', which there is not"
