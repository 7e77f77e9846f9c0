"""Pictures as plain geometry for SVG templates: presentation attributes only, since the pages allow no inline style."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

CELL_WIDTH, CELL_HEIGHT = 96, 54
LEFT, TOP, RIGHT = 148, 76, 60
LINE = 15  # pixels between two lines of a label
TITLE_CHARS = 12


@dataclass(frozen=True)
class Cell:
    x: int
    y: int
    count: int
    percent: str  # of the row; empty for an empty row
    level: int  # 0 to 10: which shade of the scale
    reference: str
    predicted: str
    description: str

    @property
    def text_x(self) -> int:
        return self.x + CELL_WIDTH // 2

    @property
    def count_y(self) -> int:
        return self.y + CELL_HEIGHT // 2 + (-1 if self.percent else 5)

    @property
    def percent_y(self) -> int:
        return self.y + CELL_HEIGHT // 2 + 16


@dataclass(frozen=True)
class Heading:
    """The name of a row or column in one or two lines, and how many units it holds."""

    title: str
    lines: list[tuple[int, int, str]]  # x, y, text
    total: int
    total_x: int
    total_y: int


@dataclass(frozen=True)
class Confusion:
    width: int
    height: int
    cells: list[Cell]
    rows: list[Heading]
    columns: list[Heading]
    cell_width: int = CELL_WIDTH
    cell_height: int = CELL_HEIGHT
    left: int = LEFT
    top: int = TOP


def confusion(matrix: list[list[int]], labels: list[dict]) -> Confusion:
    """Rows are people, columns the checker; shades are shares of the row, so rare labels stay legible."""
    width, height = len(labels) * CELL_WIDTH, len(labels) * CELL_HEIGHT
    rows, columns, cells = [], [], []
    for index, label in enumerate(labels):
        lines = textwrap.wrap(label["title"], TITLE_CHARS)[:2] or [""]
        middle = TOP + index * CELL_HEIGHT + CELL_HEIGHT // 2
        first = middle + 5 - LINE * (len(lines) - 1) // 2
        placed = [(LEFT - 10, first + LINE * n, text) for n, text in enumerate(lines)]
        rows.append(Heading(label["title"], placed, sum(matrix[index]), LEFT + width + 10, middle + 5))

        middle = LEFT + index * CELL_WIDTH + CELL_WIDTH // 2
        placed = [(middle, TOP - 10 - LINE * (len(lines) - 1 - n), text) for n, text in enumerate(lines)]
        total = sum(row[index] for row in matrix)
        columns.append(Heading(label["title"], placed, total, middle, TOP + height + 20))
    for row, counts in enumerate(matrix):
        total = sum(counts)
        for column, count in enumerate(counts):
            share = count / total if total else 0.0
            people, checker = labels[row], labels[column]
            cells.append(
                Cell(
                    x=LEFT + column * CELL_WIDTH,
                    y=TOP + row * CELL_HEIGHT,
                    count=count,
                    percent=f"{share:.0%}" if count else "",
                    level=round(share * 10),
                    reference=people["label"],
                    predicted=checker["label"],
                    description=(
                        f"People: {people['title']}; checker: {checker['title']}: {count} ({share:.0%} of the row)"
                    ),
                )
            )
    return Confusion(LEFT + width + RIGHT, TOP + height + 34, cells, rows, columns)


CURVE_LEFT, CURVE_TOP, CURVE_SIZE = 48, 16, 280


@dataclass(frozen=True)
class Reliability:
    """Points in a square from 0 to 1 both ways."""

    points: str
    dots: list[tuple[float, float, str]]  # x, y, words
    x_axis: list[tuple[int, str]]
    y_axis: list[tuple[int, str]]
    left: int = CURVE_LEFT
    top: int = CURVE_TOP
    right: int = CURVE_LEFT + CURVE_SIZE
    bottom: int = CURVE_TOP + CURVE_SIZE
    middle: int = CURVE_LEFT + CURVE_SIZE // 2
    width: int = CURVE_LEFT + CURVE_SIZE + 24
    height: int = CURVE_TOP + CURVE_SIZE + 48


def reliability(bins: list[dict]) -> Reliability:
    """Share right by mean probability, of the bins that hold units."""
    filled = [row for row in bins if row["n"]]
    dots = [
        (
            round(CURVE_LEFT + row["confidence"] * CURVE_SIZE, 1),
            round(CURVE_TOP + (1 - row["accuracy"]) * CURVE_SIZE, 1),
            f"{row['n']} units, mean probability {row['confidence']:.3f}: {row['accuracy']:.3f} right",
        )
        for row in filled
    ]
    steps = [(step / 4, f"{step / 4:g}") for step in range(5)]
    return Reliability(
        points=" ".join(f"{x},{y}" for x, y, _ in dots),
        dots=dots,
        x_axis=[(round(CURVE_LEFT + at * CURVE_SIZE), words) for at, words in steps],
        y_axis=[(round(CURVE_TOP + (1 - at) * CURVE_SIZE), words) for at, words in steps],
    )
