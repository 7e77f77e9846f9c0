"""What a project's addresses are told: events, signatures, further attempts, and nothing that people said."""

import hashlib
import hmac
import json
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from analysis.releases.kept import start_freezing
from annotation import tasks
from annotation.jobs import lifecycle
from annotation.models import Job, Webhook, WebhookDelivery
from annotation.projects import item_job, managing
from annotation.webhooks import delivering, events
from models_runtime import egress
from tests.api.programs import EXAMPLES, Program, problem_of
from tests.factories import make_claim_evidence, make_dataset, make_project, make_user
from tests.world import client_of, label_one

pytestmark = pytest.mark.django_db
PATH = "projects/frost/webhooks/"


@pytest.fixture
def project():
    dataset = make_dataset(make_user("rosa", is_staff=True), slug="ice")
    make_claim_evidence(dataset, 3)
    return make_project(dataset, slug="frost", overlap=1, annotators=[make_user("annabel")])


@pytest.fixture
def program(project):
    return Program(project.created_by)


@pytest.fixture
def webhook(project, receiver, settings):
    settings.WEBHOOK_HOSTS = frozenset([receiver.host])
    return delivering.make_webhook(project, project.created_by, receiver.url, [*events.EVENTS])


def deliver_all(later: timedelta = timedelta()) -> None:
    """What workers do, after a while."""
    WebhookDelivery.objects.filter(state="waiting").update(due_at=timezone.now() - later)
    for delivery in WebhookDelivery.objects.filter(state="waiting").order_by("pk"):
        tasks.deliver(delivery.pk)


def test_what_happens_is_told_in_its_order_and_signed(project, webhook, receiver):
    managing.pause_project(project)
    managing.pause_project(project)  # nothing happened
    managing.open_project(project)
    job = lifecycle.run_here(item_job.start_item_job(project, project.created_by))
    deliver_all()
    told = [json.loads(body) for _, _, body in receiver.got]
    assert [one["event"] for one in told] == ["project.paused", "project.opened", "job.done"]
    assert told[0]["project"] == "frost" and told[0]["state"] == "paused"
    assert told[2]["job"] == {
        "uuid": str(job.uuid), "kind": "items", "state": "done", "progress_done": 3, "progress_total": 3
    }  # fmt: skip
    _, headers, body = receiver.got[0]
    moment, signature = headers["Assay-Signature"].removeprefix("t=").split(",v1=")
    signed = hmac.new(webhook.secret.encode(), f"{moment}.".encode() + body, hashlib.sha256).hexdigest()
    assert signature == signed and abs(int(moment) - timezone.now().timestamp()) < 60
    assert headers["Assay-Event"] == "project.paused"
    documented = {}
    exec(next(one for one in EXAMPLES if "is_from_assay" in one), documented)
    is_from_assay = documented["is_from_assay"]
    assert is_from_assay(webhook.secret, headers["Assay-Signature"], body)
    assert not is_from_assay(webhook.secret, headers["Assay-Signature"], body + b" ")
    assert not is_from_assay(webhook.secret, headers["Assay-Signature"], body, now=int(moment) + 400)
    assert set(WebhookDelivery.objects.values_list("state", "status", "attempts")) == {("delivered", 200, 1)}
    deliver_all()
    tasks.deliver(WebhookDelivery.objects.first().pk)  # a message that comes twice
    assert len(receiver.got) == 3


def test_jobs_and_releases_tell_how_they_ended_and_nothing_that_people_said(project, webhook, receiver):
    label_one(project, project.memberships.get(role="annotator").user)
    release = start_freezing(project, project.created_by, "a secret note")
    lifecycle.run_here(release.job)
    lost = [({"upload": str(project.uuid)}, 0)]
    asked = {"gives": "labels", "checker": "x", "sha256": ""}
    owner = project.created_by
    failing = lifecycle.create_job(Job.Kind.PREDICTIONS, owner, chunks=lost, project=project, parameters=asked)
    assert lifecycle.run_here(failing).state == "failed"
    cancelled = item_job.start_item_job(project, project.created_by)
    lifecycle.request_cancel(cancelled)
    lifecycle.create_job(Job.Kind.REPORT, project.created_by, chunks=[], project=project, wake_workers=False)
    deliver_all()
    told = [json.loads(body) for _, _, body in receiver.got]
    assert [one["event"] for one in told] == ["job.done", "release.frozen", "job.failed", "job.cancelled"]
    release.refresh_from_db()
    assert told[1]["release"] == {"number": 1, "sha256": release.sha256}
    said = b"".join(body for _, _, body in receiver.got)
    rater = project.raters.get()
    for secret in ("annabel", rater.pseudonym, "rosa", "harbour", "relevant", "supports", "secret note", "no longer"):
        assert secret.encode() not in said, secret


def test_only_what_was_chosen_is_told_and_what_is_taken_back_is_told_to_nobody(project, webhook):
    Webhook.objects.update(events=["project.closed"])
    managing.pause_project(project)
    with transaction.atomic():
        managing.close_project(project)
        transaction.set_rollback(True)
    assert not WebhookDelivery.objects.exists()
    managing.open_project(project)
    managing.close_project(project)
    assert WebhookDelivery.objects.get().event == "project.closed"


