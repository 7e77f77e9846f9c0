"""The tables of the report on DRUID's analyses."""

from __future__ import annotations

from analysis.figures.items import Filter, where
from analysis.figures.page import Part
from analysis.figures.tables import Column, Table
from analysis.papers.druid.result import (
    ANSWERS,
    DECIDED,
    SHARE,
    AnswerCounts,
    CharacteristicsOfGroup,
    Druid,
    EvidenceLabel,
    EvidenceLabels,
    EvidenceOfSource,
    MeasuredCharacteristic,
    ModelUsage,
    PairMean,
    ShiftsOfStance,
)
from analysis.reports.words.numbers import n_of
from analysis.sources.splits import name_split, split_heading, split_in

CLAIMS = "claim"  # the column whose values a figure over claims counts
SIGNS = {1: "+", -1: "-"}
DEFINED, UNDEFINED = "defined", "undefined"
SHOWN_AS = {answer: answer.capitalize() for answer in ANSWERS}


def in_group(result: Druid, by: str, group: str) -> dict:
    """Conditions on the pairs of a stance or of a source; none on all."""
    return {} if by == "all" else {result.stance if by == "stance" else "source": group}


def of_stance(result: Druid, model: ModelUsage, stance: str) -> dict:
    """Conditions on the pairs of a row; the first is of all relevant evidence."""
    return {result.stance: stance or model.relevant}


# ---- claims, evidence, labels ----


def sources_table(result: Druid) -> Table:
    split, unlisted = split_in(result.made_from), result.content.n_sources_not_listed

    def alpha(place: int, name: str) -> Column:
        return Column(
            f"Alpha, {name}",
            lambda row: row.alpha[place],
            interval=True,
            items=lambda row: where(row.alpha[place].n_pairable, _under(row) | {f"pairable.{name}": "yes"}),
        )

    gold = Column("Gold evidence", "n_gold", items=lambda row: Filter(_under(row) | {"gold": "yes"}))
    return Table(
        f"Claims and evidence by {name_split(split)} (tables 1 and 2)",
        [
            *_source_columns(result),
            Column("Pairs", "n_pairs", items=lambda row: Filter(_under(row))),
            *([gold] if result.content.sources[0].n_gold is not None else []),
            Column("Pairs per claim", lambda row: row.n_pairs / row.n_claims if row.n_claims else None),
            *(alpha(place, name) for place, name in enumerate(result.content.metrics)),
        ],
        result.content.sources,
        f"{unlisted} further {'groups' if split else 'sources'} are in the first row only." if unlisted else "",
    )


def _source_columns(result: Druid) -> list[Column]:
    return [
        Column(split_heading(split_in(result.made_from)), lambda row: row.source or "all"),
        Column("Claims", "n_claims", items=lambda row: Filter(_under(row)), counts=CLAIMS),
    ]


def _under(row: EvidenceOfSource) -> dict:
    return {"source": row.source} if row.source else {}


def conflicts_table(result: Druid) -> Table:
    def of_claims(row: EvidenceOfSource, column: str) -> Filter:
        return Filter(({f"of.{row.source}": "yes"} if row.source else {}) | {column: "yes"})

    return Table(
        f"Claims with conflicting evidence by {name_split(split_in(result.made_from))} (table 3)",
        [
            *_source_columns(result),
            Column(
                "With two stances or more",
                "n_claims_with_both",
                items=lambda row: of_claims(row, "several"),
                counts=CLAIMS,
            ),
            Column("In conflict", "conflicts.n", items=lambda row: of_claims(row, "conflict"), counts=CLAIMS),
            Column(
                "Share",
                "conflicts",
                interval=True,
                items=lambda row: of_claims(row, "several") if row.conflicts.is_defined else None,
                counts=None,
            ),
        ],
        result.content.sources,
        "In conflict: one piece of evidence supports the claim and another refutes it. The share is of claims "
        "with at least two pieces of evidence that have a stance.",
    )


