"""HTML as safe HTML: the elements that carry meaning, none of their attributes but links' addresses. What would run,
style or load is left out; its source can be read in the other view."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

from annotation.rendering.runs import N_, CannotRender, RunWriter

MOST_NESTED = 100
MOST_OPEN = 500  # looking for the ends of more takes long where they have none
# fmt: off
SAME = {
    "blockquote", "caption", "code", "dd", "del", "dl", "dt", "em", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q",
    "samp", "small", "strong", "sub", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul", "a",
}
BOXES = {
    "address", "article", "aside", "div", "figcaption", "figure", "footer", "header", "main", "section",
}
# What is in these is not text of the page.
HIDDEN = {
    "head", "iframe", "math", "noscript", "object", "script", "select", "style", "svg", "template", "textarea", "title",
}
# fmt: on
# Elements by the tag that is written for them.
ELEMENTS = {name: name for name in SAME} | {name: "div" for name in BOXES}
ELEMENTS |= {f"h{level}": f"h{min(level + 2, 6)}" for level in range(1, 7)}
# Elements that end one that is open, where the source leaves its end out.
_CELLS, _TERMS = {"td", "th"}, {"dd", "dt"}
ENDS = {"li": {"li"}, "p": {"p"}, "tr": {"tr", *_CELLS}} | dict.fromkeys(_CELLS, _CELLS) | dict.fromkeys(_TERMS, _TERMS)
ELEMENTS |= {"b": "strong", "i": "em", "s": "del", "strike": "del"}


# fmt: off
BLOCKS = {*BOXES, "!doctype html", "blockquote", "body", "dl", "h[1-6]", "html", "ol", "p", "pre", "table", "ul"}
# fmt: on
BEGIN = re.compile(rf"\s*<(?:{'|'.join(BLOCKS)})\b", re.IGNORECASE)


def is_written(text: str) -> bool:
    """Whether a text begins with an element of HTML: a guess."""
    return BEGIN.match(text) is not None


def render(page: RunWriter) -> None:
    source = page.source
    if max(len(re.findall(r"<[!?]", source)), source.count("<") - source.count(">")) > MOST_OPEN:
        raise CannotRender(N_("it has more than {n} comments, or tags that do not end"), MOST_OPEN)
    reader = _Reader(page)
    reader.feed(page.source)
    reader.close()
    reader.finish()


class _Reader(HTMLParser):
    def __init__(self, page: RunWriter):
        super().__init__(convert_charrefs=False)
        self.page = page
        self.open: list[tuple[str, str]] = []  # the file's names, and the tags that were written
        self.hidden = ""  # the outermost hidden element
        self.depth = 0  # of elements of its name within it
        starts = [0, *(found.end() for found in re.finditer("\n", page.source))]
        self.starts = starts

    def at(self) -> int:
        line, column = self.getpos()
        return self.starts[line - 1] + column

    def handle_starttag(self, tag, attrs):
        if self.hidden:
            self.depth += tag == self.hidden
        elif tag in HIDDEN:
            self.hidden, self.depth = tag, 1
        elif tag in ("br", "hr"):
            self.page.tag(tag)
        elif tag == "img":
            self.page.tag("span", class_="image")
            self.page.run(self.at(), self.at() + len(self.get_starttag_text()))
            self.page.end("span")
        elif tag in ELEMENTS:
            self.begin(tag, dict(attrs))

    def handle_startendtag(self, tag, attrs):
        if tag not in HIDDEN:
            self.handle_starttag(tag, attrs)

    def begin(self, name: str, attributes: dict) -> None:
        while self.open and self.open[-1][0] in ENDS.get(name, ()):
            self.page.end(self.open.pop()[1])
        if len(self.open) >= MOST_NESTED:
            raise CannotRender(N_("its elements are nested more than {n} deep"), MOST_NESTED)
        tag = ELEMENTS[name]
        if tag == "a":
            if not self.page.link(attributes.get("href") or ""):
                return
        else:
            self.page.tag(tag, dir="auto")
        self.open.append((name, tag))

    def handle_endtag(self, tag):
        if self.hidden:
            self.depth -= tag == self.hidden
            if not self.depth:
                self.hidden = ""
        elif any(name == tag for name, _ in self.open):
            while self.open:
                name, written = self.open.pop()
                self.page.end(written)
                if name == tag:
                    break

    def finish(self) -> None:
        while self.open:
            self.page.end(self.open.pop()[1])

    def handle_data(self, data):
        if not self.hidden:
            self.page.run(self.at(), self.at() + len(data))

    def handle_entityref(self, name):
        self.entity(f"&{name}")

    def handle_charref(self, name):
        self.entity(f"&#{name}")

    def entity(self, written: str) -> None:
        """The character of an entity; one without its semicolon is text."""
        if self.hidden:
            return
        start = self.at()
        end = start + len(written)
        if self.page.source[end : end + 1] == ";":
            self.page.run(start, end + 1, unescape(f"{written};"))
        else:
            self.page.run(start, end)
