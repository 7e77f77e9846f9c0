from typing import Annotated

from analysis.figures.items import Filter
from analysis.figures.page import Answer, Page, Section
from analysis.figures.results import Record, Result
from analysis.figures.tables import Column, Table, columns_of
from analysis.reports.options import Option
from analysis.reports.report import Report


class LabelsOfPerson(Record):
    rater: Annotated[str, Column("Person")]
    n: Annotated[int, Column("Labels", items=lambda row: Filter(judgements=({"rater": row.rater},)))]


class LabelCounts(Result):
    people: list[LabelsOfPerson]


def page(result: LabelCounts) -> Page:
    n = sum(row.n for row in result.people)
    table = Table("Labels by person", columns_of(LabelsOfPerson), result.people)
    answer = Answer((f"{len(result.people)} people gave {n} labels.",), f"n = {n}")
    return Page(answer, [Section("People", [table])])


REPORT = Report(
    "labels",
    "Labels by person",
    "tests.analysis.another_report.compute",
    (Option("at_least", "Labels at least", kind="count", default=1, low=1),),
    kind=LabelCounts,
    declares=page,
    paragraph=lambda result: f"Labels of {len(result.people)} people were counted.",
)