def verdicts_table(result: Druid) -> Table:
    unlisted = result.content.n_verdicts_not_listed
    return Table(
        "Claims by verdict",
        [
            Column("Verdict", lambda row: row.verdict or "none"),
            Column("Claims", "n_claims", items=lambda row: Filter({"verdict": row.verdict}), counts=CLAIMS),
        ],
        result.content.verdicts,
        f"{unlisted} further verdicts." if unlisted else "",
    )


def labels_tables(result: Druid, one: EvidenceLabels) -> list[Table]:
    """Rows of labels, and of reasons why there is none; and sources with how many pairs have each label."""
    slug, split = one.dimension, split_in(result.made_from)
    rows = [(row.label, row.title, row.n, row.share) for row in one.labels]
    rows += [(row.reason, f"no label: {row.title}", row.n, None) for row in one.without]

    def with_label(label: EvidenceLabel) -> Column:
        return Column(
            label.title,
            lambda row: label.by_source[row[0]],
            items=lambda row: Filter({slug: label.label, "source": row[1]}),
        )

    return [
        Table(
            f"{one.title} of evidence (tables 8 and 9)",
            [
                Column("Label", lambda row: row[1]),
                Column("Pairs", lambda row: row[2], items=lambda row: Filter({slug: row[0]})),
                Column("Share", lambda row: row[3], interval=True),
            ],
            rows,
            f"{result.reference_title}. Shares are of the pairs that have a label.",
        ),
        Table(
            f"{one.title} of evidence by {name_split(split)}: pairs with each label",
            [Column(split_heading(split), lambda row: row[1]), *map(with_label, one.labels)],
            list(enumerate(row.source for row in result.content.sources if row.source)),
        ),
    ]


# ---- characteristics ----


def _mean_columns(cell, here) -> list[Column]:
    """`cell` gives a row's mean; `here` conditions on its pairs and the characteristic, or None where these are
    of another project."""

    def opens(row, state: str) -> Filter | None:
        condition = here(row)
        return condition and Filter(condition[0] | {f"value.{condition[1]}": state})

    def defined(row) -> Filter | None:
        return opens(row, DEFINED) if cell(row).n else None

    def undefined(row) -> int | None:
        return None if cell(row) is NOT_MEASURED else cell(row).n_undefined

    return [
        Column("Mean", cell, interval=True, items=defined),
        Column("SD", lambda row: cell(row).sd, items=defined, counts=None),
        Column("Pairs", lambda row: cell(row).n, items=defined),
        Column("Undefined", undefined, items=lambda row: opens(row, UNDEFINED)),
    ]


def characteristics_tables(result: Druid) -> list[Part]:
    described = result.described
    if not described:
        return []
    split = split_in(result.made_from)
    shares = ", ".join(one.title.lower() for one in described.columns if one.scale == SHARE)

    def rows_of(by: str) -> list[tuple[MeasuredCharacteristic, CharacteristicsOfGroup, PairMean]]:
        return [
            (one, group, group.cells[place])
            for place, one in enumerate(described.columns)
            for group in described.of(by)
            if group.n or by == "all"
        ]

    name = Column("Characteristic", lambda row: row[0].title)
    means = _mean_columns(lambda row: row[2], lambda row: (in_group(result, row[1].by, row[1].group), row[0].key))
    tables: list[Part] = [
        Table(
            "Characteristics of evidence (table 10)",
            [name, *means, Column("Measured by", lambda row: row[0].checker)],
            rows_of("all"),
            f"Means of characteristics that are 0 or 1 are shares of pairs: {shares}." if shares else "",
        )
    ]
    for by, heading, words in (("stance", "Stance", "stance"), ("source", split_heading(split), name_split(split))):
        if len(described.of(by)) > 1:
            titles = result.titles if by == "stance" else {}
            group = Column(heading, lambda row, titles=titles: titles.get(row[1].group, row[1].group))
            tables.append(Table(f"Characteristics of evidence by {words}", [name, group, *means], rows_of(by)))
    return tables


