"""The figures of a page that open units, with the number that each says."""

from analysis.figures.items import Filter
from analysis.figures.page import Counts
from analysis.figures.pictures import Intervals, Lines, Matrix, Scatter
from analysis.figures.results import Figure
from analysis.figures.tables import Table


def counted(value) -> int | None:
    """How many a value says that it is about; None where it does not say."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, Figure):
        n = next(
            (n for name in ("n", "n_pairable", "n_units") if isinstance(n := getattr(value, name, None), int)), None
        )
        return n
    return value if isinstance(value, int) else None


def figures(page):
    """Every figure that can be opened: where it stands, its filter, how many it says there are, and of what."""
    for part in page.parts():
        if isinstance(part, Counts):
            yield from (
                (title, wanted, n, "") for title, n, wanted in part.rows if wanted is not None and n is not None
            )
        if isinstance(part, Table):
            for column in part.columns:
                for row in part.rows:
                    wanted = column.items(row) if column.items else None
                    if wanted is not None:
                        value = column.value(row)
                        of = column.counted(row)
                        if of is None and not value and not column.net:
                            continue  # nothing to open
                        n = None if of is None else counted(value)
                        yield f"{part.title}, {column.title}", wanted, n, of or ""
    for picture in page.pictures():
        for figure in places(picture):
            yield picture.title, Filter.decoded(figure), None, ""


def places(picture) -> list[str]:
    match picture:
        case Intervals():
            found = [item.figure for item in picture.items]
        case Lines():
            found = [figure for series in picture.series for figure in series.figures]
        case Matrix():
            found = [figure for row in picture.figures for figure in row]
        case Scatter():
            found = [point.figure for point in picture.points]
    return [figure for figure in found if figure]
