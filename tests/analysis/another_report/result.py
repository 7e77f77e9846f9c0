from analysis.figures.results import Record, Result


class LabelsOfPerson(Record):
    rater: str
    n: int


class LabelCounts(Result):
    people: list[LabelsOfPerson]