def compared_tables(result: Druid) -> list[Part]:
    titles = dict.fromkeys(one.title for data in result.beside for one in data.characteristics)
    rows = [
        (title, data, next((one for one in data.characteristics if one.title == title), None))
        for title in titles
        for data in result.beside
    ]

    def here(row) -> tuple[dict, str] | None:
        """Only pairs of this project can be opened."""
        return ({}, result.described.key_of(row[0])) if row[2] and row[1].project == result.project else None

    note = "; ".join(
        f"{data.title}: {n_of(data.n_pairs, 'pairs')}, {n_of(data.n_claims, 'claims')}" for data in result.beside
    )
    return [
        Table(
            "Characteristics of several data sets side by side (figure 2)",
            [
                Column("Characteristic", lambda row: row[0]),
                Column("Data", lambda row: row[1].title),
                *_mean_columns(lambda row: row[2] or NOT_MEASURED, here),
            ],
            rows,
            f"{note}.",
        )
    ]


NOT_MEASURED = PairMean(
    estimate=None, undefined="not measured", sd=None, n=0, n_clusters=0, n_undefined=0, no_interval="", note=""
)


# ---- use of evidence ----


def usage_tables(result: Druid) -> list[Part]:
    if not result.usage:
        return []
    models = result.usage.models
    rows = [(number, model, row) for number, model in enumerate(models) for row in model.stances]
    differences = [(one, row) for one in result.usage.differences for row in one.rows]
    reasons = [(number, model, row) for number, model in enumerate(models) for row in model.undefined]
    numbers = {model.model: number for number, model in enumerate(models)}

    def here(row, **conditions: str) -> dict:
        """Conditions on the pairs of a row; names stand for columns of its model."""
        of_model = {name.format(row[0]): value for name, value in conditions.items()}
        return of_stance(result, row[1], row[2].stance) | of_model

    def used(row) -> Filter | None:
        return where(row[2].acu_mean.n, here(row) | {f"usage{row[0]}": DEFINED})

    def unused(row) -> Filter:
        return Filter(here(row) | {f"usage{row[0]}": tuple(one.reason for one in row[1].undefined)})

    def mean(title: str, name: str, items) -> list[Column]:
        return [
            Column(title, lambda row: getattr(row[2], name), interval=True, items=items),
            Column(f"{title}, SD", lambda row: getattr(row[2], name).sd, items=items, counts=None),
        ]

    def change(answer: str) -> list[Column]:
        name = f"dp_{answer}"
        return mean(
            f"dP({SHOWN_AS[answer]})",
            name,
            lambda row: where(getattr(row[2], name).n, here(row) | {f"change{row[0]}.{answer}": "yes"}),
        )

    def both(row) -> Filter | None:
        one, of = row
        first, second = (numbers[name] for name in (one.a, one.b))
        conditions = of_stance(result, models[first], of.stance)
        return where(of.acu_mean.n, conditions | {f"usage{place}": DEFINED for place in (first, second)})

    model_and_stance = [
        Column("Model", lambda row: row[1].model),
        Column("Stance", lambda row: result.titles[row[2].stance]),
    ]
    pairs = Column("Pairs", lambda row: row[2].acu_mean.n, items=used)
    return [
        Table(
            "Accumulated context usage by stance (table 11, figure 3)",
            [
                *model_and_stance,
                *mean("acu_mean", "acu_mean", used),
                *mean("acu_sum", "acu_sum", used),
                pairs,
                Column("Undefined", lambda row: row[2].acu_mean.n_undefined, items=unused),
            ],
            rows,
            "acu_mean is the mean of three signed changes (-1 to 1), as the paper defines it; acu_sum is their sum (-3 "
            "to 3), as its tables print it. Below 0 a model moves away from what the evidence says.",
        ),
        Table(
            "Difference of context usage between models, on the same pairs",
            [
                Column("Model", lambda row: row[0].a),
                Column("minus", lambda row: row[0].b),
                Column("Stance", lambda row: result.titles[row[1].stance]),
                Column("acu_mean", lambda row: row[1].acu_mean, interval=True, items=both),
                Column("acu_sum", lambda row: row[1].acu_sum, interval=True, items=both),
                Column("Pairs", lambda row: row[1].acu_mean.n, items=both),
            ],
            differences,
        ),
        Table(
            "Change of probabilities when evidence is given, by stance (table 22)",
            [
                *model_and_stance,
                Column("Desired: False, None, True", lambda row: _signs(row[2].desired)),
                *(change(answer)[0] for answer in ANSWERS),
                pairs,
            ],
            rows,
        ),
        Table(
            "Standard deviation of these changes (table 22)",
            [*model_and_stance, *(change(answer)[1] for answer in ANSWERS)],
            rows,
        ),
        Table(
            "Pairs without context usage",
            [
                Column("Model", lambda row: row[1].model),
                Column("Reason", lambda row: row[2].reason),
                Column("Pairs", lambda row: row[2].n, items=lambda row: Filter({f"usage{row[0]}": row[2].reason})),
            ],
            reasons,
        ),
    ]


