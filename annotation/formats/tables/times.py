"""Times as tools write them: ISO 8601 and its kin, RFC 2822, what Mechanical Turk writes, seconds since 1970, and days
with slashes.

A time without a zone is in the zone that was chosen, UTC without a choice, with a note. Whether 03/04/2026 is in
March or in April is decided by the other rows of its file (25/04/2026), or asked; it is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from annotation import incoming
from annotation.formats.cells import BadCell, to_text
from annotation.formats.records import OddRecord
from annotation.formats.tables.oddities import DATES, DAY_FIRST, MONTH_FIRST, ODDITIES, ZONE

MOST_CHARS = 80
EXAMPLE = "such as 2026-03-29T02:30+02:00, 2026-03-29 02:30, or seconds since 1970"
# Units of numbers by their digits: seconds and parts of them, from 2001 to 2286.
PER_SECOND = {10: 1, 13: 10**3, 16: 10**6, 19: 10**9}
# As RFC 2822 has them, and those of Europe, Japan and Australia that mean one thing; in hours.
ZONES = {
    **{"Z": 0, "UT": 0, "UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6},
    **{"PST": -8, "PDT": -7, "AKST": -9, "AKDT": -8, "HST": -10, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "MEZ": 1},
    **{"MESZ": 2, "EET": 2, "EEST": 3, "MSK": 3, "JST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13},
}
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
MONTHS = {name: number for number, month in enumerate(_MONTHS, 1) for name in (month, month[:3])} | {"sept": 9}
WEEKDAYS = {name for day in _DAYS for name in (day, day[:3])} | {"tues", "thur", "thurs"}

_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?([AaPp])\.?[Mm]\.?)?(?![\d:])", re.ASCII)
_OFFSET = re.compile(r" ?(?:GMT|UTC)?([+-])(\d\d):?(\d\d)?(?!\d)", re.ASCII)
_NAMED_ZONE = re.compile(r" ?([A-Za-z]{1,5})(?![A-Za-z])")
_COMMENT = re.compile(r" \([^()]*\)\Z")  # of browsers: (Central European Summer Time)
_BASIC = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(?:Z|(?=[+-])|\Z))?", re.ASCII)
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})\Z", re.ASCII)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})\Z", re.ASCII)
_DAY_AND_HOUR = re.compile(r"(?:19|2[01])\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])\Z", re.ASCII)
_NUMBER = re.compile(r"(\d{10,19})(?:\.(\d{1,9})0*)?\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Written:
    """A time as it is written; with the day first where nothing on its row says which is the day."""

    year: int
    month: int
    day: int
    clock: tuple[int, int, int, int] = (0, 0, 0, 0)  # to microseconds
    zone: tzinfo | None = None
    order: str = ""  # that the date itself shows, of one written as 25/04/2026
    has_order: bool = False  # whether day and month are written so, and not alike

    def swapped(self) -> Written:
        return Written(self.year, self.day, self.month, self.clock, self.zone)

    def naive(self) -> datetime:
        return datetime(self.year, self.month, self.day, *self.clock)


def read_time(value: object, column: str) -> Written | datetime | None:
    """A time as it is written, or an instant where it says all; None where it is empty. BadCell where it is no time."""
    if isinstance(value, datetime):
        return _of_datetime(value)
    text = " ".join(to_text(value, column).split())
    if not text:
        return None
    if len(text) > MOST_CHARS:
        raise BadCell(column, value, f"is not a time {EXAMPLE}")
    try:
        return _number(text) or _of_parts(text)
    except (_UnknownZoneError, _NoSuchDayError, _TwoReadingsError) as error:
        raise BadCell(column, value, str(error)) from None
    except (ValueError, OverflowError):
        raise BadCell(column, value, f"is not a time {EXAMPLE}") from None


class _UnknownZoneError(Exception):
    pass


class _NoSuchDayError(Exception):
    pass


class _TwoReadingsError(Exception):
    pass


def is_time(text: str) -> bool:
    try:
        return read_time(text, "") is not None
    except BadCell:
        return False


def _of_datetime(value: datetime) -> Written:
    clock = (value.hour, value.minute, value.second, value.microsecond)
    return Written(value.year, value.month, value.day, clock, value.tzinfo)


def _number(text: str) -> datetime | None:
    found = _NUMBER.match(text)
    per_second = PER_SECOND.get(len(found[1])) if found else None
    if per_second is None:
        return None
    if _DAY_AND_HOUR.match(text):
        raise _TwoReadingsError(
            "may be seconds since 1970, or year, month, day and hour: write 2026-03-29 02:00, or seconds with a "
            "fraction, such as 1774751400.0"
        )
    micros = int(found[1]) * 10**6 // per_second
    if per_second == 1 and found[2]:
        micros += int(found[2][:6].ljust(6, "0"))
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)


def _of_parts(text: str) -> Written:
    text = _COMMENT.sub("", text)
    if basic := _BASIC.match(text):
        year, month, day, *clock = basic.groups()
        zone, rest = _zone(text[basic.end() :]) if clock[0] else (None, text[basic.end() :])
        if rest.strip():
            raise ValueError
        zone = UTC if basic[0].endswith("Z") else zone
        hour, minute, second = (int(one or 0) for one in clock)
        return _checked(Written(int(year), int(month), int(day), (hour, minute, second, 0), zone))
    clock, zone, date = (0, 0, 0, 0), None, text
    if found := _CLOCK.search(text):
        clock = _clock(*found.groups())
        zone, after = _zone(text[found.end() :])
        before = text[: found.start()]
        before = before[:-1] if before[-1:] in ("T", "t") and before[-2:-1].isdigit() else before
        date = f"{before.rstrip(' ,').removesuffix(' at')} {after}"
    return _checked(_date(date.strip(" ,"), clock, zone))


def _clock(hour: str, minute: str, second: str | None, part: str | None, half: str | None) -> tuple:
    hours = int(hour)
    if half:
        if not 1 <= hours <= 12:
            raise ValueError
        hours = hours % 12 + (12 if half in "Pp" else 0)
    return hours, int(minute), int(second or 0), int((part or "")[:6].ljust(6, "0"))


def _zone(text: str) -> tuple[tzinfo | None, str]:
    """The zone that a text begins with, and the rest."""
    if found := _OFFSET.match(text):
        offset = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
        if int(found[3] or 0) > 59:
            raise ValueError
        return timezone(-offset if found[1] == "-" else offset), text[found.end() :]
    found = _NAMED_ZONE.match(text)
    if not found or found[1].lower() in MONTHS.keys() | WEEKDAYS:
        return None, text
    hours = ZONES.get(found[1].upper())
    if hours is None:
        raise _UnknownZoneError(f"is in the zone {found[1]}, which is not known: write it as +05:30")
    return timezone(timedelta(hours=hours)), text[found.end() :]


def _date(text: str, clock: tuple, zone: tzinfo | None) -> Written:
    if found := _YEAR_FIRST.match(text):
        return Written(int(found[1]), int(found[3]), int(found[4]), clock, zone)
    if found := _YEAR_LAST.match(text):
        first, second, year = int(found[1]), int(found[3]), int(found[4])
        if found[2] == ".":
            return Written(year, second, first, clock, zone)
        if first > 12 or second > 12:
            order = DAY_FIRST if first > 12 else MONTH_FIRST
            day, month = (first, second) if first > 12 else (second, first)
            return Written(year, month, day, clock, zone, order, has_order=True)
        return Written(year, second, first, clock, zone, has_order=first != second)
    return _date_in_words(text, clock, zone)


def _date_in_words(text: str, clock: tuple, zone: tzinfo | None) -> Written:
    """A month by its name, a day, a year, and maybe the day of the week."""
    words = text.replace(",", " ").replace("-", " ").replace(".", " ").split()
    months = [MONTHS[one.lower()] for one in words if one.lower() in MONTHS]
    numbers = [one for one in words if one.isascii() and one.isdecimal()]
    others = [one for one in words if one.lower() not in MONTHS and one not in numbers]
    days, years = [one for one in numbers if len(one) < 3], [one for one in numbers if len(one) == 4]
    if not len(months) == len(days) == len(years) == 1 or len(numbers) > 2:
        raise ValueError
    if len(others) > 1 or not {one.lower() for one in others} <= WEEKDAYS:
        raise ValueError
    return Written(int(years[0]), months[0], int(days[0]), clock, zone)


def _checked(written: Written) -> Written:
    hour, minute, second, _ = written.clock
    if hour > 23 or minute > 59 or second > 59 or not 1 <= written.month <= 12:
        raise ValueError
    try:
        written.naive()
    except ValueError:
        raise _NoSuchDayError("is a day that there is not") from None
    return written


@dataclass(slots=True)
class _Seen:
    """The dates and times of one file."""

    day_first: int = 0
    month_first: int = 0
    n_open: int = 0  # dates that may be either
    first_open: str = ""
    n_local: int = 0  # times without a zone
    first_local: str = ""
    n_twice: int = 0

    @property
    def order(self) -> str:
        """As the other dates show; "" where none does, or they contradict each other."""
        if bool(self.day_first) == bool(self.month_first):
            return ""
        return DAY_FIRST if self.day_first else MONTH_FIRST


class Times:
    """The times of files: all are seen (`see`) before any is read (`instant`)."""

    def __init__(self, order: str, zone: str):
        self.order = order if order in (DAY_FIRST, MONTH_FIRST) else ""
        self.zone = zone or ODDITIES[ZONE].default
        self.info = UTC if self.zone == "UTC" else ZoneInfo(self.zone)
        self.files: dict[str, _Seen] = {}

    def see(self, value: object, column: str, file: str, line: int | None) -> None:
        written = read_time(value, column)
        if not isinstance(written, Written) or not written.has_order:
            return
        seen = self.files.setdefault(file, _Seen())
        seen.day_first += written.order == DAY_FIRST
        seen.month_first += written.order == MONTH_FIRST
        if not written.order:
            seen.n_open += 1
            seen.first_open = seen.first_open or f"{file}, line {line:,}"

    def instant(self, value: object, column: str, file: str, line: int | None) -> datetime | None:
        """BadCell for what is no time, or none that there was; None where it is empty, and where its order is asked."""
        written = read_time(value, column)
        if written is None:
            return None
        seen = self.files.setdefault(file, _Seen())
        if isinstance(written, Written) and written.has_order:
            order = self.order or seen.order
            if written.order and self.order and written.order != self.order:
                raise BadCell(column, value, f"is not a day with the {self.order.partition('-')[0]} first")
            if not written.order and not order:
                self._note_local(written, seen, f"{file}, line {line:,}")  # its zone is asked with its order
                return None
            written = written.swapped() if not written.order and order == MONTH_FIRST else written
        try:
            if isinstance(written, Written):
                written = self._in_zone(written, value, column, seen, f"{file}, line {line:,}")
            return incoming.instant(written)
        except (incoming.Refused, OverflowError) as refused:
            raise BadCell(column, value, str(refused)) from None

    def _in_zone(self, written: Written, value: object, column: str, seen: _Seen, where: str) -> datetime:
        naive = written.naive()
        if written.zone is not None:
            return naive.replace(tzinfo=written.zone)
        local = naive.replace(tzinfo=self.info)
        if local.astimezone(UTC).astimezone(self.info).replace(tzinfo=None) != naive:
            raise BadCell(column, value, f"is a time that there was not in {self.zone}, where clocks went forward")
        self._note_local(written, seen, where)
        seen.n_twice += local.utcoffset() != local.replace(fold=1).utcoffset()
        return local

    def _note_local(self, written: Written, seen: _Seen, where: str) -> None:
        if written.zone is None:
            seen.n_local += 1
            seen.first_local = seen.first_local or where

    def odd(self) -> Iterator[OddRecord]:
        for file, seen in self.files.items():
            if seen.n_open:
                order = self.order or seen.order
                what = f"{file}: dates with the day first {seen.day_first:,}, with the month first {seen.month_first:,}"
                what += f"; read with the {order.partition('-')[0]} first" if order else ""
                yield OddRecord(DATES, what, seen.n_open, seen.first_open, is_open=not order)
            if seen.n_local:
                twice = f"; in the hour that clocks repeat: {seen.n_twice:,}, read as its first" if seen.n_twice else ""
                yield OddRecord(ZONE, f"{file}: read as times in {self.zone}{twice}", seen.n_local, seen.first_local)
