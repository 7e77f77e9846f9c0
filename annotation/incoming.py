"""What may come in: one place per kind of value, for JSON, forms, addresses and files alike.

Each function gives the value as it is stored, or raises Refused with the reason; the caller knows the field's name.
What every database can store and every reader gives back is allowed, and nothing else. Knows no Django, so that formats
can use it.
"""

from __future__ import annotations

import ipaddress
import json
import math
import re
import uuid
from datetime import UTC, date, datetime, timedelta
from urllib.parse import urlsplit

# Instants are when something happened here: nobody labelled before 1900 or will after 2199. Far within what PostgreSQL,
# Python in every time zone, pandas (nanoseconds: 1677 to 2262) and a browser's Date can hold and give back.
EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)
# Offsets in use go from -12:00 to +14:00; ISO 8601 readers differ in what they do with more.
LARGEST_OFFSET = timedelta(hours=14)
MAX_INTEGER = 2**31 - 1
MAX_BIG_INTEGER = 2**63 - 1
MAX_DIGITS = 19
# Nobody has a page before their eyes for longer than a year.
MAX_ACTIVE_MS = 366 * 24 * 60 * 60 * 1000
EMAIL_CHARS = 254
PIECE_SET_CHARS = 80
ADDRESS_CHARS = 300
LOOPBACK_NAMES = ("localhost", "testserver")
JSON_BYTES = 5 * 1024 * 1024
JSON_DEPTH = 32
BAD_CHARACTER = "holds a NUL or half of a surrogate pair, which cannot be stored"

_RANGE = re.compile(r"bytes=(\d{0,19})-(\d{0,19})\Z", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}\Z", re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9._:-]{1,253}\Z", re.ASCII)
_DIGITS = re.compile(r"[+-]?\d+\Z", re.ASCII)
# What `datetime.fromisoformat` takes beyond that (week dates, commas) is written by nobody who sends instants.
_INSTANT = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)\Z", re.ASCII | re.IGNORECASE
)


class Refused(ValueError):
    """The value cannot be taken. The message reads after the field's name; `place` is where in it, if it has parts."""

    def __init__(self, reason: str, place: str = ""):
        super().__init__(reason)
        self.place = place


# ---- texts ----


def is_storable(text: str) -> bool:
    """Whether every database stores the text: no NUL, no half of a surrogate pair."""
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def text(value: object, limit: int) -> str:
    if not isinstance(value, str):
        raise Refused("must be text")
    if len(value) > limit:
        raise Refused(f"must be text of at most {limit:,} characters")
    if not is_storable(value):
        raise Refused(BAD_CHARACTER)
    return value


def uuid_of(value: object) -> uuid.UUID:
    if not isinstance(value, str) or not _UUID.match(value):
        raise Refused("must be a UUID")
    return uuid.UUID(value)


def piece_set(value: object) -> str:
    """The name of a set of pieces; empty: the unnamed set. It stands in keys between a slash and a colon."""
    name = text(value, PIECE_SET_CHARS)
    if "/" in name or name != name.strip() or not name.isprintable():
        raise Refused("must be the name of a set of pieces, without / or line breaks, or spaces around it")
    return name


def currency(value: object) -> str:
    """The code of a currency in capitals; empty: none."""
    code = text(value, 3).upper()
    if code and not re.fullmatch("[A-Z]{3}", code):
        raise Refused("must be the three letters of a currency, such as EUR")
    return code


# ---- numbers ----


