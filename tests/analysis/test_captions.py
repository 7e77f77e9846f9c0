"""Captions say of how many."""

from analysis.pictures import Interval
from analysis.reports.captions import counted


def test_counts_are_of_what_is_drawn():
    def item(value, n):
        return Interval("row", value, None, None, n, series=str(n), undefined="" if value is not None else "nothing")

    assert counted([item(0.5, 12), item(0.1, 1400), item(None, 3)], "claims") == "n = 12 to 1,400 claims each"
    assert counted([item(0.5, 7), item(0.2, 7)], "answers") == "n = 7 answers each"
    assert counted([item(None, 7)], "answers") == "n = 0 answers"
