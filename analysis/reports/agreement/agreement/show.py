"""The page on agreement: how far people agree."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import UnsetType

from analysis.figures.folding import folding_note
from analysis.figures.items import ALL, DIMENSION, JUDGEMENTS, LABEL, RATER, Filter
from analysis.figures.page import Counts, Page, Part, Section, Text
from analysis.figures.results import Ends, Figure
from analysis.figures.tables import Column, Table, columns_of
from analysis.figures.tabular import Person
from analysis.reports.agreement.agreement import pictures
from analysis.reports.agreement.agreement.answer import Recommended, answer, recommended, recomputed_in_words
from analysis.reports.agreement.agreement.methods import methods
from analysis.reports.agreement.agreement.result import (
    COMPARED,
    OTHER,
    PAIRED,
    SAME,
    Agreement,
    Chance,
    Coefficient,
    LabelsAgainst,
    QuestionAgreement,
    RaterPair,
    WithClosedForm,
)
from analysis.reports.common import ALL_STATISTICS, FURTHER, RATERS, REFERENCES, SetTitles
from analysis.reports.labels.derived import DERIVED_NOTE
from analysis.reports.options import LABELS, Option
from analysis.reports.report import Report
from analysis.reports.words.numbers import either, left_out, n_of
from analysis.reports.words.sentences import sentences, taken_together
from analysis.sources.outline import RULE_SET, Outline
from analysis.sources.splits import name_split, split_heading, split_in

EXCHANGEABLE = (
    "Some of these labels are by exchangeable raters: the file does not say who voted. No figures are given for pairs "
    "of them."
)
SETS_NOTE = (
    "Answers hold any number of labels. MASI (Passonneau 2006) and Jaccard distances measure how much two answers "
    "share. Each label separately, chosen or not, follows below."
)
OTHER_COEFFICIENTS = {"fleiss_kappa": "Fleiss' kappa", "gwet_ac1": "AC1", "brennan_prediger": "Brennan-Prediger"}
QUESTIONS = "Agreement by question"
CLOSED_FORM = (
    "Analytic intervals that treat units as independent. The intervals above allow for clusters, such as the units of "
    "one claim."
)


def page(result: Agreement) -> Page:
    notes = [EXCHANGEABLE] if result.exchangeable else []
    if result.unanswered:
        notes.append(f"Nobody answered: {', '.join(result.unanswered)}.")
    if result.pooled:
        notes.append(f"{taken_together(result.pooled)} Choose one of them under “Labels of”.")
    return Page(
        answer(result, pictures.draw_summary(result)),
        [
            Section(QUESTIONS, [_questions(result)]),
            *(Section(*one) for question in result.labelled for one in _sections(result, question)),
        ],
        notes,
        [Section(*one) for question in result.labelled for one in _more(result, question)] if result.all else [],
    )


Titled = tuple[str, list[Part | None]]


def _sections(result: Agreement, question: QuestionAgreement) -> list[Titled]:
    title, split = question.title, split_in(result.made_from)
    return [
        (title, [*_coefficients(result, question), _per_label(question), _pairs(question)]),
        (f"{title}: against decisions", _against(result, question)),
        *([_by_source(result, question)] if split else []),
    ]


def _more(result: Agreement, question: QuestionAgreement) -> list[Titled]:
    title, split = question.title, split_in(result.made_from)
    return [
        (f"{title}: against chance", [None if question.takes_number else _against_chance(question)]),
        (f"{title}: each label", [pictures.draw_labels(result, question)]),
        (f"{title}: intervals assuming independent units", [_independent(question), _independent_pairs(question)]),
        (f"{title}: pairs of annotators, label by label", [_by_pair(question)]),
        *([] if split else [_by_source(result, question)]),
        (f"{title}: corrected for the selection of items", _selected(question)),
        (f"{title}: by arm", _by_arm(question)),
        (f"{title}: by version of the guidelines", _by_version(question)),
    ]


# ---- filters ----


def _with_label(question: QuestionAgreement, **more: str | tuple[str, ...]) -> Filter:
    """Units with such a label."""
    return Filter({}, ({DIMENSION: question.dimension, **more},))


def _two(question: QuestionAgreement, *sides: dict[str, str], pair="") -> Filter:
    """Units with two such labels."""
    return Filter({}, tuple({DIMENSION: question.dimension, **side} for side in sides), pair)


# ---- all questions ----


def _questions(result: Agreement) -> Table:
    """What each question's answer rests on."""

    def n_left(row: Recommended, reason: str) -> int:
        return (row.question.figures[0].left_out or {}).get(reason, 0)

    def opens(*sides: str):
        return lambda row: Filter({row.question.dimension: sides if len(sides) > 1 else sides[0]})

    return Table(
        QUESTIONS,
        [
            Column("Question", "question.title"),
            Column("Measure", "title"),
            Column("Value", "figure", interval=True),
            Column("Labels", "question.n_labels", items=lambda row: _with_label(row.question), counts=JUDGEMENTS),
            Column("Units with a pair", "question.n_paired", items=opens(*PAIRED)),
            Column("People disagree", "question.n_disagree", items=opens("disagree")),
            Column("One label only", lambda row: n_left(row, "one label only"), items=opens("single")),
            Column("No label", lambda row: n_left(row, "no label"), items=opens("unlabelled")),
        ],
        [recommended(question) for question in result.labelled],
        recomputed_in_words(result.labelled),
    )


