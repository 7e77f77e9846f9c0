"""Exports as background jobs: what is kept, what is not left behind, and who may download it."""

import hashlib
import json
import threading

import pytest
from django.conf import settings
from django.db import connection
from django.urls import reverse

from annotation.exports import queries, releasing
from annotation.formats.content import assay
from annotation.jobs import lifecycle
from annotation.jobs.lifecycle import LeaseLost
from annotation.models import Artifact, Chunk, Job, Membership
from tests.factories import join, make_user
from tests.world import client_of
from tests.world.labels import items_of, make_rater, project_of, say

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


@pytest.fixture(autouse=True)
def media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"


def exported(n=3, **fields):
    project = project_of(n, **fields)
    rater = make_rater(project)
    for item in items_of(project):
        say(item, rater, "relevant", "supports")
    return project


def folder_of(job):
    return settings.MEDIA_ROOT / "exports" / str(job.uuid)


def start(project, kinds=None):
    return releasing.start_export(project, project.created_by, kinds)


def test_a_job_makes_files_with_their_size_and_hash():
    job = lifecycle.run_here(start(exported()))
    assert job.state == Job.State.DONE, job.message
    assert job.result["counts"] == {"annotations": 3, "decisions": 0, "items": 3, "revisions": 3, "units": 3}
    artifacts = {artifact.file_name.removeprefix(f"{job.project.slug}-"): artifact for artifact in job.artifacts.all()}
    assert set(artifacts) == {"annotations.jsonl", "claims.jsonl", "claims.tsv", "claims.parquet", "manifest.json"}
    for artifact in artifacts.values():
        content = releasing.artifact_path(artifact).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (artifact.size, artifact.sha256)
    assert {path.name for path in folder_of(job).iterdir()} == {str(artifact.uuid) for artifact in artifacts.values()}
    manifest = json.loads(releasing.artifact_path(artifacts["manifest.json"]).read_text())
    assert manifest["files"]["claims.tsv"]["sha256"] == artifacts["claims.tsv"].sha256


def test_only_the_chosen_kinds_are_kept():
    job = lifecycle.run_here(start(exported(), ["tsv"]))
    names = sorted(artifact.file_name.split("-", 2)[-1] for artifact in job.artifacts.all())
    assert names == ["annotations.jsonl", "claims.tsv", "manifest.json"]


def test_cancelling_leaves_no_files(monkeypatch):
    job = start(exported())

    def cancel_at_once(*asked):
        for batch in real(*asked):
            lifecycle.request_cancel(Job.objects.get(pk=job.pk))
            yield batch

    real = queries.exported_items
    monkeypatch.setattr(releasing, "exported_items", cancel_at_once)
    job = lifecycle.run_here(job)
    assert job.state == Job.State.CANCELLED
    assert not folder_of(job).exists() and not Artifact.objects.exists()


def test_an_export_that_fails_leaves_no_files(monkeypatch):
    monkeypatch.setattr(assay, "line_of", lambda annotation: 1 / 0)
    job = lifecycle.run_here(start(exported()))
    assert job.state == Job.State.FAILED and "ZeroDivisionError" in job.message
    assert not folder_of(job).exists() and not Artifact.objects.exists()


def test_what_a_killed_worker_left_is_gone_after_the_next_attempt():
    job = start(exported())
    for left in (folder_of(job) / "working-of-the-dead" / "claims.jsonl", folder_of(job) / "an-artifact-never-stored"):
        left.parent.mkdir(parents=True, exist_ok=True)
        left.write_text("half a li")
    job = lifecycle.run_here(job)
    assert job.state == Job.State.DONE
    assert {path.name for path in folder_of(job).iterdir()} == {str(a.uuid) for a in job.artifacts.all()}


