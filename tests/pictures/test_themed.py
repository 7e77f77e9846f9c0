"""Pictures in pages: nothing that a strict policy refuses, words for who does not see them, links to this site only."""

from functools import cache
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest

from analysis.figures.pictures.palette import ROLES
from analysis.figures.pictures.themed import themed
from tests.pictures import samples

CLASSES = {f"plot-{side}-{role}" for side in "fs" for role in ROLES} | {"plot", "place"}


def address(figure: str) -> str:
    return "/projects/demo/behind/agreement/?" + urlencode({"report": "abc", "figure": figure})


@cache
def parsed(picture, **how) -> ElementTree.Element:
    return ElementTree.fromstring(themed(picture, **how))


@pytest.mark.parametrize("picture", samples.ALL, ids=lambda one: one.name)
def test_nothing_in_it_needs_more_than_a_strict_policy(picture):
    root = parsed(picture, address=address, prefix="stance-")
    tags = {node.tag for node in root.iter()}
    assert tags <= {"svg", "title", "desc", "g", "defs", "path", "use", "text", "rect", "clipPath", "pattern", "a"}
    for node in root.iter():
        assert not {name for name in node.attrib if name == "style" or name.startswith(("on", "{"))}
        assert set(node.get("class", "").split()) <= CLASSES
        for value in node.attrib.values():
            assert "url(" not in value or value.startswith("url(#plot-")


@pytest.mark.parametrize("picture", samples.ALL, ids=lambda one: one.name)
def test_every_colour_follows_the_theme(picture):
    for node in parsed(picture, address=address, prefix="stance-").iter():
        for side in ("fill", "stroke"):
            value = node.get(side, "none")
            if value.startswith("#"):
                assert any(name.startswith(f"plot-{side[0]}-") for name in node.get("class").split())
            else:
                assert value == "none" or value.startswith("url(#")


@pytest.mark.parametrize("picture", samples.ALL, ids=lambda one: one.name)
def test_references_lead_somewhere_and_ids_are_its_own(picture):
    root = parsed(picture, address=address, prefix="stance-")
    ids = [node.get("id") for node in root.iter() if node.get("id")]
    assert len(set(ids)) == len(ids) and all(one.startswith(f"plot-stance-{picture.name}-") for one in ids)
    for node in root.iter():
        if node.tag == "use":
            assert node.get("href").removeprefix("#") in ids
        for value in node.attrib.values():
            if value.startswith("url(#"):
                assert value[5:-1] in ids


def test_it_is_an_image_with_a_name_and_a_description():
    root = parsed(samples.dots())
    assert root.get("role") == "img"
    title, desc = (root.find(tag) for tag in ("title", "desc"))
    assert root.get("aria-labelledby") == f"{title.get('id')} {desc.get('id')}"
    assert title.text == "Agreement per label" and desc.text.endswith("undefined for <b>unused</b>.")


def test_what_people_wrote_is_text():
    written = themed(samples.dots(), address)
    assert "<script" not in written and "<b>" not in written
    words = [node.text for node in parsed(samples.dots()).iter("text")]
    assert any("alert('x')" in word for word in words)


def test_cells_open_the_items_behind_them():
    root = parsed(samples.confusion(), address=address)
    links = root.findall(".//a")
    assert [link.get("href") for link in links] == [address(f"stance/{cell}") for cell in ("s/s", "s/r", "r/r")]
    assert links[0].get("aria-label") == "Supports; Supports: 50 (94% share of the row)" == links[0].find("title").text
    assert root.get("role") == "group"  # inside one image, links would not be heard of
    assert len(parsed(samples.models(), address=address).findall(".//a")) == 8
    assert len(parsed(samples.dots(), address=address).findall(".//a")) == 1
    assert parsed(samples.confusion()).findall(".//a") == []


@pytest.mark.parametrize(
    "elsewhere",
    ["https://example.org/", "//example.org/", "javascript:alert(1)", "data:text/html,x", "", "\tjavascript:x"],
)
def test_links_lead_nowhere_else(elsewhere):
    with pytest.raises(ValueError, match="this site only"):
        themed(samples.confusion(), lambda figure: elsewhere)


def test_a_colour_of_no_role_is_noticed(monkeypatch):
    from analysis.figures.pictures import plots

    monkeypatch.setattr(plots, "series_color", lambda place: "#123456")
    with pytest.raises(ValueError, match="#123456 is the colour of no role"):
        themed(samples.dots())
