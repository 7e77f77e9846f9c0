"""Tables of the comparison: measures, probabilities, other runs against the same people, and everybody who labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analysis.figures.folding import MOST_SHOWN_WHOLE, folding_note, shown_places
from analysis.figures.items import Filter
from analysis.figures.tables import Column, Table
from analysis.reports.checkers.comparison import filters
from analysis.reports.checkers.comparison.result import (
    ComparedDimension,
    Comparison,
    Equivalent,
    LabelProbabilities,
    Probabilities,
    Rival,
    Significance,
    Versus,
    is_of_people,
    others_of,
)
from analysis.reports.common import FINAL
from analysis.reports.labels.raters import rater_cell
from analysis.reports.words.sentences import checker_name, checker_title, clusters_of, sentences

MEASURES = (
    ("accuracy", "Accuracy"),
    ("balanced_accuracy", "Balanced accuracy"),
    ("macro_f1", "Macro-F1"),
    ("mcc", "Matthews correlation"),
)
QUESTIONS = "Against people, by question"
MCNEMAR_SUPPOSES = (
    "Two-sided. McNemar's test treats units as independent; the permutation test of macro-F1 and the intervals keep "
    "those of a {} together."
)
SEVERAL_SUPPOSES = (
    "Tests whether all are equally accurate on the units that people and every one of them label. Where it finds no "
    "difference, tests of pairs say little. The permutation test permutes the checkers within whole {}; Cochran's Q "
    "treats units as independent."
)
SAME_UNITS = (
    "Both on the same units, against the same reference. Two-sided and exact: the differences of a whole {} change "
    "sign. A difference is shown where p by Holm is at most 0.05."
)
BASELINE = (
    "{share:.3f} is the accuracy of always giving {title}; exact paired test of the difference on the same units, "
    "p = {p:.3g}."
)
BY_MODEL = "Expected accuracy by Dawid-Skene"
EXPECTED = (
    "Expected accuracy is the mean probability, by the posterior of Dawid-Skene over all people, of the checker's "
    "label."
)
CALIBRATION = (
    ("ece", "Expected calibration error, 10 bins"),
    ("brier", "Brier score, over all labels (0 to 2)"),
)
CHOSEN_OUT_OF_FOLD = (
    "At chance level, average precision equals the label's share. The threshold with the greatest F1 is chosen on four "
    "fifths of the {} and evaluated on the fifth, since choosing and evaluating it on the same units would be "
    "optimistic. The intervals do not include the uncertainty of that choice."
)


# ---- columns that several tables have ----


def test_columns(test: Callable[[Any], Significance | None] = lambda row: row) -> list[Column]:
    """A test's p value as it is, and adjusted for all of its kind that the page shows."""

    def p_value(row) -> str | float | None:
        outcome = test(row)
        return outcome and (f"undefined: {outcome.undefined}" if outcome.p_value is None else outcome.p_value)

    return [
        Column("p", p_value),
        Column("Holm", lambda row: (outcome := test(row)) and outcome.holm),
        Column("Benjamini-Hochberg", lambda row: (outcome := test(row)) and outcome.benjamini_hochberg),
        Column("Permutations", lambda row: (outcome := test(row)) and outcome.n_permutations),
    ]


def equivalence_columns(equivalent: Callable[[Any], Equivalent]) -> list[Column]:
    return [
        Column("Equivalent", lambda row: equivalent(row).verdict),
        Column("90 % interval, low", lambda row: equivalent(row).low),
        Column("90 % interval, high", lambda row: equivalent(row).high),
    ]


def about_equivalence(result: Comparison) -> str:
    return f"Equivalent: two one-sided tests find the difference below {result.margin:g}."


def about_family(result: Comparison, name: str) -> str:
    """What the adjusted p values were adjusted for."""
    n = result.families[name]
    return f"Adjusted for the {n} tests of this kind over all questions and checkers here." if n > 1 else ""


# ---- all questions ----


def questions(result: Comparison) -> Table:
    """The headline figures of each question, and what they rest on."""
    if not result.gives_labels:
        rows = [one for one in result.dimensions if one.correlations]
        named = enumerate(one.title for one in rows[0].correlations) if rows else ()
        return Table(
            QUESTIONS,
            [
                Column("Question", "title"),
                *(Column(name, lambda row, at=at: row.correlations[at], interval=True) for at, name in named),
                Column(
                    "n",
                    lambda row: row.correlations[0].n_pairable,
                    items=lambda row: Filter({f"{row.dimension}.score": "yes"}),
                ),
            ],
            rows,
        )
    return Table(
        QUESTIONS,
        [
            Column("Question", "title"),
            *(Column(title, name, interval=True) for name, title in MEASURES),
            Column("Always the most frequent label", lambda row: row.baseline and row.baseline.share),
            Column("n", "accuracy.n_pairable", items=lambda row: filters.compared(row.dimension)),
        ],
        result.dimensions,
    )


