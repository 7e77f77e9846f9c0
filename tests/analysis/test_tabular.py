"""Tables of reports as Markdown, CSV, LaTeX and text: what would break a table or run in a spreadsheet is disarmed."""

import csv
import io
from typing import Annotated

import pytest

from analysis.figures.items import Filter
from analysis.figures.results import PENDING, Figure, Record, from_json
from analysis.figures.tables import Column, Table, columns_of, ends_of
from analysis.figures.tabular import Grid, Missing, as_csv, as_latex, as_markdown, as_text, named
from analysis.templatetags.figures import number, p_value, table_rows


def estimate(figure: dict | None) -> tuple:
    """The three cells of a figure in files."""
    return ends_of(None if figure is None else from_json(figure, Figure))


def intervals(*names: str) -> tuple[str, ...]:
    """Three columns for each of these figures."""
    return tuple(title for name in names for title in Column(name, None, interval=True).titles)


ODD = Grid(
    "A_title & more",
    ("Name", "Value", "n"),
    [("a|b_c", 0.123456, 3), ("=1+1", "undefined: 50 % {x}", 0), ("x", None, 1)],
)


def test_markdown_keeps_its_columns():
    lines = as_markdown([ODD, ODD]).split("\n")
    assert lines[2:5] == ["| Name | Value | n |", "| --- | ---: | ---: |", r"| a\|b\_c | 0.1235 | 3 |"]
    assert sum(line.startswith("**") for line in lines) == 2


def test_latex_escapes_what_would_be_a_command():
    text = as_latex([ODD])
    assert r"\caption{A\_title \& more}" in text and r"\begin{tabular}{lrr}" in text
    assert r"a|b\_c & 0.1235 & 3 \\" in text and r"undefined: 50 \% \{x\}" in text
    # \\ and \midrule take a star or brackets behind them for their own, across the line's end.
    rows = as_latex([Grid("", ("a", "b"), [("[blog]", "[1]"), ("*", "")])]).split("\n")[7:9]
    assert rows == [r"{}[blog] & {}[1] \\", r"{}* &  \\"]


NOTED = {"estimate": 0.5, "undefined": "", "low": 0.0, "high": 1.0}
NOTED["interval"] = {"undefined": "", "note": "rests on only 2 units"}


def test_what_an_interval_rests_on_is_in_every_rendering():
    more = {**NOTED, "interval": {"undefined": ""}}
    table = Grid(
        "T",
        ("Who", *intervals("Accuracy", "F1"), "n"),
        [("x", *estimate(NOTED), *estimate(more), 2), ("y", *estimate(more), *estimate(more), 40)],
    )
    for written in (as_markdown([table]), as_latex([table]), as_text([table]), as_csv([table]), table_rows(table)):
        assert "Note on the interval" in written and written.count("Accuracy: rests on only 2 units") == 1
    rows = list(csv.DictReader(io.StringIO(as_csv([table]))))
    assert [row["Accuracy, low"] for row in rows] == ["0.0", "0.0"] and rows[1]["Note on the interval"] == ""
    both = Grid("T", table.columns, [("x", *estimate(NOTED), *estimate(NOTED), 2)])
    assert next(csv.DictReader(io.StringIO(as_csv([both]))))["Note on the interval"] == "rests on only 2 units"
    alone = Grid("T", ("Measure", "Value", "Low", "High"), [("x", *estimate(NOTED))])
    assert as_csv([alone]).endswith("1.0,rests on only 2 units")
    plain = Grid("T", table.columns, [table.rows[1]])
    assert "Note" not in as_markdown([plain]) and "Note" not in table_rows(plain)


def test_csv_has_numbers_in_full_and_nothing_that_runs():
    first, second = as_csv([ODD, ODD]).split("\n\n")
    rows = list(csv.reader(io.StringIO(first)))
    assert rows[0] == ["table", "Name", "Value", "n"] and rows[1] == ["A_title & more", "a|b_c", "0.123456", "3"]
    assert rows[2][1] == "'=1+1" and rows[3][2] == ""
    assert list(csv.reader(io.StringIO(second))) == rows


def test_text_stands_in_columns():
    lines = as_text([ODD]).split("\n")
    assert lines[0] == "A_title & more"
    assert len({line.rstrip().rfind(end) for line, end in zip(lines[1:], ("n", "3", "0", "1"), strict=True)}) == 1


