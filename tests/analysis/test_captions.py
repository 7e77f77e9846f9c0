"""Captions say of how many."""

from analysis.figures.pictures import IntervalRow
from analysis.reports.words.captions import counted
from analysis.reports.words.numbers import n_of


def test_counts_are_of_what_is_drawn():
    def item(value, n):
        return IntervalRow("row", value, None, None, n, series=str(n), undefined="" if value is not None else "nothing")

    assert counted([item(0.5, 12), item(0.1, 1400), item(None, 3)], "claims") == "n = 12 to 1,400 claims each"
    assert counted([item(0.5, 7), item(0.2, 7)], "answers") == "n = 7 answers each"
    assert counted([item(None, 7)], "answers") == "n = 0 answers"


def test_one_of_something_is_called_so():
    assert [n_of(n, "units") for n in (0, 1, 1200)] == ["0 units", "1 unit", "1,200 units"]
    assert n_of(1, "claims or questions") == "1 claim or question"
    assert n_of(1, "pieces with labels of people") == "1 piece with labels of people"
    assert n_of(1, "people") == "1 person"
