"""Getting an account: by an invitation, once, for one address, and in no other way."""

import re
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.utils import timezone

from annotation.models import Invitation, Membership, Project, User
from annotation.projects import invitations, managing
from tests import factories
from tests.world import client_of

pytestmark = pytest.mark.django_db
NEW = {"name": "Nora New", "password": "a long enough secret"}


@pytest.fixture
def project() -> Project:
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 1)
    return factories.make_project(dataset)


def invite(project, email="nora@example.org", roles=("annotator",)) -> Invitation:
    return invitations.invite(project.created_by, email, project=project, roles=roles)


def link(invitation) -> str:
    """As the mail has it."""
    return invitations.path_of(invitation, way="mail")


def test_a_researcher_sends_a_link_and_whoever_opens_it_joins(client, project):
    researcher = client_of(project.created_by)
    response = researcher.post(
        f"/projects/{project.slug}/members/", {"email": "Nora@Example.org", "roles": ["annotator", "adjudicator"]}
    )
    assert response.status_code == 302
    [message] = mail.outbox
    assert message.to == ["nora@example.org"]
    address = re.search(r"http://testserver(/invitations/\S+)", message.body)[1]
    [path, key] = address.split("?key=")
    members = researcher.get(f"/projects/{project.slug}/members/").content.decode()
    assert path in members and key not in members

    response = client.post(address, NEW, follow=True)

    assert response.redirect_chain[-1][0] == f"/projects/{project.slug}/"
    user = User.objects.get(email="nora@example.org")
    assert user.check_password(NEW["password"]) and not user.is_staff
    assert set(user.memberships.values_list("role", flat=True)) == {"annotator", "adjudicator"}
    assert EmailAddress.objects.get(user=user).verified
    assert user.raters.get().project == project


@pytest.mark.parametrize("length", [254, 255])
def test_an_address_has_at_most_254_characters(client, project, length):
    domain = ".".join(["d" * 50, "e" * 50, "f" * 50, "g" * (length - 221), "org"])
    email = "n" * 63 + "@" + domain
    response = client_of(project.created_by).post(
        f"/projects/{project.slug}/members/", {"email": email, "roles": ["annotator"]}
    )
    assert len(email) == length and response.status_code == (302 if length == 254 else 200)
    if length == 255:
        assert "at most 254 characters" in response.content.decode()
        return
    assert client.post(link(Invitation.objects.get()), NEW).status_code == 302
    assert User.objects.get(email=email).username == email


def test_the_link_works_once(client, project):
    invitation = invite(project)
    client.post(link(invitation), NEW)
    response = client_of(None).post(link(invitation), NEW | {"name": "Somebody Else"})
    assert response.status_code == 410
    assert User.objects.filter(email="nora@example.org").count() == 1


def test_the_link_runs_out(client, project):
    invitation = invite(project)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert client.post(link(invitation), NEW).status_code == 410
    assert not User.objects.filter(email="nora@example.org").exists()


def test_an_invitation_dies_with_the_inviters_right(client, project):
    other = factories.join(project, factories.make_user("second"), Membership.Role.RESEARCHER)
    invitation = invitations.invite(other, "nora@example.org", project=project, roles=["annotator"])
    managing.remove_member(project, other, Membership.Role.RESEARCHER)
    assert client.get(link(invitation)).status_code == 410


def test_a_withdrawn_invitation_no_longer_works(client, project):
    invitation = invite(project)
    client_of(project.created_by).post(f"/invitations/{invitation.token}/withdraw/")
    assert client.get(link(invitation)).status_code == 410


def test_somebody_who_is_signed_in_joins_with_the_account_they_have(project):
    user = factories.make_user("nora")
    client = client_of(user)
    assert "Join" in client.get(link(invite(project, "NORA@example.org"))).content.decode()
    client.post(link(invite(project, "nora@example.org")))
    assert project.memberships.filter(user=user, role="annotator", is_active=True).exists()


def test_the_link_refuses_other_accounts(project):
    invitation = invite(project)
    stranger = factories.make_user("stranger")
    response = client_of(stranger).post(link(invitation))
    assert response.status_code == 403
    assert not stranger.memberships.exists()
    assert Invitation.objects.get(pk=invitation.pk).accepted_at is None


def test_an_address_with_an_account_signs_in_first(client, project):
    factories.make_user("nora")
    response = client.get(link(invite(project)))
    assert response.status_code == 302 and response.url.startswith("/accounts/login/?next=/invitations/")
    assert client.post(link(invite(project)), NEW).status_code == 302
    assert not project.memberships.filter(user__email="nora@example.org").exists()