# ---- coefficients ----


@dataclass(frozen=True)
class _Row:
    title: str
    figure: Figure
    items: Filter | None


def _coefficients(result: Agreement, question: QuestionAgreement) -> list[Part | None]:
    title, slug, paired = question.title, question.dimension, Filter({question.dimension: PAIRED})
    rows = [_Row(one.title, one, paired if one.n_pairable == question.n_paired else None) for one in question.figures]
    note = ""
    if unasked := question.with_unasked:
        items = Filter({f"{slug}.with-unasked": "yes"})
        rows += [
            _Row(
                f"{one.title}, with “{unasked.label}” as a label",
                one,
                items if one.n_pairable == unasked.n_paired else None,
            )
            for one in unasked.figures
        ]
        note = (
            f"Rows with “{unasked.label}” count it as one more label. The others are over pairs of people who both "
            "found that the question applies."
        )
    if members := question.members_against_imported:
        rows.append(_Row("Alpha of members minus alpha of imported raters", members, None))
    left_out = question.figures[0].left_out or {}
    counts = [
        ("units", result.n_units, ALL),
        ("where people disagree", question.n_disagree, Filter({slug: "disagree"})),
        ("where people agree", question.n_paired - question.n_disagree, Filter({slug: "agree"})),
        ("with one label only", left_out.get("one label only", 0), Filter({slug: "single"})),
        ("without a label", left_out.get("no label", 0), Filter({slug: "unlabelled"})),
    ]
    if members:
        both = (("members", "two members"), ("imported", "two raters of files"))
        counts += [
            (
                f"with labels of {words}",
                getattr(members, f"n_paired_{group}"),
                _two(question, {"group": group}, {"group": group}),
            )
            for group, words in both
        ]
    return [
        Text(DERIVED_NOTE) if question.derived_from else None,
        Text(SETS_NOTE) if question.takes_several else None,
        Counts(counts),
        Table(
            f"{title}: agreement",
            [
                Column("Measure", "title"),
                Column("Value", "figure", interval=True),
                Column("Units with a pair", "figure.n_pairable", items=lambda row: row.items),
                Column("Left out", "figure.left_out_words"),
            ],
            rows,
            " ".join(filter(None, [note, recomputed_in_words([question])])),
        ),
        *([] if len(question.per_label) >= len(question.labels) or question.takes_number else [_labels(question)]),
    ]


def _independent(question: QuestionAgreement) -> Table:
    return Table(
        f"{question.title}: intervals assuming independent units",
        [Column("Measure", "title"), *_closed_form(lambda one: one)],
        question.figures,
        CLOSED_FORM,
    )


def _closed_form(figure) -> list[Column]:
    """Columns of the interval if units were independent; `figure` takes it from a row."""

    def closed(row) -> Figure:
        one = figure(row)
        ends = {"low": one.analytic.low, "high": one.analytic.high, "interval": Ends(undefined="")}
        return Figure(estimate=one.estimate, undefined=one.undefined, **ends)

    def method(row) -> str:
        coefficient: Coefficient | WithClosedForm = figure(row)
        return "; ".join(filter(None, (coefficient.analytic.method, coefficient.analytic.note)))

    return [Column("Value", closed, interval=True), Column("Method", method)]


