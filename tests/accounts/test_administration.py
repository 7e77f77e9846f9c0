"""What administrators do with accounts: the list, its actions, and inviting many."""

import pytest
from allauth.mfa.models import Authenticator
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Assignment, Invitation, SettingsChange, User
from annotation.projects import invitations, tokens
from annotation.projects.accounts import inviting, managing
from annotation.projects.accounts.pasted import parse_pasted
from tests import factories
from tests.world import client_of

pytestmark = pytest.mark.django_db
LIST = "/administration/accounts/"


@pytest.fixture
def admin():
    return factories.make_user("boss", is_superuser=True)


@pytest.fixture
def client(admin):
    return client_of(admin)


def act(client, account, action, **fields):
    return client.post(f"{LIST}{account.uuid}/{action}/", fields, follow=True)


def names_on(page) -> list[str]:
    return [str(one) for one in page.context["page"]]


def test_the_list_is_searched_sorted_and_paged(client):
    for number in range(42):
        factories.make_user(f"person-{number:02}")
    User.objects.filter(name="person-07").update(name="Zoë Æther", is_active=False)
    page = client.get(LIST)
    assert len(names_on(page)) == 40 and page.context["page"].paginator.count == 43
    assert names_on(client.get(LIST, {"search": "person-07"})) == ["Zoë Æther"]  # by the email
    assert names_on(client.get(LIST, {"search": "zoë example"})) == ["Zoë Æther"]
    assert names_on(client.get(LIST, {"state": "deactivated"})) == ["Zoë Æther"]
    down = names_on(client.get(LIST, {"sort": "-person"}))
    assert down[:2] == ["Zoë Æther", "person-41"] and names_on(client.get(LIST))[0] == "boss"
    assert "No account fits" in client.get(LIST, {"search": "nobody"}).content.decode()
    assert client.get(LIST, {"sort": "password", "state": "x", "page": "z"}).status_code == 200


def test_deactivation_returns_open_work_and_ends_tokens(client, admin):
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 2)
    nora, ben = factories.make_user("nora"), factories.make_user("ben")
    project = factories.make_project(dataset, annotators=[nora, ben], overlap=1)
    theirs = client_of(nora)
    token, _ = tokens.make_token(nora, "script", ["read"], 30)
    theirs.get(f"/api/v1/projects/{project.slug}/work/next")
    assert project.assignments.filter(rater__user=nora, state=Assignment.State.LEASED).exists()
    page = act(client, nora, "deactivate").content.decode()
    assert "can no longer sign in" in page and "went back to the others" in page
    assert not project.assignments.filter(state=Assignment.State.LEASED).exists()
    assert project.assignments.filter(state=Assignment.State.OPEN).count() == 2
    token.refresh_from_db()
    assert token.revoked_at and theirs.get("/").status_code == 302
    assert "nora" in client.get(f"{LIST}history/").content.decode()
    act(client, nora, "reactivate")
    assert SettingsChange.objects.filter(account=nora, user=admin).count() == 2
    assert client_of(nora).get("/").status_code == 200


@pytest.mark.parametrize(("action", "fields"), [("deactivate", {}), ("rights", {"rights": "member"})])
def test_the_last_administrator_stays(client, admin, action, fields):
    refused = act(client, admin, action, **fields)
    assert refused.status_code == 409 and "is the last administrator" in refused.content.decode()
    admin.refresh_from_db()
    assert admin.is_active and admin.is_superuser
    second = factories.make_user("second")
    act(client, second, "rights", rights="administrator")
    assert "can no longer" in act(client_of(second), admin, "deactivate").content.decode()
    second.refresh_from_db()
    assert second.is_superuser and act(client_of(second), second, "deactivate").status_code == 409


def test_a_second_factor_is_reset_for_others_alone(client, admin):
    nora = factories.make_user("nora")
    for user in (nora, admin):
        Authenticator.objects.create(user=user, type=Authenticator.Type.TOTP, data={"secret": "x"})
    assert "second factor" in client.get(LIST, {"search": "nora"}).content.decode()
    assert act(client, admin, "reset-second-factor").status_code == 409
    act(client, nora, "reset-second-factor")
    assert [one.user for one in Authenticator.objects.all()] == [admin]
    assert nora.account_changes.get().changes == {"second factor": ["set up", "reset"]}


