"""Signing in with an OpenID Connect provider, which runs here as a server of its own."""

import json
import re
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from oidc_provider_mock import User as Person
from oidc_provider_mock import run_server_in_thread

from annotation.models import GroupGrant, User
from annotation.projects import invitations, managing
from annotation.projects.accounts.managing import CREATOR, MEMBER, set_rights
from config.oidc import keys_table, parse_sign_in_providers
from tests import factories
from tests.world import client_of

pytestmark = pytest.mark.django_db
NAME = "uni"


def person(sub: str, **claims) -> Person:
    return Person(
        sub=sub, claims={"email": f"{sub}@example.org", "email_verified": True, "name": sub.title(), **claims}
    )


@pytest.fixture(scope="module")
def server():
    with run_server_in_thread() as running:
        yield f"http://127.0.0.1:{running.server_port}"


@pytest.fixture
def provider(settings, server, monkeypatch):
    """Configures the site, and says who is who at the provider."""

    monkeypatch.setenv("UNI_SECRET", "known to both")

    def configure(*people: Person, issuer: str = server, **entry):
        entry = {
            "title": "University",
            "issuer": issuer,
            "client_id": "assay",
            "client_secret_env": "UNI_SECRET",
        } | entry
        settings.OIDC = {NAME: parse_entry(entry)}
        apps = [one.as_app() for one in settings.OIDC.values()]
        settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": apps}}
        for one in people:
            httpx.put(f"{server}/users/{one.sub}", json=one.claims).raise_for_status()

    return configure


def parse_entry(entry):
    return parse_sign_in_providers(json.dumps({NAME: entry}))[NAME]


def begin(client) -> str:
    """The provider's address, as the page leads on to it."""
    page = client.post(f"/accounts/oidc/{NAME}/login/", {"next": "/datasets/"})
    assert page.status_code == 200, page.content
    return unescape(re.search(r'http-equiv="refresh" content="0;url=([^"]+)"', page.content.decode())[1])


def sign_in(sub: str, client=None):
    """The answer to the person's return from the provider, after redirects within Assay."""
    client = client or client_of(None)
    answer = httpx.post(begin(client), data={"sub": sub})
    back = urlsplit(answer.headers["location"])
    return client.get(f"{back.path}?{back.query}", follow=True)


def test_the_sign_in_page_offers_the_provider(client, provider):
    assert "University" not in client.get("/accounts/login/").content.decode()
    provider()
    page = client.get("/accounts/login/?next=/datasets/").content.decode()
    assert "Sign in with University" in page and page.count('value="/datasets/"') == 2
    assert client.get(f"/accounts/oidc/{NAME}/login/").status_code == 302
    assert client.post("/accounts/oidc/other/login/").status_code == 404


def test_an_account_is_linked_by_a_verified_address(provider):
    nora = factories.make_user("nora")
    EmailAddress.objects.create(user=nora, email=nora.email, primary=True, verified=True)
    provider(person("nora"))
    client = client_of(None)
    assert sign_in("nora", client).request["PATH_INFO"] == "/datasets/"
    assert client.get("/account/").context["user"] == nora
    linked = SocialAccount.objects.get()
    assert (linked.user, linked.provider, linked.extra_data) == (nora, NAME, {"groups": []})
    nora.refresh_from_db()
    assert nora.has_usable_password() and nora.last_login
    # From now on the provider's id counts, whatever becomes of the address.
    provider(person("nora", email="new@example.org", email_verified=False))
    assert sign_in("nora").context["user"] == nora and User.objects.count() == 1


def test_an_unverified_address_opens_nothing(provider):
    nora = factories.make_user("nora")
    provider(person("nora", email_verified=False), new_accounts="everyone")
    page = sign_in("nora")
    assert page.status_code == 403 and "has not verified the address nora@example.org" in page.content.decode()
    provider(person("nora", email_verified="false"), new_accounts="everyone")
    assert sign_in("nora").status_code == 403
    assert not SocialAccount.objects.exists() and User.objects.get() == nora
    provider(person("nora", email=None), new_accounts="everyone")
    assert "did not say your email address" in sign_in("nora").content.decode()
    provider(person("nora", email_verified=False), verified_domains=["example.org"])
    assert sign_in("nora").context["user"] == nora


def test_a_password_that_another_person_may_have_chosen_ends(provider):
    """Who was passed an invitation by hand for an address that is not theirs keeps no way in."""
    nora = factories.make_user("nora")
    EmailAddress.objects.create(user=nora, email=nora.email, primary=True, verified=False)
    intruder = client_of(None)
    intruder.post("/accounts/login/", {"login": nora.email, "password": factories.PASSWORD})
    provider(person("nora"))
    assert sign_in("nora").context["user"] == nora
    nora.refresh_from_db()
    assert not nora.has_usable_password() and intruder.get("/account/").status_code == 302