def _against_chance(question: QuestionAgreement) -> Table:
    return Table(
        f"{question.title}: against chance",
        columns_of(Chance),
        [question.chance],
        "One-sided p: the share of permutations, which keep each person's label frequencies, that reach this alpha. "
        "Where p is at most 0.05, the page says that people agree beyond chance. Units of exchangeable raters are "
        "treated as independent.",
    )


# ---- labels ----


def _label_columns(question: QuestionAgreement) -> list[Column]:
    return [
        Column("Label", "title"),
        Column(
            "Labels",
            "n",
            items=lambda row: _with_label(question, **{LABEL: row.label}) if row.n else None,
            counts=JUDGEMENTS,
        ),
    ]


def _labels(question: QuestionAgreement) -> Table:
    return Table(f"{question.title}: labels given", _label_columns(question), question.labels)


def _per_label(question: QuestionAgreement) -> Table:
    slug = question.dimension
    return Table(
        f"{question.title}: each label against the rest",
        [
            *_label_columns(question),
            Column(
                "Units",
                "alpha.n_pairable",
                items=lambda row: Filter({slug: PAIRED}) if row.alpha.n_pairable == question.n_paired else None,
            ),
            Column("Agreement", "percent_agreement", interval=True),
            Column("Alpha", "alpha", interval=True),
            *(
                Column(words, name, interval=True)
                for name, words in OTHER_COEFFICIENTS.items()
                if all(getattr(row, name) for row in question.per_label)
            ),
        ],
        question.per_label,
        folding_note(len(question.labels)),
    )


# ---- pairs of annotators ----


@dataclass(frozen=True)
class _Cell:
    pair: RaterPair
    of_a: str
    of_b: str
    title_a: str
    title_b: str
    n: int


PAIR_FIGURES = {
    "percent_agreement": "Agreement",
    "": "Kappa",
    "linear": "Kappa, linear",
    "quadratic": "Kappa, quadratic",
    "scott_pi": "Scott's pi",
}


def _of_pair(pair: RaterPair, name: str) -> WithClosedForm | UnsetType | None:
    return getattr(pair, name) if name else pair


def _pair_figures(question: QuestionAgreement) -> dict[str, str]:
    return {name: words for name, words in PAIR_FIGURES.items() if all(_of_pair(one, name) for one in question.pairs)}


def _who(pair) -> list[Column]:
    return [
        Column("Annotator", lambda row: Person(pair(row).a, pair(row).a_id)),
        Column("Annotator ", lambda row: Person(pair(row).b, pair(row).b_id)),
    ]


def _pairs(question: QuestionAgreement) -> Table:
    n = question.n_pairs_not_listed

    def both(way: str):
        return lambda row: _two(question, {RATER: row.a_id}, {RATER: row.b_id}, pair=way)

    return Table(
        f"{question.title}: pairs of annotators",
        [
            *_who(lambda row: row),
            Column("Shared units", "n_pairable", items=both("")),
            Column("Same label", "n_agree", items=both("same")),
            Column("Other label", "n_differ", items=both("other")),
            *(
                Column(words, lambda row, of=name: _of_pair(row, of), interval=True)
                for name, words in _pair_figures(question).items()
            ),
        ],
        question.pairs,
        f"{n_of(n, 'more pairs')}, who share fewer units, are not listed." if n else "",
    )


def _by_pair(question: QuestionAgreement) -> Table:
    cells = [
        _Cell(pair, of_a.label, of_b.label, of_a.title, of_b.title, n)
        for pair in question.pairs
        for of_a, counts in zip(question.labels, pair.counts, strict=True)
        for of_b, n in zip(question.labels, counts, strict=True)
        if n
    ]
    return Table(
        f"{question.title}: pairs of annotators, label by label",
        [
            *_who(lambda row: row.pair),
            Column("Label of the first", "title_a"),
            Column("Label of the second", "title_b"),
            Column(
                "Units",
                "n",
                items=lambda row: _two(
                    question, {RATER: row.pair.a_id, LABEL: row.of_a}, {RATER: row.pair.b_id, LABEL: row.of_b}
                ),
            ),
        ],
        cells,
        "Units that both people of a pair labelled, by the label of each; combinations that do not occur are left out.",
    )