def test_a_worker_that_lost_its_lease_keeps_nothing():
    job = start(exported())
    lease = lifecycle.claim_chunk(job.pk)
    Chunk.objects.filter(pk=lease.chunk.pk).update(lease_token="00000000-0000-4000-8000-000000000000")
    with pytest.raises(LeaseLost):
        releasing.HANDLER.run_chunk(lease.chunk, lease)
    assert not Artifact.objects.exists() and list(folder_of(job).iterdir()) == []


def test_two_clicks_start_one_export():
    project = exported()
    assert start(project) == start(project)
    assert start(project, ["tsv"]) != start(project)
    lifecycle.run_here(start(project))
    assert start(project).state == Job.State.QUEUED


def test_answers_given_during_an_export_are_not_in_it_and_nothing_is_torn(monkeypatch, tmp_path):
    monkeypatch.setattr(queries, "BATCH", 2)
    project = exported(6)
    first, *_, last = items_of(project)
    anna, new = make_rater(project), make_rater(project)
    before = releasing.write_export(project, tmp_path / "before")
    real = queries._read

    def read_and_meanwhile(*arguments):
        for item in (first, last):
            say(item, anna, "not_relevant")
            say(item, new, "not_relevant")
        return real(*arguments)

    monkeypatch.setattr(queries, "_read", read_and_meanwhile)
    during = releasing.write_export(project, tmp_path / "during")
    assert during == before
    monkeypatch.undo()
    after = releasing.write_export(project, tmp_path / "after")
    assert after["counts"]["annotations"] == before["counts"]["annotations"] + 4


@pytest.mark.django_db(transaction=True)
def test_people_go_on_submitting_while_an_export_is_written(tmp_path, monkeypatch):
    """The other connection writes between two batches: no lock of the export's stands in its way."""
    monkeypatch.setattr(queries, "BATCH", 1)
    project = exported(4)
    items, late = items_of(project), make_rater(project)
    failures = []

    def submit():
        try:
            say(items[-1], late, "not_relevant")
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    real, other = queries._read, threading.Thread(target=submit)

    def read_and_wait(*arguments):
        if not other.ident:
            other.start()
            other.join(20)
        return real(*arguments)

    monkeypatch.setattr(queries, "_read", read_and_wait)
    manifest = releasing.write_export(project, tmp_path / "out")
    assert not other.is_alive() and failures == []
    assert manifest["counts"]["annotations"] == 4


# ---- downloads ----


@pytest.fixture
def done():
    return lifecycle.run_here(start(exported()))


def address(job, name="annotations.jsonl"):
    return reverse("artifact_download", args=[job.artifacts.get(file_name=f"{job.project.slug}-{name}").uuid])


def test_who_may_see_labels_may_download_and_nobody_else(client, done):
    people = {
        "researcher": (join(done.project, make_user(), Membership.Role.RESEARCHER), 200),
        "adjudicator": (join(done.project, make_user(), Membership.Role.ADJUDICATOR), 200),
        "annotator": (join(done.project, make_user(), Membership.Role.ANNOTATOR), 403),
        "annotating researcher": (join(done.project, make_user(), Membership.Role.RESEARCHER, "annotator"), 403),
        "outsider": (make_user(), 404),
        "administrator": (make_user(is_superuser=True), 200),
    }
    for who, (user, status) in people.items():
        client.force_login(user)
        assert client.get(address(done)).status_code == status, who
        assert client.get(reverse("project_exports", args=[done.project.slug])).status_code == status, who
    client.logout()
    assert client.get(address(done)).status_code == 302


def test_who_left_the_project_cannot_download_what_they_exported(client):
    project = exported()
    user = join(project, make_user(), Membership.Role.RESEARCHER)
    job = lifecycle.run_here(releasing.start_export(project, user))
    project.memberships.filter(user=user).update(is_active=False)
    client.force_login(user)
    assert client.get(address(job)).status_code == 404


