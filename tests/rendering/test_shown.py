"""Highlights in texts that are only shown: in the source and as it looks, at the same characters."""

from html.parser import HTMLParser

from hypothesis import example, given
from hypothesis import strategies as st

from annotation.formats.records import SpanRecord
from annotation.rendering import ShownText
from tests.rendering.test_markdown import DOCUMENT


class _Marked(HTMLParser):
    """Whether each character of the source that is shown as it is stands in a mark."""

    def __init__(self):
        super().__init__()
        self.at, self.is_whole, self.is_marked = None, False, False
        self.found: dict[int, bool] = {}

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if "data-at" in found:
            self.at, self.is_whole = int(found["data-at"]), "data-length" in found
        self.is_marked |= tag == "mark"

    def handle_endtag(self, tag):
        self.is_marked &= tag != "mark"
        if tag == "span":
            self.at = None

    def handle_data(self, data):
        if self.at is not None and not self.is_whole:
            self.found |= dict.fromkeys(range(self.at, self.at + len(data)), self.is_marked)
            self.at += len(data)


@given(DOCUMENT, st.lists(st.tuples(st.integers(0, 200), st.integers(1, 40)), max_size=4))
@example("a **b** &amp; c", [(0, 1), (4, 1), (9, 2)])
def test_highlights_are_at_the_same_characters_in_the_source_and_as_it_looks(text, places):
    spans = [SpanRecord("response", at, end, text[at:end]) for at, n in places if (end := min(len(text), at + n)) > at]
    wanted = {offset for span in spans for offset in range(span.start, span.end)}
    elsewhere = [SpanRecord("evidence", 0, 1, text[:1]), SpanRecord("response", 0, 1, "of an older version")]
    shown = ShownText(text, "markdown", "response").marked(spans + elsewhere)
    pieces = [(character, is_marked) for piece, is_marked in shown.pieces for character in piece]
    assert "".join(character for character, _ in pieces) == text
    assert {offset for offset, (_, is_marked) in enumerate(pieces) if is_marked} == wanted
    if shown.rendered and shown.rendered.html:
        reader = _Marked()
        reader.feed(shown.rendered.html)
        for offset, is_marked in reader.found.items():
            assert is_marked == (offset in wanted), offset
        plain = ShownText(text, "markdown").rendered.html
        assert shown.rendered.html.replace("<mark>", "").replace("</mark>", "") == plain
