"""Every report under every filter: the same as of a table that has the remaining rows only, of people and of checkers
alike, or refused with a reason."""

import json
from functools import cache

import pytest

from analysis.figures.items import Items
from analysis.reports.metrics import REPORTS
from analysis.sources.blind import looked_at
from analysis.sources.selection import NAMES, Selection
from analysis.sources.tables.long_table import LongTableSource
from tests.world.labels import quickly

COLUMNS = ("item", "rater", "rater_kind", "label", "arm", "source", "time")
ARMS = ("guided", "free")
N = 48


def rows_of_study() -> list[dict]:
    """Three people label two thirds of the items, half of them in either arm; `judge` labels all of them in the arm of
    its item, and `other` without an arm. What is right in one arm is often wrong in the other."""
    rows = []
    for number in range(N):
        arm, truth = ARMS[number % 2], ("yes", "no")[number % 5 < 2]
        about = {"item": f"i{number:02}", "source": ("north", "south")[number % 4 < 2], "arm": arm, "time": ""}
        flipped = {"yes": "no", "no": "yes"}[truth]
        rows.append(about | {"rater": "judge", "rater_kind": "model", "label": flipped if number % 4 == 1 else truth})
        rows.append(
            about | {"rater": "other", "rater_kind": "model", "label": truth if number % 7 else flipped, "arm": ""}
        )
        for person, name in enumerate(("anna", "ben", "cleo")):
            if number % 3 and (number + person) % 8:
                label = flipped if (number + 2 * person) % (5 + person) == 0 else truth
                time = f"2026-05-{1 + number // 4:02}T12:00:00Z"
                rows.append(about | {"rater": name, "rater_kind": "person", "label": label, "time": time})
    return rows


def about_the_same(rows: list[dict], kept: list[dict]) -> list[dict]:
    """With the checkers' rows about the items of those that are kept."""
    items = {row["item"] for row in kept}
    return [row for row in rows if row in kept or (row["rater_kind"] == "model" and row["item"] in items)]


def of_arm(rows: list[dict]) -> list[dict]:
    kept = [row for row in rows if row["arm"] == "guided"]
    return [row for row in about_the_same(rows, kept) if row["arm"] in ("guided", "")]


def by_people(rows: list[dict], fits) -> list[dict]:
    return about_the_same(rows, [row for row in rows if row["rater_kind"] == "person" and fits(row)])


def with_label(rows: list[dict]) -> list[dict]:
    items = {row["item"] for row in rows if row["rater_kind"] == "person" and row["label"] == "yes"}
    return [row for row in rows if row["item"] in items]


# By filter, its value and the rows that remain; None where tables have nothing that it could be about.
FILTERS = {
    "arm": ("guided", of_arm),
    "source": ("north", lambda rows: [row for row in rows if row["source"] == "north"]),
    "label": ("label:yes", with_label),
    "annotator": ("anna", lambda rows: by_people(rows, lambda row: row["rater"] == "anna")),
    "since": ("2026-05-05", lambda rows: by_people(rows, lambda row: row["time"] >= "2026-05-05")),
    "until": ("2026-05-05", lambda rows: by_people(rows, lambda row: row["time"] < "2026-05-06")),
    "labels_seen": ("included", lambda rows: rows),
    "guidelines": ("2", None),
    "split": ("question.topic", None),
}
OPTIONS = {"comparison": {"run": "judge", "other": "other"}, "difference": {"run": "judge", "other": "other"}}


def test_every_filter_is_tested():
    assert set(FILTERS) == set(NAMES)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")

    @cache
    def made(name: str) -> LongTableSource:
        rows = FILTERS[name][1](rows_of_study()) if name else rows_of_study()
        path = folder / name / "study.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join([",".join(COLUMNS), *(",".join(row[one] for one in COLUMNS) for row in rows)]))
        return LongTableSource(path, "nominal", ["no,yes"])

    return made


def numbers(report, source) -> dict | str:
    """What a report finds, or why it refuses; units are counted since either source numbers them."""
    try:
        with quickly():
            result = report.compute(source, **report.values(source, OPTIONS.get(report.name, {})))
    except ValueError as error:
        return str(error)
    result["behind"] |= {"units": len(Items.from_json(result["behind"]).units)}
    return json.loads(json.dumps({name: part for name, part in result.items() if name != "made_from"}))


@pytest.mark.parametrize("condition", [name for name, (_, rows) in FILTERS.items() if rows])
@pytest.mark.parametrize("name", REPORTS)
def test_a_filter_is_as_if_there_were_no_other_rows(name, condition, table):
    selected = looked_at(table(""), Selection.of({condition: FILTERS[condition][0]}))
    found = numbers(REPORTS[name], selected)
    assert found == numbers(REPORTS[name], table(condition))


def test_what_tables_do_not_have_is_refused(table):
    for condition in [name for name, (_, rows) in FILTERS.items() if not rows]:
        selection = Selection.of({condition: FILTERS[condition][0]})
        with pytest.raises(ValueError, match="a table"):
            looked_at(table(""), selection).unit_frame("question")


def test_a_share_by_a_checker_is_of_the_items_of_the_arm(table):
    """A quarter of the judge's labels are wrong, all of them in the other arm."""
    selected = looked_at(table(""), Selection.of({"arm": "guided"}))
    (judge, other) = selected.runs()
    assert len(selected.suggestion_frame(judge)) == len(selected.suggestion_frame(other)) == N // 2
    assert len(selected.unit_frame("question")) == N // 2
