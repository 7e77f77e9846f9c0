"""Every figure of every report, opened: as many items as it counts, and as many as the page of items shows."""

import numpy as np
import pytest

from analysis.figures.items import LABEL, Filter, Items
from analysis.figures.page import Counts
from analysis.figures.pictures import Intervals, Lines, Matrix, Scatter
from analysis.figures.results import Figure
from analysis.figures.tables import Table
from analysis.reports.metrics import REPORTS
from analysis.sources.database import DatabaseSource
from tests.world.study import WORLDS

pytestmark = pytest.mark.django_db


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


@pytest.mark.parametrize("name", REPORTS)
def test_every_figure_opens_as_many_items_as_it_counts(name):
    project, options = WORLDS[name]()
    report, source = REPORTS[name], DatabaseSource(project)
    result = report.compute(source, **report.values(source, options))
    items = Items.from_json(result["behind"])
    assert items.units_of(Filter()) == items.units and -1 not in items.units
    found = list(figures(report.page_of(result)))
    assert found
    wrong = []
    for place, wanted, n, of in found:
        there = items.count(wanted, of)
        if (n is None and not there) or (n is not None and there != n):
            wrong.append(f"{place}: {wanted.encoded} says {n}, opens {there}")
        assert items.words(wanted) and Filter.decoded(wanted.encoded).encoded == wanted.encoded
    assert wrong == []


def test_a_pair_is_two_judgements_and_units_that_are_gone_are_not_opened():
    """Units 5 and -1 (gone) have two judgements of the same label, unit 7 one alone."""
    items, labels = Items([5, -1, 7]), ("yes", "no")
    items.judge(np.array([0, 0, 1, 1, 2]), {LABEL: ("Label", np.array([0, 0, 1, 1, 0]), labels, labels, "")})
    pair = Filter({}, ({LABEL: labels}, {LABEL: labels}), "same")
    assert items.count(pair) == 2 and items.units_of(pair) == [5]
    assert items.units_of(Filter({}, ({LABEL: "yes"},))) == [5, 7]
