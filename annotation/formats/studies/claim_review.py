"""Reviews of claims by fact-checkers, in schema.org's ClaimReview: JSON-LD as pages carry it, an answer of the Fact
Check Tools API, and the Data Commons feed; and tables of claims.

    {"@type": "ClaimReview", "url", "claimReviewed", "datePublished", "author": {"name", "url"}, "reviewRating":
     {"alternateName"}, "itemReviewed": {"author": {"name"}, "datePublished", …}}   alone, in a list, in @graph
    {"claims": [{"text", "claimant", "claimDate", "claimReview": [{"publisher": {"name", "site"}, "url", "title",
     "reviewDate", "textualRating", "languageCode"}]}], "nextPageToken"}
    {"@type": "DataFeed", "dataFeedElement": [{"item": [{"@type": "ClaimReview", …}]}]}

A row of a table (CSV, TSV, JSON Lines, Parquet) is one claim, by the names of its columns (`COLUMNS`). It needs no
review: without an address its key is its id, or made from its text.

A claim's key is the review's address and the place of the claim in it, from 0: reviews that check several claims have
one entry for each. The same claim of the same review again is passed over. Publisher, day of the review, title and
language go to the metadata, and so does a day that is none.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from datetime import date
from urllib.parse import urlsplit

from annotation import incoming
from annotation.formats.cells import BadCell, required_text, row_error, to_key, to_text
from annotation.formats.files.characters import mended
from annotation.formats.files.containers import open_blobs
from annotation.formats.files.json_streams import JsonMembers, find_bad_string
from annotation.formats.files.streams import TextReader
from annotation.formats.files.tables import SNIFFED_BYTES, open_table
from annotation.formats.info import SURE, Format
from annotation.formats.records import ClaimRecord, FormatError, Record, RowError
from annotation.formats.sources import Options, SourceFile

FEED, ANSWER = "dataFeedElement", "claims"
TYPE = "ClaimReview"
VERDICT_CHARS = 200
KEY_CHARS = 380
# What the columns of a table of claims hold; the first that is there is taken. Others are metadata.
COLUMNS = {
    "text": ("text", "claim", "statement"),
    "id": ("id", "claim_id"),
    "claimant": ("claimant", "speaker", "author"),
    "day": ("claim_date", "date"),
    "url": ("url", "review_url"),
    "verdict": ("verdict", "rating", "label"),
    "publisher": ("publisher", "fact_checker"),
    "site": ("site",),
    "reviewed": ("review_date",),
    "title": ("title",),
    "language": ("language",),
    "summary": ("summary",),
}


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    """A review that cannot be read is one bad row; the others of its entry come in."""
    seen = Reviews()
    for blob in open_blobs(sources, options):
        head = blob.stream.peek(SNIFFED_BYTES)
        inside = list_in(head)
        with ExitStack() as files:
            if inside:
                entries: Iterator = (
                    (line, mended(blob.name, line, value, options) if risky else value)
                    for name, line, value, risky in JsonMembers(TextReader(blob.stream), inside)
                    if name == inside
                )
            else:
                table = open_table(blob, options.limits, files)
                if table.columns is not None and not _texts_in(table.columns):
                    raise FormatError(f"{table.name}: has no column of claims, called {', '.join(COLUMNS['text'])}")
                entries = table.rows
            for entry in entries:
                if isinstance(entry, RowError):
                    yield entry
                else:
                    is_row = not inside and _texts_in(entry[1]) and not is_claim_review(entry[1])
                    yield from records_of(entry[1], seen, blob.name, entry[0], is_row=is_row)


def list_in(head: bytes) -> str:
    """The list that an answer or a feed holds its reviews in; empty where the file is something else."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith(b"{"):
        return ""
    if b'"dataFeedElement"' in head:
        return FEED
    return ANSWER if b'"claims"' in head and b'"claimReview"' in head else ""


def is_claim_review(row: dict) -> bool:
    """Whether an object of a JSON file looks like one of the three."""
    kind = row.get("@type")
    return (
        TYPE in (kind if isinstance(kind, list) else [kind])
        or isinstance(row.get("claimReview"), list)
        or (isinstance(row.get(ANSWER), list) and any(isinstance(one, dict) for one in row[ANSWER]))
        or isinstance(row.get(FEED), list)
        or any(isinstance(one, dict) and is_claim_review(one) for one in _several(row.get("@graph")))
    )


class Reviews:
    """The claims of each review that were met."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = defaultdict(list)

    def key(self, url: str, text: str) -> str | None:
        """None for a claim that stands there twice."""
        mark = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
        texts = self._texts[url]
        if mark in texts:
            return None
        texts.append(mark)
        shown = (
            url if len(url) <= KEY_CHARS else f"{url[: KEY_CHARS - 17]}-{hashlib.sha256(url.encode()).hexdigest()[:16]}"
        )
        return f"{shown}#{len(texts) - 1}"


def records_of(
    value: object, seen: Reviews, name: str = "", line: int | None = None, *, is_row: bool = False
) -> Iterator[ClaimRecord | RowError]:
    """The claims of one entry: a review, a claim of an answer, an element of a feed, a list of such, or a row."""
    for review in [_of_row(value)] if is_row else _reviews(value):
        try:
            if bad := find_bad_string(review):
                raise BadCell(bad[0], bad[1], incoming.BAD_CHARACTER)
            record = _record(review, seen)
        except BadCell as problem:
            yield row_error(name, line, problem)
        else:
            if record is not None:
                yield record


def _reviews(value: object, depth: int = 0) -> Iterator[dict]:
    """Reviews as one flat object each: `claim` and `review` of it."""
    if depth > 6:
        return
    for one in _several(value):
        if not isinstance(one, dict):
            yield {"wrong": one}
        elif isinstance(one.get("claimReview"), list):
            for review in one["claimReview"]:
                yield _of_answer(one, review if isinstance(review, dict) else {})
        elif TYPE in _several(one.get("@type")):
            yield _of_json_ld(one)
        elif inner := next((one[key] for key in ("@graph", "item", FEED, ANSWER) if one.get(key)), None):
            yield from _reviews(inner, depth + 1)
        elif depth == 0:
            yield {"wrong": one}


def _plain(column: str) -> str:
    return column.strip().casefold().replace(" ", "_")


def _texts_in(columns: Iterable[str]) -> bool:
    return not {_plain(column) for column in columns}.isdisjoint(COLUMNS["text"])


def _of_row(row: dict) -> dict:
    """`url` is left out where there is none: a claim of a table may have no review."""
    cells = {
        _plain(column): value if isinstance(value, dict | list) else to_text(value, column)
        for column, value in row.items()
        if value not in (None, "")
    }
    review = {
        name: next((cells.pop(column) for column in columns if column in cells), None)
        for name, columns in COLUMNS.items()
    }
    if review["url"] is None:
        del review["url"]
    return review | {"more": {name: value for name, value in cells.items() if isinstance(value, str)}}


def _of_answer(claim: dict, review: dict) -> dict:
    publisher = _object(review.get("publisher"))
    return {
        "text": claim.get("text"),
        "claimant": claim.get("claimant"),
        "day": claim.get("claimDate"),
        "url": review.get("url"),
        "verdict": review.get("textualRating"),
        "publisher": publisher.get("name"),
        "site": publisher.get("site"),
        "reviewed": review.get("reviewDate"),
        "title": review.get("title"),
        "language": review.get("languageCode"),
    }


def _of_json_ld(review: dict) -> dict:
    about, author, rating = (_object(review.get(name)) for name in ("itemReviewed", "author", "reviewRating"))
    appeared = _object(about.get("firstAppearance")) or _object(about.get("appearance"))
    return {
        "text": review.get("claimReviewed"),
        "claimant": _object(about.get("author")).get("name"),
        "day": about.get("datePublished") or appeared.get("datePublished"),
        "url": review.get("url"),
        "verdict": rating.get("alternateName") or rating.get("name") or rating.get("ratingValue"),
        "publisher": author.get("name"),
        "site": author.get("url"),
        "reviewed": review.get("datePublished"),
        "title": review.get("headline") or review.get("name"),
        "language": review.get("inLanguage"),
        "summary": review.get("reviewBody") or review.get("description"),
    }


def _record(review: dict, seen: Reviews) -> ClaimRecord | None:
    if "wrong" in review:
        raise BadCell("", review["wrong"], "is no ClaimReview, no claim with reviews and no list of them")
    text = required_text(review["text"], "claim").strip()
    url = required_text(review["url"], "url").strip() if "url" in review else ""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        host = ""
    if "url" in review and (not url.startswith(("https://", "http://")) or not host or url.split() != [url]):
        raise BadCell("url", url, "is no address of a page")
    verdict = review["verdict"]
    verdict = to_text(str(verdict) if isinstance(verdict, int | float) else verdict, "verdict").strip()
    if len(verdict) > VERDICT_CHARS:
        raise BadCell("verdict", verdict, f"has {len(verdict):,} characters; at most {VERDICT_CHARS} are stored")
    metadata = dict(review.get("more", {})) | {
        name: str(value).strip()
        for name in ("publisher", "title", "language", "summary")
        if isinstance(value := review.get(name), str) and value.strip()
    }
    site = review.get("site")
    metadata["site"] = site_of(site) if isinstance(site, str) and site_of(site) else host.removeprefix("www.")
    days = {}
    for name, day in (("claim_date", review["day"]), ("review_date", review["reviewed"])):
        days[name] = _day(day)
        if days[name] is None and day not in (None, ""):
            metadata[name] = str(day)[:100]
    if days["review_date"]:
        metadata["review_date"] = days["review_date"].isoformat()
    key = seen.key(url, text) if "url" in review else _own_key(review["id"], text, seen)
    if key is None:
        return None
    claimant = review["claimant"]
    return ClaimRecord(
        key,
        text,
        claimant=to_text(claimant if isinstance(claimant, str) else None, "claimant").strip(),
        date=days["claim_date"],
        source=url,
        verdict=verdict,
        metadata=metadata,
    )


def _own_key(own: object, text: str, seen: Reviews) -> str | None:
    """The key of a claim without a review; None for a row that stands there twice."""
    mark = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
    key = f"claim-{mark}" if own is None else to_key(own, "id", KEY_CHARS)
    if (place := seen.key(key, text)) and not place.endswith("#0"):
        raise BadCell("id", key, "stands there already, with another text")
    return place and key


def site_of(address: str) -> str:
    """The host of an address, or of a host alone; empty where it is none."""
    try:
        host = urlsplit(address if "//" in address else f"//{address}").hostname or ""
    except ValueError:
        return ""
    return host.removeprefix("www.")


def _day(value: object) -> date | None:
    """The day of a date or of an instant; a year or a month alone is none."""
    try:
        return incoming.day(value.strip()[:10]) if isinstance(value, str) else None
    except incoming.Refused:
        return None


def _several(value: object) -> list:
    return value if isinstance(value, list) else [] if value is None else [value]


def _object(value: object) -> dict:
    """The first object of what may be a list."""
    found = next((one for one in _several(value) if isinstance(one, dict)), None)
    if found is None and isinstance(value, str):
        return {"name": value}
    return found or {}


INFO = Format(
    slug="claim-review",
    title="ClaimReview (JSON-LD, Fact Check Tools API, Data Commons feed), or a table of claims",
    extensions=(".json", ".jsonl", ".csv", ".tsv", ".parquet"),
    reader=read,
    detect=lambda head: SURE if (not head.packed and list_in(head.start)) or is_claim_review(head.row) else 0,
)
