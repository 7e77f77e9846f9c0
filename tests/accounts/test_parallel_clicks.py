"""Several clicks on one invitation at the same moment: one account, joined once, and a friendly answer for each."""

import threading

import pytest
from django.db import connections
from django.test import Client

from annotation.models import Membership, User
from annotation.projects import invitations
from tests import factories
from tests.world import client_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]
CLICKS = 6
NEW = {"name": "Nora New", "password": "a long enough secret"}
ADDRESS = "nora@example.org"


@pytest.fixture
def project(settings):
    settings.ACCOUNT_RATE_LIMITS = False
    return factories.make_project(factories.make_dataset())


def clicked(addresses: list[str], clients: list[Client], data: dict) -> list:
    """The answers to all of them, sent at once."""
    barrier, answers = threading.Barrier(len(clients)), []

    def click(address: str, client: Client) -> None:
        try:
            barrier.wait()
            answers.append(client.post(address, data))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=click, args=each) for each in zip(addresses, clients, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def invite(project) -> str:
    made = invitations.invite(project.created_by, ADDRESS, project=project, roles=["annotator", "adjudicator"])
    return invitations.path_of(made, way="mail")


def test_parallel_clicks_make_one_account_and_tell_the_others(project):
    address = invite(project)
    answers = clicked([address] * CLICKS, [Client(raise_request_exception=False) for _ in range(CLICKS)], NEW)
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses.count(302) >= 1 and set(statuses) <= {302, 410}
    for answer in answers:
        if answer.status_code == 410:
            assert "sign in" in answer.content.decode()
    user = User.objects.get(email=ADDRESS)
    assert sorted(user.memberships.values_list("role", flat=True)) == ["adjudicator", "annotator"]
    assert user.raters.count() == 1


def test_parallel_clicks_on_several_invitations_of_one_address_make_one_account(project):
    addresses = [invite(project) for _ in range(CLICKS)]
    answers = clicked(addresses, [Client(raise_request_exception=False) for _ in range(CLICKS)], NEW)
    # Who comes once the account is there is asked to sign in.
    assert {answer.status_code for answer in answers} <= {302, 410}
    assert User.objects.filter(email=ADDRESS).count() == 1


def test_parallel_clicks_of_somebody_signed_in_all_lead_into_the_project(project):
    user = factories.make_user("nora")
    assert user.email == ADDRESS
    address = invite(project)
    answers = clicked([address] * CLICKS, [client_of(user, raise_request_exception=False) for _ in range(CLICKS)], {})
    assert {(answer.status_code, answer.get("Location")) for answer in answers} == {(302, f"/projects/{project.slug}/")}
    assert Membership.objects.filter(user=user, project=project).count() == 2
