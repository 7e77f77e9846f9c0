"""Tables of the report: rates of models, and checkers against people."""

from __future__ import annotations

from analysis.figures.items import COUNTED, COUNTS, Filter, where
from analysis.figures.page import Part
from analysis.figures.pictures import Axis, IntervalRow, Intervals, picture_name
from analysis.figures.results import Figure
from analysis.figures.tables import Column, Table
from analysis.papers.refchecker.result import (
    RULES,
    Accuracy,
    AnswersOfSetting,
    Granularity,
    MeasuredChecker,
    RankCorrelation,
    RatesByRule,
    RatesOfSetting,
    RefChecker,
)
from analysis.reports.words.numbers import n_of

MEAN = "mean of models"
MEAN_OF_SETTINGS = "mean of settings"
BOTH = ("same", "other")  # labelled by both sides
ANSWERS = "response"  # the column whose values a figure over answers counts
# A figure over answers, and which of them its items are: for an F1 those of its class by either side.
FACTUAL = {
    "people": ("both", "people"),
    "checker": ("both", "checker"),
    "differ": ("people", "checker"),
    "either": ("both", "people", "checker"),
    "not": ("people", "checker", "neither"),
}


def at(setting: str, model: str = "") -> dict:
    """Conditions on where an answer stands; of all settings or models where none is named."""
    return ({"setting": setting} if setting else {}) | ({"model": model} if model else {})


# ---- label rates of models ----


def rates_table(result: RefChecker, one: RatesOfSetting, rule: RatesByRule) -> Table:
    """Rows are models with their shares and their abstain rate, and the mean of models."""
    column = "people" if rule.rule == "soft" else rule.rule
    rows = [(row.model, row.shares, silent) for row, silent in zip(rule.models, one.abstained.models, strict=True)]
    rows.append((MEAN, rule.mean, one.abstained.mean))

    def here(row) -> dict:
        return at(one.setting, "" if row is rows[-1] else row[0])

    def n_counted(row) -> int:
        return rule.n_counted if row is rows[-1] else row[1][result.best.label].n_pairable

    def counted(row) -> Filter | None:
        which = "yes" if rule.rule == "soft" else tuple(label.label for label in result.labels)
        return where(n_counted(row), here(row) | {"soft" if rule.rule == "soft" else rule.rule: which})

    def share(label: str, title: str) -> Column:
        return Column(
            title,
            lambda row: row[1][label],
            interval=True,
            items=lambda row: where(row[1][label].estimate, here(row) | {column: label}),
            counts=None,
        )

    columns = [
        Column("Model", lambda row: row[0]),
        Column("Answers that count", n_counted, items=counted, counts=ANSWERS),
        *(share(label.label, label.title) for label in result.labels),
    ]
    if rule.rule == "soft":
        columns.append(
            Column(
                "Abstained",
                lambda row: row[2],
                interval=True,
                items=lambda row: where(row[2].estimate, here(row) | {"abstained": "yes"}),
                counts=None,
            )
        )
    words = f"{n_of(one.n_responses, 'answers')}, {_abstained(one, 'abstained')}"
    return Table(
        f"{one.setting}: label rates of models, {RULES[rule.rule]}",
        columns,
        rows,
        f"{words}, {rule.n_not_counted:,} without enough labels.",
    )


def _abstained(one: RatesOfSetting | AnswersOfSetting, words: str) -> str:
    """How many answers abstained, where a selection left them among the answers."""
    return "those that abstained left out" if one.n_abstained is None else f"{one.n_abstained:,} {words}"


def rates_picture(result: RefChecker, one: RatesOfSetting) -> Intervals | None:
    """Soft rates; None where no answer counts."""
    soft = one.rules[0]
    if not soft.n_counted:
        return None
    figures = [(row.model, label, row.shares[label.label]) for row in soft.models for label in result.labels]
    worst = ", ".join(f"{row.model} {row.shares[result.worst.label].estimate or 0:.1%}" for row in soft.models)
    return Intervals(
        name=picture_name("label-rates", one.setting),
        title=f"Label rates of models, {one.setting}",
        caption=(
            f"Mean over each model's answers of the share of {result.unit_words} with each label, "
            f"{result.project}, {one.setting}, {n_of(soft.n_counted, 'answers')}; 95 % bootstrap intervals "
            "over questions."
        ),
        alt=f"{result.worst.title} rate by model: {worst}.",
        items=tuple(
            IntervalRow.of_figure(
                model,
                figure,
                where(figure.estimate, at(one.setting, model) | {"people": label.label}),
                series=label.title,
            )
            for model, label, figure in figures
        ),
        values=Axis("Share", 0, 1),
        rows_title="Model",
        series_title="Label",
    )


