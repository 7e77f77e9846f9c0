"""The documentation inside Assay."""

import re

import pytest
from django.urls import get_resolver

from annotation.models import User
from config.web.help import DOCS, HELP, rendered

pytestmark = pytest.mark.django_db
PAGES = sorted(str(page.relative_to(DOCS).with_suffix("")) for page in DOCS.rglob("*.md"))


def ids(html: str) -> set[str]:
    return set(re.findall(r'<h\d id="([^"]+)"', html))


@pytest.mark.parametrize("page", PAGES)
def test_every_page_is_shown_and_its_links_lead_on(client, page):
    text = client.get(f"/help/{page}/").content.decode()
    assert "```" not in text
    for address in set(re.findall(r'<(?:a href|img src)="(/help/[^"]+)"', text)):
        path, _, section = address.partition("#")
        answer = client.get(path)
        assert answer.status_code == 200, address
        assert not section or section in ids(answer.content.decode()), address


@pytest.mark.parametrize(("start", "place"), HELP.items())
def test_help_of_a_page_is_there(start, place):
    page, _, section = place.partition("#")
    _, html = rendered((DOCS / f"{page}.md").read_text("utf-8"), page)
    assert not section or section in ids(html)
    assert [name for name in get_resolver().reverse_dict if isinstance(name, str) and name.startswith(start)]


@pytest.mark.parametrize(
    "page", ["../README", "..%2f..%2fetc/passwd", "no-such", "index.md", "%00", "a" * 300, "tutorials"]
)
def test_nothing_else_is_shown(client, page):
    assert client.get(f"/help/{page}/").status_code in (400, 404)


def test_a_page_links_to_what_helps_there(client):
    client.force_login(User.objects.create_user("ada@example.org", password="x"))
    assert 'href="/help/formats/"' in client.get("/datasets/").content.decode()


def test_the_search_finds_sections_with_all_words(client):
    page = client.get("/help/?q=wilson+interval").content.decode()
    found = re.findall(r'<li><a href="(/help/[^"]+)">', page)
    assert found and all("wilson" in client.get(one).content.decode().lower() for one in found[:5])
    titled = re.findall(r'<li><a href="(/help/[^"]+)">', client.get("/help/?q=ENCODINGS").content.decode())
    assert titled[0] == "/help/formats/#encodings"
    assert "No section has" in client.get("/help/?q=zqx-no-such").content.decode()
    assert "&lt;script&gt;" in client.get("/help/?q=<script>").content.decode()