def site_address(raw: str) -> str:
    """What links to a site begin with: a scheme, a host and maybe a port, in one form."""
    example = "must be an address such as https://assay.example.org or http://192.168.1.20:8000"
    written = raw.strip().removesuffix("/")
    try:
        parts = urlsplit(written if "://" in written else f"http://{written}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise Refused(example) from None
    if parts.scheme not in ("http", "https") or len(written) > ADDRESS_CHARS or not _HOST.match(host):
        raise Refused(example)
    if parts.path or parts.query or parts.fragment or parts.username is not None:
        raise Refused("must end after the host and the port, such as http://192.168.1.20:8000")
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + (f":{port}" if port else "")


def is_loopback(host: str) -> bool:
    """Whether a host in an address leads to the reader's own machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host in LOOPBACK_NAMES


def whole(value: object, lowest: int = 0, highest: int = MAX_BIG_INTEGER) -> int:
    """A whole number, as JSON has it."""
    if type(value) is not int or not lowest <= value <= highest:
        raise Refused(f"must be a whole number from {lowest:,} to {highest:,}")
    return value


def whole_in_words(value: str, lowest: int = 0, highest: int = MAX_BIG_INTEGER) -> int:
    """A whole number, as addresses have it."""
    if len(value) > MAX_DIGITS or not _DIGITS.match(value):
        raise Refused(f"must be a whole number from {lowest:,} to {highest:,}")
    return whole(int(value), lowest, highest)


# ---- times ----


def instant(value: object) -> datetime:
    """A date and time with its zone, in UTC."""
    if isinstance(value, str):
        if not _INSTANT.match(value):
            raise Refused("must be a date and time with its zone, such as 2024-05-31T12:00:00Z")
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise Refused("must be a date and time with its zone, such as 2024-05-31T12:00:00Z") from None
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise Refused("must be a date and time with its zone, such as 2024-05-31T12:00:00Z")
    if abs(value.utcoffset()) > LARGEST_OFFSET:
        raise Refused("must be at most 14 hours from UTC")
    try:
        in_utc = value.astimezone(UTC)
    except OverflowError:
        in_utc = None
    if in_utc is None or not EARLIEST <= in_utc < LATEST:
        raise Refused(f"must be between {EARLIEST.year} and {LATEST.year - 1}")
    return in_utc


def day(value: str) -> date:
    try:
        if len(value) != 10 or not value.isascii():
            raise ValueError
        return date.fromisoformat(value)
    except ValueError:
        raise Refused("must be a day such as 2024-05-31") from None


# ---- JSON ----


def json_value(raw: bytes | str) -> object:
    """A JSON value whose every string can be stored and every number is one, nested at most `JSON_DEPTH` deep."""
    if len(raw) > JSON_BYTES:
        raise Refused(f"is longer than {JSON_BYTES:,} bytes")
    try:
        value = json.loads(raw, parse_constant=_no_constant)
    except Refused:
        raise
    except RecursionError:
        raise Refused(f"is nested more than {JSON_DEPTH} deep") from None
    except ValueError:  # also whole numbers of thousands of digits, and bytes that are no text
        raise Refused("is not JSON") from None
    check_json(value)
    return value


class RepeatedNameError(ValueError):
    def __init__(self, name: str):
        super().__init__(f"names {name!r} twice")
        self.name = name


def each_name_once(pairs: list[tuple[str, object]]) -> dict:
    """For `object_pairs_hook`: JSON takes the last of two values of one name, and the first would be lost silently."""
    found: dict = {}
    for name, value in pairs:
        if name in found:
            raise RepeatedNameError(name)
        found[name] = value
    return found


def _no_constant(name: str) -> None:
    raise Refused(f"holds {name}, which is not a number in JSON")


def refuse_deep(value: object, depth: int = JSON_DEPTH) -> None:
    """Refuse a value nested deeper: what goes through it afterwards may do so by recursion."""
    level = [value]
    while level := [one for one in level if isinstance(one, dict | list)]:
        if not depth:
            raise Refused(f"is nested more than {JSON_DEPTH} deep")
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
        depth -= 1


def check_json(value: object, depth: int = JSON_DEPTH) -> None:
    """Refuse what a JSON column could not store or give back. Goes through without recursion, at any depth."""
    left: list[tuple[str, object, int]] = [("", value, depth)]
    while left:
        place, one, may_nest = left.pop()
        if isinstance(one, str):
            if not is_storable(one):
                raise Refused(BAD_CHARACTER, place)
        elif isinstance(one, float):
            if not math.isfinite(one):
                raise Refused("holds a number that is not finite", place)
        elif isinstance(one, int):
            if abs(one) > MAX_BIG_INTEGER:
                raise Refused(f"holds a whole number of more than {MAX_DIGITS} digits", place)
        elif isinstance(one, dict | list):
            if not may_nest:
                raise Refused(f"is nested more than {depth} deep", place.partition(".")[0].partition("[")[0])
            if isinstance(one, list):
                left += [(f"{place}[{at}]", inner, may_nest - 1) for at, inner in enumerate(one)]
                continue
            for name, inner in one.items():
                if not is_storable(name):
                    raise Refused(f"has a name that {BAD_CHARACTER}", place)
                left.append((f"{place}.{name}" if place else name, inner, may_nest - 1))


# ---- headers ----


def byte_range(header: str, size: int) -> tuple[int, int] | None:
    """First and last byte that a Range header asks for; None where it asks for nothing that is given in one part (the
    whole is the right answer then), Refused where nothing of the file lies in it."""
    asked = _RANGE.match(header)
    if asked is None or not any(asked.groups()):
        return None
    first, last = (int(group) if group else None for group in asked.groups())
    start = max(0, size - last) if first is None else first
    end = size - 1 if first is None or last is None else min(last, size - 1)
    if first is not None and last is not None and last < first:
        return None
    if start >= size or (first is None and not last):
        raise Refused(f"asks for bytes that a file of {size:,} bytes does not have")
    return start, end
