"""Pages of the web as texts: fetched through the one door for addresses, and read by trafilatura."""

from __future__ import annotations

import hashlib
import importlib.metadata
import logging
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import urlsplit

from .. import egress
from ..building import check_packages
from ..packages import TRAFILATURA

PAGE_BYTES = 5_000_000
PAGE_SECONDS = 20.0
# Of a page's text; what is longer than a book is no page.
TEXT_CHARS = 400_000
READ_AS_PAGE = ("text/html", "application/xhtml+xml", "application/xml", "text/xml")
READ_AS_TEXT = ("text/plain", "text/markdown")
# Sites answer a program that does not say what it is as they like.
AGENT = "Assay (evidence retrieval for research)"
_CHARSET = re.compile(r"charset=[\"']?([\w.:-]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PageText:
    """What a page says; or `problem`, why it cannot be read. `source` as `Document.source` has it."""

    text: str = ""
    source: dict[str, Any] = field(default_factory=dict)
    problem: str = ""


def libraries() -> dict[str, str]:
    return {"trafilatura": importlib.metadata.version("trafilatura")}


def fetch_page(url: str, allowed: Collection[str] = ()) -> PageText:
    """The text at an address. Whatever goes wrong is the page's problem, and nobody else's."""
    try:
        found = egress.get(
            url,
            {"User-Agent": AGENT, "Accept": "text/html, text/plain;q=0.5", "Accept-Encoding": "identity"},
            allowed=allowed,
            seconds=PAGE_SECONDS,
            most_bytes=PAGE_BYTES,
        )
    except egress.AddressRefused as refused:
        return PageText(problem=f"the address {refused}")
    except egress.NoAnswer as error:
        return PageText(problem=str(error))
    if found.status != 200:
        return PageText(problem=f"HTTP {found.status}")
    if len(found.body) > PAGE_BYTES:
        return PageText(problem=f"is larger than {PAGE_BYTES // 1_000_000} MB")
    if not found.is_whole:
        return PageText(problem="ended before it was whole")
    page = read_page(found.body, found.headers.get("content-type", ""), found.url)
    if page.problem:
        return page
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    kept = {"url": url, **({"final_url": found.url} if found.url != url else {})}
    return PageText(page.text, {**page.source, **kept, "retrieved_at": now})


def read_page(raw: bytes, content_type: str, url: str = "") -> PageText:
    """The main text of a page, its title, publisher and day, as far as it tells them."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind and kind not in (*READ_AS_PAGE, *READ_AS_TEXT):
        return PageText(problem=f"is {kind[:60]}, no page of text")
    if b"\0" in raw[:2000] or raw.startswith((b"%PDF", b"PK\x03\x04", b"\x1f\x8b")):
        return PageText(problem="is binary, no page of text")
    digest = {"sha256_of_page": hashlib.sha256(raw).hexdigest()}
    if kind in READ_AS_TEXT:
        text = _decoded(raw, content_type)
        return PageText(text, digest) if text.strip() else PageText(problem="has no text")
    check_packages("evidence", (TRAFILATURA,))
    import trafilatura

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # it tells of every page that has no text
    if not raw.strip():
        return PageText(problem="has no main text")
    try:
        found = trafilatura.bare_extraction(
            _decoded(raw, content_type), url=url or None, include_comments=False, with_metadata=True
        )
    except Exception as error:  # a parser's own errors, on whatever the web holds
        return PageText(problem=f"cannot be read ({type(error).__name__})")
    text = _clean(found.text or "") if found is not None else ""
    if not text.strip():
        return PageText(problem="has no main text")
    if len(text) > TEXT_CHARS:
        return PageText(problem=f"has more than {TEXT_CHARS:,} characters")
    metadata = {"title": found.title, "publisher": found.sitename or host_of(url), "date": _day(found.date)}
    known = {name: _clean(value)[:400] for name, value in metadata.items() if value}
    if found.description:
        known["description"] = _clean(found.description)[:4000]
    return PageText(text, known | digest)


def host_of(url: str) -> str:
    """The host of an address, without `www.`; empty where it has none."""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _decoded(raw: bytes, content_type: str) -> str:
    """By what the answer or the page says of itself, else as UTF-8."""
    declared = _CHARSET.search(content_type)
    named = declared[1] if declared else ""
    if not named and (inside := _CHARSET.search(raw[:2048].decode("ascii", "replace"))):
        named = inside[1]
    try:
        return raw.decode(named or "utf-8", "replace")
    except LookupError:
        return raw.decode("utf-8", "replace")


def _clean(text: str) -> str:
    """What every database stores."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode().replace("\r\n", "\n")


def _day(found: str | None) -> str:
    try:
        return date.fromisoformat(found).isoformat() if found else ""
    except ValueError:
        return ""
