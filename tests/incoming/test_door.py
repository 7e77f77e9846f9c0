"""What no view may meet: NUL in paths, parameters and cookies, strange encodings, cursors, ranges, lengths."""

from base64 import b64encode
from urllib.parse import quote

import pytest
from django.test import RequestFactory

from config.wsgi import application
from tests.world import client_of, make_world

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


@pytest.fixture
def world():
    return make_world()


@pytest.fixture
def researcher(world):
    return client_of(world.people["researcher"], raise_request_exception=False)


@pytest.mark.parametrize(
    "path", ["/invitations/a%00b/", "/projects/%00/", "/accounts/password/reset/key/1-a%00/", "/%00"]
)
def test_a_path_with_nul_names_nothing(client, path):
    assert client.get(path).status_code == 404


def test_nul_in_a_parameter_is_refused_by_its_name(researcher):
    page = researcher.get("/projects/ports/items/?search=a%00b")
    assert page.status_code == 400 and "“search”" in page.content.decode()
    assert page["Content-Security-Policy"] and page["X-Content-Type-Options"] == "nosniff"
    answer = researcher.get("/api/v1/projects/ports/items/?key=%00")
    assert answer.status_code == 400 and answer.json()["errors"][0]["field"] == "key"


def test_what_a_view_refuses_is_said_on_the_page(researcher):
    assert "There is no such filter" in researcher.get("/projects/ports/items/?filter=x").content.decode()
    data = {"search": "a\0", "priority": "1"}
    refused = researcher.post("/projects/ports/items/priority/", data)
    assert refused.status_code == 400 and "search" in refused.content.decode()
    for path, machine in (("ports/runs", "checker"), ("drafting/drafts/extract", "extractor")):
        for name in ("a\0", "no-such"):
            refused = researcher.post(f"/projects/{path}/", {machine: name})
            assert refused.status_code == 400 and f"{machine}: this project has none" in refused.content.decode()


def test_a_cookie_with_nul_is_refused(client):
    client.cookies.load('sessionid="\\000\\000\\000\\000\\000\\000\\000\\000"')
    answer = client.get("/account/", HTTP_COOKIE='sessionid="\\000aaaaaaaaaaaa"')
    assert answer.status_code == 400 and "sessionid" in answer.content.decode()


def test_requests_are_utf_8(client):
    """Through the application itself: the test client makes requests of its own kind."""
    statuses = []
    for charset in ("utf-7", "hex", "utf-16", "unicode_escape", "no-such"):
        for kind in ("multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "text/plain"):
            asked = RequestFactory().generic("POST", "/accounts/login/?next=+2AA-", b"x=+2AA-", content_type=kind)
            environ = asked.environ | {"CONTENT_TYPE": f"{kind}; charset={charset}"}
            application(environ, lambda status, headers: statuses.append(status[:3]))
    assert statuses == ["400"] * 15


CURSORS = ("p=x", "p=%00", "p=" + "9" * 5000, "o=" + "9" * 5000, "p=1&o=-1&r=x", "\xff", "p=99999999999999999999")


@pytest.mark.parametrize("path", ["/api/v1/projects/", "/api/v1/projects/ports/annotations/"])
def test_a_forged_cursor_leads_nowhere(researcher, path):
    for cursor in CURSORS:
        made = b64encode(cursor.encode("latin-1")).decode()
        assert researcher.get(path, {"cursor": made}).status_code in (200, 404), cursor
        assert researcher.get(path, {"cursor": cursor, "page_size": "9" * 5000}).status_code in (200, 400, 404), cursor


def test_an_address_has_bounds(client):
    assert client.get("/account/?" + "&".join(["a=1"] * 2000)).status_code == 400
    assert client.get("/account/?a=" + quote("é" * 40_000)).status_code == 400


def test_the_length_of_an_upload_is_a_number(researcher):
    for length in ("x", "-1", "9" * 5000):
        assert researcher.post("/datasets/harbour/import/", {}, CONTENT_LENGTH=length).status_code == 400
