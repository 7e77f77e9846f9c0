"""What monitors and administrators learn of an installation, and who else does."""

import json
import os
import re
import subprocess
import sys
from datetime import timedelta

import pytest
from django.conf import settings as real
from django.core.management import call_command
from django.db import OperationalError
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from annotation.jobs import versions, workers
from annotation.models import Chunk, Job, WebhookDelivery
from config.health import access, requests
from config.health import database as database_checks
from config.health.middleware import observed
from config.health.requests import RequestCounts, totals
from config.health.views import readiness
from tests.factories import make_user
from tests.world import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def asked_anew(monkeypatch):
    monkeypatch.setattr(readiness, "_until", 0.0)
    monkeypatch.setattr(versions, "_asked", (0.0, ""))


def give_signs(queues=("default",)) -> None:
    workers.SignOfLife("clock@here", "0.1.0").give()
    workers.SignOfLife("worker@here", "0.1.0", queues).give()


def found(answer, check: str) -> list[dict]:
    return [one for one in answer.json()["findings"] if one["check"] == check]


def test_it_is_ready_with_a_worker_and_its_clock():
    give_signs()
    answer = Client().get("/readyz")
    assert answer.status_code == 200 and answer.json()["state"] == "ok", answer.json()
    assert {one["check"] for one in answer.json()["findings"]} == {
        "database", "migrations", "broker", "workers", "scheduler",
    }  # fmt: skip
    assert found(answer, "workers")[0]["message"].startswith("default: 1 worker, last sign of life ")


def test_without_workers_it_says_which_are_missing_and_how_to_start_them():
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    default = found(answer, "workers")[0]
    assert default["message"] == "default: no worker"
    assert default["todo"] == "Start one: celery -A config worker -B -n default@%h -Q default"
    assert found(answer, "scheduler")[0]["state"] == "error"


def test_a_queue_in_which_jobs_wait_needs_a_worker():
    give_signs()
    job = Job.objects.create(kind=Job.Kind.CHECKER_RUN, created_by=make_user("ada"), queue="gpu")
    Job.objects.update(created_at=timezone.now() - timedelta(hours=1))
    Chunk.objects.create(job=job, index=0)
    answer = Client().get("/readyz")
    assert [one["message"] for one in found(answer, "workers") if one["state"] == "error"] == [
        "gpu: no worker, and jobs have waited for 3,600 s"
    ]


def test_other_migrations_are_named_and_what_needs_them_is_not_asked():
    give_signs()
    MigrationRecorder(versions.connection).record_applied("annotation", "9999_from_tomorrow")
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert "annotation.9999_from_tomorrow" in found(answer, "migrations")[0]["message"]
    assert found(answer, "workers")[0]["message"] == "Not checked, because of the problem under Migrations"


def test_an_unavailable_database_leaves_the_process_alive(monkeypatch):
    def refuse():
        raise OperationalError("connection refused")

    monkeypatch.setattr(database_checks.connection, "ensure_connection", refuse)
    assert Client().get("/healthz").content == b"ok\n"
    answer = Client().get("/readyz")
    assert answer.status_code == 503 and "connection refused" in found(answer, "database")[0]["message"]


def test_the_process_is_alive_without_a_query(django_assert_num_queries):
    with django_assert_num_queries(0):
        assert Client().get("/healthz").status_code == 200


def test_monitors_need_neither_the_hosts_name_nor_tls(settings):
    settings.ALLOWED_HOSTS, settings.SECURE_SSL_REDIRECT = ["assay.example.org"], True
    give_signs()
    client = Client()
    assert client.get("/accounts/login/", headers={"host": "10.1.2.3"}).status_code in (301, 400)
    for path in ("/healthz", "/readyz", "/metrics"):
        assert client.get(path, headers={"host": "10.1.2.3"}).status_code == 200, path


@pytest.mark.parametrize(
    ("proxies", "address", "headers", "sees"),
    [
        (-1, "127.0.0.1", {}, True),
        (-1, "::ffff:127.0.0.1", {}, True),
        (-1, "10.0.0.7", {}, False),
        (-1, "", {}, False),
        # A proxy on this machine speaks for all the world.
        (-1, "127.0.0.1", {"x-forwarded-for": "127.0.0.1"}, False),
        (1, "127.0.0.1", {"x-forwarded-for": "8.8.8.8"}, False),
        (1, "127.0.0.1", {"x-forwarded-for": "127.0.0.1, 8.8.8.8"}, False),
        (1, "127.0.0.1", {"x-forwarded-for": "8.8.8.8, 127.0.0.1"}, True),
        (2, "127.0.0.1", {"x-forwarded-for": "127.0.0.1"}, False),
        (1, "127.0.0.1", {"x-forwarded-proto": "https"}, False),
        (1, "127.0.0.1", {}, True),
        # No proxy: the headers are anybody's word.
        (0, "8.8.8.8", {"x-forwarded-for": "127.0.0.1"}, False),
        (0, "127.0.0.1", {"x-forwarded-for": "8.8.8.8"}, True),
    ],
)
def test_details_are_for_allowed_addresses(settings, proxies, address, headers, sees):
    settings.TRUSTED_PROXIES = proxies
    client = Client(REMOTE_ADDR=address, headers=headers)
    assert client.get("/metrics").status_code == (200 if sees else 403)
    assert ("findings" in client.get("/readyz").json()) == sees
    assert client.get("/healthz").status_code == 200


