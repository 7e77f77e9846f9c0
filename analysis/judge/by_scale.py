"""A judge on a scale in words: one verdict about the scale, its tables, its numbers and its picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import numpy as np

from analysis.figures.scales import at_the_ends, kappa_words, number, scale_rule, scale_sentences, with_ends
from analysis.judge.parts import (
    Answered,
    TextTable,
    alternative,
    changed,
    differences_in_words,
    p_value_words,
    shifted,
)
from analysis.judge.scale import (
    MOST_DIFFERING,
    CorrectedMean,
    JudgedScale,
    error_differences,
    people_with_each_other,
)
from analysis.judge.slices import SliceDifference
from analysis.judge.verdict import RESAMPLES
from analysis.stats.resampling.bootstrap import Estimate
from analysis.stats.scale.errors import ScaleError

TITLES = {
    "linear_kappa": "Weighted kappa, linear weights",
    "pearson": "Pearson's correlation",
    "spearman": "Spearman's correlation",
    "kendall_tau_b": "Kendall's tau-b",
}
RANDOM_SAMPLE = "Assumes that people labelled a random sample of the rows."


def sentence(answered: Answered) -> str:
    one = answered.judgement
    return scale_sentences(one.judge, one.title, one.standing, one.errors.all)


def rule(answered: Answered) -> str:
    one = answered.judgement
    of = "of the judge and of two people or more" if one.has_peers else "of both"
    n = f"n = {one.n_ruled:,} of {one.columns.n_rows:,} rows have a label {of}."
    return f"{scale_rule(one.standing, '--floor', '--margin')} {n}"


def slices_in_words(answered: Answered) -> list[str]:
    def in_words(one: SliceDifference) -> str:
        which = "higher" if one.estimate > 0 else "lower"
        return f"The mean is {which} with {answered.by} {one.a} than with {one.b}"

    return differences_in_words(answered, in_words)


def tables(answered: Answered) -> Iterator[TextTable]:
    one = answered.judgement
    yield TextTable(f"{one.judge}: on the scale {one.title}", ("Measure", "Value", "n"), list(_measures(one)))
    rows = [(one.value_words(each.value), _mean(each), _absolute(each), f"{each.n:,}") for each in one.errors.at]
    head = ("People", "Mean error", "Mean absolute error", "n")
    yield TextTable(f"{one.judge}: bias along the scale", head, rows, at_the_ends("judge"))
    yield _calibration(one)
    if one.has_rows_of_its_own:
        yield TextTable(
            f"{one.judge}: mean of all rows",
            ("By the judge", "Corrected, prediction-powered", "Corrected, by regression"),
            [(number(one.corrected.raw), *_corrected(one.corrected))],
            RANDOM_SAMPLE,
        )
    if answered.slices:
        yield from _by_slice(answered)
    if one.differing:
        yield TextTable(
            f"{one.judge}: rows that differ most",
            ("Row", "Judge", "People", "Distance"),
            [(str(row + 1), *one.both_labels(row)) for row in one.differing[:MOST_DIFFERING]],
            "--differing FILE.csv writes all of them.",
        )
    if answered.repeats:
        yield changed(f"{one.judge}: repeated runs", "Run", answered.repeats)
    if answered.swaps:
        yield changed(f"{one.judge}: order swapped", "Column", answered.swaps)
    for column in answered.swaps:
        yield shifted(one, column)
    if one.alternative is not None:
        yield alternative(one, one.alternative, "By root mean squared differences from the other people.")


def _measures(one: JudgedScale) -> Iterator[tuple[str, str, str]]:
    standing, n_rows = one.standing, f"{one.n_ruled:,}"
    pairs = ", of the judge and a person" if one.has_peers else ""
    yield f"Weighted kappa, quadratic weights{pairs}", kappa_words(standing), n_rows
    if (among := people_with_each_other(one)) is not None:
        yield "Weighted kappa, quadratic weights, of people with each other", _figure(among), n_rows
    for name, estimate in one.associations.items():
        of_pairs = name == "linear_kappa"
        n = n_rows if of_pairs else f"{estimate.n_pairable:,}"
        yield TITLES[name] + (pairs if of_pairs else ""), _figure(estimate), n
    if (gap := standing.gap) is not None:
        yield "Mean distance of the judge to a person", with_ends(gap.labeller, *gap.labeller_ends), f"{gap.n:,}"
        yield (
            "Mean distance of the other people to the same person",
            with_ends(gap.people, *gap.people_ends),
            f"{gap.n:,}",
        )
        yield "Difference of the distances", with_ends(gap.estimate, gap.low, gap.high, gap.undefined), f"{gap.n:,}"
    error = one.errors.all
    yield "Mean error", _mean(error), f"{error.n:,}"
    yield "Mean absolute error", _absolute(error), f"{error.n:,}"


def _figure(estimate: Estimate) -> str:
    interval = estimate.confidence_interval(RESAMPLES)
    return with_ends(estimate.estimate, interval.low, interval.high, estimate.undefined or interval.undefined)


def _mean(error: ScaleError) -> str:
    return with_ends(error.mean, error.low, error.high, error.undefined)


def _absolute(error: ScaleError) -> str:
    return with_ends(error.absolute, error.absolute_low, error.absolute_high)


def _calibration(one: JudgedScale) -> TextTable:
    title, found = f"{one.judge}: calibrated by people", one.calibration
    if found.undefined:
        return TextTable(title, ("Result",), [(f"not computed: {found.undefined}",)])
    [before], [after], [less] = ([cell] for cell in found.means.mean[0])
    ends = found.means.confidence_intervals()[0]
    note = (
        "Isotonic regression by all rows. Out of fold, the mean squared error is "
        f"{with_ends(after, ends[1].low, ends[1].high)} after calibration and {number(before)} before, difference "
        f"{with_ends(less, ends[2].low, ends[2].high)}. --out FILE.csv writes calibrated values."
    )
    return TextTable(
        title, ("Judge", "People"), [(one.value_words(value), number(to)) for value, to in found.points], note
    )


def _corrected(mean: CorrectedMean) -> tuple[str, str]:
    return tuple(
        each.undefined or with_ends(each.estimate, each.low, each.high) for each in (mean.powered, mean.regression)
    )


def _by_slice(answered: Answered) -> Iterator[TextTable]:
    judge, by = answered.judgement.judge, answered.by
    yield TextTable(
        f"{judge}: by {by}",
        (by, "Rows", "Mean error", "Mean absolute error", "n"),
        [
            (one.value, f"{one.n_rows:,}", _mean(one.error), _absolute(one.error), f"{one.error.n:,}")
            for one in answered.slices
        ],
    )
    yield TextTable(
        f"{judge}: mean, by {by}",
        (by, "By the judge", "Corrected, prediction-powered", "Corrected, by regression"),
        [(one.value, number(one.mean.raw), *_corrected(one.mean)) for one in answered.slices],
        RANDOM_SAMPLE,
    )
    yield TextTable(
        f"{judge}: differences between values of {by}",
        ("Between", "Difference", "p (Holm)"),
        [
            (f"{one.a} − {one.b}", with_ends(one.estimate, one.low, one.high), p_value_words(one.p, one.undefined))
            for one in answered.differences
        ],
        "Of corrected means (prediction-powered). Rows of one cluster are compared within it.",
    )


def comparison(judgements: Sequence[JudgedScale]) -> TextTable:
    rows = [
        (f"{one.a} − {one.b}", with_ends(one.estimate, one.low, one.high, "too few rows or clusters"), f"{one.n:,}")
        for one in error_differences(judgements)
    ]
    return TextTable("Judges compared", ("Mean absolute error", "Difference", "n"), rows)


def fields(one: JudgedScale) -> dict:
    """Its numbers for JSON."""
    standing = one.standing
    found = {
        "scale": [float(value) for value in one.scale],
        "step": standing.step,
        "verdict": standing.verdict,
        "kappa": [standing.kappa.estimate, standing.kappa_low, standing.kappa_high],
    }
    for name, estimate in one.associations.items():
        interval = estimate.confidence_interval(RESAMPLES)
        found[name] = [estimate.estimate, interval.low, interval.high]
    if standing.gap is not None:
        found |= {"closeness": standing.closeness, "distance": asdict(standing.gap)}
    found |= {"error": asdict(one.errors.all), "along": [asdict(each) for each in one.errors.at]}
    if not one.calibration.undefined:
        names = ("before", "after", "difference")
        found["calibration"] = {
            "points": [list(point) for point in one.calibration.points],
            "squared_error": dict(zip(names, one.calibration.means.mean[0].tolist(), strict=True)),
        }
    if one.has_rows_of_its_own:
        corrected = one.corrected
        found["mean"] = {"raw": corrected.raw} | {
            name: [each.estimate, each.low, each.high]
            for name, each in (("powered", corrected.powered), ("regression", corrected.regression))
        }
    return found


def picture(one: JudgedScale) -> str:
    """The mean error at each value of people, with its interval."""
    from analysis.figures.pictures.drawing import draw
    from analysis.figures.pictures.spec import Axis, IntervalRow, Intervals, Level

    def known(value: float) -> float | None:
        return None if math.isnan(value) else value

    rows = tuple(
        IntervalRow(one.value_words(each.value), known(each.mean), known(each.low), known(each.high), n=each.n)
        for each in one.errors.at
    )
    reach = float(np.ptp(one.values))
    title = f"{one.judge}: mean error along the scale"
    shown = Intervals(
        name="judge",
        title=title,
        caption=f"{one.n:,} rows. Lines are 95 % intervals.",
        alt=f"{title}: the judge minus people, by people's value.",
        items=rows,
        values=Axis("Judge minus people", -reach, reach),
        rows_title="People",
        level=Level(0.0, "no bias"),
    )
    svg = draw(shown, "svg").decode()
    return f"<figure>{svg[svg.index('<svg') :]}</figure>"
