"""Reports and releases by a program: started, waited for, read."""

import io
import json
import zipfile

import pytest

from annotation.jobs import lifecycle
from annotation.models import Job, LabelAccess, StoredAnswer
from tests.api.programs import Program, problem_of
from tests.factories import join, make_user
from tests.kinds import answer_all, make_kind_project

pytestmark = pytest.mark.django_db
KIND = "claim-evidence/six-way/1"


@pytest.fixture
def project():
    project = make_kind_project(KIND, overlap=2)
    answer_all(project, people=2)
    return project


@pytest.fixture
def program(project):
    return Program(project.created_by)


def work(kind: str) -> None:
    for job in Job.objects.filter(kind=kind, finished_at=None):
        assert lifecycle.run_here(job).state == "done"


def test_a_report_is_computed_and_read(project, program):
    path = f"projects/{project.slug}/reports/agreement/"
    assert "POST to this address" in problem_of(program.get(f"/api/v1/{path}"), 404)["detail"]
    started = program.send(path)
    assert (started.status_code, started.json()["state"], started.json()["result"]) == (202, "computing", {})
    assert program.read(f"jobs/{started.json()['job']}/")["kind"] == "report"
    work("report")
    found = program.read(path)
    assert (found["state"], found["is_partial"]) == ("fresh", False)
    assert found["result"]["report"] == "agreement" and found["result"]["project"] == project.slug
    table = found["tables"][0]
    assert all(len(row) == len(table["columns"]) for row in table["rows"])
    assert program.send(path, **{"Idempotency-Key": "a"}).status_code == 200
    assert Job.objects.filter(kind="report").count() == 1 and not StoredAnswer.objects.exists()
    assert LabelAccess.objects.get(user=project.created_by).channel == "api"


def test_reports_say_what_they_can_be_asked(project, program):
    kinds = {one["name"]: one for one in program.read(f"projects/{project.slug}/reports/")["results"]}
    assert kinds["agreement"]["why_not"] == "" and kinds["coverage"]["why_not"]
    path = f"/api/v1/projects/{project.slug}/reports"
    problem_of(program.get(f"{path}/coverage/"), 409)
    problem_of(program.get(f"{path}/no-such/"), 404)
    wrong = problem_of(program.get(f"{path}/agreement/?since=yesterday"), 400)
    assert [one["field"] for one in wrong["errors"]] == ["since"]
    labeller = join(project, make_user(), "researcher", "annotator")
    project.assignments.create(item=project.items.first(), position=0)
    problem_of(Program(labeller).get(f"{path}/agreement/"), 403)


def test_a_release_is_frozen_and_downloaded(project, program):
    path = f"projects/{project.slug}/releases/"
    made = program.send(path, {"note": "camera-ready"})
    assert made.status_code == 202 and made["Location"] == f"/api/v1/{path}1/"
    waiting = problem_of(program.send(path, {"note": "camera-ready"}), 409)
    assert waiting["job"] == made.json()["job"]
    problem_of(program.get(f"/api/v1/{path}1/file/"), 409)
    work("release")
    release = program.read(f"{path}1/")
    assert release["state"] == "done" and release["manifest"]["release"]["sha256"] == release["sha256"]
    sent = program.get(f"/api/v1/{path}1/file/")
    archive = zipfile.ZipFile(io.BytesIO(b"".join(sent)))
    assert json.loads(archive.read("manifest.json"))["release"]["sha256"] == release["sha256"]
    part = program.get(f"/api/v1/{path}1/file/", headers={"Range": "bytes=0-1"})
    assert (part.status_code, b"".join(part)) == (206, b"PK")
    problem_of(program.get(f"/api/v1/{path}2/"), 404)
