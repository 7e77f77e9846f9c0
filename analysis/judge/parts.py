"""What is asked about a judge, and tables that judges of labels and of scales share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.figures.scales import number, with_ends
from analysis.judge import verdict
from analysis.judge.peers import Gap
from analysis.judge.slices import Slice, SliceDifference
from analysis.judge.verdict import JudgedColumn, Rate

if TYPE_CHECKING:
    from analysis.stats.soft.comparing import SoftLabelComparison

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
    soft: SoftLabelComparison | None = None
    probabilities: str = ""  # the column that holds them

    def __str__(self) -> str:
        from analysis.judge.written import sentence

        return sentence(self)


@dataclass(frozen=True)
class TextTable:
    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str = ""


def differences_in_words(answered: Answered, in_words: Callable[[SliceDifference], str]) -> list[str]:
    """Which values of the column of --by differ, and by how much; empty without that column."""
    shown = [one for one in answered.differences if one.p < SIGNIFICANT]
    if answered.differences and not shown:
        return [f"No difference between values of {answered.by} is shown: every adjusted p is {SIGNIFICANT} or more."]
    return [
        f"{in_words(one)}, by {with_ends(one.estimate, one.low, one.high)}, corrected by people's labels."
        for one in shown
    ]


def rate(one: Rate | Gap) -> str:
    if isinstance(one, Gap) and one.n:
        return f"{number(one.judge)}, people's {number(one.people)}, difference {difference(one)}"
    return with_ends(one.value, one.low, one.high, one.reason) if one.n else one.reason


def difference(one: Gap) -> str:
    return with_ends(one.value, one.low, one.high, one.reason) if one.n else one.reason


def p_value_words(p: float, reason: str) -> str:
    return reason if math.isnan(p) else "< 0.001" if p < 0.001 else number(p)


def valued(share: dict) -> dict:
    if "value" in share:  # of a gap
        return share
    return {"value": share["n_cases"] / share["n"] if share["n"] else None} | share


def changed(title: str, name: str, shares: dict[str, Rate]) -> TextTable:
    rows = [(column, rate(share), f"{share.n:,}") for column, share in shares.items()]
    return TextTable(title, (name, "Share of rows with another label", "n"), rows)


def shifted(one: JudgedColumn, column: str) -> TextTable:
    rows = [
        (each.label, number(each.share), number(each.share_swapped), f"{each.n_lost:,}", f"{each.n_gained:,}")
        + (p_value_words(each.p, "no row changes"),)
        for each in verdict.shifts(one.columns, one.judge, column)
    ]
    return TextTable(
        f"{one.judge}: does the order favour a label? ({column})",
        ("Label", "Share", "Share, swapped", "Rows that lose it", "Rows that gain it", "p (McNemar)"),
        rows,
        "With noise alone, a label is lost about as often as it is gained. p assumes independent rows.",
    )


def alternative(one: JudgedColumn, test, note: str) -> TextTable:
    title = f"{one.judge}: may it stand in for a person? (alternative annotator test)"
    if test.passes is None:
        return TextTable(title, ("Result",), [(test.winning_rate.undefined,)])
    rows = [
        ("Passes", "yes" if test.passes else "no"),
        ("Winning rate", number(test.winning_rate.estimate)),
        ("Average advantage probability", number(test.advantage.estimate)),
        ("epsilon", f"{test.epsilon:g}"),
    ]
    return TextTable(title, ("Measure", "Value"), rows, note)
