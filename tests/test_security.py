"""What no page may carry, what no setting may be, and what production insists on."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from config.checks import production_is_closed

from .roles.places import address_of
from .routes import all_routes
from .world import client_of, make_world

ROOT = Path(__file__).resolve().parent.parent
DATA_BLOCKS = {"application/json"}  # a script element that holds data is run by no browser


class Inline(HTMLParser):
    """Collects whatever a strict Content-Security-Policy would refuse, or would have to allow."""

    def __init__(self):
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attrs):
        names = dict(attrs)
        if tag == "style":
            self.found.append("<style>")
        if tag == "script" and "src" not in names and names.get("type") not in DATA_BLOCKS:
            self.found.append("<script> without src")
        for name, value in attrs:
            if name == "style" or name.startswith("on") or name.startswith("hx-on"):
                self.found.append(f"{tag} {name}={value}")
            if name in ("href", "src", "action") and re.match(r"\s*(javascript|data|vbscript):", value or "", re.I):
                self.found.append(f"{tag} {name}={value}")
            if name in ("src", "href") and tag in ("script", "link", "img") and re.match(r"(https?:)?//", value or ""):
                self.found.append(f"{tag} {name}={value} from elsewhere")

    handle_startendtag = handle_starttag


def inline_parts(html: str) -> list[str]:
    parser = Inline()
    parser.feed(html)
    return parser.found


@pytest.mark.parametrize(
    "html",
    [
        "<style>p{}</style>",
        "<script>1</script>",
        '<p style="color:red">',
        '<p onclick="x()">',
        '<a href="javascript:x()">',
        '<img src="data:x">',
        '<script src="https://cdn.example/x.js"></script>',
        '<div hx-on:click="x()">',
    ],
)
def test_the_reader_finds_what_it_looks_for(html):
    assert inline_parts(html)


@pytest.mark.django_db
@pytest.mark.parametrize("role", ["anonymous", "annotator", "adjudicator", "admin"])  # who has a researcher's pages too
def test_pages_carry_a_policy_and_nothing_that_it_forbids(role, settings):
    settings.ACCOUNT_RATE_LIMITS = False
    world = make_world()
    client = client_of(world.people.get(role), raise_request_exception=False)
    pages = 0
    for pattern in all_routes():
        response = client.get(address_of(pattern, world))
        assert "private" in response.headers["Cache-Control"] and "no-store" in response.headers["Cache-Control"]
        if not response.headers.get("Content-Type", "").startswith("text/html") or response.status_code == 302:
            continue
        pages += 1
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy, pattern
        assert response.headers["X-Content-Type-Options"] == "nosniff", pattern
        assert inline_parts(response.content.decode()) == [], pattern
    assert pages > 15


@pytest.mark.django_db
def test_no_change_without_the_csrf_token(settings):
    settings.ACCOUNT_RATE_LIMITS = False
    world = make_world()
    client = client_of(world.people["researcher"], raise_request_exception=False, enforce_csrf_checks=True)
    answers = {pattern: client.post(address_of(pattern, world)) for pattern in all_routes()}
    assert [pattern for pattern, answer in answers.items() if answer.status_code in (200, 302)] == []
    refused = answers["projects/new/"]
    assert refused.status_code == 403
    assert b"This page is outdated" in refused.content and b"site-header" in refused.content
    refused = answers["api/v1/assignments/<uuid:uuid>/submit"]
    assert (refused.status_code, refused.json()["code"]) == (403, "csrf")


# ---- settings ----

GOOD = {
    "ASSAY_SECRET_KEY": "0123456789abcdefghijklmnopqrstuvwxyz" * 2,
    "ASSAY_ALLOWED_HOSTS": "assay.example.org",
    "ASSAY_TRUSTED_PROXIES": "1",
}


def load_settings(tmp_path, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "VIRTUAL_ENV")}
    return subprocess.run(
        [sys.executable, *(arguments or ("-c", "import config.settings"))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=kept | {"ASSAY_DATA_DIR": str(tmp_path)} | environment,
    )


def test_settings_that_are_right_load(tmp_path):
    done = load_settings(tmp_path, **GOOD)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("more", ["ASSAY_HTTPS_REDIRECT", "ASSAY_HSTS_SECONDS"])
def test_settings_of_https_stay_while_it_is_off(tmp_path, more):
    shown = (
        "import config.settings as s; print(getattr(s, 'SECURE_SSL_REDIRECT', 0), getattr(s, 'SECURE_HSTS_SECONDS', 0))"
    )
    done = load_settings(tmp_path, "-c", shown, **GOOD, **{"ASSAY_HTTPS": "0", more: "1"})
    assert (done.returncode, done.stdout.strip()) == (0, "0 0"), done.stderr


WRONG = {
    "ASSAY_SECRET_KEY": "",
    "ASSAY_DEBUG": "maybe",
    "ASSAY_DEMO": "2",
    "ASSAY_HTTPS": "si",
    "ASSAY_ALLOWED_HOSTS": "a.example,,b.example",
    "ASSAY_TRUSTED_ORIGINS": "assay.example.org",
    "ASSAY_LOG_LEVEL": "LOUD",
    "ASSAY_EMAIL_PORT": "99999",
    "ASSAY_HSTS_SECONDS": "-1",
    "ASSAY_UPLOAD_LIMIT_MB": "0",
    "ASSAY_CHUNK_LEASE_SECONDS": "soon",
    "ASSAY_TRUSTED_PROXIES": "-1",
    "ASSAY_INVITATION_DAYS": "0",
    "ASSAY_CACHE_URL": "memcached://127.0.0.1",
    "DATABASE_URL": "mysql://127.0.0.1/assay",
    "CELERY_BROKER_URL": "kafka://127.0.0.1",
    "ASSAY_SECRT_KEY": "k" * 50,
}


@pytest.mark.parametrize(
    "wrong", [WRONG, {"ASSAY_SECRET_KEY": "short", "DATABASE_URL": "sqlite://:memory:"}], ids=["each", "otherwise"]
)
def test_wrong_variables_are_named_at_start_all_at_once(tmp_path, wrong):
    done = load_settings(tmp_path, **(GOOD | wrong))
    assert done.returncode != 0
    assert sorted(re.findall(r"Assay cannot start: (\w+)", done.stderr)) == sorted(wrong), done.stderr


def test_the_demo_answers_on_loopback_names_only(tmp_path):
    done = load_settings(tmp_path, **(GOOD | {"ASSAY_DEMO": "1"}))
    assert "ASSAY_ALLOWED_HOSTS must stay on loopback" in done.stderr


def test_production_settings_pass_djangos_deployment_check(tmp_path):
    done = load_settings(tmp_path, "manage.py", "check", "--deploy", "--fail-level", "WARNING", **GOOD)
    assert done.returncode == 0, done.stderr


def test_the_deployment_check_fails_on_what_would_be_open(tmp_path):
    change = {"ASSAY_DEBUG": "1", "ASSAY_HTTPS": "1", "ASSAY_TRUSTED_PROXIES": "", "WEB_CONCURRENCY": "2"}
    demo = {"ASSAY_SECRET_KEY": "k" * 50, "ASSAY_DEMO": "1"}
    done = load_settings(tmp_path, "manage.py", "check", "--deploy", **(demo | change))
    assert done.returncode != 0
    assert sorted(re.findall(r"assay\.E\d+", done.stderr)) == ["assay.E010", "assay.E011", "assay.E012", "assay.E013"]


def test_several_web_processes_may_share_a_cache(settings):
    settings.DEBUG, settings.TRUSTED_PROXIES, settings.WEB_PROCESSES = False, 1, 2
    settings.CACHE_URL = "redis://127.0.0.1:1/0"  # nobody asks it here
    assert production_is_closed(None) == []


def test_only_a_proxy_is_believed_about_https(tmp_path):
    show = ("-c", "import config.settings as s; print(getattr(s, 'SECURE_PROXY_SSL_HEADER', None))")
    for proxies, believed in (("1", True), ("", True), ("0", False)):
        done = load_settings(tmp_path, *show, **(GOOD | {"ASSAY_TRUSTED_PROXIES": proxies}))
        assert ("HTTP_X_FORWARDED_PROTO" in done.stdout) is believed, done.stderr