def _signs(desired: list[int] | None) -> str:
    return " ".join(SIGNS[sign] for sign in desired) if desired else ""


# ---- answers without and with the evidence ----


class AnswerRow:
    """Answers of a model to evidence of a stance, or of several that a row of the paper has together."""

    def __init__(self, result: Druid, number: int, model: ModelUsage, counts: AnswerCounts) -> None:
        self.number, self.model, self.counts = number, model, counts
        self.stances = (counts.stance,) if isinstance(counts, ShiftsOfStance) else tuple(counts.stances)
        self.means = next((row for row in model.stances if (row.stance,) == self.stances), None)
        self.here = {result.stance: self.stances}

    @property
    def signs(self) -> dict[str, int]:
        """Rows of several stances are counted as if all wanted what the last one does."""
        return dict(zip(ANSWERS, self.model.desired(self.stances[-1]), strict=True))

    def opens(self, n: int, column: str, values: tuple[str, ...]) -> Filter | None:
        return where(n, self.here | {f"{column}{self.number}": values})

    def everything(self) -> Filter | None:
        return self.opens(self.counts.n, "after", ANSWERS)

    def moves(self, is_one) -> Filter | None:
        """Those whose answers without and with the evidence make such a move."""
        rows = [row for row in self.model.shifts.rows if row.stance in self.stances]
        values = tuple(
            f"{before} to {after}"
            for i, before in enumerate(ANSWERS)
            for j, after in enumerate(ANSWERS)
            if is_one(before, after) and any(row.transitions[i][j] for row in rows)
        )
        return self.opens(len(values), "shift", values)

    def conflicts(self) -> Filter | None:
        """Those with the answer that the evidence opposes; rows of several stances have none of them."""
        opposed = next((DECIDED[stance] for stance in self.stances if stance in DECIDED), "")
        return self.moves(lambda before, after: before == opposed) if opposed else None


