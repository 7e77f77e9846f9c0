import pandas as pd

from analysis.figures.items import Items
from analysis.reports.labels.judgements import add_judgements, new_items
from analysis.sources.base import Source
from tests.analysis.another_report.report import LabelCounts, LabelsOfPerson


def compute(source: Source, *, at_least: int = 1, quick: bool = False) -> tuple[LabelCounts, Items]:
    units = source.unit_frame(source.type.unit_kind)
    labels = source.label_frame(units)
    first = labels[labels["dimension"] == source.type.dimensions[0].slug]
    counts: pd.Series = first["rater"].value_counts().sort_index()
    items = new_items(units)
    add_judgements(items, source.type, first)
    people = [LabelsOfPerson(rater=rater, n=int(n)) for rater, n in counts.items() if n >= at_least]
    return LabelCounts(people=people), items