def test_projects_are_handed_over(client):
    nora, ben = factories.make_user("nora"), factories.make_user("ben")
    dataset = factories.make_dataset(nora)
    project = factories.make_project(dataset)
    page = client.get(f"{LIST}{nora.uuid}/deactivate/").content.decode()
    assert "only researcher" in page
    assert "no active account" in act(client, nora, "hand-over", to="who@example.org").content.decode()
    page = act(client, nora, "hand-over", to=ben.email, leaves="on").content.decode()
    assert "1 project and owner of 1 data set" in page
    dataset.refresh_from_db()
    assert dataset.owner == ben
    active = project.memberships.filter(is_active=True).values_list("user__name", "role")
    assert list(active) == [("ben", "researcher")]
    assert project.settings_changes.filter(what="roles").count() == 2
    assert dataset.settings_changes.get().changes == {"owner": ["nora", "ben"]}
    assert "is a researcher of no project" in act(client, nora, "hand-over", to=ben.email).content.decode()


def test_an_unknown_action_or_account_is_not_found(client, admin):
    assert client.post(f"{LIST}{admin.uuid}/delete/").status_code == 404
    assert client.get(f"{LIST}00000000-0000-0000-0000-000000000000/").status_code == 404


PASTED = """name,Email,group
Ann,ann@example.org,a
Ben,BEN@example.org,b
Nobody,,b
Twice,ann@example.org,a
Wrong,wrong at example.org,a
"""


def test_a_csv_is_read_by_its_column_of_emails():
    rows = [(one.line, one.text, one.problem) for one in parse_pasted(PASTED)]
    assert rows == [
        (2, "ann@example.org", ""),
        (3, "ben@example.org", ""),
        (4, "", "not an email address"),
        (5, "ann@example.org", "the same as in line 2"),
        (6, "wrong at example.org", "not an email address"),
    ]


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("a@example.org, b@example.org;c@example.org\n\nd@example.org", "abcd"),
        ('Ann Lee <a@example.org>, "Ben, Dr" <b@example.org>', "ab"),
        ("Ann\ta@example.org\tgroup 1\r\nBen\tb@example.org\tgroup 2", "ab"),
        ("\ufeffe-mail;name\na@example.org;Ann", "a"),
        ("a@example.org b@example.org, c@example.org", "abc"),
        ("Ann, a@example.org\nLee, Ben <b@example.org>", "ab"),
        ("", ""),
    ],
)
def test_addresses_are_pasted_in_many_ways(text, addresses):
    found = parse_pasted(text)
    assert "".join(one.text[0] for one in found if not one.problem) == addresses
    assert not [one for one in found if one.problem]


def test_a_mistyped_address_in_a_list_is_named():
    found = parse_pasted("a@example.org, bexample.org\nc@example.org")
    assert [(one.line, one.text) for one in found if one.problem] == [(1, "bexample.org")]


def test_many_are_invited_after_a_preview(client, admin):
    project = factories.make_project(factories.make_dataset())
    factories.join(project, factories.make_user("member"))
    factories.make_user("known")
    User.objects.filter(pk=factories.make_user("gone").pk).update(is_active=False)
    fields = {"project": project.slug, "roles": ["annotator"]}
    people = "new@example.org\nknown@example.org\nmember@example.org\ngone@example.org\nnonsense"
    page = client.post(f"{LIST}invite/", fields | {"people": people, "do": "preview"}).content.decode()
    for words in (
        "2 can be invited, 3 cannot",
        "gets a new account",
        "joins with the account they have",
        "has these roles in the project already",
        "has a deactivated account",
        "not an email address",
    ):
        assert words in page
    assert not Invitation.objects.exists() and not mail.outbox
    client.post(f"{LIST}invite/", fields | {"people": people, "do": "invite"})
    assert {one.email: one.roles for one in Invitation.objects.all()} == {
        "new@example.org": ["annotator"],
        "known@example.org": ["annotator"],
    }
    assert sorted(one.to[0] for one in mail.outbox) == ["known@example.org", "new@example.org"]
    again = client.post(f"{LIST}invite/", fields | {"people": "new@example.org", "do": "invite"}).content.decode()
    assert "has an open invitation until" in again and Invitation.objects.count() == 2


