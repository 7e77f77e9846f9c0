"""A judge of labels in words: the verdict label by label, its tables, its numbers and its picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from analysis.figures.folding import MOST_SHOWN, MOST_SHOWN_WHOLE, folding_note, shown_places
from analysis.figures.scales import number, with_ends
from analysis.judge import verdict
from analysis.judge.parts import (
    Answered,
    TextTable,
    alternative,
    changed,
    difference,
    differences_in_words,
    p_value_words,
    rate,
    shifted,
    valued,
)
from analysis.judge.slices import SliceDifference, SliceShare
from analysis.judge.verdict import JudgedColumn, LabelVerdict

MOST_LISTED = 10  # of many labels in a sentence


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


def rule(answered: Answered) -> str:
    one = answered.judgement
    intervals = _intervals(one)
    if one.has_peers:
        return (
            "Rule: the judge and the other people are compared with the same person on the same rows. Usable for a "
            f"label where the {intervals} of the differences in sensitivity and specificity lie above "
            f"−{one.bound:g} (--margin), not usable where one lies below, and only if Cohen's kappa is above 0. "
            f"n = {one.n_ruled:,} of {one.columns.n_rows:,} rows have a label of the judge and of two people or more."
        )
    return (
        f"Rule: usable for a label where the {intervals} of sensitivity and specificity lie above "
        f"{one.bound:g} (--floor), not usable where one of them lies below, and only if Cohen's kappa is above 0. "
        f"n = {one.n:,} of {one.columns.n_rows:,} rows have a label of both."
    )


def _intervals(one: JudgedColumn) -> str:
    if one.n_judged < 3:
        return "95 % intervals"
    return f"{100 * one.confidence:.3g} % intervals (95 % for {one.n_judged:,} labels together)"


def slices_in_words(answered: Answered) -> list[str]:
    def in_words(one: SliceDifference) -> str:
        which = "more" if one.estimate > 0 else "less"
        return f"“{one.label}” is {which} common with {answered.by} {one.a} than with {one.b}"

    return differences_in_words(answered, in_words)


def _listed(parts) -> str:
    every = list(parts)
    if len(every) > MOST_SHOWN_WHOLE:
        every = [*every[:MOST_LISTED], f"{len(every) - MOST_LISTED:,} more labels"]
    *first, last = every
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


def tables(answered: Answered) -> Iterator[TextTable]:
    one = answered.judgement
    yield _by_label(one)
    title = f"{one.judge}: all labels together" + (", against the plurality of people" if one.has_peers else "")
    yield TextTable(title, ("Measure", "Value"), list(_overall(one)))
    matrix, names = one.figures.confusion, one.columns.labels
    places = shown_places(matrix.tolist())
    yield TextTable(
        f"{one.judge}: confusion (rows: people, columns: {one.judge})",
        ("People", *(names[place] for place in places)),
        [
            (names[place], *(f"{n:,}" for n in matrix[place, places].tolist()))
            for place in places
            if matrix[place].sum()
        ],
        folding_note(len(names)),
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
        yield changed(f"{one.judge}: repeated runs", "Run", answered.repeats)
    if answered.swaps:
        yield changed(f"{one.judge}: order swapped", "Column", answered.swaps)
    for column in answered.swaps:
        yield shifted(one, column)
    if (test := verdict.stands_in(one, answered.humans)) is not None:
        note = "All labels together, person by person; the verdict in the first line is label by label."
        yield alternative(one, test, note)


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
                p_value_words(one.p, one.undefined),
            )
            for one in answered.differences
        ],
        "Of corrected shares. Rows of one cluster are compared within it.",
    )


def _overall(one: JudgedColumn) -> Iterator[tuple[str, str]]:
    yield (
        "Cohen's kappa",
        with_ends(one.kappa.estimate, one.kappa_interval.low, one.kappa_interval.high, one.kappa.undefined),
    )
    yield "Accuracy", with_ends(one.figures.accuracy.estimate, one.accuracy.low, one.accuracy.high)
    yield "Accuracy of people's most frequent label", number(one.majority_share)
    for title, estimate in (("Balanced accuracy", one.figures.balanced_accuracy), ("Macro-F1", one.figures.macro_f1)):
        interval = estimate.confidence_interval(verdict.RESAMPLES)
        yield title, with_ends(estimate.estimate, interval.low, interval.high, estimate.undefined)


def _corrected(one: verdict.CorrectedPrevalence | SliceShare) -> str:
    return one.undefined or with_ends(one.corrected, one.low, one.high)


def comparison(judgements: Sequence[JudgedColumn]) -> TextTable:
    """Judges two by two."""
    rows = []
    for a, b, compared, p in verdict.compared(judgements):
        interval = compared.accuracy.confidence_interval(verdict.RESAMPLES)
        difference = with_ends(compared.accuracy.estimate, interval.low, interval.high, compared.accuracy.undefined)
        rows.append(
            (
                f"{a.judge} − {b.judge}",
                difference,
                p_value_words(p, compared.mcnemar.undefined),
                f"{compared.accuracy.n_pairable:,}",
            )
        )
    return TextTable("Judges compared", ("Accuracy", "Difference", "p (McNemar, Holm)", "n"), rows)


def fields(one: JudgedColumn) -> dict:
    """Its numbers for JSON."""
    found = {
        "labels": [_rates(asdict(each)) for each in one.labels],
        "kappa": [one.kappa.estimate, one.kappa_interval.low, one.kappa_interval.high],
        "accuracy": [one.figures.accuracy.estimate, one.accuracy.low, one.accuracy.high],
        "majority_share": one.majority_share,
    }
    if one.has_rows_of_its_own:
        found["prevalence"] = [asdict(each) for each in one.prevalences]
    return found


def _rates(label: dict) -> dict:
    return label | {name: valued(label[name]) for name in ("sensitivity", "specificity")}


def picture(one: JudgedColumn) -> str:
    """Sensitivity and specificity of each label with their intervals, against the bound of the rule."""
    from analysis.figures.pictures.drawing import draw
    from analysis.figures.pictures.spec import Axis, IntervalRow, Intervals, Level

    shown = one.labels
    if len(shown) > MOST_SHOWN_WHOLE:
        shown = sorted(shown, key=lambda each: -each.sensitivity.n)[:MOST_SHOWN]
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
        for each in shown
        for series, of in (("Sensitivity", each.sensitivity), ("Specificity", each.specificity))
    )
    title = f"{one.judge} against people" + (": differences from people" if one.has_peers else "")
    least, most = (
        min([-0.2, *(row.low for row in rows if row.low is not None)]),
        max([0.2, *(row.high for row in rows if row.high is not None)]),
    )
    drawn = Intervals(
        name="judge",
        title=title,
        caption=f"{one.n:,} rows. Lines are {_intervals(one)}. {folding_note(len(one.labels))}".strip(),
        alt=f"{title}: sensitivity and specificity of each label.",
        items=rows,
        values=Axis("Difference", least, most) if one.has_peers else Axis("Share", 0.0, 1.0),
        rows_title="Label",
        series_title="Measure",
        level=Level(-one.bound, "margin") if one.has_peers else Level(one.bound, "floor"),
    )
    svg = draw(drawn, "svg").decode()
    return f"<figure>{svg[svg.index('<svg') :]}</figure>"
