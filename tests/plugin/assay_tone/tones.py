from analysis.figures.page import Answer, Page, Section
from analysis.figures.results import Record, Result
from analysis.figures.tables import Column, Table
from analysis.reports.report import Report


class LabelsOfLetters(Record):
    label: str
    n: int


class Tones(Result):
    labels: list[LabelsOfLetters]


def compute(source, *, quick=False):
    from analysis.reports.labels.judgements import new_items

    units = source.unit_frame(source.type.unit_kind)
    counts = source.label_frame(units)["label"].value_counts().sort_index()
    return Tones(labels=[LabelsOfLetters(label=label, n=int(n)) for label, n in counts.items()]), new_items(units)


def page(result):
    n = sum(row.n for row in result.labels)
    table = Table("Labels", [Column("Label", "label"), Column("n", "n")], result.labels)
    return Page(Answer((f"{n} labels of tones.",), f"n = {n}"), [Section("Labels", [table])])


REPORT = Report(
    "tones",
    "Tones of letters",
    "assay_tone.tones",
    kind=Tones,
    declares=page,
    paragraph=lambda result: "Labels of letters were counted.",
)
