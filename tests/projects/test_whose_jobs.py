"""Who sees a job, how many one person may queue, and that nothing is queued twice."""

import pytest

from analysis.models import Release, StoredReport
from annotation.jobs import lifecycle
from annotation.machines.runs import suggesting
from annotation.machines.training import training
from annotation.models import Dataset, Job, Membership
from tests import factories
from tests.world import client_of, make_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(settings, monkeypatch):
    settings.ACCOUNT_RATE_LIMITS = False
    # No worker comes: what is queued stays queued.
    monkeypatch.setattr("annotation.jobs.lifecycle._send", lambda *args, **options: None)
    made = make_world()
    Membership.objects.filter(user=made.people["annotator"]).delete()  # nobody's labels are hidden for open work
    return made


def queued(kind: str) -> int:
    return Job.objects.filter(kind=kind, state=Job.State.QUEUED).count()


def test_who_left_a_project_does_not_see_the_jobs_they_started(world):
    person = factories.join(world.project, factories.make_user("leaver"), "researcher")
    job = lifecycle.create_job(Job.Kind.EXPORT, person, chunks=[({}, 0)], project=world.project)
    client = client_of(person)
    assert client.get(f"/jobs/{job.uuid}/").status_code == 200
    Membership.objects.filter(user=person).update(is_active=False)
    for verb, path in (("get", ""), ("get", "progress/"), ("post", "cancel/"), ("post", "resume/")):
        assert getattr(client, verb)(f"/jobs/{job.uuid}/{path}").status_code == 404
    job.refresh_from_db()
    assert not job.cancel_requested


def test_who_lost_a_data_set_does_not_see_its_imports(world):
    Dataset.objects.filter(pk=world.dataset.pk).update(owner=world.people["admin"])
    client = client_of(world.people["researcher"])
    assert client.get(f"/jobs/{world.import_job.uuid}/").status_code == 404


def test_many_reports_at_once_are_computed_one_after_the_other(world, settings):
    client = client_of(world.people["researcher"])
    for day in range(1, 26):
        answer = client.get(f"/projects/ports/agreement/?until=2030-01-{day:02}")
        assert answer.status_code == 200
    assert queued(Job.Kind.REPORT) == settings.REPORTS_PER_PERSON
    assert b"reached the limit of simultaneous computations" in answer.content
    # Another person is not held up, and whoever waited gets theirs when there is room.
    other = factories.join(world.project, factories.make_user("other"), "researcher")
    client_of(other).get("/projects/ports/agreement/?until=2030-02-01")
    assert queued(Job.Kind.REPORT) == settings.REPORTS_PER_PERSON + 1
    Job.objects.filter(kind=Job.Kind.REPORT).update(state=Job.State.DONE)
    client.get("/projects/ports/agreement/?until=2030-01-25")
    assert queued(Job.Kind.REPORT) == 1
    assert StoredReport.objects.count() == 26


def test_one_person_cannot_fill_the_queue(world, settings):
    settings.JOBS_PER_PERSON = 3
    client, before = client_of(world.people["researcher"]), Release.objects.count()
    answers = [client.post("/projects/ports/releases/", {"note": f"draft {number}"}) for number in range(4)]
    assert [answer.status_code for answer in answers] == [302, 302, 302, 429]
    assert b"3 unfinished jobs" in answers[-1].content and b"site-header" in answers[-1].content
    assert Release.objects.count() == before + 3
    assert client_of(world.people["admin"]).post("/projects/ports/releases/", {"note": ""}).status_code == 302


@pytest.mark.parametrize(
    ("path", "form", "kind"),
    [
        ("releases/", {"note": "for review"}, Job.Kind.RELEASE),
        ("make-items/", {}, Job.Kind.ITEMS),
        ("exports/", {"kinds": "jsonl"}, Job.Kind.EXPORT),
    ],
)
def test_a_second_click_queues_nothing(world, path, form, kind):
    client = client_of(world.people["researcher"])
    for _ in range(2):
        answer = client.post(f"/projects/ports/{path}", form, follow=True)
        assert answer.status_code == 200 and queued(kind) == 1
    if kind != Job.Kind.EXPORT:  # its page lists the job either way
        assert b"is queued already" in answer.content


def test_a_queued_training_and_a_queued_run_are_not_repeated(world, monkeypatch):
    project, researcher = world.project, world.people["researcher"]
    monkeypatch.setattr(training, "missing_labels", lambda *args: [])
    first = training.start_training(project, researcher, training.TrainingRequest())
    with pytest.raises(lifecycle.SameJob) as same:
        training.start_training(project, researcher, training.TrainingRequest())
    assert same.value.job == first.job
    training.start_training(project, researcher, training.TrainingRequest(include_touched=True))
    run = suggesting.start_run(project, researcher, "lexical")
    with pytest.raises(suggesting.SameRun) as again:
        suggesting.start_run(project, researcher, "lexical", again=True)
    assert again.value.run == run
    Job.objects.filter(pk=run.job_id).update(state=Job.State.DONE)
    assert suggesting.start_run(project, researcher, "lexical", again=True) != run


def test_a_command_is_not_held_up_by_what_is_queued(world, settings):
    settings.JOBS_PER_PERSON = 1
    researcher = world.people["researcher"]
    for _ in range(2):
        lifecycle.create_job(Job.Kind.EXPORT, researcher, chunks=[({}, 0)], project=world.project, wake_workers=False)
    assert queued(Job.Kind.EXPORT) == 2
