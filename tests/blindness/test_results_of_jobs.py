"""What jobs tell who still labels in their project: every field of every kind, by the API and by their pages."""

import pytest
from django.core.management import call_command

from annotation.formats.tables.oddities import ODDITIES
from annotation.jobs.kinds import KINDS
from annotation.models import Job, LabelAccess, Project
from tests.blindness.planted import marker
from tests.factories import join, make_user
from tests.kinds import answer_all, make_kind_project
from tests.world import client_of

pytestmark = pytest.mark.django_db
HIDDEN = ("labels", "scores", "gold", "questions", "left_open", "agreement", "judgements", "without_label", "unknown")


@pytest.fixture
def project():
    made = make_kind_project("claim-evidence/six-way/1", overlap=2)
    answer_all(made, people=1)
    return made


def made_job(project, kind: str, **fields) -> Job:
    found = {name: {"x": marker(name)} for name in HIDDEN} | {name: "told" for name in KINDS[kind].while_labelling}
    if "odd" in found:
        found["odd"] = [
            {"kind": name, "what": marker("odd label") if one.is_of_labels else "told", "is_open": False}
            for name, one in ODDITIES.items()
        ]
    return Job.objects.create(
        kind=kind, state=Job.State.FAILED, project=project, result=found, created_by=project.created_by,
        message=marker("message"), **fields,
    )  # fmt: skip


def test_every_kind_is_decided_about():
    assert set(KINDS) == set(Job.Kind)
    for kind, one in KINDS.items():
        is_decided = one.is_of_labels != bool(one.while_labelling)
        assert is_decided != (kind in (Job.Kind.CLAIMS, Job.Kind.CHOSEN_CLAIMS)), kind


@pytest.mark.parametrize("kind", [kind for kind in Job.Kind if kind not in (Job.Kind.CLAIMS, Job.Kind.CHOSEN_CLAIMS)])
def test_no_field_tells_who_still_labels_what_others_said(project, kind):
    job = made_job(project, kind)
    chunk = job.chunks.create(index=0, error=marker("error"))
    person = join(project, make_user(), "researcher", "annotator")
    client, address = client_of(person, raise_request_exception=False), f"/api/v1/jobs/{job.uuid}/"
    detail = client.get(address).json()
    assert set(detail["result"]) == set(KINDS[kind].while_labelling)
    texts = [client.get("/api/v1/jobs/").content.decode(), client.get(address).content.decode()]
    texts += [client.post(f"{address}{verb}/").content.decode() for verb in ("cancel", "resume")]
    texts += [client.get(f"/jobs/{job.uuid}/progress/").content.decode()]
    assert not any(marker(name) in text for name in (*HIDDEN, "odd label") for text in texts)
    if "odd" in detail["result"]:
        assert {one["what"] for one in detail["result"]["odd"]} == {"told"}
    if KINDS[kind].is_of_labels:
        assert not any(marker(name) in text for name in ("message", "error") for text in texts)
    assert not LabelAccess.objects.exists()
    project.assignments.filter(state="open").update(state="cancelled")
    Job.objects.filter(pk=job.pk).update(state=Job.State.FAILED, message=marker("message"))
    chunk.refresh_from_db()
    assert client.get(address).json()["result"] == job.result
    assert LabelAccess.objects.filter(project=project, user=person, channel="api").exists() == KINDS[kind].is_of_labels


def test_rows_of_a_file_are_hidden_from_who_still_labels_in_its_project(tmp_path):
    """A bad row may hold what a rater said."""
    owner, file = make_user(is_staff=True), tmp_path / "a.csv"
    rows = "".join(f"{n},Text {n}.,r1,yes{n % 2},{'soon' if n == 8 else '2026-01-01'}\n" for n in range(9))
    file.write_text(f"id,text,rater,label,time\n{rows}")
    options = {"format": "ratings", "dataset": "a", "project": "a", "owner": owner.email, "overlap": 1}
    call_command("import_dataset", str(file), **options, leave_out=True, verbosity=0)
    project, job = Project.objects.get(slug="a"), Job.objects.get(kind="import")
    join(project, owner, "annotator")
    client = client_of(owner)
    pages = [f"/imports/{job.uuid}/{page}" for page in ("errors.csv", "errors.md", "left-out.csv")]

    def read() -> list[bool]:
        answers = [client.get(page) for page in (f"/api/v1/jobs/{job.uuid}/", f"/imports/{job.uuid}/", *pages)]
        return ["soon" in b"".join(answer).decode() for answer in answers]

    assert read() == [False] * 5 and client.get(pages[0]).status_code == 403
    assert "1 bad row" in client.get(f"/imports/{job.uuid}/").content.decode()
    project.assignments.all().delete()
    assert read() == [True] * 5


def test_an_import_hides_its_labels_from_who_still_labels_in_their_project(tmp_path):
    """An import is a job of a data set, and names the project that its labels go into."""
    owner, file = make_user(is_staff=True), tmp_path / "a.csv"
    rows = "".join(f"{n},Text {n}.,r1,{'YES' if n == 8 else 'yes'}{n % 2}\n" for n in range(9))
    file.write_text(f"id,text,rater,label\n{rows}")
    options = {"format": "ratings", "dataset": "a", "project": "a", "owner": owner.email, "overlap": 1}
    call_command("import_dataset", str(file), **options, verbosity=0)
    project, job = Project.objects.get(slug="a"), Job.objects.get(kind="import")
    join(project, owner, "annotator")
    client = client_of(owner)

    def read() -> tuple[dict, set[bool]]:
        told = client.get(f"/api/v1/jobs/{job.uuid}/").json()["result"]
        page = client.get(f"/imports/{job.uuid}/").content.decode()
        shown = {label in text for label in ("yes0", "YES0") for text in (page, str(told))}
        return told, shown

    told, is_shown = read()
    assert set(told) <= set(KINDS["import"].while_labelling) and told["read_as"] and is_shown == {False}
    assert "YES0" in str(job.result["odd"]) and "YES0" not in str(told)
    project.assignments.all().delete()
    assert read() == (job.result, {True})
