"""A new password and deactivation end every way into an account that somebody else may keep."""

import pytest
from allauth.usersessions.models import UserSession
from django.core import mail
from django.test import Client

from annotation.projects import tokens
from annotation.projects.accounts import password_links
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]
OLD, NEW = "a long enough secret", "another long enough secret"


@pytest.fixture
def person(settings):
    settings.ACCOUNT_RATE_LIMITS = False
    made = factories.make_user("nora")
    made.set_password(OLD)
    made.save()
    return made


def signed_in(user, password: str = OLD) -> Client:
    client = Client()
    assert client.post("/accounts/login/", {"login": user.email, "password": password}).status_code == 302
    assert is_in(client)
    return client


def is_in(client) -> bool:
    return client.get("/account/").status_code == 200


def status_of(secret: str) -> int:
    return Client(headers={"Authorization": f"Bearer {secret}"}).get("/api/v1/projects/").status_code


def test_a_changed_password_ends_tokens_and_sessions_elsewhere(person):
    here, elsewhere = signed_in(person), signed_in(person)
    _, secret = tokens.make_token(person, "notebook", ["read"], 30)
    assert status_of(secret) == 200 and is_in(elsewhere)
    form = {"oldpassword": OLD, "password1": NEW, "password2": NEW}
    assert here.post("/accounts/password/change/", form).status_code == 302
    assert status_of(secret) == 401 and not is_in(elsewhere) and is_in(here)
    person.refresh_from_db()
    assert not tokens.in_force(person).exists()


def test_a_reset_password_ends_tokens_and_sessions(person):
    elsewhere = signed_in(person)
    _, secret = tokens.make_token(person, "notebook", ["read"], 30)
    person.refresh_from_db()
    client = Client()
    asked = client.get(password_links.path_for(person), follow=True)
    client.post(asked.redirect_chain[-1][0], {"password1": NEW, "password2": NEW})
    person.refresh_from_db()
    assert person.check_password(NEW)
    assert status_of(secret) == 401 and not is_in(elsewhere)
    assert "Bearer" not in str(mail.outbox)


def test_signing_in_ends_no_token_and_deactivation_ends_all_for_good(person):
    _, secret = tokens.make_token(person, "notebook", ["read"], 30)
    client = signed_in(person)
    assert status_of(secret) == 200
    type(person).objects.filter(pk=person.pk).update(password="pbkdf2_sha256$1$x$x")  # no way of the product
    person.refresh_from_db()
    assert status_of(secret) == 200
    for is_active, expected in ((False, 401), (True, 401)):
        person.is_active = is_active
        person.save()
        assert status_of(secret) == expected and not is_in(client)


def test_who_is_active_again_signs_in_anew(person):
    """Also where nobody has used the session or the token in between."""
    _, secret = tokens.make_token(person, "notebook", ["read"], 30)
    client = signed_in(person)
    for is_active in (False, True):
        person.is_active = is_active
        person.save()
    assert status_of(secret) == 401 and not is_in(client)
    assert is_in(signed_in(person))


def test_everybody_sees_and_ends_their_own_sessions(person):
    here, elsewhere, other = signed_in(person), signed_in(person), signed_in(person)
    stranger = factories.make_user("stranger")
    stranger.set_password(OLD)
    stranger.save()
    foreign = signed_in(stranger)
    page = here.get("/accounts/sessions/").content.decode()
    assert page.count("<tr>") == 4 and page.count("this one") == 1
    assert here.post("/accounts/sessions/").status_code == 302
    assert is_in(here) and is_in(foreign) and not is_in(elsewhere) and not is_in(other)
    assert UserSession.objects.filter(user=person).count() == 1