@pytest.mark.parametrize("password", ["short", "1234567890", "password12", "nora@example.org"])
def test_weak_passwords_are_refused(client, project, password):
    response = client.post(link(invite(project)), NEW | {"password": password})
    assert response.status_code == 200
    assert not User.objects.filter(email="nora@example.org").exists()


def test_only_administrators_invite_creators(project):
    with pytest.raises(invitations.InvitationError):
        invitations.invite(project.created_by, "nora@example.org", roles=[invitations.CREATOR])
    admin = factories.make_user("boss", is_superuser=True)
    client_of(admin).post("/invitations/", {"email": "nora@example.org", "may_create": "on"})
    client_of(None).post(link(Invitation.objects.get()), NEW)
    assert User.objects.get(email="nora@example.org").is_staff


def test_a_role_of_another_kind_cannot_be_invited_into_a_project(project):
    with pytest.raises(invitations.InvitationError):
        invite(project, roles=["creator"])


def test_invitations_are_limited(settings, project):
    settings.ACCOUNT_RATE_LIMITS = {"invite": "2/h/user"}
    client = client_of(project.created_by)
    address = f"/projects/{project.slug}/members/"
    codes = [client.post(address, {"email": f"n{n}@example.org", "roles": "annotator"}).status_code for n in range(3)]
    assert codes == [302, 302, 429]


def test_who_invites_an_address_does_not_make_its_account(project):
    researcher = client_of(project.created_by)
    researcher.post(f"/projects/{project.slug}/members/", {"email": "nora@example.org", "roles": ["annotator"]})
    made = Invitation.objects.get()
    listed = researcher.get(f"/api/v1/projects/{project.slug}/invitations/").json()["results"][0]["link"]
    for address in (f"/invitations/{made.token}/", listed, f"/invitations/{made.token}/?key={made.token}"):
        response = client_of(None).post(address, NEW)
        assert response.status_code == 403 and b"in the mail to nora@example.org" in response.content
    assert not User.objects.filter(email="nora@example.org").exists()
    admin = client_of(factories.make_user("boss", is_superuser=True))
    [chosen] = re.findall(r'href="http://testserver(/invitations/[^"]+)"', admin.get("/invitations/").content.decode())
    assert client_of(None).post(chosen, NEW).status_code == 302
    # The link was passed on by hand, which does not show that its reader reads mail to the address.
    assert not EmailAddress.objects.get(user__email="nora@example.org").verified


def test_without_a_mail_server_links_are_passed_on_by_hand(project, settings):
    settings.EMAIL_BACKEND, settings.LINKS_BY_HAND = "django.core.mail.backends.dummy.EmailBackend", True
    made = invite(project)
    assert link(made) == f"/invitations/{made.token}/"
    assert (
        b"Anyone who opens the link" in client_of(project.created_by).get(f"/projects/{project.slug}/members/").content
    )
    assert client_of(None).post(link(made), NEW).status_code == 302
    assert not EmailAddress.objects.get(user__email="nora@example.org").verified


def test_without_a_mail_server_administrators_choose_who_gets_an_account(project, settings):
    settings.EMAIL_BACKEND, settings.LINKS_BY_HAND = "django.core.mail.backends.dummy.EmailBackend", False
    researcher, address = client_of(project.created_by), f"/projects/{project.slug}/members/"
    added = researcher.post(
        address, {"email": "nora@example.org", "roles": ["annotator"]}, follow=True
    ).content.decode()
    made = Invitation.objects.get()
    assert (
        "ask an administrator to pass on the link" in added and f"key={invitations.key_of(made, 'hand')}" not in added
    )
    refused = client_of(None).post(f"/invitations/{made.token}/", NEW)
    assert refused.status_code == 403 and b"Ask an administrator for the link" in refused.content
    assert not User.objects.filter(email="nora@example.org").exists()
    known = factories.make_user("known")
    assert client_of(known).post(f"/invitations/{invite(project, known.email).token}/").status_code == 302
    admin = client_of(factories.make_user("boss", is_superuser=True))
    chosen = re.findall(r'href="http://testserver(/invitations/[^"]+)"', admin.get("/invitations/").content.decode())
    [listed] = [one for one in chosen if made.token in one]
    assert client_of(None).post(listed, NEW).status_code == 302
    assert User.objects.get(email="nora@example.org").memberships.get().project == project
