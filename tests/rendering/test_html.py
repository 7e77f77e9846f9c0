"""Rendered HTML: nothing runs, loads or styles, and each character shown is at its place."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from annotation.rendering import render
from tests.rendering.reading import check_places, read

# fmt: off
SAFE = {
    "a", "blockquote", "br", "caption", "code", "dd", "del", "div", "dl", "dt", "em", "h3", "h4", "h5", "h6", "hr",
    "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "samp", "small", "span", "strong", "sub", "sup", "table",
    "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
}
# fmt: on
HOSTILE = """<h1 onclick="x()">The <b style="color:red">harbour</b></h1><script>alert("1")</script><style>p{}</style>
<p>Tons &amp; <em>oars</em> <a href="https://example.org/a?b=1&amp;c">log</a> <a href="javascript:x()">bad</a>
<a href="data:text/html,x">data</a><img src="https://evil.example/x.png" onerror="x()"><svg><text>drawn</text></svg>
<iframe src="https://evil.example">in it</iframe><form action="/x"><input autofocus>field</form><math><mi>z</mi></math>
<table><tr><td>Anna<td>12</table><p>open <i>to the end"""
PARTS = [
    "<b>",
    "</b>",
    "<p>",
    "</p>",
    "<script>",
    "</script>",
    "<svg>",
    "</svg>",
    "<a href='https://a.b'>",
    "</a>",
    "<",
]
PARTS += [
    "&amp;",
    "&#64;",
    "&nosuch;",
    "&",
    "<!-- c -->",
    "<![CDATA[x]]>",
    "<?php x ?>",
    "é😀 שלום",
    "\n",
    "\r\n",
    " a ",
    ">",
]
PARTS += [
    "<img src=x>",
    "<br/>",
    "<td>",
    "</",
    "<a href=javascript:x>",
    "<!DOCTYPE html>",
    "<textarea>",
    "</textarea>",
    " a ",
]


def check_safe(html: str) -> None:
    for tag, attributes in read(html).tags:
        assert tag in SAFE
        assert set(attributes) <= {"dir", "class", "data-at", "data-length", "href", "target", "rel"}
        assert re.match("https?://|mailto:", attributes.get("href", "https://"))


def test_nothing_runs_loads_or_styles():
    found = check_places(HOSTILE, render(HOSTILE, "html").html)
    check_safe(render(HOSTILE, "html").html)
    for word in ("harbour", "Tons & oars", "log", "bad", "data", "Anna", "12", "open to the end", "field"):
        assert word in found.text
    for word in ("alert", "p{}", "drawn", "in it"):
        assert word not in found.text
    assert not found.loose.strip()


def test_entities_are_characters_and_others_are_text():
    source = "<p>a &amp; b &copy; &#233; &nosuch; &amp c & d &#65x</p>"
    assert check_places(source, render(source, "html").html).text == "a & b © é &nosuch; &amp c & d &#65x"


@pytest.mark.parametrize(
    ("row", "between"),
    [("<p>a", "</p><p "), ("<li>a", "</li><li "), ("<tr><td>a<td>b", "</td></tr><tr "), ("<dt>a<dd>b", "</dd><dt ")],
)
def test_elements_without_their_end_are_not_nested(row, between):
    made = render(row * 200, "html")
    assert not made.why() and made.html.count(between) == 199
    assert check_places(row * 200, made.html).text == re.sub("<..?>", "", row) * 200


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.lists(st.sampled_from(PARTS), max_size=25).map("".join), st.text(max_size=60)))
@example("<p>\ra\r\nb</p>")
@example("&#0;&notit;")
def test_every_character_shown_is_at_its_place(source):
    made = render(source, "html")
    if made is None:
        return
    assert not made.why()
    assert not check_places(source, made.html).loose.strip()
    check_safe(made.html)


@pytest.mark.parametrize(
    ("source", "why"), [("<div>", "nested more than 100 deep"), ("<!--", "more than 500 comments")]
)
def test_what_is_too_much_is_shown_as_its_source(source, why):
    made = render(source * 30_000, "html")
    assert not made.html and why in made.why()