def _independent_pairs(question: QuestionAgreement) -> Table:
    names = _pair_figures(question)
    return Table(
        f"{question.title}: pairs of annotators, intervals assuming independent units",
        [*_who(lambda row: row[0]), Column("Measure", lambda row: row[1]), *_closed_form(lambda row: row[2])],
        [(pair, words, _of_pair(pair, name)) for pair in question.pairs for name, words in names.items()],
    )


# ---- against decisions ----


def _against(result: Agreement, question: QuestionAgreement) -> list[Part | None]:
    if question.against is None:
        return [Text(f"{REFERENCES[result.reference]}: none of a unit that has a label.")] if result.reference else []
    found = question.against

    def compared_as(*which: str):
        def wanted(row: LabelsAgainst) -> Filter:
            of_row = {RATER: row.id} if row.id else {}
            return _with_label(question, **of_row, **{COMPARED: which})

        return wanted

    def figure(name: str):
        return lambda row: next(one for one in row.figures if one.name == name)

    title, n = REFERENCES[result.reference], found.n_people_not_listed
    return [
        Table(
            f"{question.title}: labels against {title[0].lower()}{title[1:]}",
            [
                Column("Annotator", lambda row: Person(row.name, row.id) if row.id else row.name),
                Column("Labels of decided units", "n", items=compared_as(SAME, OTHER), counts=JUDGEMENTS),
                Column("Same label", "n_same", items=compared_as(SAME), counts=JUDGEMENTS),
                Column("Other label", lambda row: row.n - row.n_same, items=compared_as(OTHER), counts=JUDGEMENTS),
                *(Column(one.title, figure(one.name), interval=True) for one in found.everybody.figures),
            ],
            [found.everybody, *found.people],
            sentences(
                f"{n_of(found.n_units, 'units')} with a label and a decision. {_not_independent(result.reference)}",
                f"{n_of(n, 'more people')} with fewer such labels {either(n, 'is', 'are')} not listed." if n else "",
            ),
        )
    ]


def _not_independent(reference: str) -> str:
    if reference.startswith(RULE_SET):
        return "The rule decided from these labels, so they agree with it more often than with an independent answer."
    if reference == "adjudicated":
        return "Adjudicators saw these labels and decided where they differ, so neither is independent."
    return ""


# ---- parts of the labels ----


def _part_columns(question: QuestionAgreement) -> list[Column]:
    alphas = [Column("Alpha, nominal", "alpha_nominal", interval=True)]
    if question.level != "nominal":
        alphas.append(Column(f"Alpha, {question.level}", "alpha_of_level", interval=True))
    return [Column("Agreement", "percent_agreement", interval=True), *alphas]


def _by_source(result: Agreement, question: QuestionAgreement) -> Titled:
    split, paired = split_in(result.made_from), {question.dimension: PAIRED}
    n = question.n_sources_not_listed
    table = Table(
        f"{question.title}: by {name_split(split)}",
        [
            Column(split_heading(split), "source"),
            Column("Units", "n_units", items=lambda row: Filter({"source": row.source})),
            Column(
                "With a pair", "alpha_nominal.n_pairable", items=lambda row: Filter({"source": row.source} | paired)
            ),
            *_part_columns(question),
            Column("Alpha minus the rest's", "against_the_rest", interval=True),
        ],
        question.by_source,
        f"{n:,} more{'' if split else ' sources'}, with fewer units, {either(n, 'is', 'are')} not listed." if n else "",
    )
    return table.title, [pictures.draw_sources(result, question), table]