# ---- the run against people ----


def measures(result: Comparison, dimension: ComparedDimension) -> Table:
    """Rows are titles, figures, and which units the figure is of."""
    slug, rows, below = dimension.dimension, [], ""
    if result.gives_labels:
        rows += [(title, getattr(dimension, name), filters.compared(slug)) for name, title in MEASURES]
    scored = Filter({f"{slug}.score": "yes"})
    rows += [(f"{one.title} with {result.score}", one, scored) for one in dimension.correlations]
    if result.gives_labels and (unasked := dimension.with_unasked):
        rows += [
            (f"{one.title}, with {unasked.label} as a label", one, filters.with_unasked(slug))
            for one in unasked.figures
        ]
        below = (
            f"Rows with “{unasked.label}” count it as one more label. The others are over units where people and the "
            "checker both found that the question applies."
        )
    if (baseline := dimension.baseline) and baseline.test.p_value is not None:
        below = sentences(BASELINE.format(share=baseline.share, title=baseline.title, p=baseline.test.p_value), below)
    return Table(
        f"{dimension.title}: {checker_title(result.checker)} against people",
        [
            Column("Measure", lambda row: row[0]),
            Column("Value", lambda row: row[1], interval=True),
            Column("n", lambda row: row[1].n_pairable, items=lambda row: row[2]),
            Column("Left out", lambda row: row[1].left_out_words),
        ],
        rows,
        below,
    )


def per_label(dimension: ComparedDimension) -> Table:
    slug = dimension.dimension
    return Table(
        f"{dimension.title}: per label",
        [
            Column("Label", "title"),
            Column("Precision", "precision", interval=True),
            Column("Recall", "recall", interval=True),
            Column("F1", "f1", interval=True),
            Column("People", "support", items=lambda row: filters.said_by_people(slug, row.label)),
            Column("Checker", "predicted", items=lambda row: filters.said_by_checker(slug, row.label)),
        ],
        sorted(dimension.per_label, key=lambda row: -row.support)
        if len(dimension.per_label) > MOST_SHOWN_WHOLE
        else dimension.per_label,
    )


def confusion(dimension: ComparedDimension) -> Table:
    """Rows are a label of people and its counts."""

    def column(place: int) -> Column:
        label = dimension.labels[place]
        return Column(
            label.title,
            lambda row: row[1][place],
            items=lambda row: filters.of_cell(dimension.dimension, row[0].label, label.label),
        )

    places = shown_places(dimension.confusion)
    n, is_whole = len(dimension.labels), len(places) == len(dimension.labels)
    others = Column("Others", lambda row: sum(row[1]) - sum(row[1][place] for place in places))
    return Table(
        f"{dimension.title}: people (rows) and checker",
        [Column("People", lambda row: row[0].title), *map(column, places), *([] if is_whole else [others])],
        [(dimension.labels[place], dimension.confusion[place]) for place in places],
        folding_note(n),
    )


# ---- its probabilities ----


def probabilities(result: Comparison, dimension: ComparedDimension, measured: Probabilities) -> list[Table]:
    title, slug = dimension.title, dimension.dimension
    bins = [str(place) for place in range(len(measured.bins))]
    in_bins = Filter({f"{slug}.bin": tuple(bins)})
    return [
        Table(
            f"{title}: calibration",
            [
                Column("Measure", lambda row: row[1]),
                Column("Value", lambda row: getattr(measured, row[0]), interval=True),
                Column("n", lambda row: getattr(measured, row[0]).n_pairable, items=lambda row: in_bins),
                Column("Left out", lambda row: getattr(measured, row[0]).left_out_words),
            ],
            CALIBRATION,
        ),
        Table(
            f"{title}: reliability",
            [
                Column("Probability", lambda row: f"{row[1].low:.1f} to {row[1].high:.1f}"),
                Column("n", lambda row: row[1].n, items=lambda row: Filter({f"{slug}.bin": row[0]})),
                Column("Mean probability", lambda row: row[1].confidence),
                Column("Share correct", lambda row: row[1].accuracy, interval=True),
            ],
            list(zip(bins, measured.bins, strict=True)),
        ),
        Table(
            f"{title}: each label against the rest",
            [
                Column("Label", "title"),
                Column("Share", "share"),
                Column("ROC area", "roc_auc", interval=True),
                Column("Average precision", "average_precision", interval=True),
                Column("F1, out of fold", "f1", interval=True),
                Column("Accuracy, out of fold", "accuracy", interval=True),
                Column("Thresholds of the folds", lambda row: ", ".join(f"{one:g}" for one in row.chosen)),
            ],
            measured.labels,
            CHOSEN_OUT_OF_FOLD.format(clusters_of(result)[1]),
        ),
        *(_thresholds(dimension, row) for row in measured.labels),
    ]