# ---- checkers against people ----


def pieces_tables(result: RefChecker) -> list[Part]:
    """A row per checker and setting, and their mean; then what both say."""
    rows = []
    for number, one in enumerate(result.checkers):
        settings = one.pieces.settings
        rows += [(number, one, setting.setting, setting, setting.n_people, setting.n_differ) for setting in settings]
        if one.pieces.mean:
            sums = (sum(getattr(setting, name) for setting in settings) for name in ("n_people", "n_differ"))
            rows.append((number, one, "", one.pieces.mean, *sums))
    labels = tuple(label.label for label in result.labels)

    def of(row, column: str, values: tuple[str, ...]) -> dict:
        return at(row[2]) | {f"c{row[0]}.{column}": values}

    def both(row) -> Filter | None:
        return where(row[3].accuracy.n_pairable, of(row, "pieces", BOTH))

    columns = [
        Column("Checker", lambda row: row[1].title),
        Column("Setting", lambda row: row[2] or MEAN_OF_SETTINGS),
        Column("By both", lambda row: row[3].accuracy.n_pairable, items=both),
        Column("Differ", lambda row: row[5], items=lambda row: Filter(of(row, "pieces", ("other",)))),
        Column("By people", lambda row: row[4], items=lambda row: Filter(of(row, "people", labels))),
        Column(
            "All labels",
            lambda row: row[1].n_labels_all,
            items=lambda row: Filter(judgements=({COUNTS: COUNTED},)),
            counts=None,
        ),
        Column(
            "Untouched labels",
            lambda row: row[1].n_labels_untouched,
            items=lambda row: where(row[1].n_labels_untouched, {f"c{row[0]}.clean": "yes"}),
            counts=None,
        ),
        Column("Accuracy", lambda row: row[3].accuracy, interval=True, items=both),
        Column("Macro-F1", lambda row: row[3].macro_f1, interval=True, items=both),
    ]
    confusions = [
        _confusion(result, number, one, place)
        for number, one in enumerate(result.checkers)
        for place in range(len(one.pieces.settings))
    ]
    return [Table(f"Checkers against people, {result.unit_words}", columns, rows), *confusions]


def _confusion(result: RefChecker, number: int, one: MeasuredChecker, place: int) -> Table:
    setting = one.pieces.settings[place]

    def column(which: int) -> Column:
        label = result.labels[which]
        return Column(
            f"{label.title} by the checker",
            lambda row: row[1][which],
            items=lambda row: Filter(
                at(setting.setting) | {f"c{number}.people": row[0].label, f"c{number}": label.label}
            ),
        )

    return Table(
        f"{setting.setting}: labels by people and {one.title} of {result.unit_words}",
        [Column("People", lambda row: row[0].title), *map(column, range(len(result.labels)))],
        list(zip(result.labels, setting.confusion, strict=True)),
    )


def answers_tables(result: RefChecker) -> list[Part]:
    """Per setting, counts of answers and correlations of their shares, then accuracy."""
    if not result.checkers:
        return []
    left_out = f" Left out: {', '.join(result.without)}." if result.without else ""
    best = result.best.title.lower()
    tables: list[Part] = []
    for place, first in enumerate(result.checkers[0].answers):
        rows = [(number, one, one.answers[place]) for number, one in enumerate(result.checkers)]
        of = f"{n_of(first.n_responses, 'answers')}, {_abstained(first, f'of them without {result.unit_words}')}."
        tables += [
            Table(
                f"{first.setting}: checkers against people, answers",
                _count_columns(result),
                rows,
                f"Of {of} Factual: all {result.unit_words} are {best}. Correlations are of the shares that are not."
                f"{left_out}",
            ),
            Table(
                f"{first.setting}: checkers against people, accuracy over answers",
                _accuracy_columns(result),
                rows,
                f"Accuracy and F1 are of whether an answer is factual. Strict: of its worst label.{left_out}",
            ),
        ]
    return tables