def test_it_is_tried_again_after_growing_waits_until_it_has_failed(webhook, receiver):
    receiver.answer = (500, {}, [b"oh"])
    delivery = events.send(webhook, events.PING, {})
    waits = []
    for _ in range(len(delivering.WAITS)):
        deliver_all()
        delivery.refresh_from_db()
        waits.append((delivery.due_at - timezone.now()).total_seconds())
        assert (delivery.state, delivery.status) == ("waiting", 500)
        tasks.deliver(delivery.pk)  # too early
    assert len(receiver.got) == len(delivering.WAITS)
    for wait, longest in zip(waits, delivering.WAITS, strict=True):
        assert longest * 0.4 < wait <= longest
    deliver_all()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.message) == ("failed", "It answered with 500")
    receiver.answer = (204, {}, [])
    delivering.repeat(delivery)
    deliver_all()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.status, delivery.attempts) == ("delivered", 204, 1)
    assert len({headers["Assay-Delivery"] for _, headers, _ in receiver.got}) == 1


def test_the_sweep_wakes_workers_for_what_is_due(webhook, monkeypatch):
    woken = []
    monkeypatch.setattr(events, "wake", lambda delivery: woken.append(delivery.pk))
    due = [events.send(webhook, events.PING, {}) for _ in range(2)]
    WebhookDelivery.objects.filter(pk=due[0].pk).update(due_at=timezone.now() + timedelta(minutes=1))
    tasks.sweep()
    assert woken == [due[1].pk]


def test_a_redirect_and_a_private_address_are_refused(webhook, receiver, settings):
    receiver.answer = (302, {"Location": "http://169.254.169.254/"}, [b""])
    delivery = events.send(webhook, events.PING, {})
    deliver_all()
    delivery.refresh_from_db()
    assert delivery.state == "waiting" and "redirect, which is not followed" in delivery.message
    settings.WEBHOOK_HOSTS = frozenset()
    deliver_all()
    delivery.refresh_from_db()
    assert delivery.state == "failed" and "not on the public Internet" in delivery.message
    assert len(receiver.got) == 1


def test_programs_make_see_and_remove_them(project, program):
    asked = {"url": "https://hooks.example.org/assay", "events": ["job.done", "project.closed"]}
    made = [program.send(PATH, asked, **{"Idempotency-Key": "hook"}) for _ in range(2)]
    first, again = (one.json() for one in made)
    assert first["secret"] == Webhook.objects.get().secret and again == first | {"secret": ""}
    [listed] = program.read(PATH)["results"]
    assert listed == {name: value for name, value in first.items() if name != "secret"}
    assert listed["events"] == ["project.closed", "job.done"]
    address = f"webhooks/{first['uuid']}/"
    ping = program.send(f"{address}ping/").json()
    assert (ping["event"], ping["state"]) == ("ping", "waiting")
    WebhookDelivery.objects.update(state="failed", message="no answer", attempts=8)
    assert program.read(f"{address}deliveries/", state="failed")["results"][0]["message"] == "no answer"
    assert program.send(f"deliveries/{ping['uuid']}/repeat/").json()["state"] == "waiting"
    for url, said in (
        ("http://127.0.0.1:6379/", "the site's administrator may allow 127.0.0.1"),
        ("http://localhost/", "not on the public Internet"),
        ("gopher://example.org/", "must begin with https://"),
    ):
        refused = problem_of(program.send(PATH, asked | {"url": url}), 422)
        assert refused["errors"][0]["field"] == "url" and said in refused["detail"]
    problem_of(program.send(PATH, asked | {"events": ["label.given"]}), 422)
    for _ in range(delivering.MOST - 1):
        program.send(PATH, asked)
    assert "at most 10" in problem_of(program.send(PATH, asked), 422)["detail"]
    assert program.send(f"{address}remove/").status_code == 200 and project.webhooks.count() == 9
    problem_of(Program(make_user("eve")).get(f"/api/v1/webhooks/{listed['uuid']}/"), 404)


def test_people_make_see_and_repeat_them_on_pages(project, monkeypatch):
    client = client_of(project.created_by)
    page = client.post("/projects/frost/webhooks/", {"url": "http://10.0.0.1/", "events": ["job.done"]})
    assert "not on the public Internet" in page.content.decode() and not Webhook.objects.exists()
    said = {"url": "https://hooks.example.org/", "events": ["job.done"]}
    page = client.post("/projects/frost/webhooks/", said).content.decode()
    webhook = Webhook.objects.get()
    assert webhook.secret in page
    assert webhook.secret not in client.get("/projects/frost/webhooks/").content.decode()
    client.post(f"/webhooks/{webhook.uuid}/ping/")

    def gone(*args, **more):
        raise egress.NoAnswer("hooks.example.org has no address")

    monkeypatch.setattr(egress, "post", gone)
    deliver_all()
    page = client.get(f"/webhooks/{webhook.uuid}/").content.decode()
    assert "has no address" in page and webhook.secret not in page
    client.post(f"/deliveries/{WebhookDelivery.objects.get().uuid}/repeat/")
    assert WebhookDelivery.objects.get().attempts == 0
    client.post(f"/webhooks/{webhook.uuid}/remove/")
    assert not WebhookDelivery.objects.exists()
