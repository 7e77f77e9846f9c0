"""The verdict on a judge as sentences and tables: for the terminal, as JSON, and as one page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from html import escape

from analysis.judge import verdict
from analysis.judge.peers import Gap
from analysis.judge.slices import Slice, SliceDifference, SliceShare
from analysis.judge.verdict import FEW_CLUSTERS, JudgedColumn, LabelVerdict, Rate

SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Answered:
    """One judge with what was asked about it."""

    judgement: JudgedColumn
    humans: tuple[str, ...]
    n_ties: int
    level_note: str  # of a level that nobody chose
    repeats: dict[str, Rate]
    swaps: dict[str, Rate]
    by: str = ""
    slices: tuple[Slice, ...] = ()
    differences: tuple[SliceDifference, ...] = ()

    def __str__(self) -> str:
        return sentence(self)


@dataclass(frozen=True)
class TextTable:
    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str = ""


def number(value: float, digits: int = 3) -> str:
    return "undefined" if math.isnan(value) else f"{value:.{digits}f}"


def with_ends(value: float, low: float, high: float, reason: str = "") -> str:
    ends = f" [{number(low)}, {number(high)}]" if not math.isnan(low) else f" ({reason})" if reason else ""
    return number(value) + ends


def rate(one: Rate | Gap) -> str:
    if isinstance(one, Gap) and one.n:
        return f"{number(one.judge)}, people's {number(one.people)}, difference {difference(one)}"
    return with_ends(one.value, one.low, one.high, one.reason) if one.n else one.reason


def difference(one: Gap) -> str:
    return with_ends(one.value, one.low, one.high, one.reason) if one.n else one.reason


def sentence(answered: Answered) -> str:
    """The verdict first, as a reader would repeat it."""
    one = answered.judgement
    if not one.n:
        return f"{one.judge}: no row has a label of the judge and of people, so there is no verdict."
    kappa = with_ends(one.kappa.estimate, one.kappa_interval.low, one.kappa_interval.high, one.kappa.undefined)
    if not one.is_above_chance:
        why = f"it is not shown to agree with people beyond chance (Cohen's kappa {kappa})"
        return f"{one.judge} is usable for no label: {why}."
    parts = []
    if usable := one.of_verdict(verdict.USABLE):
        peers = ", where it is as close to people as they are to each other" if one.has_peers else ""
        parts.append("usable for " + _listed(f"“{each.label}”" for each in usable) + peers)
    if bad := one.of_verdict(verdict.NOT_USABLE):
        parts.append("not usable for " + _listed(f"“{each.label}” ({_weakest(each)})" for each in bad))
    if undecided := one.of_verdict(verdict.UNDECIDED):
        parts.append(
            "undecided for " + _listed(f"“{each.label}” ({_decided_by(each, one.n_clusters)})" for each in undecided)
        )
    if unknown := one.of_verdict(verdict.UNKNOWN):
        parts.append("of unknown use for " + _listed(f"“{each.label}”" for each in unknown))
    return f"{one.judge} is {'; '.join(parts)}."


def slices_in_words(answered: Answered) -> list[str]:
    """Which values of the column of --by differ; empty without that column."""
    shown = [one for one in answered.differences if one.p < SIGNIFICANT]
    if answered.differences and not shown:
        return [f"No difference between values of {answered.by} is shown: every adjusted p is {SIGNIFICANT} or more."]
    return [
        f"“{one.label}” is {'more' if one.estimate > 0 else 'less'} common with {answered.by} {one.a} than with "
        f"{one.b}, by {with_ends(one.estimate, one.low, one.high)}, corrected by people's labels."
        for one in shown
    ]


def rule(answered: Answered) -> str:
    one = answered.judgement
    if one.has_peers:
        return (
            "Rule: the judge and the other people are compared with the same person on the same rows. Usable for a "
            "label where the 95 % intervals of the differences in sensitivity and specificity lie above "
            f"−{one.bound:g} (--margin), not usable where one lies below, and only if Cohen's kappa is above 0. "
            f"n = {one.n_ruled:,} of {one.columns.n_rows:,} rows have a label of the judge and of two people or more."
        )
    return (
        "Rule: usable for a label where the 95 % intervals of sensitivity and specificity lie above "
        f"{one.bound:g} (--floor), not usable where one of them lies below, and only if Cohen's kappa is above 0. "
        f"n = {one.n:,} of {one.columns.n_rows:,} rows have a label of both."
    )


def level_words(answered: Answered) -> str:
    """How numbers were taken where nobody chose; empty without."""
    return f"Labels: {answered.level_note}." if answered.level_note else ""


def caution(answered: Answered) -> str:
    """The warning about intervals of few clusters; empty if none is needed."""
    n = answered.judgement.n_clusters
    if n is None or n >= FEW_CLUSTERS:
        return ""
    return f"Caution: only {n} cluster{'' if n == 1 else 's'}, the intervals may be too narrow."


def _listed(parts) -> str:
    *first, last = list(parts)
    return f"{', '.join(first)} and {last}" if first else last


def _weakest(one: LabelVerdict) -> str:
    name, of = min((("sensitivity", one.sensitivity), ("specificity", one.specificity)), key=lambda each: each[1].high)
    return f"{name} {rate(of)}"


def _decided_by(one: LabelVerdict, n_clusters: int | None) -> str:
    if one.n_more is None:
        return f"its {one.open} is too near the floor for any number of rows to decide soon"
    which = "with" if one.open == "sensitivity" else "without"
    where = "" if n_clusters is None else ", in other clusters,"
    return f"about {one.n_more:,} more labelled row{'' if one.n_more == 1 else 's'} {which} it{where} would decide"


# ---- tables ----


def tables(answered: Answered) -> Iterator[TextTable]:
    one = answered.judgement
    if not one.n:
        return
    yield _by_label(one)
    title = f"{one.judge}: all labels together" + (", against the plurality of people" if one.has_peers else "")
    yield TextTable(title, ("Measure", "Value"), list(_overall(one)))
    matrix = one.figures.confusion
    yield TextTable(
        f"{one.judge}: confusion (rows: people, columns: {one.judge})",
        ("People", *one.columns.labels),
        [
            (label, *(f"{n:,}" for n in row.tolist()))
            for label, row in zip(one.columns.labels, matrix, strict=True)
            if row.sum()
        ],
    )
    if one.has_rows_of_its_own:
        yield TextTable(
            f"{one.judge}: how common each label is",
            ("Label", "By the judge", "Corrected by people's labels"),
            [(each.label, number(each.raw), _corrected(each)) for each in one.prevalences],
            "Prediction-powered; assumes that people labelled a random sample of the rows.",
        )
    if answered.slices:
        yield from _by_slice(answered)
    if answered.repeats:
        yield _changes(f"{one.judge}: repeated runs", "Run", answered.repeats)
    if answered.swaps:
        yield _changes(f"{one.judge}: order swapped", "Column", answered.swaps)
    for column in answered.swaps:
        yield _shifts(one, column)
    if (test := verdict.stands_in(one, answered.humans)) is not None:
        yield _alternative(one, test)


def _by_label(one: JudgedColumn) -> TextTable:
    title = f"{one.judge}: by label"
    if not one.has_peers:
        head = ("Label", "Verdict", "Sensitivity", "n", "Specificity", "n")
        cells = [((rate(each.sensitivity),), (rate(each.specificity),)) for each in one.labels]
    else:
        head = ("Label", "Verdict", "Sensitivity", "of people", "Difference", "n")
        head += ("Specificity", "of people", "Difference", "n")
        cells = [
            tuple((number(of.judge), number(of.people), difference(of)) for of in (each.sensitivity, each.specificity))
            for each in one.labels
        ]
    rows = [
        (each.label, each.verdict, *sensitivity, f"{each.sensitivity.n:,}", *specificity, f"{each.specificity.n:,}")
        for each, (sensitivity, specificity) in zip(one.labels, cells, strict=True)
    ]
    return TextTable(title, head, rows)


def _by_slice(answered: Answered) -> Iterator[TextTable]:
    judge = answered.judgement.judge
    yield TextTable(
        f"{judge}: by {answered.by}",
        (answered.by, "Rows", "Accuracy", "n"),
        [(one.value, f"{one.n_rows:,}", rate(one.accuracy), f"{one.accuracy.n:,}") for one in answered.slices],
    )
    yield TextTable(
        f"{judge}: how common each label is, by {answered.by}",
        ("Label", answered.by, "By the judge", "Corrected by people's labels"),
        [
            (share.label, one.value, number(share.raw), _corrected(share))
            for shares in zip(*(one.shares for one in answered.slices), strict=True)
            for one, share in zip(answered.slices, shares, strict=True)
        ],
        "Prediction-powered; assumes that people labelled a random sample of the rows.",
    )
    yield TextTable(
        f"{judge}: differences between values of {answered.by}",
        ("Label", "Between", "Difference", "p (Holm)"),
        [
            (
                one.label,
                f"{one.a} − {one.b}",
                with_ends(one.estimate, one.low, one.high),
                _p_value(one.p, one.undefined),
            )
            for one in answered.differences
        ],
        "Of corrected shares. Rows of one cluster are compared within it.",
    )


def _overall(one: JudgedColumn) -> Iterator[tuple[str, str]]:
    yield (
        "Cohen's kappa" + (", quadratic weights" if one.weights else ""),
        with_ends(one.kappa.estimate, one.kappa_interval.low, one.kappa_interval.high, one.kappa.undefined),
    )
    yield "Accuracy", with_ends(one.figures.accuracy.estimate, one.accuracy.low, one.accuracy.high)
    yield "Accuracy of people's most frequent label", number(one.majority_share)
    for title, estimate in (("Balanced accuracy", one.figures.balanced_accuracy), ("Macro-F1", one.figures.macro_f1)):
        interval = estimate.confidence_interval(verdict.RESAMPLES)
        yield title, with_ends(estimate.estimate, interval.low, interval.high, estimate.undefined)


def _corrected(one: verdict.CorrectedPrevalence | SliceShare) -> str:
    return one.undefined or with_ends(one.corrected, one.low, one.high)


def _changes(title: str, name: str, shares: dict[str, Rate]) -> TextTable:
    rows = [(column, rate(share), f"{share.n:,}") for column, share in shares.items()]
    return TextTable(title, (name, "Share of rows with another label", "n"), rows)


def _shifts(one: JudgedColumn, column: str) -> TextTable:
    rows = [
        (each.label, number(each.share), number(each.share_swapped), f"{each.n_lost:,}", f"{each.n_gained:,}")
        + (_p_value(each.p, "no row changes"),)
        for each in verdict.shifts(one.columns, one.judge, column)
    ]
    return TextTable(
        f"{one.judge}: does the order favour a label? ({column})",
        ("Label", "Share", "Share, swapped", "Rows that lose it", "Rows that gain it", "p (McNemar)"),
        rows,
        "With noise alone, a label is lost about as often as it is gained. p assumes independent rows.",
    )


def _alternative(one: JudgedColumn, test) -> TextTable:
    title = f"{one.judge}: may it stand in for a person? (alternative annotator test)"
    if test.passes is None:
        return TextTable(title, ("Result",), [(test.winning_rate.undefined,)])
    rows = [
        ("Passes", "yes" if test.passes else "no"),
        ("Winning rate", number(test.winning_rate.estimate)),
        ("Average advantage probability", number(test.advantage.estimate)),
        ("epsilon", f"{test.epsilon:g}"),
    ]
    note = "All labels together, person by person; the verdict in the first line is label by label."
    return TextTable(title, ("Measure", "Value"), rows, note)


def comparison(judgements: Sequence[JudgedColumn]) -> TextTable | None:
    """Judges two by two; None for one."""
    if len(judgements) < 2:
        return None
    rows = []
    for a, b, compared, p in verdict.compared(judgements):
        interval = compared.accuracy.confidence_interval(verdict.RESAMPLES)
        difference = with_ends(compared.accuracy.estimate, interval.low, interval.high, compared.accuracy.undefined)
        rows.append(
            (
                f"{a.judge} − {b.judge}",
                difference,
                _p_value(p, compared.mcnemar.undefined),
                f"{compared.accuracy.n_pairable:,}",
            )
        )
    return TextTable("Judges compared", ("Accuracy", "Difference", "p (McNemar, Holm)", "n"), rows)


def _p_value(p: float, reason: str) -> str:
    return reason if math.isnan(p) else "< 0.001" if p < 0.001 else number(p)


# ---- the terminal, JSON, a page ----


def as_text(table: TextTable) -> str:
    widths = [max(len(row[at]) for row in (table.columns, *table.rows)) for at in range(len(table.columns))]
    lines = [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (table.columns, *table.rows)
    ]
    return "\n".join([table.title, *lines, *([f"  {table.note}"] if table.note else [])])


def as_json(answered: Answered) -> dict:
    one = answered.judgement
    fields = {"judge": one.judge, "n": one.n, "n_rows": one.columns.n_rows, "n_ties": answered.n_ties}
    fields |= {"level": one.level}
    fields |= {"humans": list(answered.humans), "margin" if one.has_peers else "floor": one.bound}
    fields |= {"sentence": sentence(answered), "caution": caution(answered)}
    if one.n:
        fields |= {
            "labels": [_rates(asdict(each)) for each in one.labels],
            "kappa": [one.kappa.estimate, one.kappa_interval.low, one.kappa_interval.high],
            "accuracy": [one.figures.accuracy.estimate, one.accuracy.low, one.accuracy.high],
            "majority_share": one.majority_share,
            "passes": one.passes,
        }
        if one.has_rows_of_its_own:
            fields["prevalence"] = [asdict(each) for each in one.prevalences]
    for name, shares in (("repeats", answered.repeats), ("swapped", answered.swaps)):
        if shares:
            fields[name] = {column: _valued(asdict(share)) for column, share in shares.items()}
    for column in answered.swaps:
        fields["swapped"][column]["labels"] = [asdict(each) for each in verdict.shifts(one.columns, one.judge, column)]
    if answered.slices:
        fields["by"] = {"column": answered.by, "sentences": slices_in_words(answered)}
        fields["by"] |= {name: [asdict(one) for one in getattr(answered, name)] for name in ("slices", "differences")}
    return _without_nan(fields)


def _rates(label: dict) -> dict:
    return label | {name: _valued(label[name]) for name in ("sensitivity", "specificity")}


def _valued(share: dict) -> dict:
    if "value" in share:  # of a gap
        return share
    return {"value": share["n_cases"] / share["n"] if share["n"] else None} | share


def _without_nan(value):
    """JSON has no nan: undefined is null."""
    if isinstance(value, dict):
        return {name: _without_nan(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without_nan(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value


STYLE = """
:root { color-scheme: light dark; --edge: light-dark(#d5d9dd, #3a4046); --quiet: light-dark(#58616a, #a3adb6); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
.answer { font-size: 1.2rem; } .rule, .note { color: var(--quiet); }
table { border-collapse: collapse; margin: .5rem 0; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--edge); vertical-align: top; }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; background: #fff; border-radius: 4px; }
.wide { overflow-x: auto; }
"""


def as_page(every: Sequence[Answered], file: str) -> str:
    """One page that needs nothing else: sentences, pictures, tables."""
    parts = []
    for answered in every:
        parts.append(f"<p class=answer>{escape(sentence(answered))}</p><p class=rule>{escape(rule(answered))}</p>")
        parts += [f"<p class=answer>{escape(words)}</p>" for words in slices_in_words(answered)]
        if words := level_words(answered):
            parts.append(f"<p class=rule>{escape(words)}</p>")
        if warning := caution(answered):
            parts.append(f"<p class=note>{escape(warning)}</p>")
        if answered.judgement.n:
            parts.append(_picture(answered.judgement))
    shown = [table for answered in every for table in tables(answered)]
    if (between := comparison([answered.judgement for answered in every])) is not None:
        shown.insert(0, between)
    parts += [_table(table) for table in shown]
    title = f"May the judge be used? {file}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>{escape(title)}</title><style>{STYLE}</style></head>'
        f"<body><h1>{escape(title)}</h1>{''.join(parts)}</body></html>\n"
    )


def _table(table: TextTable) -> str:
    head = "".join(f"<th scope=col>{escape(one)}</th>" for one in table.columns)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    note = f"<p class=note>{escape(table.note)}</p>" if table.note else ""
    return (
        f"<h2>{escape(table.title)}</h2><div class=wide><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>{note}"
    )


def _picture(one: JudgedColumn) -> str:
    """Sensitivity and specificity of each label with their intervals, against the bound of the rule."""
    from analysis.figures.pictures.drawing import draw
    from analysis.figures.pictures.spec import Axis, IntervalRow, Intervals, Level

    rows = tuple(
        IntervalRow(
            each.label,
            None if math.isnan(of.value) else of.value,
            None if math.isnan(of.low) else of.low,
            None if math.isnan(of.low) else of.high,
            n=of.n,
            series=series,
            undefined=of.reason if math.isnan(of.value) else "",
        )
        for each in one.labels
        for series, of in (("Sensitivity", each.sensitivity), ("Specificity", each.specificity))
    )
    title = f"{one.judge} against people" + (": differences from people" if one.has_peers else "")
    least, most = (
        min([-0.2, *(row.low for row in rows if row.low is not None)]),
        max([0.2, *(row.high for row in rows if row.high is not None)]),
    )
    picture = Intervals(
        name="judge",
        title=title,
        caption=f"{one.n:,} rows. Lines are 95 % intervals.",
        alt=f"{title}: sensitivity and specificity of each label.",
        items=rows,
        values=Axis("Difference", least, most) if one.has_peers else Axis("Share", 0.0, 1.0),
        rows_title="Label",
        series_title="Measure",
        level=Level(-one.bound, "margin") if one.has_peers else Level(one.bound, "floor"),
    )
    svg = draw(picture, "svg").decode()
    return f"<figure>{svg[svg.index('<svg') :]}</figure>"
