"""A picture of every kind, with what is hard to draw: empty cells, undefined estimates, words that look like code."""

from analysis.figures.pictures import (
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
)

NASTY = "Refutes & <script>alert('x')</script> $a_b$ \x07"
ABOUT = {
    "caption": "Made up: 24 units of 3 sources; whiskers are 95 % bootstrap intervals over 1,000 resamples.",
    "alt": "Alpha is highest for supports and undefined for <b>unused</b>.",
}


def dots() -> Intervals:
    return Intervals(
        name="per-label",
        title="Agreement per label",
        **ABOUT,
        items=(
            IntervalRow("Supports", 0.512345678901, 0.45, 0.57, 400, figure="stance/label/supports"),
            IntervalRow(NASTY, -0.043, -0.133, 0.053, 100),
            IntervalRow("Insufficient or contradictory evidence in the whole passage", 0.12, -0.02, 0.25, 80),
            IntervalRow("Unused", None, undefined="nobody gave this label"),
        ),
        values=Axis("Krippendorff's alpha"),
        level=Level(0, "chance"),
        rows_title="Label",
    )


def bars() -> Intervals:
    return Intervals(
        name="bars",
        title="Usage by model",
        **ABOUT,
        items=tuple(
            IntervalRow(row, value + more, value + more - 0.05, value + more + 0.06, 20, series)
            for row, value in (("first set", 0.6), ("second set", -0.2))
            for series, more in (("small", 0.0), ("large", 0.1), ("huge", 0.05))
        ),
        values=Axis("Usage", -1, 1),
        style="bars",
        direction="vertical",
        level=Level(0, "none"),
    )


def lines() -> Lines:
    places = [step / 20 for step in range(21)]
    return Lines(
        name="roc",
        title="ROC curves",
        **ABOUT,
        series=(
            Series(
                "Supports",
                tuple((x, x**0.5) for x in places),
                low=tuple(max(0.0, x**0.5 - 0.1) for x in places),
                high=tuple(min(1.0, x**0.5 + 0.1) for x in places),
            ),
            Series(NASTY, tuple((x, x**0.25) for x in places), dots=True),
        ),
        x=Axis("False positive rate", 0, 1),
        y=Axis("True positive rate", 0, 1),
        diagonal="chance",
        square=True,
    )


def confusion() -> Matrix:
    return Matrix(
        name="confusion",
        title="Confusion",
        **ABOUT,
        rows=("Supports", NASTY),
        columns=("Supports", "Refutes"),
        values=((50, 3), (0, 30)),
        shades=((50 / 53, 3 / 53), (0.0, 1.0)),
        value_title="units",
        shade_title="share of the row",
        figures=(("stance/s/s", "stance/s/r"), ("", "stance/r/r")),
    )


def correlations() -> Matrix:
    return Matrix(
        name="correlations",
        title="Spearman by stance",
        **ABOUT,
        rows=("reading ease", "length"),
        columns=("supports", "refutes", "a_title_without_any_place_to_break"),
        values=((0.5, -0.25, None), (0.1, -1.0, 1.0)),
        marks=(("corrected", "uncorrected", ""), ("", "corrected", "corrected")),
        scale="diverging",
        low=-1,
        high=1,
        value_title="Spearman's rho",
    )


def models() -> Scatter:
    return Scatter(
        name="models",
        title="Models by people and by a checker",
        **ABOUT,
        points=tuple(
            Point(f"model-{k}", 0.1 + 0.08 * k, 0.2 + 0.07 * (k * 3 % 8), "open" if k % 2 else "closed", f"m/{k}")
            for k in range(8)
        ),
        x=Axis("By people", 0, 1),
        y=Axis("By the checker", 0, 1),
        diagonal="equal",
        square=True,
    )


ALL: tuple[Picture, ...] = (dots(), bars(), lines(), confusion(), correlations(), models())
