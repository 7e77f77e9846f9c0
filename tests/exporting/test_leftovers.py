"""What killed processes left in the data directory is removed; what somebody is writing stays."""

import os
import time
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.jobs import leftovers, lifecycle
from annotation.jobs.leftovers import working_folder
from annotation.models import Artifact, Chunk, Job, Upload
from tests.factories import make_dataset

pytestmark = pytest.mark.django_db


@pytest.fixture
def place(settings, tmp_path):
    settings.MEDIA_ROOT = str(tmp_path)
    return tmp_path


def put(path, *, is_old=True):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    if is_old:
        before = time.time() - 2 * leftovers.LEFT_SECONDS
        os.utime(path, (before, before))
    return path


def test_folders_of_killed_releases_and_exports_go_and_those_under_way_stay(place):
    dataset = make_dataset()
    job = lifecycle.create_job(Job.Kind.ITEMS, dataset.owner, chunks=[({}, 0)], dataset=dataset, wake_workers=False)
    token = uuid.uuid4()
    later = timezone.now() + timedelta(minutes=1)
    job.chunks.filter(index=0).update(state=Chunk.State.LEASED, lease_token=token, lease_expires_at=later)
    for folder in (place / "releases", place / "exports" / str(job.uuid)):
        put(working_folder(folder, token) / "files" / "a.jsonl")
        put(working_folder(folder, uuid.uuid4()) / "files" / "a.jsonl", is_old=False)
    assert leftovers.sweep() == 2
    left = [path.name for path in place.rglob("working-*")]
    assert left == [f"working-{token}"] * 2


def test_files_without_a_row_go_when_they_are_old(place):
    dataset = make_dataset()
    job = lifecycle.create_job(Job.Kind.ITEMS, dataset.owner, chunks=[], dataset=dataset, wake_workers=False)
    upload = Upload.objects.create(owner=dataset.owner, dataset=dataset, file_name="a", size=1, sha256="")
    artifact = Artifact.objects.create(job=job, file_name="a", media_type="text/csv", size=1, sha256="")
    kept = {
        put(upload.stored_at),
        put(artifact.stored_at),
        put(place / "exports" / str(job.uuid) / str(artifact.uuid)),
        put(place / "uploads" / uuid.uuid4().hex, is_old=False),
        put(place / "uploads" / f"{uuid.uuid4().hex}.part", is_old=False),
        put(place / "uploads" / "notes.txt"),
    }
    put(place / "uploads" / uuid.uuid4().hex)
    put(place / "uploads" / f"{uuid.uuid4().hex}.part")
    put(place / "imports" / str(uuid.uuid4()))
    put(place / "exports" / str(job.uuid) / str(uuid.uuid4()))
    assert leftovers.sweep() == 4
    assert {path for path in place.rglob("*") if path.is_file()} == kept