def _selected(question: QuestionAgreement) -> list[Part]:
    selection, slug = question.selected, question.dimension
    if not selection:
        return []
    note = (
        f"{n_of(selection.n_chosen, 'units')} not drawn {either(selection.n_chosen, 'has', 'have')} more than one "
        f"label because one more judgement was asked for; so were {selection.n_chosen_and_drawn} of the "
        f"{selection.n_drawn} drawn ones, whose judgements count as first planned. The weights assume that "
        "requests do not depend on the answers that are compared; the random share assumes nothing."
    )
    return [
        Counts(
            [
                (
                    f"{words} for more than one judgement",
                    getattr(selection, f"n_{name}"),
                    Filter({f"{slug}.{name}": "yes"}),
                )
                for name, words in (("drawn", "drawn"), ("chosen", "chosen"))
            ]
        ),
        Table(
            f"{question.title}: corrected for the selection of items",
            [
                Column("Units", "title"),
                Column("With a pair", "alpha.n_pairable", items=lambda row: Filter({f"{slug}.{row.name}": "yes"})),
                Column("Effective number", lambda row: row.effective_n or None),
                Column("Agreement", "percent_agreement", interval=True),
                Column(f"Alpha ({selection.level})", "alpha", interval=True),
            ],
            selection.rows,
            note,
        ),
    ]


def _of_part(question: QuestionAgreement, name: str, value) -> list[Column]:
    """Columns of parts of the labels: those with a `value` of the judgements' column `name`."""

    def one(row) -> dict[str, str]:
        return {name: str(value(row))}

    return [
        Column("Units", "n_units", items=lambda row: _with_label(question, **one(row))),
        Column("Labels", "n_labels"),
        Column("With a pair", "alpha_nominal.n_pairable", items=lambda row: _two(question, one(row), one(row))),
        *_part_columns(question),
    ]


def _differences(question: QuestionAgreement, of: str, first: str, a, b, rows: list) -> Table:
    return Table(
        f"{question.title}: difference of alpha between {of}",
        [
            Column(first, a),
            Column("minus", b),
            Column("Shared claims or units", "n_shared"),
            Column(f"Difference of alpha ({question.level})", lambda row: row, interval=True),
        ],
        rows,
    )


def _by_arm(question: QuestionAgreement) -> list[Part]:
    return [
        Table(
            f"{question.title}: by arm",
            [Column("Suggestions were", "title"), *_of_part(question, "arm", lambda row: row.arm)],
            question.by_arm,
            "Over pairs of labels given in the same arm.",
        ),
        _differences(question, "arms", "Arm", lambda row: row.a, lambda row: row.b, question.arm_differences),
    ]


def _by_version(question: QuestionAgreement) -> list[Part]:
    without = left_out(question.n_labels_without_version, "labels with an unknown version")
    return [
        Table(
            f"{question.title}: by version of the guidelines",
            [Column("Version", lambda row: str(row.version)), *_of_part(question, "version", lambda row: row.version)],
            question.by_version,
            sentences("Over pairs of labels given under the same version.", without),
        ),
        _differences(
            question,
            "versions of the guidelines",
            "Version",
            lambda row: str(row.version),
            lambda row: str(row.before),
            question.version_differences,
        ),
    ]


def _decisions_here(source: Outline) -> dict[str, str]:
    return {"": "nothing but each other"} | {
        name: REFERENCES[name] for name in source.references() if name != "majority"
    }


COMPARED_WITH = Option(
    "reference",
    "Compare with",
    choices=_decisions_here,
    known=SetTitles({"": ""} | REFERENCES),
    default="",
    help="decisions that each person's labels are compared with besides: adjudicated, imported or rule:NAME",
    group=LABELS,
    hides=lambda source: len(_decisions_here(source)) == 1,
)
REPORT = Report(
    "agreement",
    "Agreement between people",
    "analysis.reports.agreement.agreement.compute",
    (RATERS, COMPARED_WITH, FURTHER, ALL_STATISTICS),
    "Over the pairs of labels that exist. Intervals are 95 % bootstrap intervals; they resample claims (or questions) "
    "where several units come from one.",
    own_page="project_agreement",
    tab="project_agreement",
    kind=Agreement,
    needs_raters="labels by at least two raters",
    declares=page,
    paragraph=methods,
    quick=True,
    takes_numbers=True,
    leads_to=("comparison", "Compare with a checker"),
    more="Every coefficient, analytic intervals, the test against chance, each pair label by label, and agreement by "
    "source, arm and version of the guidelines.",
)