def _thresholds(dimension: ComparedDimension, label: LabelProbabilities) -> Table:
    all_of = [one.threshold for one in label.thresholds]
    return Table(
        f"{dimension.title}: thresholds of {label.title}",
        [
            Column("Threshold", "threshold"),
            Column(
                "Taken",
                "n_taken",
                items=lambda row: filters.reaching(dimension.dimension, label.label, all_of, row.threshold),
            ),
            Column("Precision", "precision"),
            Column("Recall", "recall"),
            Column("F1", "f1"),
            Column("Accuracy", "accuracy"),
        ],
        # Without a reference no unit is taken at any of them.
        label.thresholds if any(row.n_taken for row in label.thresholds) else (),
    )


# ---- another run, and all other checkers ----


def versus(result: Comparison, dimension: ComparedDimension, figures: Versus) -> list[Table]:
    title, column = dimension.title, f"{dimension.dimension}.versus"
    run, other = checker_name(result), checker_name(result.other)
    only = [
        (f"only {run} is right", figures.n_only_run, filters.of_versus(column, "run")),
        (f"only {other} is right", figures.n_only_other, filters.of_versus(column, "other")),
    ]
    return [
        Table(
            f"{title}: {run} and {other} against the same people",
            [
                Column("Measure", "title"),
                Column("Run", "run"),
                Column("Other run", "other"),
                Column("Difference", lambda row: row, interval=True),
                *equivalence_columns(lambda row: row.equivalence),
                Column("n", "n_pairable", items=lambda row: filters.of_versus(column)),
                Column("Left out", "left_out_words"),
            ],
            figures.figures,
            sentences(
                f"Over units that people and both runs label{_untouched(result)}.",
                about_equivalence(result),
            ),
        ),
        Table(
            f"{title}: tests of the difference",
            [Column("Test", "name"), *test_columns()],
            figures.tests,
            sentences(MCNEMAR_SUPPOSES.format(clusters_of(result)[0]), about_family(result, "versus")),
        ),
        Table(
            f"{title}: units where one run alone is right",
            [Column("Units where", lambda row: row[0]), Column("n", lambda row: row[1], items=lambda row: row[2])],
            only,
        ),
    ]


def _untouched(result: Comparison) -> str:
    is_counted = result.reference in ("majority", FINAL) and not result.touched
    return "; only labels that neither of them touched count" if is_counted else ""


def rivals(result: Comparison, dimension: ComparedDimension) -> list[Table]:
    """The run against the newest run of every other checker, each over the same people; before it all at once."""
    others, run = dimension.rivals or [], checker_name(result)

    def shared(other: Rival) -> Filter:
        return filters.of_versus(f"{dimension.dimension}.rival.{other.run}")

    return [
        *_several(result, dimension),
        Table(
            f"{dimension.title}: {run} and every other checker",
            [
                Column("Other checker", lambda row: row[0].name),
                Column("Measure", lambda row: row[1].title),
                Column("Run", lambda row: row[1].run),
                Column("Other", lambda row: row[1].other),
                Column("Difference", lambda row: row[1], interval=True),
                *equivalence_columns(lambda row: row[1].equivalence),
                Column("n", lambda row: row[1].n_pairable, items=lambda row: shared(row[0])),
            ],
            [(other, figure) for other in others for figure in other.figures],
            about_equivalence(result),
        ),
        Table(
            f"{dimension.title}: tests of the differences from every other checker",
            [
                Column("Other checker", lambda row: row[0].name),
                Column("Test", lambda row: row[1].name),
                *test_columns(lambda row: row[1]),
            ],
            [(other, test) for other in others for test in other.tests],
            sentences(MCNEMAR_SUPPOSES.format(clusters_of(result)[0]), about_family(result, "rivals")),
        ),
    ]


