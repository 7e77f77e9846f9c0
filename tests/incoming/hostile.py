"""Hostile values, and requests made of them."""

from __future__ import annotations

import copy
import json
import uuid
from html.parser import HTMLParser
from urllib.parse import quote, urlencode

from hypothesis import strategies as st

TEXTS = (
    "",
    " ",
    "\0",
    "a\0b",
    "x" * 36,
    "x" * 300,
    "x" * 20_000,
    "é" * 5_000,
    "\U0001f4a5" * 255,
    "\ufeff\u202e\u2028\uffff",
    "٣",
    "²",
    "9" * 5_000,
    "-1",
    "-0",
    "0",
    "1",
    "1e999",
    "NaN",
    "-Infinity",
    "1_000",
    "0x10",
    "2147483648",
    "9223372036854775808",
    "-9223372036854775809",
    "0.5,1e-400",
    "9999-12-31T23:59:59-14:00",
    "0001-01-01T00:00:00+14:00",
    "0001-01-01",
    "9999-12-31",
    "2026-02-30",
    "2026-01-01T00:00:00+99:99",
    "2026-W01-1",
    "00000000-0000-0000-0000-000000000000",
    "{7d444840-9dc0-11d1-b245-5ffdce74fad2}",
    "a@" + "b" * 250 + ".org",
    "\r\nSet-Cookie: a=b",
    "../../../etc/passwd",
    "//example.org/",
    "<script>alert(1)</script>{{ 7*7 }}{% debug %}",
    "' OR 1=1 --",
    "%00%ff",
    "*" * 500,
    "](" * 2_000,
    "[" * 2_000,
    '{"a":' * 200,
    "stance:supports",
    "stance:\0",
    "a,b,,c",
    "true",
    "None",
    "on",
)
texts = st.sampled_from(TEXTS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
# One of each kind of what broke a page once.
SHARP = (
    "a\0",
    "9" * 5_000,
    "9223372036854775808",
    "NaN",
    "9999-12-31T23:59:59-14:00",
    "x" * 36,
    "stance:\0,\U0001f4a5",
)
JSON_VALUES = (
    *TEXTS,
    *("\ud800", "a\udfff", ["\ud800"], {"\ud800": 1}, {"a\0": 1}),
    *(None, True, False, -1, 0, 1, 2**31, 2**63, 2**64, -(2**70), 10**400, 0.5, -0.0, 1e308),
    *([], {}, [[]], [None], {"": None}, ["a", {"b": "\0"}], "deep"),
)
json_values = st.sampled_from(JSON_VALUES) | st.recursive(
    st.none() | st.integers() | texts, lambda inner: st.lists(inner, max_size=3), max_leaves=6
)
RAW_BODIES = (
    b"",
    b"[",
    b"{",
    b"null",
    b"\xff\xfe",
    b'{"a": NaN}',
    b'{"a": 1e999}',
    b'{"client_id": ' + b"9" * 5_000 + b"}",
    b"[" * 50_000,
    b'{"judgements": ' + b"[" * 990 + b"]" * 990 + b"}",
    b'{"\xed\xa0\x80": 1}',
)
HEADERS = {
    "HTTP_RANGE": (
        "bytes=" + "9" * 5_000 + "-",
        "bytes=0-" + "9" * 5_000,
        "bytes=-0",
        "bytes=5-1",
        "bytes=1-2,4-9",
    ),
    "HTTP_IF_RANGE": ('"x"', "Sun, 99 Foo 0000 99:99:99 GMT"),
    "HTTP_IF_MODIFIED_SINCE": ("Sun, 99 Foo 0000 99:99:99 GMT", "Mon, 01 Jan 99999 00:00:00 GMT"),
    "HTTP_IF_NONE_MATCH": ('W/"' + "x" * 500, "*"),
    "HTTP_COOKIE": (
        'sessionid="\\000\\000\\000\\000\\000\\000\\000\\000"',
        "csrftoken=\\000; a",
        "messages=x:y:z; =;;",
    ),
    "HTTP_HX_REQUEST": ("true",),
    "HTTP_HX_TARGET": ("a", "%00"),
    "HTTP_HX_CURRENT_URL": ("http://[", "//" + "x" * 3000),
    "HTTP_X_SEEN": ("9" * 5_000, "9999-12-31T23:59:59-14:00 x", "\x7f"),
    "HTTP_X_FORWARDED_FOR": ("256.1.1.1, ::::, \x7f", "x" * 3_000),
    "HTTP_REFERER": ("http://[", "\x7f"),
    "HTTP_ACCEPT": ("application/x; q=nan, */*;q=1e999", "text/html;version=" + "9" * 500, ";;;,"),
    "HTTP_ACCEPT_LANGUAGE": ("x" * 5_000, "en;q=9" + "9" * 500),
    "HTTP_ORIGIN": ("http://[", "null"),
    "HTTP_HOST": ("[", "x" * 300, "a@b", "testserver:99999999"),
    "HTTP_AUTHORIZATION": ("Basic \x7f", "Bearer " + "x" * 3_000),
}
TYPES = (
    "text/plain",
    "application/json",
    "multipart/form-data",
    "multipart/form-data; boundary=" + "x" * 300,
    "/;=",
    "",
)


PIECES = ("%00", "a%00b", "9" * 5_000, "x" * 36, "%ED%A0%80", "..%2f", "-", "٣", "%25", "a" * 3_000)


class Forms(HTMLParser):
    """The forms of a page, as a browser would send them: path -> name and value of every field."""

    def __init__(self, page: str, address: str):
        super().__init__()
        self.found: dict[str, list[tuple[str, str]]] = {}
        self.address, self.fields, self.select, self.area = address, None, None, None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.fields = self.found.setdefault(given.get("action") or self.address, [])
        if self.fields is None:
            return
        name = given.get("name", "")
        if tag == "input" and name and given.get("type") not in ("submit", "file"):
            self.fields.append((name, given.get("value", "")))
        elif tag == "select":
            self.select = name
        elif tag == "option" and self.select:
            self.fields.append((self.select, given.get("value", "")))
        elif tag == "textarea":
            self.area = name
            self.fields.append((name, ""))
        elif tag == "button" and name:
            self.fields.append((name, given.get("value", "")))

    def handle_endtag(self, tag):
        if tag == "form":
            self.fields = None
        elif tag == "select":
            self.select = None


def pick(draw, things):
    """One of them. Hypothesis wants the same choices each time, and what views ask for is known only by and by."""
    things = list(things)
    return things[draw(st.integers(0, 999_999)) % len(things)]


def form_data(draw, base: list[tuple[str, str]], names: list[str]) -> list[tuple[str, str]]:
    """A form as it stands with some fields changed, and fields that the view asked for before."""
    fields = dict(base)
    if fields and draw(st.booleans()):
        fields = {name: value for name, value in fields.items() if draw(st.integers(0, 9))}
    # Mostly one at a time, so that what looks at the others lets it through.
    wanted = sorted({*fields, *names}) or ["x"]
    for _ in range(draw(st.integers(1, 2))):
        fields[pick(draw, wanted)] = draw(texts)
    return list(fields.items())


def paths_in(value, path=()):
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield from paths_in(one, (*path, name))


def json_body(draw, base: dict) -> bytes:
    """The body with one value in it replaced, or one that is no JSON."""
    if not draw(st.integers(0, 5)):
        return draw(st.sampled_from(RAW_BODIES))
    body = copy.deepcopy(base)
    if "client_id" in body:
        body["client_id"] = str(uuid.UUID(int=draw(st.integers(0, 2**128 - 1)), version=4))
    path = pick(draw, list(paths_in(body))[1:])
    return as_json(changed(body, path, draw(json_values)))


def changed(body: dict, path: tuple, value) -> dict:
    """A copy with another value at one place."""
    body = where = copy.deepcopy(body)
    for name in path[:-1]:
        where = where[name]
    where[path[-1]] = value
    return body


def as_json(body) -> bytes:
    return json.dumps(body).replace('"deep"', "[" * 900 + "]" * 900).encode()


def path_with(draw, address: str, pieces: list[str]) -> str:
    """The address with one of what it names replaced."""
    bad = draw(st.sampled_from(PIECES))
    piece = pick(draw, pieces)
    return address.replace(quote(piece), quote(bad, safe="%"), 1)


def query(draw, names: list[str]) -> str:
    pairs = [(pick(draw, names), draw(texts)) for _ in range(draw(st.integers(0, 3)))]
    if not draw(st.integers(0, 9)):
        pairs.append((draw(texts), draw(texts)))
    return urlencode(pairs, errors="replace")[:60_000]