def test_new_people_need_an_invitation(provider):
    provider(person("nora"))
    refused = sign_in("nora")
    assert refused.status_code == 403 and "There is no account for nora@example.org" in refused.content.decode()
    project = factories.make_project(factories.make_dataset())
    invitations.invite(project.created_by, "nora@example.org", project=project, roles=["annotator"])
    assert sign_in("nora").context["user"].name == "Nora"
    nora = User.objects.get(email="nora@example.org")
    assert nora.memberships.get().project == project and not nora.has_usable_password()
    assert EmailAddress.objects.get(user=nora).verified


GROUPS = {"nlp": ["creator"], "admins": ["administrator"], "team": ["stance/annotator", "nowhere/annotator"]}


def test_groups_give_rights_and_take_back_their_own_alone(provider):
    project = factories.make_project(factories.make_dataset(), slug="stance")
    by_hand = factories.make_project(factories.make_dataset())
    provider(person("nora", groups=["nlp", "team", "unknown"]), groups=GROUPS, new_accounts="groups")
    nora = sign_in("nora").context["user"]
    factories.join(by_hand, nora)
    assert nora.is_staff and not nora.is_superuser
    assert set(nora.memberships.values_list("project__slug", flat=True)) == {"stance", by_hand.slug}
    provider(person("nora", groups=["admins"]), groups=GROUPS, new_accounts="groups")
    sign_in("nora")
    nora.refresh_from_db()
    assert nora.is_superuser and not project.memberships.filter(user=nora, is_active=True).exists()
    assert by_hand.memberships.filter(user=nora, is_active=True).exists()
    assert set(GroupGrant.objects.values_list("right", flat=True)) == {"administrator"}
    history = [one.changes["rights"][1] for one in nora.account_changes.order_by("pk")]
    assert history[-1].startswith("Administrator")
    page = client_of(nora).get("/administration/accounts/history/").content.decode()
    assert page.count("groups of a sign-in provider") >= len(history)


def test_no_group_takes_back_what_a_person_gave_again(provider):
    project = factories.make_project(factories.make_dataset(), slug="stance")
    admin = factories.make_user("ada")
    provider(person("nora", groups=["nlp", "team"]), groups=GROUPS, new_accounts="everyone")
    nora = sign_in("nora").context["user"]
    set_rights(admin, nora, MEMBER)
    managing.set_roles(project, nora, [], admin)
    sign_in("nora")
    nora.refresh_from_db()
    assert not nora.is_staff and managing.active_roles(project, nora) == []
    set_rights(admin, nora, CREATOR)
    managing.set_roles(project, nora, ["annotator"], admin)
    sign_in("nora")
    provider(person("nora", groups=[]), groups=GROUPS, new_accounts="everyone")
    sign_in("nora")
    nora.refresh_from_db()
    assert nora.is_staff and managing.active_roles(project, nora) == ["annotator"]


def test_who_left_all_groups_is_out(provider):
    provider(person("nora", groups="nlp"), groups=GROUPS, new_accounts="groups")
    client = client_of(None)
    nora = sign_in("nora", client).context["user"]
    provider(person("nora", groups=["choir"]), groups=GROUPS, new_accounts="groups")
    refused = sign_in("nora")
    assert refused.status_code == 403 and "None of your groups at University" in refused.content.decode()
    assert "choir" in refused.content.decode()
    nora.refresh_from_db()
    assert not nora.is_staff and client.get("/account/").status_code == 302
    provider(person("ben", groups=["choir"]), groups=GROUPS, new_accounts="groups")
    assert "none of your groups at University gives access" in sign_in("ben").content.decode()


def test_groups_do_not_take_the_last_administrator(provider):
    provider(person("nora", groups=["admins", "nlp"]), groups=GROUPS, new_accounts="groups")
    sign_in("nora")
    provider(person("nora", groups=["nlp"]), groups=GROUPS, new_accounts="groups")
    assert sign_in("nora").context["user"].is_superuser


def test_deactivated_accounts_stay_out(provider):
    nora = factories.make_user("nora")
    provider(person("nora"))
    sign_in("nora")
    nora.is_active = False
    nora.save()
    refused = sign_in("nora")
    assert refused.status_code == 403 and "is deactivated in Assay" in refused.content.decode()


def test_a_second_factor_of_assay_is_asked_for_as_well(provider):
    nora = factories.make_user("nora")
    Authenticator.objects.create(user=nora, type=Authenticator.Type.TOTP, data={"secret": "x"})
    provider(person("nora"))
    client = client_of(None)
    assert sign_in("nora", client).request["PATH_INFO"] == "/accounts/2fa/authenticate/"
    assert client.get("/account/").status_code == 302


