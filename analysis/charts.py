"""Pictures as plain geometry for SVG templates: presentation attributes only, since the pages allow no inline style."""

from __future__ import annotations

from dataclasses import dataclass

CELL = 64
LEFT = 190
TOP = 74


@dataclass(frozen=True)
class Cell:
    x: int
    y: int
    count: int
    share: float  # of the row
    level: int  # 0 to 10: which shade of the scale
    reference: str
    predicted: str
    description: str

    @property
    def text_x(self) -> int:
        return self.x + CELL // 2

    @property
    def text_y(self) -> int:
        return self.y + CELL // 2 + 5


@dataclass(frozen=True)
class Confusion:
    width: int
    height: int
    cells: list[Cell]
    rows: list[dict]
    columns: list[dict]
    cell: int = CELL


def confusion(matrix: list[list[int]], labels: list[dict]) -> Confusion:
    """Rows are people, columns the checker; shades are shares of the row, so rare labels stay legible."""
    cells = []
    for row, counts in enumerate(matrix):
        total = sum(counts)
        for column, count in enumerate(counts):
            share = count / total if total else 0.0
            cells.append(
                Cell(
                    x=LEFT + column * CELL,
                    y=TOP + row * CELL,
                    count=count,
                    share=share,
                    level=round(share * 10),
                    reference=labels[row]["label"],
                    predicted=labels[column]["label"],
                    description=(
                        f"People: {labels[row]['title']}; checker: {labels[column]['title']}: {count} "
                        f"({share:.0%} of the row)"
                    ),
                )
            )
    size = len(labels) * CELL
    return Confusion(
        width=LEFT + size + 8,
        height=TOP + size + 8,
        cells=cells,
        rows=[{**label, "y": TOP + index * CELL + CELL // 2 + 4} for index, label in enumerate(labels)],
        columns=[{**label, "x": LEFT + index * CELL + CELL // 2} for index, label in enumerate(labels)],
    )