def test_a_download_is_an_attachment_of_its_type_that_no_browser_sniffs(client, done):
    client.force_login(done.project.created_by)
    response = client.get(address(done, "claims.tsv"))
    assert response["Content-Disposition"] == f'attachment; filename="{done.project.slug}-claims.tsv"'
    assert response["Content-Type"] == "text/tab-separated-values; charset=utf-8"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response.streaming
    content = b"".join(response.streaming_content)
    artifact = done.artifacts.get(file_name=f"{done.project.slug}-claims.tsv")
    assert response["Content-Length"] == str(len(content)) == str(artifact.size)
    assert hashlib.sha256(content).hexdigest() == artifact.sha256


def test_an_interrupted_download_goes_on_where_it_stopped(client, done):
    client.force_login(done.project.created_by)
    where = address(done)
    whole = b"".join(client.get(where).streaming_content)
    size = len(whole)
    for asked, part in (("bytes=10-19", whole[10:20]), (f"bytes={size - 7}-", whole[-7:]), ("bytes=-5", whole[-5:])):
        response = client.get(where, HTTP_RANGE=asked)
        assert response.status_code == 206 and b"".join(response.streaming_content) == part
        assert response["Content-Length"] == str(len(part))
        assert response["Content-Range"].endswith(f"/{size}") and response["Content-Disposition"]
    assert client.get(where, HTTP_RANGE=f"bytes={size}-").status_code == 416
    long = "9" * 5_000  # more digits than Python reads as a number
    for ignored in ("bytes=-", "bytes=9-3", "lines=1-2", "bytes=0-1,4-5", f"bytes={long}-", f"bytes=0-{long}"):
        assert client.get(where, HTTP_RANGE=ignored).status_code == 200
    assert client.get(where, HTTP_RANGE="bytes=10-19", HTTP_IF_RANGE='"another file"').status_code == 200


def test_names_never_lead_to_other_files(client, done, tmp_path):
    (tmp_path / "secret").write_text("secret")
    artifact = done.artifacts.first()
    Artifact.objects.filter(pk=artifact.pk).update(file_name="../../../secret")
    artifact.refresh_from_db()
    assert releasing.artifact_path(artifact).parent == folder_of(done)
    client.force_login(done.project.created_by)
    assert client.get("/artifacts/../secret/").status_code == 404
    assert client.get(f"/artifacts/{done.uuid}/").status_code == 404


def test_a_file_that_is_gone_is_not_found(client, done):
    client.force_login(done.project.created_by)
    where = address(done)
    releasing.artifact_path(done.artifacts.get(file_name__endswith="annotations.jsonl")).unlink()
    assert client.get(where).status_code == 404


# ---- the page ----


def test_the_page_starts_a_job_and_lists_its_files(client):
    project = exported()
    client.force_login(project.created_by)
    where = reverse("project_exports", args=[project.slug])
    page = client.get(where).content.decode()
    assert f"manage.py export_dataset {project.slug}" not in page
    administrator = client_of(make_user(is_superuser=True))
    assert f"manage.py export_dataset {project.slug}" in administrator.get(where).content.decode()
    # What several tools' formats lose alike is said once.
    assert "All of them" in page and page.count("What annotators saw and when") == 1
    assert client.post(where, {"kinds": ["tsv", "exe"]}).status_code == 200  # refused, with the reason
    assert not Job.objects.filter(kind="export").exists()
    assert client.post(where, {"kinds": ["tsv"]}).status_code == 302
    job = Job.objects.get(kind="export")
    assert f'hx-get="/jobs/{job.uuid}/progress/"' in client.get(where).content.decode()
    lifecycle.run_here(job)
    page = client.get(where).content.decode()
    for artifact in job.artifacts.all():
        assert artifact.sha256 in page and f"/artifacts/{artifact.uuid}/" in page


def test_the_page_asks_the_database_no_more_for_more_exports(client, django_assert_max_num_queries):
    project = exported()
    client.force_login(project.created_by)
    where = reverse("project_exports", args=[project.slug])
    for _ in range(4):
        lifecycle.run_here(start(project, ["tsv"]))
    with django_assert_max_num_queries(20):
        assert client.get(where).status_code == 200
