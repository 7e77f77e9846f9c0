"""The address that links begin with: which is in force, and what pages say where others cannot reach it."""

import re

import pytest
from django.core import mail

from annotation import addresses, incoming
from annotation.models import Invitation, SiteAddress
from annotation.projects import invitations
from tests import factories
from tests.test_security import inline_parts
from tests.world import client_of

pytestmark = pytest.mark.django_db
PAGE = "/administration/address/"
LAN = "http://192.168.1.20:8000"


@pytest.fixture
def admin():
    return factories.make_user("boss", is_superuser=True)


@pytest.fixture
def project():
    return factories.make_project(factories.make_dataset())


def link_on(client, **more) -> str:
    page = client.get("/invitations/", **more).content.decode()
    return re.search(r'href="(http[^"]+)/invitations/', page)[1]


def test_what_was_chosen_comes_before_the_setting_and_the_request(admin, project, settings):
    invitations.invite(admin, "nora@example.org", project=project, roles=["annotator"])
    settings.ALLOWED_HOSTS = ["testserver", "lab.example.org", "192.168.1.20"]
    client = client_of(admin)
    assert link_on(client) == "http://testserver"
    assert link_on(client, headers={"host": "lab.example.org"}) == "http://lab.example.org"
    settings.ADDRESS = "https://assay.example.org"
    assert link_on(client) == "https://assay.example.org"
    addresses.choose_address(admin, LAN)
    assert link_on(client) == LAN
    listed = client.get(f"/api/v1/projects/{project.slug}/invitations/").json()["results"][0]["link"]
    assert listed.startswith(f"{LAN}/invitations/")
    settings.ALLOWED_HOSTS = ["testserver", "10.0.0.7"]  # the laptop is in another network now
    assert link_on(client) == "https://assay.example.org"


def test_mails_have_the_address_too(admin, settings, client):
    settings.ADDRESS = "https://assay.example.org"
    client_of(admin).post("/invitations/", {"email": "nora@example.org"})
    client.post("/accounts/password/reset/", {"email": admin.email})
    links = [link for one in mail.outbox for link in re.findall(r"https?://[^/\s]+/\w+/", one.body)]
    assert links == ["https://assay.example.org/invitations/", "https://assay.example.org/accounts/"]


@pytest.mark.parametrize("page", ["/invitations/", "/administration/accounts/invite/", "members", "start", PAGE])
def test_pages_say_first_that_others_cannot_open_links(page, admin, project, settings):
    address = page if page.startswith("/") else f"/projects/{project.slug}/{page}/"
    found = client_of(admin).get(address).content.decode().partition("<main")[2]  # the header's form signs out
    assert found.index("leads to this machine only") < found.index('name="csrfmiddlewaretoken"')
    settings.ADDRESS = LAN
    assert "this machine only" not in client_of(admin).get(address).content.decode()


def test_researchers_are_sent_to_an_administrator(project, settings):
    researcher = client_of(project.created_by)
    page = researcher.get(f"/projects/{project.slug}/members/").content.decode()
    assert "Ask an administrator to enter the address" in page and PAGE not in page
    settings.DEMO = True
    assert "The demo serves this machine alone" in researcher.get(f"/projects/{project.slug}/members/").content.decode()


def test_an_address_is_checked_before_it_is_used(admin, settings, monkeypatch):
    settings.ALLOWED_HOSTS = ["testserver", "192.168.1.20"]
    client = client_of(admin)
    assert "http://192.168.1.20" in client.get(PAGE).content.decode()

    def refused(address, words):
        page = client.post(PAGE, {"address": address}).content.decode()
        assert words in page and not SiteAddress.objects.exists()

    refused("http://127.0.0.1:8000", "leads each reader to their own machine")
    refused("http://lab.example.org", "add lab.example.org to ASSAY_ALLOWED_HOSTS")
    refused("http://192.168.1.20/assay", "must end after the host and the port")
    refused("ftp://192.168.1.20", "must be an address such as")
    monkeypatch.setattr(addresses, "answers", lambda address: False)
    refused(LAN, f"Assay does not answer at {LAN}")
    client.post(PAGE, {"address": LAN, "anyway": "on"})
    assert SiteAddress.objects.get().address == LAN
    monkeypatch.setattr(addresses, "answers", lambda address: True)
    page = client.post(PAGE, {"address": "192.168.1.20:9000/"}, follow=True).content.decode()
    assert SiteAddress.objects.last().address == "http://192.168.1.20:9000" and "<svg" in page
    assert inline_parts(page) == []
    settings.HTTPS = True
    assert "must begin with https" in client.post(PAGE, {"address": LAN}).content.decode()


def test_the_check_asks_the_address(live_server):
    assert addresses.answers(live_server.url) and not addresses.answers("http://127.0.0.1:9")


def test_each_invitation_has_a_code(project):
    researcher = client_of(project.created_by)
    made = [
        invitations.invite(project.created_by, f"{name}@example.org", project=project, roles=["annotator"])
        for name in ("nora", "ben")
    ]
    pages = [researcher.get(f"/invitations/{one.token}/code/").content.decode() for one in made]
    codes = [re.search(r'<path d="([^"]+)"', page.partition('class="qr"')[2])[1] for page in pages]
    assert codes[0] != codes[1] and len(codes[0]) > 1000 and inline_parts(pages[0]) == []
    invitations.withdraw(made[0])
    assert "has expired" in researcher.get(f"/invitations/{made[0].token}/code/").content.decode()
    assert client_of(factories.make_user()).get(f"/invitations/{made[1].token}/code/").status_code == 404
    assert Invitation.objects.filter(accepted_at=None).count() == 2  # looking at a code uses nothing


@pytest.mark.parametrize(
    ("raw", "address"),
    [
        ("https://Assay.Example.org/", "https://assay.example.org"),
        ("lab7:8000", "http://lab7:8000"),
        (" http://[fe80::1]:8000 ", "http://[fe80::1]:8000"),
    ],
)
def test_addresses_have_one_form(raw, address):
    assert incoming.site_address(raw) == address


@pytest.mark.parametrize(
    "raw", ["", "http://", "http://a b", "http://a:99999999", "http://u@a", "http://a/?x", "http://ä"]
)
def test_other_texts_are_no_addresses(raw):
    with pytest.raises(incoming.Refused):
        incoming.site_address(raw)