def test_what_cannot_be_invited_says_why(client):
    many = "\n".join(f"p{number}@example.org" for number in range(101))
    assert b"At most 100 people at a time; these are 101" in client.post(f"{LIST}invite/", {"people": many}).content
    assert b"Enter addresses, or choose a file" in client.post(f"{LIST}invite/", {"people": " "}).content
    project = factories.make_project(factories.make_dataset())
    page = client.post(f"{LIST}invite/", {"people": "a@example.org", "project": project.slug}).content
    assert b"Choose at least one role" in page and not Invitation.objects.exists()


def test_two_administrators_cannot_both_go(admin):
    """The second one finds out under the lock, whatever its row said when it was read."""
    second = factories.make_user("second", is_superuser=True)
    stale = User.objects.get(pk=admin.pk)
    managing.deactivate(admin, second)
    with pytest.raises(managing.AccountError):
        managing.set_rights(second, stale, managing.CREATOR)


def test_programs_of_administrators_do_the_same(client, admin):
    nora = factories.make_user("nora")
    address = "/api/v1/accounts/"

    def post(action, **body):
        return client.post(f"{address}{nora.uuid}/{action}/", body, content_type="application/json")

    listed = client.get(address, {"email": "NORA@example.org"}).json()["results"]
    assert [(one["uuid"], one["rights"], one["second_factor"]) for one in listed] == [(str(nora.uuid), "member", False)]
    assert post("rights", rights="creator").json()["message"].startswith("Rights of nora: May create")
    assert post("rights", rights="king").status_code == 422 and post("hand-over", to="x").status_code == 422
    assert post("deactivate").status_code == 200 and post("deactivate", sure=True).status_code == 400
    nora.refresh_from_db()
    assert (nora.is_staff, nora.is_active) == (True, False)
    last = client.post(f"{address}{admin.uuid}/deactivate/", {}, content_type="application/json")
    assert last.status_code == 409 and "is the last administrator" in last.json()["detail"]
    assert client_of(factories.make_user()).get(address).status_code == 403


TABLE = """email,role,group
new@example.org,,experts
ada@example.org,adjudicator/annotator,crowd
bea@example.org,boss,
cy@example.org,researcher,crowd
dee@example.org,,a:b
eve@example.org,,
"""


def test_a_researcher_invites_by_a_table_with_roles_and_groups(client):
    owner = factories.make_user("owner")
    project = factories.make_project(factories.make_dataset(owner))
    factories.join(project, owner, "researcher")
    place = f"/projects/{project.slug}/members/invite/"
    client.force_login(owner)
    file = SimpleUploadedFile("people.csv", TABLE.encode())
    page = client.post(place, {"file": file, "roles": ["annotator"], "do": "preview"}).content.decode()
    for words in (
        "3 can be invited, 3 cannot",
        "as annotator in the group <bdi>experts</bdi>",
        "as adjudicator, annotator in the group <bdi>crowd</bdi>",
        "has the role &#x27;boss&#x27;",
        "has a group, which only annotators can have",
        "no colon or semicolon",
    ):
        assert words in page, words
    assert not Invitation.objects.exists() and not mail.outbox
    client.post(place, {"people": TABLE, "roles": ["annotator"], "do": "invite"})
    made = {one.email: (one.roles, one.group) for one in Invitation.objects.all()}
    assert made == {
        "new@example.org": (["annotator"], "experts"),
        "ada@example.org": (["adjudicator", "annotator"], "crowd"),
        "eve@example.org": (["annotator"], ""),
    }
    assert "in the group <bdi>experts</bdi>" in client.get(f"/projects/{project.slug}/members/").content.decode()
    person = invitations.accept_as_new(
        Invitation.objects.get(email="new@example.org"), invitations.MAIL, name="New", password="x-long-enough-1"
    )
    assert project.raters.get(user=person).group == "experts"
    client.force_login(person)
    assert client.get(place).status_code == 403


def test_of_a_table_all_invitations_are_stored_or_none(monkeypatch):
    owner = factories.make_user("owner")
    project = factories.make_project(factories.make_dataset(owner))
    factories.join(project, owner, "researcher")
    rows = inviting.plan("a@example.org\nb@example.org", project, ["annotator"])
    invite, calls = invitations.invite, []

    def fail_at_the_second(*args, **kwargs):
        calls.append(args)
        if len(calls) == 2:
            raise invitations.InvitationError("no")
        return invite(*args, **kwargs)

    monkeypatch.setattr(invitations, "invite", fail_at_the_second)
    with pytest.raises(invitations.InvitationError):
        inviting.invite_all(owner, rows, project)
    assert not Invitation.objects.exists()
