"""Rendered Markdown: what markdown-it renders, and every character of it at its place in the source."""

import re
import time
from html import unescape

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from annotation.rendering import render
from tests.rendering.reading import check_places

PLAIN = MarkdownIt("commonmark", {"html": False, "maxNesting": 40}).enable(["table", "strikethrough"])

WORDS = ["harbour", "naïve", "שלום", "مرحبا", "👩‍👩‍👧", "a_b", "*", "_", "`", "~~", "|", "\\|", "\\*"]
WORDS += ["e\u0301", "&amp;", "&#x1f600;", "<b>"]
INLINE = st.recursive(
    st.sampled_from(WORDS),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map(" ".join),
        st.tuples(st.sampled_from(["*", "**", "_", "~~", "`", "``"]), inner).map(
            lambda pair: pair[0] + pair[1] + pair[0]
        ),
        inner.map(lambda text: f'[{text}](https://example.org/a_b "of {text}")'),
        inner.map(lambda text: f"[{text}][ref]"),
        st.just("<https://example.org/%C3%A9>"),
    ),
    max_leaves=8,
)
LINE = st.tuples(INLINE, st.sampled_from(["", "  ", " \\", "\\", " "])).map("".join)
PARAGRAPH = st.lists(LINE, min_size=1, max_size=3).map("\n".join)
BLOCK = st.one_of(
    PARAGRAPH,
    st.tuples(st.integers(1, 6), INLINE, st.sampled_from(["", " #", " ##  "])).map(
        lambda one: "#" * one[0] + " " + one[1] + one[2]
    ),
    PARAGRAPH.map(lambda text: text + "\n==="),
    st.lists(INLINE, min_size=1, max_size=4).map(lambda lines: "```py\n" + "\n".join(lines) + "\n```"),
    st.lists(INLINE, min_size=1, max_size=3).map(lambda lines: "\n".join("    " + line for line in lines)),
    st.lists(INLINE, min_size=1, max_size=3).map(lambda lines: "\n".join("\t" + line for line in lines)),
    st.lists(st.tuples(INLINE, INLINE), min_size=1, max_size=3).map(
        lambda rows: "\n".join(["| a | `b|` |", "|:--|--:|", *(f"| {one} | {other} |" for one, other in rows)])
    ),
    st.just("[ref]: /else 'title'"),
    st.just("***"),
)


def within(mark: str, next_mark: str):
    return lambda block: "\n".join((mark if not i else next_mark) + line for i, line in enumerate(block.split("\n")))


BLOCKS = st.recursive(
    BLOCK,
    lambda inner: st.tuples(
        st.lists(inner, min_size=1, max_size=3).map("\n\n".join),
        st.sampled_from([("> ", "> "), (">", ">"), ("- ", "  "), ("10. ", "    "), ("-\t", "\t"), ("> ", "")]),
    ).map(lambda pair: within(*pair[1])(pair[0])),
    max_leaves=6,
)
TEXT = st.lists(BLOCKS, min_size=1, max_size=4).map("\n\n".join)
DOCUMENT = st.builds(lambda text, end: text.replace("\n", end), TEXT, st.sampled_from(["\n", "\r\n", "\r"]))


NOISE = st.text(alphabet="ab \t\n*_`~[]()<>&;#|-+\\!:.1é😀\r\u00a0\u2028", max_size=60)


def words(text: str) -> str:
    return re.sub(r"\s+", "", text)


@settings(max_examples=300, deadline=None)
@given(st.one_of(DOCUMENT, NOISE))
@example("> - a\n>   b `c\n>   d`\n>\n> | a \\| b | c |\n> |---|--:|\n> | **1** | 2")
@example("\xa0\r1")
@example("- a\n\n\t\tcode\n")
@example("~~~a~~~ ***b** c*")
@example("1. > # a #\n   > b\nlazy")
def test_every_character_shown_is_at_its_place(source):
    made = render(source, "markdown")
    if made is None:
        assert not source.strip()
        return
    assert not made.why()
    found = check_places(source, made.html)
    assert not found.loose.strip()  # no more than the spaces that a tab stands for
    if not re.search(r"!\[|\\[(\[]", source):  # nor formulas
        rendered = unescape(re.sub(r"<[^>]*>", "", PLAIN.render(source)))
        assert words(found.text) == words(rendered)


def test_an_image_is_its_source_and_a_link_is_safe():
    source = "![a *cat*](https://evil.example/x.png) [x](javascript:alert(1)) [y](https://a.example) <b onclick=1>z</b>"
    made = render(source, "markdown")
    found = check_places(source, made.html)
    assert "![a *cat*](https://evil.example/x.png)" in found.text
    assert {tag for tag, _ in found.tags} <= {"p", "span", "a"}
    links = [attributes for tag, attributes in found.tags if tag == "a"]
    assert [one["href"] for one in links] == ["https://a.example"]
    assert all(one["rel"] == "noopener noreferrer nofollow" for one in links)
    assert "<b onclick=1>z</b>" in found.text


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (">" * 20_000, "nested"),
        ("\n".join("  " * n + "- x" for n in range(200)), "nested"),
        ("x" * 1_000_000, "longer than 200,000 characters"),
        ("|" + "a|" * 100 + "\n|" + "-|" * 100 + "\n" + ("|" + "b|" * 100 + "\n") * 150, "paragraphs and cells"),
        ("*a*" * 50_000, "pieces of formatting"),
        ("[" * 150_000, "square brackets"),
    ],
    ids=["quotes", "lists", "line", "cells", "marks", "brackets"],
)
def test_what_is_too_much_is_shown_as_its_source_with_the_reason(source, why):
    begin = time.monotonic()
    made = render(source, "markdown")
    assert made.html == "" and why in made.why() and made.why().startswith("Shown as its source, not as Markdown: it")
    assert time.monotonic() - begin < 20


def test_lists_are_nested_as_deep_as_the_reason_says():
    def nested(depth: int) -> str:
        return "\n".join("  " * level + "- x" for level in range(depth))

    deepest = next(depth for depth in range(1, 40) if not render(nested(depth + 1), "markdown").html)
    assert render(nested(deepest), "markdown").html
    assert f"nested more than {deepest} deep" in render(nested(deepest + 1), "markdown").why()


def test_a_table_of_nearly_ten_thousand_cells_is_rendered():
    source = "|" + "a|" * 100 + "\n|" + "-|" * 100 + "\n" + ("|" + "b|" * 100 + "\n") * 90
    assert len(check_places(source, render(source, "markdown").html).runs) == 9_100