def test_further_networks_can_be_allowed(settings):
    settings.HEALTH_FROM = access.parse_networks("10.0.0.0/8, fd00::/8")
    assert Client(REMOTE_ADDR="10.9.8.7").get("/metrics").status_code == 200
    assert Client(REMOTE_ADDR="127.0.0.1").get("/metrics").status_code == 403
    with pytest.raises(ValueError, match="which 'lan' is not"):
        access.parse_networks("10.0.0.0/8, lan")


def samples(client) -> dict[str, float]:
    text = client.get("/metrics").content.decode()
    assert re.fullmatch(r"(?:(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{[^{}]+\})? [\d.e+-]+)\n)+", text), text
    return {name: float(value) for name, value in re.findall(r"^([^#\n]+) (\S+)$", text, re.MULTILINE)}


def test_metrics_count_requests_and_what_waits(settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr("config.health.middleware.COUNTS", RequestCounts())
    give_signs()
    job = Job.objects.create(kind=Job.Kind.CHECKER_RUN, created_by=make_user("ada"), queue="cpu")
    Job.objects.update(created_at=timezone.now() - timedelta(hours=1))
    Chunk.objects.bulk_create([Chunk(job=job, index=0), Chunk(job=job, index=1, state=Chunk.State.DONE)])
    client = Client()
    client.get("/accounts/login/")
    client.get("/nowhere/")
    client.get("/nowhere/")
    numbers = samples(client)
    assert numbers['assay_requests_total{status="2xx"}'] == 1
    assert numbers['assay_requests_total{status="4xx"}'] == 2
    assert numbers['assay_request_seconds_bucket{le="+Inf"}'] == numbers["assay_request_seconds_count"] == 3
    assert numbers["assay_request_seconds_sum"] > 0
    assert numbers['assay_chunks{queue="cpu",state="done"}'] == numbers['assay_chunks{queue="cpu",state="open"}'] == 1
    assert 3600 <= numbers['assay_oldest_waiting_chunk_seconds{queue="cpu"}'] < 3700
    for state in (WebhookDelivery.State.WAITING, WebhookDelivery.State.FAILED):
        assert numbers[f'assay_webhook_deliveries{{state="{state}"}}'] == 0
    assert numbers["assay_answers_total"] == 0 and numbers['assay_open_leases{of="assignment"}'] == 0


COUNTING = """
import sys
from config.health.requests import COUNTS
COUNTS.add(200, 0.02)
print("counted", flush=True)
sys.stdin.read()
"""


def test_sums_hold_over_processes_and_their_ends(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    env = os.environ | {"ASSAY_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "tests.settings"}
    command = [sys.executable, "-c", COUNTING]

    def start() -> subprocess.Popen:
        process = subprocess.Popen(command, cwd=real.BASE_DIR, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdout.readline() == b"counted\n"
        return process

    first, second = start(), start()
    first.kill()
    first.communicate()
    third = start()
    assert totals()[1] == 3
    assert len(list(requests.folder().iterdir())) == 2, "the third goes on with the file of the first"
    for process in (second, third):
        process.kill()
        process.communicate()


def test_a_request_that_ends_in_an_exception_is_counted(rf, settings, tmp_path, monkeypatch):
    def fail(request):
        raise RuntimeError("not even the page of the error")

    settings.DATA_DIR = tmp_path
    monkeypatch.setattr("config.health.middleware.COUNTS", RequestCounts())
    with pytest.raises(RuntimeError):
        observed(fail)(rf.get("/projects/"))
    assert totals()[:5] == [0, 0, 0, 0, 1]


def test_doctor_prints_findings_and_ends_with_one_on_an_error(capsys):
    with pytest.raises(SystemExit) as ended:
        call_command("doctor")
    assert ended.value.code == 1
    printed = capsys.readouterr().out
    assert "error    Workers      default: no worker" in printed and "Start one: celery -A config worker" in printed
    give_signs()
    call_command("doctor", json=True)
    report = json.loads(capsys.readouterr().out)
    assert report["state"] == "warning" and {one["check"] for one in report["findings"]} >= {"disk", "mail", "models"}


def test_doctor_says_what_production_lacks(settings, capsys):
    settings.ALLOWED_HOSTS, settings.HTTPS, settings.DEBUG = ["assay.invalid"], False, False
    settings.STORAGES = real.STORAGES | {"staticfiles": {"BACKEND": "config.web.static_files.HashedStaticFiles"}}
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    with pytest.raises(SystemExit):
        call_command("doctor")
    printed = capsys.readouterr().out
    for words in (
        "Passwords and labels travel unencrypted",
        "The mail server 127.0.0.1:9 does not accept mail",
        "The name assay.invalid cannot be resolved",
        "no page can be shown",
    ):
        assert words in printed
    assert "SECURE_" not in printed


def test_administrators_see_the_same_rows_on_a_page():
    page = client_of(make_user("admin", is_superuser=True)).get("/administration/health/").content.decode()
    assert "default: no worker" in page and "celery -A config worker -B -n default@%h -Q default" in page
    assert '<span class="badge bad">error</span>' in page
    # What asks for no action is folded: one row, however many kinds of models are missing here.
    assert page.count('<th scope="row">Models</th>') == 1 and "Ready on this machine" in page
