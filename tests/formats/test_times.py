"""Times as tools write them; what no row of a file decides is asked, and what is assumed is said."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from annotation.formats import Options
from annotation.formats.cells import BadCell
from annotation.formats.records import AnnotationRecord, OddRecord, RowError
from annotation.formats.tables import ratings
from annotation.formats.tables.oddities import DATES, ZONE
from annotation.formats.tables.times import Times

from .helpers import put

ROLES = {"id": "id", "text": "text", "rater": "rater", "label/label": "label", "time": "time"}


def at(day: int, hour: int, minute: int = 30, second: int = 0, month: int = 3) -> datetime:
    return datetime(2026, month, day, hour, minute, second, tzinfo=UTC)


def instant(text: object, order: str = "", zone: str = "") -> datetime | None:
    return Times(order, zone).instant(text, "time", "t.csv", 2)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("2026-03-29T02:30:00+02:00", at(29, 0)),
        ("2026-03-29 02:30", at(29, 2)),
        ("2026-03-29T02:30Z", at(29, 2)),
        ("2026-03-29 02:30:00 UTC", at(29, 2)),
        ("2026-03-29 02:30:00.250000 +0000", at(29, 2) + timedelta(milliseconds=250)),
        ("2026/3/29 2:30 pm", at(29, 14)),
        ("20260329T023000Z", at(29, 2)),
        ("20260329", at(29, 0, 0)),
        ("2026-03-29", at(29, 0, 0)),
        ("1774751400", at(29, 2)),
        (1774751400.5, at(29, 2) + timedelta(milliseconds=500)),
        ("1774751400250", at(29, 2) + timedelta(milliseconds=250)),
        ("Sun Mar 29 02:30:00 PDT 2026", at(29, 9)),
        ("Sun Mar 29 02:30:00 2026", at(29, 2)),
        ("Sun, 29 Mar 2026 02:30:00 -0700", at(29, 9)),
        ("29 Mar 2026 02:30 GMT", at(29, 2)),
        ("Sun Mar 29 2026 02:30:00 GMT+0200 (Central European Summer Time)", at(29, 0)),
        ("March 29, 2026 at 12:30 AM", at(29, 0)),
        ("29.03.2026 02:30", at(29, 2)),
        ("3/29/2026 2:30:15 AM", at(29, 2, 30, 15)),
        ("29/03/2026, 02:30", at(29, 2)),
        ("03/03/2026 02:30", at(3, 2)),
        (datetime(2026, 3, 29, 2, 30), at(29, 2)),
        (datetime(2026, 3, 29, 2, 30, tzinfo=timezone(timedelta(hours=2))), at(29, 0)),
        (" ", None),
        (None, None),
    ],
)
def test_a_time_is_read(text, right):
    assert instant(text) == right


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        *((text, "is not a time such as 2026-03-29T02:30") for text in (
            "yesterday", "12:30", "2026", "177475140", "17747514001", "03/04/26 10:00", "2026-03-29 25:00",
            "2026 Mar 3 1", "2026-13-01", "2026-03-29 13:00 pm", "Mar Apr 2026", "Foo Mar 29 2026",
            "2026-03-29 02:30 7", "x" * 500,
        )),
        ("2026032902", "may be seconds since 1970, or year, month, day and hour"),
        ("31/02/2026", "is a day that there is not"),
        ("2026-02-30 10:00", "is a day that there is not"),
        ("2026-03-29 02:30 IST", "is in the zone IST, which is not known: write it as +05:30"),
        ("2026-03-29 02:30+15:00", "at most 14 hours"),
        ("1850-01-01", "must be between 1900"),
        ("0001-01-01 00:00", "must be between 1900"),
    ],
)  # fmt: skip
def test_what_is_no_time_says_so(text, reason):
    with pytest.raises(BadCell, match=reason.replace("+", r"\+")):
        instant(text)


def test_a_zone_is_chosen_with_its_summer_time():
    assert instant("2026-03-28 02:30", zone="Europe/Berlin") == at(28, 1)
    assert instant("2026-03-30 02:30", zone="Europe/Berlin") == at(30, 0)
    assert instant("2026-03-29T02:30Z", zone="Europe/Berlin") == at(29, 2)
    with pytest.raises(BadCell, match="a time that there was not in Europe/Berlin"):
        instant("2026-03-29 02:30", zone="Europe/Berlin")
    times = Times("", "Europe/Berlin")
    assert times.instant("2026-10-25 02:30", "time", "t.csv", 2) == at(25, 0, month=10)
    assert [one.what for one in times.odd()] == [
        "t.csv: read as times in Europe/Berlin; in the hour that clocks repeat: 1, read as its first"
    ]


def read(tmp_path, *times: str, **treat: str) -> tuple[list, dict[str, OddRecord], list[RowError]]:
    """The instants of the file's rows, odd rows by kind, and bad rows."""
    lines = [f"{number},text {number},r,yes,{time}" for number, time in enumerate(times)]
    source = put(tmp_path, "t.csv", "\n".join(["id,text,rater,label,time", *lines]))
    records = list(ratings.read([source], Options(mapping=ROLES, treat=treat)))
    found = [one.submitted_at for one in records if isinstance(one, AnnotationRecord)]
    odd = {one.kind: one for one in records if isinstance(one, OddRecord)}
    return found, odd, [one for one in records if isinstance(one, RowError)]