def test_signing_out_says_that_the_provider_may_still_know_the_person(provider):
    factories.make_user("nora")
    provider(person("nora"))
    client = client_of(None)
    sign_in("nora", client)
    page = client.post("/accounts/logout/", follow=True).content.decode()
    assert "may still be signed in at University" in page and client.get("/account/").status_code == 302
    by_password = client_of(None)
    by_password.post("/accounts/login/", {"login": "nora@example.org", "password": factories.PASSWORD})
    assert "University:" not in by_password.post("/accounts/logout/", follow=True).content.decode()


def test_who_has_no_password_gets_none_by_mail(provider, mailoutbox, client):
    provider(person("nora"), new_accounts="everyone")
    signed_in = client_of(None)
    sign_in("nora", signed_in)
    client.post("/accounts/password/reset/", {"email": "nora@example.org"})
    assert not mailoutbox and signed_in.get("/accounts/password/set/").status_code == 404


def test_a_provider_that_is_away_is_named(provider, client, caplog):
    provider(issuer="http://127.0.0.1:9")
    page = client.post(f"/accounts/oidc/{NAME}/login/")
    assert page.status_code == 503 and "University is not available" in page.content.decode()
    assert "127.0.0.1:9" in caplog.text and "127.0.0.1:9" not in page.content.decode()


def test_a_provider_that_goes_away_in_between_is_named(provider, client, server):
    provider(person("nora"))
    answer = httpx.post(begin(client), data={"sub": "nora"})
    back = urlsplit(answer.headers["location"])
    provider(issuer="http://127.0.0.1:9")
    page = client.get(f"{back.path}?{back.query}")
    assert page.status_code == 503 and "is not available" in page.content.decode()


def test_what_comes_back_wrong_is_explained(provider, client):
    provider(person("nora"))
    address = f"/accounts/oidc/{NAME}/login/callback/"
    stale = client.get(address, {"state": "x", "code": "y"})
    assert stale.status_code == 400 and "has expired" in stale.content.decode()

    def returned(**query):
        state = re.search(r"[?&]state=([^&]+)", begin(client))[1]
        return client.get(address, {"state": state, **query}, follow=True)

    assert "You did not sign in with University" in returned(error="access_denied").content.decode()
    refused = returned(error="server_error", error_description="<b>maintenance</b>")
    assert refused.status_code == 403 and "&lt;b&gt;maintenance" in refused.content.decode()
    assert returned(code="forged").status_code == 502


def test_an_account_cannot_be_linked_by_who_is_signed_in(provider):
    """That would not need the address."""
    ben = client_of(factories.make_user("ben"))
    provider(person("nora"))
    page = ben.post(f"/accounts/oidc/{NAME}/login/?process=connect")
    address = unescape(re.search(r'content="0;url=([^"]+)"', page.content.decode())[1])
    back = urlsplit(httpx.post(address, data={"sub": "nora"}).headers["location"])
    assert ben.get(f"{back.path}?{back.query}").status_code == 404 and not SocialAccount.objects.exists()


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"issuer": "http://idp.example.org"}, "uni.issuer must begin with https"),
        ({"client_id": ""}, "uni.client_id must be text"),
        ({"colour": "red"}, "has 'colour' in uni; known are title"),
        ({"client_secret_env": "NOT_SET_ANYWHERE"}, "names NOT_SET_ANYWHERE, which is not set"),
        ({"client_secret_env": "ASSAY_SECRET_KEY"}, "does not begin with ASSAY_"),
        ({"groups": {"a": ["owner"]}}, "has the right 'owner'"),
        ({"groups": ["a"]}, "must be an object"),
        ({"new_accounts": "all"}, "must be invited, groups or everyone"),
    ],
)
def test_mistakes_in_the_setting_are_named(entry, message):
    full = {"title": "University", "issuer": "https://idp.example.org", "client_id": "assay"}
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_entry(full | entry)
    del full["title"]
    with pytest.raises(ValueError, match="lacks title in uni"):
        parse_entry(full)


def test_the_documented_keys_are_those_that_are_read():
    page = Path(__file__).parents[2] / "docs" / "settings.md"
    assert keys_table() in page.read_text("utf-8")


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_browser_signs_in_with_the_provider(open_context, provider):
    factories.make_user("nora")
    provider(person("nora"))
    page = open_context().new_page()
    page.goto("/accounts/login/?next=/datasets/")
    page.get_by_role("button", name="Sign in with University").click()
    page.locator("[name=sub]").first.fill("nora")
    page.get_by_role("button", name="Authorize", exact=True).click()
    page.wait_for_url("**/datasets/")
    assert page.get_by_role("link", name="nora", exact=True).is_visible()
