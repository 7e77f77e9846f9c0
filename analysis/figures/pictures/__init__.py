"""Figures for pages and papers: described as plain data, drawn as vectors, with their numbers as a table."""

from analysis.figures.pictures.spec import (
    Axis,
    IntervalRow,
    Intervals,
    Level,
    Lines,
    Matrix,
    Picture,
    Point,
    Scatter,
    Series,
    from_dict,
    picture_name,
)

__all__ = [
    "Axis",
    "IntervalRow",
    "Intervals",
    "Level",
    "Lines",
    "Matrix",
    "Picture",
    "Point",
    "Scatter",
    "Series",
    "from_dict",
    "picture_name",
]