def _several(result: Comparison, dimension: ComparedDimension) -> list[Table]:
    """Three checkers or more at once."""
    several = dimension.several
    if not several:
        return []
    right = ", ".join(f"{row.name} {row.n_right}" for row in several.runs)
    return [
        Table(
            f"{dimension.title}: {len(several.runs)} checkers at once, accuracy",
            [
                Column("Test", "name"),
                Column("Q", "statistic"),
                *test_columns(),
                Column("Units that only some label correctly", lambda row: several.n_discordant),
                Column(
                    "n",
                    lambda row: several.n_pairable,
                    items=lambda row: Filter({f"{dimension.dimension}.several": "yes"}),
                ),
            ],
            several.tests,
            sentences(
                SEVERAL_SUPPOSES.format(clusters_of(result)[1]),
                f"Right: {right}." if several.n_pairable else "",
                about_family(result, "several"),
            ),
        )
    ]


# ---- everybody who labels ----


def labellers(result: Comparison, dimension: ComparedDimension) -> list[Table]:
    """Every checker and person against the reference."""
    measured, slug = dimension.labellers, dimension.dimension
    if not measured:
        return []
    expected = {}
    if measured.posterior:
        ids = [row.id for row in measured.of_kind("checker")]
        expected = dict(zip(ids, measured.posterior.expected_accuracy, strict=True))
    return [
        Table(
            f"{dimension.title}: every checker and every person against {result.reference_title.lower()}",
            [
                Column("Labeller", rater_cell),
                Column("Kind", "kind"),
                Column("Accuracy", "accuracy", interval=True),
                Column("Macro-F1", "macro_f1", interval=True),
                *([Column(BY_MODEL, lambda row: expected.get(row.id), interval=True)] if measured.posterior else []),
                Column("n", "accuracy.n_pairable", items=lambda row: filters.against_reference(slug, row.id)),
            ],
            measured.labellers,
            _about_people(result, dimension),
        ),
        _with_people(result, dimension),
    ]


def against_people(dimension: ComparedDimension) -> Table | None:
    measured = dimension.labellers
    if not (measured and measured.against_people):
        return None
    return Table(
        f"{dimension.title}: every checker against every single person",
        [
            Column("Checker", lambda row: row[0].name),
            Column("Person", lambda row: rater_cell(row[1])),
            Column("Same label", lambda row: row[2], interval=True),
            Column(
                "n", lambda row: row[2].n_pairable, items=lambda row: filters.by_two(dimension, row[0].id, row[1].id)
            ),
        ],
        [
            (checker, person, cell)
            for checker, cells in zip(measured.of_kind("checker"), measured.against_people, strict=True)
            for person, cell in zip(measured.of_kind("person"), cells, strict=True)
        ],
    )


def _with_people(result: Comparison, dimension: ComparedDimension) -> Table:
    slug = dimension.dimension
    return Table(
        f"{dimension.title}: {checker_name(result)} and each person against {others_of(result)}",
        [
            Column("Person", rater_cell),
            Column(
                "n",
                "n_pairable",
                items=lambda row: Filter(
                    filters.against_reference(slug, row.id).units | filters.by_two(dimension, result.run).units
                ),
            ),
            Column("Accuracy of the checker", "checker"),
            Column("Of the person", "person"),
            Column("Only the checker right", "n_only_checker"),
            Column("Only the person right", "n_only_person"),
            *test_columns(lambda row: row.test)[:2],
        ],
        dimension.labellers.with_people,
        sentences(
            SAME_UNITS.format(clusters_of(result)[0]),
            "The decisions may be made of these people's labels, which are then closer to them."
            if not is_of_people(result)
            else "",
            about_family(result, "people"),
        ),
    )


def _about_people(result: Comparison, dimension: ComparedDimension) -> str:
    measured = dimension.labellers
    units = "Checkers are compared on the units that all of them label."
    return sentences(
        ("Each checker is measured on all units that it labels." if result.own_units else units)
        if len(measured.of_kind("checker")) > 1
        else "",
        f"A person is compared with {others_of(result)}, on the units that they labelled: another reference than the "
        "checkers', so these accuracies do not say who is better. The next table does."
        if is_of_people(result) and measured.people
        else "",
        EXPECTED if measured.posterior else "",
        f"{measured.n_people_not_listed} more people are not listed." if measured.n_people_not_listed else "",
    )
