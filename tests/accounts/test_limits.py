"""Limits on signing in and joining: per address only what failed counts, and per account; a class comes from one
address."""

import pytest
from django.core.cache import cache
from django.test import Client

from annotation.models import Membership, User
from annotation.projects import invitations
from tests import factories

from .test_signing_in import sign_in

pytestmark = pytest.mark.django_db
CLASS = 30


@pytest.fixture(autouse=True)
def without_counts():
    cache.clear()
    yield
    cache.clear()


def test_fourteen_failed_sign_ins_of_others_lock_nobody_out():
    """All from one address, as they seem to come from behind a proxy that nobody told Assay of."""
    people = [factories.make_user(f"person{number}") for number in range(4)]
    for number in range(14):
        sign_in(Client(), people[number % 3], "wrong password")
    assert sign_in(Client(), people[3]).url == "/"


def test_a_class_signs_in_at_once():
    people = [factories.make_user(f"pupil{number}") for number in range(CLASS + 10)]
    assert [sign_in(Client(), person).status_code for person in people] == [302] * len(people)


def test_a_class_joins_at_once():
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 1)
    project = factories.make_project(dataset)
    for number in range(CLASS):
        made = invitations.invite(project.created_by, f"p{number}@example.org", project=project, roles=["annotator"])
        pupil, address = Client(), invitations.path_of(made, way="mail")
        assert pupil.get(address).status_code == 200
        assert pupil.post(address, {"name": f"Pupil {number}", "password": "a long enough secret"}).status_code == 302
    assert Membership.objects.filter(project=project, role="annotator").count() == CLASS


def guess(person, address: str, times: int = 1) -> list[str]:
    """What the page says of each wrong password that comes from an address."""
    client = Client(REMOTE_ADDR=address)
    return [sign_in(client, person, "wrong password").content.decode() for _ in range(times)]


def test_an_account_stays_guarded_whoever_shares_the_address():
    guessed, other = factories.make_user("guessed"), factories.make_user("other")
    assert "Too many" in guess(guessed, "192.0.2.1", 6)[-1]
    assert "Too many" in sign_in(Client(REMOTE_ADDR="192.0.2.1"), guessed).content.decode()
    assert sign_in(Client(REMOTE_ADDR="192.0.2.1"), other).url == "/"


def test_who_guesses_elsewhere_does_not_lock_the_owner_out():
    owner = factories.make_user("owner")
    assert "Too many" in guess(owner, "192.0.2.1", 10)[-1]
    at_home = Client(REMOTE_ADDR="192.0.2.2")
    assert sign_in(at_home, owner, "a slip, not a guess").status_code == 200
    assert sign_in(at_home, owner).url == "/"


def test_guessing_from_many_addresses_is_slowed_down():
    """Thirty failures in an hour; then each address has one in five minutes, and the owner needs none."""
    owner = factories.make_user("owner")
    for number in range(10):
        guess(owner, f"192.0.2.{number}", 3)
    first, second = guess(owner, "198.51.100.1", 2)
    assert "Too many" not in first and "Too many" in second
    assert sign_in(Client(REMOTE_ADDR="198.51.100.2"), owner).url == "/"
    assert sign_in(Client(REMOTE_ADDR="198.51.100.2"), owner).url == "/"


def test_addresses_of_one_network_of_ipv6_count_as_one():
    owner = factories.make_user("owner")
    said = [guess(owner, f"2001:db8::{number}")[0] for number in range(6)]
    assert "Too many" in said[-1] and "Too many" not in said[-2]


def test_guessing_many_accounts_from_one_address_is_stopped():
    for number in range(50):
        Client().post("/accounts/login/", {"login": f"nobody{number}@example.org", "password": "wrong password"})
    assert "Too many" in sign_in(Client(), factories.make_user("nora")).content.decode()
    from_elsewhere = Client(REMOTE_ADDR="192.0.2.7")
    assert sign_in(from_elsewhere, User.objects.get()).url == "/"


def test_guessing_invitations_is_stopped_and_a_valid_one_still_opens():
    made = invitations.invite(factories.make_user(is_superuser=True), "nora@example.org")
    client = Client()
    found = [client.get(f"/invitations/{'x' * 30}{number}/").status_code for number in range(52)]
    assert found == [404] * 50 + [429] * 2
    assert client.get(invitations.path_of(made, way="mail")).status_code == 200


def test_addresses_are_told_apart_once_the_proxy_is_known(settings):
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    nora = factories.make_user("nora")
    for number in range(50):
        Client(HTTP_X_FORWARDED_FOR="192.0.2.1").post(
            "/accounts/login/", {"login": f"nobody{number}@example.org", "password": "wrong password"}
        )
    for _ in range(6):
        sign_in(Client(HTTP_X_FORWARDED_FOR="198.51.100.9, 192.0.2.3"), nora, "wrong password")  # the first is made up
    assert sign_in(Client(HTTP_X_FORWARDED_FOR="192.0.2.2"), nora).url == "/"
    assert "Too many" in sign_in(Client(HTTP_X_FORWARDED_FOR="192.0.2.1"), nora).content.decode()