def _compared(result: RefChecker, row, column: str, values: tuple[str, ...]) -> dict:
    """Answers that a figure over answers is of: those of the models that are left in."""
    number, _, figures = row
    models = next(one.models for one in result.rates if one.setting == figures.setting)
    kept = {"model": tuple(model for model in models if model not in result.without)} if result.without else {}
    return at(figures.setting) | kept | {f"c{number}.{column}": values}


def _count_columns(result: RefChecker) -> list[Column]:
    def factual(row, side: str) -> dict:
        return _compared(result, row, "factual", FACTUAL[side])

    def counted(title: str, name: str, side: str) -> Column:
        return Column(
            title, lambda row: getattr(row[2], name), items=lambda row: Filter(factual(row, side)), counts=ANSWERS
        )

    return [
        Column("Checker", lambda row: row[1].title),
        _answers_column(result),
        counted("Factual by people", "n_factual", "people"),
        counted("Factual by the checker", "n_predicted_factual", "checker"),
        counted("Factual by one only", "n_differ", "differ"),
        _over_answers(result, "Pearson", "pearson"),
        _over_answers(result, "Spearman", "spearman"),
    ]


def _accuracy_columns(result: RefChecker) -> list[Column]:
    def f1(title: str, name: str, side: str) -> Column:
        return Column(
            title,
            lambda row: getattr(row[2], name),
            interval=True,
            items=lambda row: (
                Filter(_compared(result, row, "factual", FACTUAL[side])) if getattr(row[2], name).is_defined else None
            ),
            counts=None,
        )

    return [
        Column("Checker", lambda row: row[1].title),
        _answers_column(result),
        _over_answers(result, "Accuracy", "accuracy"),
        f1("Factual F1", "factual_f1", "either"),
        f1("Non-factual F1", "non_factual_f1", "not"),
        Column(
            "Other worst label",
            lambda row: row[2].n_strict_differ,
            items=lambda row: Filter(_compared(result, row, "worst", ("other",))),
            counts=ANSWERS,
        ),
        _over_answers(result, "Strict accuracy", "strict_accuracy"),
        _over_answers(result, "Strict macro-F1", "strict_macro_f1"),
    ]


def _answers_column(result: RefChecker) -> Column:
    return Column(
        "Answers", lambda row: row[2].n, items=lambda row: Filter(_compared(result, row, "worst", BOTH)), counts=ANSWERS
    )


def _over_answers(result: RefChecker, title: str, name: str) -> Column:
    return Column(
        title,
        lambda row: getattr(row[2], name),
        interval=True,
        items=lambda row: where(getattr(row[2], name).n_pairable, _compared(result, row, "worst", BOTH)),
        counts=ANSWERS,
    )


# ---- rankings ----


def scored_table(result: RefChecker) -> Table:
    rows = [(one, setting) for one in result.scored for setting in one.settings]
    columns = [
        Column("Method", lambda row: row[0].title),
        Column("Setting", lambda row: row[1].setting),
        Column("Answers", lambda row: row[1].pearson.n_pairable),
        Column("Pearson", lambda row: row[1].pearson, interval=True),
        Column("Spearman", lambda row: row[1].spearman, interval=True),
    ]
    note = (
        f"Against the share of an answer's {result.unit_words} that people do not label "
        f"{result.best.title.lower()}; a score that is greater for better answers has a negative correlation. "
        "An answer's score is the mean of what the method gave its pieces. Intervals resample questions."
    )
    return Table("Scores of answers against people's hallucination rates", columns, rows, note)