# The rows of a file as it was met.
MET = (
    *("2026-03-29 02:30:00", "2026-03-29T02:30:00+02:00", "03/04/2026 10:00", "1774751400"),
    "Sun Mar 29 02:30:00 PDT 2026",
)


def test_what_no_row_decides_is_asked(tmp_path):
    found, odd, bad = read(tmp_path, *MET)
    assert found == [at(29, 2), at(29, 0), None, at(29, 2), at(29, 9)] and not bad
    assert odd[DATES].is_open and (odd[DATES].number, odd[DATES].first) == (1, "t.csv, line 4")
    assert (odd[ZONE].what, odd[ZONE].number, odd[ZONE].is_open) == ("t.csv: read as times in UTC", 2, False)
    found, odd, _ = read(tmp_path, *MET, **{DATES: "day-first", ZONE: "Asia/Tokyo"})
    assert found[0] == at(28, 17) and found[2] == at(3, 1, 0, month=4) and not odd[DATES].is_open
    assert (odd[ZONE].what, odd[ZONE].number) == ("t.csv: read as times in Asia/Tokyo", 2)
    assert read(tmp_path, *MET, **{DATES: "month-first"})[0][2] == at(4, 10, 0)


@pytest.mark.parametrize(("other", "right"), [("25/04/2026", at(3, 10, 0, month=4)), ("04/25/2026", at(4, 10, 0))])
def test_another_row_decides(tmp_path, other, right):
    found, odd, _ = read(tmp_path, "03/04/2026 10:00", other)
    assert found[0] == right and not odd[DATES].is_open
    assert "read with the " + ("day" if other.startswith("25") else "month") + " first" in odd[DATES].what


def test_dates_that_contradict_each_other_are_asked_about(tmp_path):
    found, odd, _ = read(tmp_path, "03/04/2026", "25/04/2026", "04/25/2026")
    assert found[0] is None and odd[DATES].is_open
    assert odd[DATES].what == "t.csv: dates with the day first 1, with the month first 1"
    found, odd, bad = read(tmp_path, "03/04/2026", "25/04/2026", "04/25/2026", **{DATES: "day-first"})
    assert len(found) == 2 and [(one.line, one.reason) for one in bad] == [(4, "is not a day with the day first")]


def test_what_is_no_time_is_a_bad_row(tmp_path):
    _, odd, [bad] = read(tmp_path, "soon", "2026-03-29T02:30Z")
    assert (bad.file, bad.line, bad.column, bad.value) == ("t.csv", 2, "time", "soon") and not odd
    assert bad.reason == "is not a time such as 2026-03-29T02:30+02:00, 2026-03-29 02:30, or seconds since 1970"
