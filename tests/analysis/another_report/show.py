from analysis.figures.items import Filter
from analysis.figures.page import Answer, Page, Section
from analysis.figures.tables import Column, Table
from analysis.reports.options import Option
from analysis.reports.report import Report
from tests.analysis.another_report.result import LabelCounts


def page(result: LabelCounts) -> Page:
    n = sum(row.n for row in result.people)
    table = Table(
        "Labels by person",
        [
            Column("Person", "rater"),
            Column("Labels", "n", items=lambda row: Filter(judgements=({"rater": row.rater},))),
        ],
        result.people,
    )
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