def test_in_a_terminal_long_reasons_stand_once_below_and_long_texts_take_several_lines():
    reason, unit = "undefined: " + "every model abstained " * 4, "a unit of many words " * 10
    table = Grid(
        "T", ("Unit", "Share of all labels that are equal", "n"), [(unit, reason, 3), ("b", reason, 4), ("c", 0.5, 5)]
    )
    lines = as_text([table], is_folded=True).split("\n")
    assert max(map(len, lines[:-1])) < 80 and lines[1].endswith("Share of all labels  n")
    assert [line[-16:] for line in lines if "undefined [" in line] == ["undefined [1]  3", "undefined [1]  4"]
    assert lines[-1].strip() == f"[1] {reason}".strip() and " ".join(lines).count("many") == 10
    assert "undefined: 50 % {x}" in as_text([ODD], is_folded=True)
    assert as_text([table]).count(reason) == 2 and len(as_text([table]).split("\n")) == 5


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "undefined"), (0.5, "0.5000"), (0.0004, "0.0004"), (6.2e-13, "6e-13"), (2e-5, "2e-05"), (0.0, "0.0000")],
)
def test_a_p_value_that_is_only_small_is_not_written_as_nothing(value, text):
    assert p_value(value) == text


def test_a_tiny_p_value_is_not_written_as_nothing_in_tables():
    """Correlations of some hundred pairs have p values that are far below what a sum of rounding errors is."""
    columns = ("Test", "Value", "p", "p (Holm)", "Spearman, p by Benjamini-Hochberg", "Share")
    tiny = Grid("Tests", columns, [("a", 2e-17, 2e-21, 4e-21, 6e-21, -1e-16)])
    words = ["a", "0.0000", "2e-21", "4e-21", "6e-21", "0.0000"]
    assert as_markdown([tiny]).split("\n")[-1] == "| " + " | ".join(words) + " |"
    assert " & ".join(words) in as_latex([tiny]) and "2e-21" in as_text([tiny])
    assert ">2e-21<" in table_rows(tiny) and ">0.000<" in table_rows(tiny)


def test_numbers_that_round_to_nothing_have_no_sign():
    assert (number(-0.0004), number(-0.0006)) == ("0.000", "-0.001")


def test_tables_have_names_that_do_not_depend_on_their_place():
    tables = [
        Grid(title, ("", "n"), [("a", 1)]) for title in ("Stance: agreement", "Größe, 5 %", "?", "Stance, agreement")
    ]
    assert list(named(tables)) == ["stance-agreement", "größe-5", "table", "stance-agreement-2"]
    assert named(tables[1:2]) == {"größe-5": tables[1]}


def test_why_there_is_no_interval_stands_in_files_in_its_place_and_on_pages_below():
    def figure(value, low=None, why=""):
        high = low and 1.0
        return {"estimate": value, "low": low, "high": high, "undefined": "0/0", "interval": {"undefined": why}}

    assert estimate(None) == (None, None, None)
    assert estimate(figure(None, why="0/0")) == ("undefined: 0/0", None, None)
    assert estimate(figure(0.5, 0.25)) == (0.5, 0.25, 1.0)
    assert estimate(figure(0.5, why=PENDING)) == (0.5, None, None)  # the page says that it is being computed
    reasons = ["two clusters", "all alike", "two clusters"]
    rows = [("a", *estimate(figure(0.5, why=reason))) for reason in reasons]
    table = Grid("T", ("", *intervals("Value")), [*rows, ("b", *estimate(figure(0.5, 0.25)))], "A note.")
    assert table.below == "A note. Without an interval: two clusters; all alike."
    assert "| a | 0.5000 | none: two clusters |  |" in as_markdown([table]) and "0.5,none: all alike," in as_csv(
        [table]
    )
    assert "none:" not in table_rows(table) and ">0.250<" in table_rows(table)
    many = Grid("T", ("", "low"), [(place, Missing(place)) for place in "abcd"])
    assert many.below == "Without an interval: a; b; c; and other reasons."
    alike = ("9 of 1,200 are few; so", "10 of 80 are few; so", "10 of 80 are few", "all")
    few = Grid("T", ("", "low"), [(place, Missing(why)) for place, why in enumerate(alike)])
    assert few.below == "Without an interval: 9 to 10 of 80 to 1,200 are few; so; all."


class Named(Record):
    name: "Annotated[str, Column('Name', items=lambda row: Filter({'name': row.name}))]"
    key: str = "k"


class Measured(Named):
    share: Annotated[Figure | None, Column("Share"), Column("Low end", lambda row: row.share.low)]


def test_fields_of_a_record_declare_the_columns_of_its_table():
    assert [(column.title, column.interval) for column in columns_of(Measured)] == [
        ("Name", False), ("Share", True), ("Low end", False),
    ]  # fmt: skip
    row = Measured(name="a", share=Figure(estimate=0.5, undefined="", low=0.25, high=1.0))
    grid = Table("T", columns_of(Measured), [row]).grid()
    assert grid.columns == ("Name", *intervals("Share"), "Low end")
    assert grid.rows[0][0].figure == Filter({"name": "a"}).encoded
    assert grid.plain().rows == [("a", 0.5, 0.25, 1.0, 0.25)]
