"""Logs as JSON: which request and which job a line belongs to."""

import json
import logging
import os
import subprocess
import sys
from io import StringIO

import pytest
from django.conf import settings as real
from django.test import Client
from django.urls import reverse
from django.views import View
from rest_framework.views import APIView

from annotation.jobs import lifecycle
from annotation.models import Job
from config.logs import HidingFormatter, JsonFormatter, ShortLines
from tests.factories import make_user


@pytest.fixture
def lines():
    """What was logged so far, as the console prints it."""

    class Kept(logging.Handler):
        def emit(self, record):
            kept.append(json.loads(self.format(record)))

    kept, handler = [], Kept()
    handler.setFormatter(JsonFormatter())
    logging.getLogger().addHandler(handler)
    yield kept
    logging.getLogger().removeHandler(handler)


@pytest.mark.django_db
def test_a_line_has_the_id_that_the_answer_carries(lines):
    answer = Client().get("/nowhere/")
    [line] = [line for line in lines if line["logger"] == "django.request"]
    assert line["request_id"] == answer.headers["X-Request-ID"] and len(line["request_id"]) == 32
    assert line["message"] == "Not Found: /nowhere/" and line["level"] == "WARNING" and "job" not in line
    assert Client().get("/healthz").headers["X-Request-ID"] != line["request_id"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "view", "method"),
    [("/accounts/login/", View, "dispatch"), ("/api/v1/projects/", APIView, "initial")],
)
def test_an_error_shows_the_id_that_its_line_has(lines, monkeypatch, path, view, method):
    def fail(*arguments, **named):
        raise RuntimeError("unforeseen")

    monkeypatch.setattr(view, method, fail)
    answer = Client(raise_request_exception=False).get(path)
    [line] = [line for line in lines if line["logger"] == "django.request"]
    assert answer.status_code == 500 and line["request_id"] in answer.content.decode()
    record = logging.makeLogRecord({"msg": "failed", "levelno": logging.ERROR})
    assert HidingFormatter("%(message)s").format(record) == f"failed (request {line['request_id']})"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("proxies", "given", "is_kept"),
    [(1, "from-proxy.1", True), (-1, "from-browser", False), (0, "from-browser", False), (1, 'a"b', False)]
    + [(1, "x" * 65, False), (1, "", False)],
)
def test_only_a_proxys_id_is_kept(settings, proxies, given, is_kept):
    settings.TRUSTED_PROXIES = proxies
    answer = Client().get("/healthz", headers={"X-Request-ID": given})
    assert (answer.headers["X-Request-ID"] == given) == is_kept


@pytest.mark.django_db
def test_a_line_has_the_job_in_whose_course_it_was_logged(lines, monkeypatch):
    class Failing:
        def run_chunk(self, chunk, lease):
            raise RuntimeError("at /invitations/Zx_aaaaaaaaaaaaaaaaaaaa/")

        def clean_up(self, job):
            pass

    monkeypatch.setattr(lifecycle, "_handler_of", lambda job: Failing())
    job = lifecycle.create_job(Job.Kind.REPORT, make_user("ada"), chunks=[({}, 1)])
    lifecycle.work_on(job.pk)
    logging.getLogger("after").warning("Another line")
    [line, *_, after] = [line for line in lines if line["logger"] in (lifecycle.log.name, "after")]
    assert line["job"] == str(job.uuid) and "RuntimeError" in line["exception"]
    assert "/invitations/[hidden]/" in line["exception"]
    assert "job" not in after


def test_the_setting_chooses_the_format(tmp_path):
    env = os.environ | {"ASSAY_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "tests.settings"}
    code = "import django, logging; django.setup(); logging.getLogger('one').warning('Grüße, %s', 'two')"

    def logged(**variables) -> str:
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=real.BASE_DIR, env=env | variables, capture_output=True, check=False)
        return done.stderr.decode()

    assert json.loads(logged(ASSAY_LOG_FORMAT="json"))["message"] == "Grüße, two"
    assert logged().endswith("WARNING one: Grüße, two\n")
    assert "ASSAY_LOG_FORMAT must be one of text, json" in logged(ASSAY_LOG_FORMAT="xml")


@pytest.mark.django_db
def test_a_refused_request_is_one_line_and_a_failure_keeps_its_traceback(monkeypatch):
    """`make demo` prints them where people read the address: a page that is not for them is no failure."""
    printed = StringIO()
    handler = logging.StreamHandler(printed)
    handler.setFormatter(HidingFormatter("%(message)s"))
    handler.addFilter(ShortLines())
    logging.getLogger().addHandler(handler)
    client = Client(raise_request_exception=False)
    client.force_login(make_user())
    try:
        assert client.get(reverse("project_new")).status_code == 403
        assert printed.getvalue() == f"Forbidden (Permission denied): {reverse('project_new')}\n"
        monkeypatch.setattr(View, "dispatch", lambda *arguments, **named: 1 / 0)
        client.logout()
        assert client.get("/accounts/login/").status_code == 500
        assert "ZeroDivisionError" in printed.getvalue()
    finally:
        logging.getLogger().removeHandler(handler)
