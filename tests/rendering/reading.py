"""Rendered texts read again from their HTML, for tests."""

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Run:
    at: int
    length: int | None  # in the source, where it shows something else
    text: str = ""

    @property
    def end(self) -> int:
        return self.at + (len(self.text) if self.length is None else self.length)


@dataclass
class Read(HTMLParser):
    runs: list[Run] = field(default_factory=list)
    loose: str = ""  # text without a place
    text: str = ""
    tags: list[tuple[str, dict]] = field(default_factory=list)
    is_run: bool = False

    def __post_init__(self):
        super().__init__()

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.append((tag, found))
        if tag == "span" and "data-at" in found:
            self.is_run = True
            length = found.get("data-length")
            self.runs.append(Run(int(found["data-at"]), length and int(length)))

    def handle_endtag(self, tag):
        if tag == "span":
            self.is_run = False

    def handle_data(self, data):
        self.text += data
        if self.is_run:
            self.runs[-1].text += data
        else:
            self.loose += data


def read(html: str) -> Read:
    found = Read()
    found.feed(html)
    found.close()
    return found


def check_places(source: str, html: str) -> Read:
    """Each run shows what stands at its place, and they follow one another."""
    found = read(html)
    last = 0
    for run in found.runs:
        assert run.at >= last and run.end <= len(source)
        if run.length is None:
            assert source[run.at : run.end] == run.text
        last = run.end
    return found
