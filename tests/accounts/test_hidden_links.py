"""Links that let somebody in: they work once, and no log that Assay writes holds them."""

import io
import logging
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from django.conf import settings as real
from django.core import mail
from django.test import Client

from annotation.projects import invitations
from annotation.projects.accounts import password_links
from config.logs import HidingFormatter, hidden
from tests import factories
from tests.world import client_of

from .test_signing_in import sign_in

NEW = {"password1": "another long secret", "password2": "another long secret"}


@pytest.fixture
def logged():
    """All that the root logger is told, as the console would print it."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(HidingFormatter("%(levelname)s %(name)s %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    yield out
    root.removeHandler(handler)


@pytest.mark.django_db
def test_the_console_prints_what_the_formatter_hides():
    formatters = {handler["formatter"] for handler in real.LOGGING["handlers"].values()}
    assert {real.LOGGING["formatters"][name]["()"] for name in formatters} == {"config.logs.HidingFormatter"}
    for name in ("django", "django.request", "django.server", "uvicorn.access"):
        logger = logging.getLogger(name)
        assert logger.propagate and not logger.handlers, name  # so nothing is printed or mailed by another way


@pytest.mark.django_db
def test_no_log_holds_an_invitation_or_a_reset_link(logged):
    admin = factories.make_user("admin", is_superuser=True)
    made = invitations.invite(admin, "nora@example.org")
    address, token = f"/invitations/{made.token}/", made.token
    client = Client(raise_request_exception=False)
    assert client.get(address + "more/").status_code == 404
    invitations.withdraw(made)
    assert client.get(address).status_code == 410
    assert client.delete(address).status_code == 405
    reset = password_links.path_for(admin)
    key = re.search(r"/key/\w+?-(.+)/$", reset)[1]
    assert client.get(reset + "more/").status_code in (200, 404)
    assert client.delete(reset).status_code in (302, 405)
    assert client.get(f"/nowhere/?next={reset}").status_code == 404
    try:
        raise ValueError(f"while serving {address}")
    except ValueError:
        logging.getLogger("django.request").exception("Internal Server Error: %s", address)
    text = logged.getvalue()
    assert "Not Found" in text and "Gone" in text and "Method Not Allowed" in text and "Traceback" in text
    assert token not in text and key not in text and text.count("[hidden]") >= 5


def test_what_is_hidden():
    token, key = "Zx_" + "a" * 40, "cabc12-" + "f" * 32
    for text in (
        f"GET /invitations/{token}/ HTTP/1.1",
        f"/accounts/login/?next=%2Finvitations%2F{token}%2F",
        f"GET /join/{token}/ HTTP/1.1",
        f"GET /join/{token}/?PROLIFIC_PID={token} HTTP/1.1",
        f"GET /return/?code={token} HTTP/1.1",
        f"https://assay.example.org/accounts/password/reset/key/2f-{key}/",
        f"next=%2Faccounts%2Fpassword%2Freset%2Fkey%2F2f-{key}%2F",
    ):
        assert token not in hidden(text) and key not in hidden(text) and "[hidden]" in hidden(text)
    assert hidden("/invitations/ and /projects/invitations-study/") == "/invitations/ and /projects/invitations-study/"


@pytest.mark.django_db
def test_a_reset_link_works_once(client):
    user = factories.make_user("nora")
    client.post("/accounts/password/reset/", {"email": user.email})
    address = re.search(r"http://testserver(/accounts/password/reset/key/\S+)", mail.outbox[0].body)[1]
    first, second = Client(), Client()
    pages = [one.get(address, follow=True).request["PATH_INFO"] for one in (first, second)]
    first.post(pages[0], NEW)
    assert sign_in(Client(), user, NEW["password1"]).url == "/"
    third = {"password1": "a third long secret", "password2": "a third long secret"}
    second.post(pages[1], third)  # opened before, sent after
    assert "/key/" in Client().get(address).request["PATH_INFO"]
    Client().post(address, third)
    assert sign_in(Client(), user, third["password1"]).status_code == 200  # refused
    assert sign_in(Client(), user, NEW["password1"]).url == "/"


@pytest.mark.django_db
def test_without_a_mail_server_an_administrator_gets_the_link_on_a_page(settings, capfd):
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    admin, user = factories.make_user("admin", is_superuser=True), factories.make_user("nora")
    assert "Ask its administrator" in Client().get("/accounts/password/reset/").content.decode()
    Client().post("/accounts/password/reset/", {"email": user.email})
    researcher = client_of(admin)
    page = researcher.get("/invitations/").content.decode()
    assert "No mail server is configured" in page and "/key/" not in page
    answer = researcher.post("/invitations/password-link/", {"reset-email": user.email})
    address = re.search(r"http://testserver(/accounts/password/reset/key/[^<]+)<", answer.content.decode())[1]
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert "/key/" not in researcher.get("/invitations/").content.decode()  # shown once
    client = Client()
    client.post(client.get(address, follow=True).request["PATH_INFO"], NEW)
    assert sign_in(Client(), user, NEW["password1"]).url == "/"
    unknown = researcher.post("/invitations/password-link/", {"reset-email": "who@example.org"})
    assert "no active account" in unknown.content.decode()
    researcher.post("/invitations/", {"email": "new@example.org"})
    assert "No email could be sent" in researcher.get("/invitations/").content.decode()
    printed = "".join(capfd.readouterr())
    assert "/key/" not in printed and "/invitations/" not in printed


def test_gunicorns_logs_hide_them_too(tmp_path):
    """The server as the documentation starts it, and with the access log that somebody may ask for."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    env = {
        **{
            name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "DJANGO_", "DATABASE_"))
        },
        **{"ASSAY_SECRET_KEY": "k" * 50, "ASSAY_DATA_DIR": str(tmp_path), "ASSAY_DEBUG": "1"},
    }
    log = tmp_path / "log"
    command = [sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{port}", "--access-logfile", "-"]
    with log.open("w") as out:
        server = subprocess.Popen(
            [*command, "--log-level", "debug"], cwd=real.BASE_DIR, env=env, stdout=out, stderr=subprocess.STDOUT
        )
    token = "Zx_" + "q" * 40
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/invitations/{token}/nowhere/", timeout=20)
            except urllib.error.HTTPError:
                break
            except OSError:
                time.sleep(0.5)
    finally:
        server.terminate()
        server.wait(20)
    text = log.read_text()
    assert "GET /invitations/[hidden]/nowhere/" in text and token not in text, text


def test_what_a_sign_in_provider_sends_along_is_hidden():
    line = '"GET /accounts/oidc/uni/login/callback/?state=Abc123&code=Xyz-789 HTTP/1.1" 302'
    assert hidden(line) == '"GET /accounts/oidc/uni/login/callback/?[hidden] HTTP/1.1" 302'
