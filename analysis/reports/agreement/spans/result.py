"""What the report on highlights holds."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from analysis.figures.results import NamedFigure, Record, Result

# Whose marks are compared.
WHO = {
    "answered": "All raters who answered; no highlight counts as an answer",
    "same-label": "Raters who gave the same label",
    "marked": "Raters who highlighted something",
}
# How the raters of a text marked it; a text has one of these.
OUTCOMES = {
    "same": "Identical highlights",
    "overlap": "Overlapping highlights",
    "apart": "Disjoint highlights",
    "one": "Some raters highlighted nothing",
    "none": "No highlights",
    "single": "One rater only",
}


class SpanFigure(NamedFigure):
    """Gamma says of how many units those that it is computed on were drawn, and how many random continua there were."""

    n_drawn_from: int | UnsetType = UNSET
    n_draws: int | UnsetType = UNSET


class HighlightedLabel(Record):
    label: str
    title: str
    n_units: int
    n_spans: int
    figures: list[SpanFigure]


class MarkedField(Record):
    field: str
    n_spans: int
    figures: list[SpanFigure]


class HighlightPair(Record):
    a: str
    b: str
    a_id: str
    b_id: str
    figures: list[SpanFigure]


class HighlightedQuestion(Record):
    """`has_own_labels`: spans have labels of their own, which are part of them, so that what is shared is shared under
    one label. `labels_overlap`: one person's spans of different labels do, somewhere."""

    dimension: str
    title: str
    required: bool
    has_own_labels: bool
    labels_overlap: bool
    n_texts: int
    n_spans: int
    n_answers: int
    n_marking: int
    n_unknown: int
    n_several: int
    outcomes: dict[str, int]
    figures: list[SpanFigure]
    labels: list[HighlightedLabel]
    fields: list[MarkedField]
    n_fields_not_listed: int
    pairs: list[HighlightPair]
    n_pairs_not_listed: int

    def figure(self, name: str) -> SpanFigure:
        return next(one for one in self.figures if one.name == name)


class HighlightAgreement(Result):
    raters: str
    who: str
    n_units: int
    dimensions: list[HighlightedQuestion]