def shifts_tables(result: Druid) -> list[Part]:
    models = result.usage.models if result.usage else []

    def rows_of(name: str) -> list[AnswerRow]:
        return [
            AnswerRow(result, number, model, counts)
            for number, model in enumerate(models)
            for counts in getattr(model.shifts, name)
        ]

    model_and_stance = [
        Column("Model", "model.model"),
        Column("Stance", lambda row: result.titles[row.stances[0]]),
        Column("Desired: False, None, True", lambda row: _signs(row.counts.desired)),
    ]
    counts = [
        Column("Pairs", "counts.n", items=AnswerRow.everything),
        *(column for place, answer in enumerate(ANSWERS) for column in _answer_columns(place, answer)),
    ]
    moves = Column(
        "Desired moves",
        "counts.desired_moves",
        items=lambda row: row.moves(lambda before, after: row.signs[before] != row.signs[after]),
        counts=None,
        net=True,
    )
    return [
        Table(
            "Answers with evidence, and the change against none, by stance (table 21)",
            [*model_and_stance, *counts],
            rows_of("rows"),
            "The answer is the most probable one.",
        ),
        Table(
            "Desired moves and memory conflicts, by stance (table 21)",
            [
                *model_and_stance,
                moves,
                Column("per pair", "means.desired_move", interval=True, items=AnswerRow.everything),
                Column("Memory conflicts", "counts.memory_conflicts", items=AnswerRow.conflicts),
                Column(
                    "Share",
                    "means.memory_conflict",
                    interval=True,
                    items=lambda row: row.opens(row.means.memory_conflict.n, "before", ANSWERS),
                ),
            ],
            rows_of("rows"),
            "Desired moves: changes towards desired answers minus changes towards others. In a memory conflict the "
            "answer without evidence is decided and the evidence opposes it.",
        ),
        Table(
            "The same in the three rows of the paper's table 21",
            [
                model_and_stance[0],
                Column("Evidence", lambda row: ", ".join(result.titles[one] for one in row.stances)),
                *counts,
                moves,
                Column(
                    "Memory conflicts, share",
                    "counts.memory_conflict",
                    interval=True,
                    items=lambda row: row.conflicts() if row.counts.memory_conflicts else None,
                    counts=None,
                ),
            ],
            rows_of("paper"),
            "The middle row leaves out evidence that leans in favour, as the paper's does; its evidence is not "
            "decided, so that it opposes nothing.",
        ),
    ]


def _answer_columns(place: int, answer: str) -> list[Column]:
    """How many pairs have an answer with the evidence, and how many more than without it."""
    title = SHOWN_AS[answer]
    return [
        Column(
            title,
            lambda row: row.counts.after[place],
            items=lambda row: row.opens(row.counts.after[place], "after", (answer,)),
        ),
        Column(
            f"{title}, change",
            lambda row: row.counts.change[place],
            items=lambda row: row.moves(lambda before, after: (before == answer) != (after == answer)),
            counts=None,
            net=True,
        ),
    ]


# ---- what goes with the use of evidence ----


def correlations_tables(result: Druid, place: int) -> list[Part]:
    correlations = result.correlations[place]

    def both(row) -> Filter | None:
        return correlated(result, place, row.stance, row.feature, row.n)

    def table(title: str, name: str) -> Table:
        return Table(
            f"{title} correlation of characteristics with context usage, {correlations.model} (figure 4)",
            [
                Column("Stance", lambda row: result.titles[row.stance]),
                Column("Characteristic", "feature"),
                Column("Pairs", "n", items=both),
                Column("Claims", "n_clusters", items=both, counts=CLAIMS),
                Column(title, lambda row: getattr(row, name), interval=True, items=both, counts=None),
                Column("p", lambda row: _p_value(getattr(row, name))),
                Column("p by Holm", lambda row: getattr(row, name).p_holm),
                Column("p by Benjamini-Hochberg", lambda row: getattr(row, name).p_bh),
                Column("p, pairs treated as independent", lambda row: getattr(row, name).p_units),
            ],
            correlations.rows,
            f"Corrected for {n_of(correlations.n_tests[name], 'tests')}.",
        )

    return [table("Spearman", "spearman"), table("Pearson", "pearson")]


def correlated(result: Druid, place: int, stance: str, feature: str, n: int) -> Filter | None:
    """Pairs of a stance with the characteristic and with context usage of the model at this place."""
    key = result.described.key_of(feature)
    return where(n, {result.stance: stance, f"usage{place}": DEFINED, f"value.{key}": DEFINED})


def _p_value(cell) -> float | str | None:
    return f"undefined: {cell.no_p_value}" if cell.no_p_value else cell.p_value
