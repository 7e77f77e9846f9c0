"""The report on highlights: whether people highlight the same text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import UNSET, UnsetType

from analysis.figures.items import DIMENSION, RATER, Filter
from analysis.figures.page import Page, Part, Rule, Section, first_sentence, page_of_each
from analysis.figures.pictures import Axis, IntervalRow, Intervals, Level
from analysis.figures.results import Figure, NamedFigure, Record, Result
from analysis.figures.tables import Column, Table
from analysis.figures.tabular import Person
from analysis.reports.common import FURTHER, RATERS
from analysis.reports.options import Option
from analysis.reports.report import Report
from analysis.reports.words.numbers import n_of
from analysis.reports.words.sentences import no_interval, note_on_further
from annotation.task_types import TaskType

# ---- rows ----

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
    severities: list[HighlightedLabel] = []
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
    further: bool = False  # whether answers that were asked for because answers differed count
    n_further: int = 0


# ---- the page ----

# Measures whose n are units that two people looked at.
OF_UNITS = ("u_alpha", "binary_u_alpha", "cu_alpha", "gamma")
COMPARED = {
    "answered": "all raters who answered the question were compared, and no highlight counted as an answer",
    "same-label": "raters were compared where they gave the same label",
    "marked": "raters were compared where they highlighted something",
}
UNKNOWN_TEXT = "a highlighted text is missing, or is shorter than its highlights"


def refuses(kind: TaskType) -> str:
    return "" if any(dimension.spans for dimension in kind.dimensions) else "it asks for no highlights"


def page(result: HighlightAgreement) -> Page:
    return page_of_each(
        result.dimensions,
        rules=RULES,
        if_none="No question here asks for highlights.",
        draw=lambda question: _picture(result, question),
        sections=lambda question, picture: [Section(question.title, _parts(result, question, picture))],
        n="; ".join(
            [
                f"n = {n_of(result.n_units, 'units')}",
                *map(_counted, result.dimensions),
                *filter(None, [note_on_further(result.n_further, result.further)]),
            ]
        ),
        next_step=first_sentence(NEXT, result.dimensions),
    )


def _counted(question: HighlightedQuestion) -> str:
    return f"{question.title}: {n_of(question.n_answers, 'answers')}, {n_of(question.n_spans, 'highlights')}"


def _parts(result: HighlightAgreement, question: HighlightedQuestion, picture: Intervals | None) -> list[Part | None]:
    if not question.n_spans:
        return [_outcomes(question)]
    return [
        _outcomes(question),
        _figures(question),
        picture,
        _labels(question),
        *([_severities(question)] if question.severities else []),
        _fields(question),
        _pairs(result, question),
    ]


def _set(question: HighlightedQuestion, name: str) -> Filter:
    return Filter({f"{question.dimension}.{name}": "yes"})


def _outcomes(question: HighlightedQuestion) -> Table:
    note = f"{question.n_marking} of {n_of(question.n_answers, 'answers')} with highlights."
    if question.n_unknown:
        note += f" Units left out because {UNKNOWN_TEXT}: {question.n_unknown}."

    def outcome(name: str, title: str) -> Column:
        return Column(title, lambda one: one.outcomes[name], items=lambda one: _set(one, name))

    columns = [Column("Highlights", "n_spans"), *(outcome(*one) for one in OUTCOMES.items())]
    return Table(f"{question.title}: how units were highlighted", columns, [question], note)


def _figures(question: HighlightedQuestion) -> Table:
    note = (
        "F1 and IoU are means over pairs of people and units in which either highlighted something. Character alpha "
        "counts characters, the others units."
    )
    if question.has_own_labels:
        note += " Highlights are the same, or share characters, only where they have the same label."
    if question.labels_overlap:
        note += (
            " Highlights of different labels overlap, so u-alpha takes the text once for each label, and cu-alpha, "
            "which needs one label for each character, is not given."
        )
    for one in question.figures:
        if one.name == "gamma" and one.n_drawn_from > one.n_units:
            note += f" Gamma is of {n_of(one.n_units, 'units')}, drawn at random from {one.n_drawn_from:,}."
    several = _set(question, "several")
    return Table(
        f"{question.title}: agreement on highlights",
        [
            Column("Measure", "title"),
            Column("Value", lambda one: one, interval=True),
            Column(
                "n",
                "n_pairable",
                items=lambda one: several if one.name in OF_UNITS and one.n_pairable == question.n_several else None,
            ),
            Column("Left out", "left_out_words"),
        ],
        question.figures,
        note,
    )


def _picture(result: HighlightAgreement, question: HighlightedQuestion) -> Intervals | None:
    items = tuple(IntervalRow.of_figure(one.title, one) for one in question.figures if one.name != "character_alpha")
    if not any(item.value is not None for item in items):
        return None
    n = question.figure("u_alpha").n_pairable
    return Intervals(
        name=_slug(f"spans-{question.dimension}"),
        title=f"{question.title}: agreement on highlights",
        caption=(
            f"{result.project}: agreement on the highlights for “{question.title}”, {n_of(n, 'units')} with two people "
            f"or more, {n_of(question.n_spans, 'highlights')}. Bars are 95 % bootstrap intervals."
        ),
        alt="; ".join(f"{item.row} {'undefined' if item.value is None else f'{item.value:.2f}'}" for item in items),
        items=items,
        values=Axis("Agreement"),
        rows_title="Measure",
        level=Level(0, "chance (alphas, gamma)"),
    )


def _slug(name: str) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name.lower())[:80]


def _measures(rows: Sequence) -> list[Column]:
    """A column for each measure; all rows have the same."""

    def measure(place: int) -> Callable[[object], Figure]:
        return lambda row: row.figures[place]

    titles = [one.title for one in rows[0].figures] if rows else []
    return [Column(title, measure(place), interval=True) for place, title in enumerate(titles)]


def _severities(question: HighlightedQuestion) -> Table:
    return Table(
        f"{question.title}: highlights by severity",
        (Column("Severity", "title"), Column("Highlights", "n_spans"), *_measures(question.severities)),
        question.severities,
        "Only highlights of the severity count, whatever their label.",
    )


def _labels(question: HighlightedQuestion) -> Table:
    return Table(
        f"{question.title}: highlights by label",
        [
            Column("Label", "title"),
            Column("Units", "n_units", items=lambda row: _set(question, f"label.{row.label}")),
            Column("Highlights", "n_spans"),
            *_measures(question.labels),
        ],
        question.labels,
        "Only highlights with the label count, so one that two people gave different labels lowers both."
        + (
            ""
            if question.has_own_labels
            else " (k)u-alpha compares highlights of two people that overlap, and asks whether "
        )
        + ("" if question.has_own_labels else "they mean the same label."),
    )


def _fields(question: HighlightedQuestion) -> Table:
    more = question.n_fields_not_listed
    return Table(
        f"{question.title}: highlights by text",
        [
            Column("Text", "field"),
            Column("Highlights", "n_spans"),
            *_measures(question.fields),
        ],
        question.fields,
        f"{more} more texts are not listed." if more else "",
    )


def _pairs(result: HighlightAgreement, question: HighlightedQuestion) -> Table:
    more = question.n_pairs_not_listed

    def both(row: HighlightPair) -> Filter:
        sides = ({DIMENSION: question.dimension, RATER: who, "compared": "yes"} for who in (row.a_id, row.b_id))
        return Filter({}, tuple(sides), "same" if result.who == "same-label" else "")

    return Table(
        f"{question.title}: highlights by pair of people",
        [
            Column("One", lambda row: Person(row.a, row.a_id)),
            Column("Other", lambda row: Person(row.b, row.b_id)),
            Column("Units", lambda row: row.figures[-1].n_pairable, items=both),
            *_measures(question.pairs),
        ],
        question.pairs,
        f"{more} more pairs are not listed." if more else "",
    )


# ---- what the page begins with ----


def _alpha(question: HighlightedQuestion) -> Figure:
    return question.figure("u_alpha")


def _measured(question: HighlightedQuestion) -> str:
    alpha = _alpha(question)
    return (
        f"{question.title}: u-alpha (Krippendorff and others 2016) = {alpha.written()}, over "
        f"{n_of(alpha.n_pairable, 'units')} that two people or more looked at"
    )


def _overlap(question: HighlightedQuestion) -> str:
    overlap = question.figure("character_f1")
    return f" Two people share {overlap.written()} of their characters (F1)." if overlap.is_defined else ""


# u-alpha corrects for chance where to begin and end a mark and which label to give, which F1 does not.
RULES = (
    Rule("no marks", lambda one: not one.n_spans, lambda one: f"{one.title}: nothing has been highlighted."),
    Rule(
        "undefined",
        lambda one: not _alpha(one).is_defined,
        lambda one: f"{one.title}: u-alpha is undefined: {_alpha(one).undefined}.",
    ),
    Rule(
        "no interval",
        lambda one: _alpha(one).low is None,
        lambda one: f"{_measured(one)} ({no_interval(_alpha(one))}).",
    ),
    Rule(
        "not shown",
        lambda one: _alpha(one).low <= 0 <= _alpha(one).high,
        lambda one: f"{_measured(one)}. Agreement beyond chance is not shown: the interval includes zero.",
    ),
    Rule(
        "below chance",
        lambda one: _alpha(one).high < 0,
        lambda one: f"{_measured(one)}. People highlight the same text less often than expected by chance.",
    ),
    Rule(
        "beyond chance",
        lambda one: True,
        lambda one: (
            f"{_measured(one)}. People highlight the same text more often than expected by chance.{_overlap(one)}"
        ),
    ),
)

NEXT = (
    Rule("no marks", lambda one: not one.n_spans, lambda one: "have two people or more highlight each unit"),
    Rule(
        "nobody twice",
        lambda one: not one.n_several,
        lambda one: "let a second person mark some of the units that one person looked at",
    ),
    Rule(
        "apart",
        lambda one: one.outcomes["apart"] + one.outcomes["one"] > 0,
        lambda one: (
            f"{one.title}: read the units whose highlights differ, or where only one person highlighted anything"
        ),
    ),
)


# ---- the paragraph for a paper ----


def methods(result: HighlightAgreement) -> str:
    dimensions = result.dimensions
    sentences = [
        f"Agreement on the highlights for “{question.title}” was measured on "
        f"{n_of(_alpha(question).n_pairable, 'units')} that two people or more looked at "
        f"({n_of(question.n_spans, 'highlights')}): {COMPARED[result.who]}."
        for question in dimensions
    ]
    sentences.append(
        "Exact and overlap F1 compare highlights, character F1 and intersection over union their characters, as means "
        "over pairs of people and units; units that nobody highlighted are left out of these. Chance-corrected figures "
        "are Krippendorff's alpha over characters and the unitizing alphas of Krippendorff, Mathet, Bouvry and "
        "Widlöcher (2016), in which all of a unit's texts are laid end to end."
    )
    sentences.append(note_on_further(result.n_further, result.further))
    figures = [one for question in dimensions for one in question.figures]
    sentences += [
        "Gamma (Mathet, Widlöcher and Métivier 2015; weights of position and label 1) was computed on "
        f"{n_of(one.n_pairable, 'units')}, with exact alignments and {one.n_draws} random continua made of the "
        "highlights of other units, moved at random."
        for one in figures
        if one.name == "gamma" and one.is_defined
    ]
    if how := next((one.interval for one in figures if one.low is not None), None):
        drawn = "" if how.n_clusters is None else f", {n_of(how.n_clusters, 'clusters of units')} being drawn"
        sentences.append(f"Intervals are at 95 %: {how.method}, {n_of(how.n_resamples, 'resamples')}{drawn}.")
    alphas = {question.title.lower(): _alpha(question) for question in dimensions}
    known = [f"{title} {alpha.written()}" for title, alpha in alphas.items() if alpha.is_defined]
    if known:
        sentences.append(f"Estimates of u-alpha [95 % intervals] were: {'; '.join(known)}.")
    return " ".join(dict.fromkeys(filter(None, sentences)))


REPORT = Report(
    "spans",
    "Highlights",
    "analysis.reports.agreement.spans.compute",
    (RATERS, Option("who", "Compare", choices=WHO), FURTHER),
    "Whether people highlight the same text: exactly, by characters, and beyond chance.",
    kind=HighlightAgreement,
    needs_raters="labels by at least two raters",
    declares=page,
    paragraph=methods,
    refuses=refuses,
    quick=True,
    takes_numbers=True,
)
