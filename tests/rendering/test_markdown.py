"""Rendered Markdown: what markdown-it renders, and every character of it at its place in the source."""

import time

from hypothesis import strategies as st
from markdown_it import MarkdownIt

from annotation.rendering import render
from tests.rendering.reading import check_places

PLAIN = MarkdownIt("commonmark", {"html": False, "maxNesting": 40}).enable(["table", "strikethrough"])
PLAIN.disable("image")

WORDS = [
    r"harbour",
    r"naïve",
    r"שלום",
    r"مرحبا",
    r"👩‍👩‍👧",
    r"a_b",
    r"*",
    r"_",
    r"`",
    r"~~",
    r"|",
    r"\|",
    r"\*",
    r"&amp;",
    r"&#x1f600;",
    r"<b>",
] + ["e\u0301"]
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


def test_what_is_too_much_is_shown_as_its_source_with_the_reason(source, why):
    begin = time.monotonic()
    made = render(source, "markdown")
    assert made.html == "" and why in made.why and made.why.startswith("Shown as its source, not as Markdown: it")
    assert time.monotonic() - begin < 20


def test_a_table_of_nearly_ten_thousand_cells_is_rendered():
    source = "|" + "a|" * 100 + "\n|" + "-|" * 100 + "\n" + ("|" + "b|" * 100 + "\n") * 90
    assert len(check_places(source, render(source, "markdown").html).runs) == 9_100
