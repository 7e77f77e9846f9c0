"""Where the disk is full: pages and programs learn it (507), and nothing is half stored."""

import builtins
import errno
import os
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError

from annotation.imports import uploads
from annotation.models import Job, Upload
from tests.factories import make_dataset, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]

CSV = b"claim,evidence\n" + b"A claim,Some evidence\n" * 2000


@pytest.fixture
def place(settings, tmp_path, client):
    """A data set whose owner is signed in, and answers in place of exceptions."""
    settings.MEDIA_ROOT = str(tmp_path)
    dataset = make_dataset(make_user("owner", is_superuser=True))
    client.force_login(dataset.owner)
    client.raise_request_exception = False
    return dataset


class FullAfter:
    """A file on a disk that has room for some bytes."""

    def __init__(self, file, room):
        self.file, self.room = file, room

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.file.close()

    def write(self, block):
        self.room -= len(block)
        if self.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self.file.write(block)


def fill_disk(monkeypatch):
    def open_full(*how):
        return FullAfter(builtins.open(*how), 10_000)

    monkeypatch.setattr(uploads, "open", open_full, raising=False)


def left(tmp_path):
    return [path for path in Path(tmp_path).rglob("*") if path.is_file()]


def test_the_page_of_an_upload_says_so(place, client, monkeypatch, tmp_path, django_capture_on_commit_callbacks):
    fill_disk(monkeypatch)
    small, large = SimpleUploadedFile("a.csv", CSV[:500]), SimpleUploadedFile("b.csv", CSV)
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(f"/datasets/{place.slug}/import/", {"files": [small, large], "format": "table"})
    assert answer.status_code == 507
    assert "The server&#x27;s disk is full, so nothing of this request was stored" in answer.content.decode()
    assert left(tmp_path) == []
    assert not Upload.objects.exists() and not Job.objects.exists()


def test_a_program_that_uploads_gets_a_problem_document(place, client, monkeypatch, tmp_path):
    fill_disk(monkeypatch)
    answer = client.post(f"/api/v1/datasets/{place.slug}/imports/", CSV, content_type="text/csv")
    assert answer.status_code == 507
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["title"] == "Insufficient Storage"
    assert "disk is full" in answer.json()["detail"]
    assert left(tmp_path) == []
    assert not Upload.objects.exists() and not Job.objects.exists()


def test_a_file_without_its_row_does_not_stay(place, client, monkeypatch, tmp_path):
    def full(**fields):
        raise OperationalError("database or disk is full")

    monkeypatch.setattr(Upload.objects, "create", full)
    answer = client.post(f"/api/v1/datasets/{place.slug}/imports/", CSV, content_type="text/csv")
    assert answer.status_code == 507
    assert left(tmp_path) == []


def test_reading_the_request_itself_can_fill_the_disk(place, client, monkeypatch, tmp_path):
    def full(*args, **more):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("django.core.files.uploadhandler.TemporaryFileUploadHandler.receive_data_chunk", full)
    large = SimpleUploadedFile("b.csv", b"claim\n" + b"A claim of some length\n" * 60_000)
    answer = client.post(f"/datasets/{place.slug}/import/", {"files": [large], "format": "table"})
    assert answer.status_code == 507
    assert left(tmp_path) == []
