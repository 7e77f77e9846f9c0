"""Signing in and out, passwords, the second factor, and the demo's one-click sign-in."""

import re

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.core import mail
from django.core.management import CommandError, call_command
from django.urls import include, path

from annotation.demo import making
from annotation.demo.views import urlpatterns as demo_urlpatterns
from annotation.models import User
from tests import factories
from tests.test_security import inline_parts
from tests.world import client_of

pytestmark = pytest.mark.django_db

urlpatterns = [path("", include("config.urls")), *demo_urlpatterns]  # as in a demo


def sign_in(client, user, password=factories.PASSWORD):
    return client.post("/accounts/login/", {"login": user.email, "password": password})


def test_people_sign_in_with_their_address(client):
    user = factories.make_user("nora")
    assert "Remember me" in client.get("/accounts/login/").content.decode()
    assert sign_in(client, user).url == "/"
    assert client.get("/").status_code == 200


def test_a_deactivated_account_stays_out(client):
    user = factories.make_user("nora")
    User.objects.update(is_active=False)
    sign_in(client, user)
    assert client.get("/").status_code == 302


def test_guessing_is_stopped(client):
    user = factories.make_user("nora")
    for _ in range(6):
        sign_in(client, user, "wrong password")
    assert "Too many" in sign_in(client, user).content.decode()
    assert client.get("/").status_code == 302


def test_a_forgotten_password_is_replaced_by_mail(client):
    user = factories.make_user("nora")
    client.post("/accounts/password/reset/", {"email": user.email})
    address = re.search(r"http://testserver(/accounts/password/reset/key/\S+)", mail.outbox[0].body)[1]
    page = client.get(address, follow=True)
    assert inline_parts(page.content.decode()) == []
    client.post(page.request["PATH_INFO"], {"password1": "another long secret", "password2": "another long secret"})
    assert sign_in(client_of(None), user, "another long secret").url == "/"


def test_a_reset_for_an_unknown_address_looks_the_same(client):
    known = factories.make_user("nora")
    answers = {client.post("/accounts/password/reset/", {"email": one}).url for one in (known.email, "who@example.org")}
    assert len(answers) == 1


def code_of(secret: str) -> str:
    return format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time()))))


def test_a_second_factor_is_asked_for_once_it_is_set_up(client):
    user = factories.make_user("nora")
    sign_in(client, user)
    asked = client.get("/accounts/2fa/totp/activate/", follow=True)
    assert inline_parts(asked.content.decode()) == []
    assert asked.request["PATH_INFO"] == "/accounts/reauthenticate/"
    client.post("/accounts/reauthenticate/", {"password": factories.PASSWORD})
    page = client.get("/accounts/2fa/totp/activate/").content.decode()
    assert "<svg" in page and inline_parts(page) == []
    secret = re.search(r'id="authenticator-secret" value="(\w+)"', page)[1]
    client.post("/accounts/2fa/totp/activate/", {"code": code_of(secret)})
    codes = client.get("/accounts/2fa/recovery-codes/").content.decode()
    assert inline_parts(codes) == []
    recovery = re.search(r"<textarea[^>]*>\s*(\w+)", codes)[1]

    fresh = client_of(None)
    assert sign_in(fresh, user).url.startswith("/accounts/2fa/authenticate/")
    assert fresh.get("/").status_code == 302
    page = fresh.get("/accounts/2fa/authenticate/").content.decode()
    assert inline_parts(page) == []
    fresh.post("/accounts/2fa/authenticate/", {"code": "000000"})
    assert fresh.get("/").status_code == 302
    fresh.post("/accounts/2fa/authenticate/", {"code": recovery})
    assert fresh.get("/").status_code == 200


def test_the_page_of_components_is_in_the_demo_alone(client, settings):
    settings.DEMO = True
    page = client.get("/style/").content.decode()
    assert all(f'class="swatch {scheme}"' in page for scheme in ("light", "dark")) and "This field is required" in page
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("account", making.DEMO_ACCOUNTS, ids=lambda account: account.slug)
def test_there_is_no_demo_sign_in_outside_the_demo(client, settings, account):
    settings.DEMO = True
    making.make_people()
    settings.DEMO = False
    assert client.post(f"/demo/sign-in/{account.slug}/").status_code == 404
    settings.ROOT_URLCONF = __name__  # even if somebody put the address there
    assert client.post(f"/demo/sign-in/{account.slug}/").status_code == 404
    assert "demo" not in client.get("/accounts/login/").content.decode().lower()


def test_one_click_signs_in_in_the_demo(client, settings):
    settings.DEMO, settings.ROOT_URLCONF = True, __name__
    making.make_people()
    page = client.get("/accounts/login/").content.decode()
    assert page.count("/demo/sign-in/") == 5 and inline_parts(page) == []
    assert client.get("/demo/sign-in/annotator/").status_code == 405
    assert client.post("/demo/sign-in/nobody/").status_code == 404
    client.post("/demo/sign-in/annotator/")
    assert "Ada Amari" in client.get("/").content.decode()
    assert client.get("/administration/health/").status_code == 403
    client.post("/demo/sign-in/administrator/")
    assert client.get("/administration/health/").status_code == 200


@pytest.mark.parametrize(
    ("wanted", "reached"),
    [("/datasets/", "/datasets/"), ("https://elsewhere.example/", "/"), ("//elsewhere.example/", "/"), ("", "/")],
)
def test_one_click_goes_on_to_the_page_that_asked_for_it_and_nowhere_else(client, settings, wanted, reached):
    settings.DEMO, settings.ROOT_URLCONF = True, __name__
    making.make_people()
    if reached != "/":
        assert client.get(f"/accounts/login/?next={wanted}").content.decode().count(f'value="{wanted}"') == 6
    assert client.post("/demo/sign-in/researcher/", {"next": wanted}).url == reached


def test_demo_accounts_have_no_password(settings):
    assert not any(user.has_usable_password() for user in making.make_people().values())


def test_the_demo_command_refuses_to_run_elsewhere():
    with pytest.raises(CommandError, match="ASSAY_DEMO"):
        call_command("demo")


def test_the_first_administrator_comes_from_the_command_line(monkeypatch, capsys, client):
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO("a long enough secret\n"))
    call_command("create_admin", "Boss@Example.org")
    boss = User.objects.get()
    assert boss.is_superuser and boss.email == "boss@example.org"
    assert sign_in(client, boss, "a long enough secret").url == "/"


def test_a_weak_password_makes_no_administrator(monkeypatch):
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO("12345\n"))
    with pytest.raises(CommandError, match="too short"):
        call_command("create_admin", "boss@example.org")
    assert not User.objects.exists()
