"""What pictures show is plain data: it survives JSON, gives its numbers in full, and refuses what cannot be drawn."""

import json
import math

import pytest

from analysis.figures.pictures import Axis, IntervalRow, Intervals, Level, Lines, Matrix, Series, from_dict
from tests.pictures import samples


@pytest.mark.parametrize("picture", samples.ALL, ids=lambda one: one.name)
def test_a_picture_survives_json(picture):
    assert from_dict(json.loads(json.dumps(picture.to_dict(), allow_nan=False))) == picture


def test_the_table_holds_all_that_intervals_show_in_full():
    table = samples.dots().table()
    assert table.columns == (
        "Label",
        "Krippendorff's alpha",
        "95 % interval, low",
        "95 % interval, high",
        "n",
    )
    assert table.rows[0] == ("Supports", 0.512345678901, 0.45, 0.57, 400)
    assert table.rows[3] == ("Unused", "undefined: nobody gave this label", None, None, None)


def test_the_table_names_the_series_where_there_are_several():
    rows = samples.bars().table().rows
    assert [row[:2] for row in rows[:3]] == [("first set", "small"), ("first set", "large"), ("first set", "huge")]
    assert rows[5][1:3] == ("huge", pytest.approx(-0.15))


def test_the_table_of_curves_has_every_point_with_its_band():
    picture = samples.lines()
    table = picture.table()
    assert len(table.rows) == 42
    assert table.rows[4] == ("Supports", 0.2, 0.2**0.5, 0.2**0.5 - 0.1, 0.2**0.5 + 0.1)
    assert table.rows[25][1:] == (0.2, 0.2**0.25, None, None)


def test_the_table_of_a_heat_map_says_what_is_significant():
    rows = samples.correlations().table().rows
    assert rows[0] == ("reading ease", "supports", 0.5, "significant after correction")
    assert rows[1][3] == "significant before correction"
    assert rows[2] == ("reading ease", "a_title_without_any_place_to_break", None, "")


def test_a_heat_map_of_numbers_alone_is_a_table_of_its_shape():
    picture = Matrix(
        name="k",
        title="Kappa",
        caption="c",
        alt="a",
        rows=("x", "y"),
        columns=("x", "y"),
        values=((None, 0.25), (0.25, None)),
        value_title="kappa",
        rows_title="one",
        columns_title="other",
    )
    table = picture.table()
    assert table.columns == ("one \\ other", "x", "y")
    assert table.rows == [("x", None, 0.25), ("y", 0.25, None)]


ABOUT = {"name": "p", "title": "t", "caption": "c", "alt": "a"}
INTERVALS = ABOUT | {"items": (IntervalRow("r", 0.5),), "values": Axis("v")}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: IntervalRow("r", math.nan), "None stands for undefined"),
        (lambda: IntervalRow("r", 0.5, 0.4), "both ends or none"),
        (lambda: IntervalRow("r", 0.5, 0.6, 0.4), "ends"),
        (lambda: Level(math.inf, "x"), "inf"),
        (lambda: Axis("x", 1, 1), "not below"),
        (lambda: Series("s", ((0, 1), (1, 1)), low=(0,), high=(1,)), "for every point"),
        (lambda: Intervals(**INTERVALS | {"name": "../p"}), "name"),
        (lambda: Intervals(**INTERVALS | {"caption": " "}), "needs a caption"),
        (lambda: Intervals(**INTERVALS | {"alt": ""}), "needs a alt"),
        (lambda: Intervals(**INTERVALS | {"items": ()}), "nothing to draw"),
        (
            lambda: Intervals(**INTERVALS | {"items": (IntervalRow("r", 1), IntervalRow("r", 2))}),
            "one estimate per series",
        ),
        (lambda: Intervals(**INTERVALS | {"style": "pie"}), "dots, bars"),
        (lambda: Lines(**ABOUT, series=(Series("s", ()),), x=Axis("x"), y=Axis("y")), "nothing to draw"),
        (
            lambda: Matrix(**ABOUT, rows=("r",), columns=("a", "b"), values=((1,),), value_title="n"),
            "do not fit 1 x 2",
        ),
        (
            lambda: Matrix(**ABOUT, rows=("r",), columns=("a",), values=((1,),), value_title="n", marks=(("**",),)),
            "uncorrected",
        ),
        (lambda: from_dict({"kind": "pie"}), "no kind of picture 'pie'"),
        (lambda: from_dict(samples.dots().to_dict() | {"color": "red"}), "describes no picture"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_reason(make, words):
    with pytest.raises(ValueError, match=words):
        make()