def rankings_tables(result: RefChecker) -> list[Part]:
    if not result.checkers:
        return []
    rows: list[tuple[int, MeasuredChecker, str, str, Figure, RankCorrelation | None]] = []
    for number, one in enumerate(result.checkers):
        for ranking in one.rankings.settings:
            rows += [(number, one, ranking.setting, of.title, of.by_item, of) for of in ranking.labels]
        mean = one.rankings.mean or {}
        rows += [(number, one, "", label.title, mean[label.label], None) for label in result.labels if mean]
    columns = [
        Column("Checker", lambda row: row[1].title),
        Column("Setting", lambda row: row[2] or MEAN_OF_SETTINGS),
        Column("Models ranked by rate of", lambda row: row[3]),
        Column("Models", lambda row: row[5] and row[5].n_models),
        Column(
            "Spearman",
            lambda row: row[4],
            interval=True,
            items=lambda row: where(row[4].n_pairable, at(row[2]) | {f"c{row[0]}.worst": BOTH}),
            counts=None,
        ),
        Column("Spearman, other models too", lambda row: row[5] and row[5].by_both, interval=True),
        Column("p (permutation)", lambda row: row[5] and row[5].p_value),
        Column("p (Holm)", lambda row: row[5] and row[5].p_holm),
    ]
    note = (
        "System level. Intervals draw questions; those for other models too draw models and questions. Every order of "
        "up to seven models is tried for p; Holm's adjustment is over all tests of this table."
    )
    settings = [one.setting for one in result.checkers[0].rankings.settings]
    return [
        Table("Do checkers rank models as people do?", columns, rows, note),
        *(_ranks(result, place, setting) for place, setting in enumerate(settings)),
    ]


def _ranks(result: RefChecker, place: int, setting: str) -> Table:
    worst, labels = result.worst.label, tuple(label.label for label in result.labels)
    rows = [
        (number, one, row, row[worst])
        for number, one in enumerate(result.checkers)
        for row in one.rankings.settings[place].models
    ]

    def compared(row, **codes: str | tuple[str, ...]) -> dict:
        """Answers that both label in full, and what `people` and the `checker` say of their pieces."""
        columns = {"people": f"c{row[0]}.people", "checker": f"c{row[0]}"}
        of = {columns[who]: label for who, label in codes.items()}
        return at(setting, row[2]["model"]) | {f"c{row[0]}.worst": BOTH} | of

    columns = [
        Column("Checker", lambda row: row[1].title),
        Column("Model", lambda row: row[2]["model"]),
        Column("Answers", lambda row: row[2]["n"], items=lambda row: Filter(compared(row)), counts=ANSWERS),
        Column(
            "By people",
            lambda row: row[3].people,
            interval=True,
            items=lambda row: where(row[3].people.estimate, compared(row, people=worst)),
            counts=None,
        ),
        Column("Rank", lambda row: row[3].people_rank),
        Column(
            "By the checker",
            lambda row: row[3].checker,
            interval=True,
            items=lambda row: where(row[3].checker.estimate, compared(row, people=labels, checker=worst)),
            counts=None,
        ),
        Column("Rank by the checker", lambda row: row[3].checker_rank),
    ]
    return Table(
        f"{setting}: models by {result.worst.title.lower()} rate, the lowest first",
        columns,
        rows,
        "A rate that is the same in all resamples has no interval.",
    )


# ---- granularity ----


def granularity_table(result: RefChecker) -> Table:
    """Rows of this project's checkers, in their order, and then those of the other project's."""
    rows: list[tuple[str, Granularity, str, Accuracy, int]] = []
    for number, one in enumerate(result.granularity):
        n_here = len(result.checkers)
        column = f"c{number}.worst" if number < n_here else f"other{number - n_here}.worst"
        rows += [(column, one, setting.setting, setting, setting.n_differ) for setting in one.settings]
        if one.mean:
            rows.append((column, one, "", one.mean, sum(setting.n_differ for setting in one.settings)))

    def every(row) -> Filter | None:
        return where(row[3].macro_f1.n_pairable, at(row[2]) | {row[0]: BOTH})

    columns = [
        Column("Pieces", lambda row: row[1].pieces),
        Column("Checker", lambda row: row[1].checker),
        Column("Setting", lambda row: row[2] or MEAN_OF_SETTINGS),
        Column("Answers", lambda row: row[3].macro_f1.n_pairable, items=every, counts=ANSWERS),
        Column("Differ", lambda row: row[4], items=lambda row: Filter(at(row[2]) | {row[0]: "other"}), counts=ANSWERS),
        Column("Accuracy", lambda row: row[3].accuracy, interval=True, items=every, counts=ANSWERS),
        Column("Macro-F1", lambda row: row[3].macro_f1, interval=True, items=every, counts=ANSWERS),
    ]
    note = f"An answer has the worst label among its pieces. People's are from {result.unit_words}."
    return Table("Granularity: answers by the worst label among their pieces", columns, rows, note)
