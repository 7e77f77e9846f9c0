"""The section on checks: how many of them each person passed, and agreement with and without those who failed."""

from __future__ import annotations

from typing import Annotated

from analysis.figures.page import Part, Text
from analysis.figures.results import Figure, Record
from analysis.figures.tables import Column, Table, columns_of
from analysis.reports.labels.raters import RaterRow, public_name
from analysis.reports.words.numbers import either, n_of
from analysis.reports.words.sentences import listed

# Whose labels count, by the share of checks that they passed at least.
ANY = "any"
PASSED = {ANY: "Everybody", "50": "Who passed 50 % of their checks", "75": "Who passed 75 %", "100": "Who passed all"}
USUAL = 50  # in the comparison, where everybody's labels count
MOST_NAMED = 10


class RaterChecks(RaterRow):
    n: Annotated[int, Column("Checks")]
    n_passed: Annotated[int, Column("Passed")]
    share: Annotated[Figure, Column("Share passed")]


class AgreementBothWays(Record):
    title: Annotated[str, Column("Question")]
    everybody: Annotated[Figure, Column("Alpha of everybody")]
    passed: Annotated[Figure, Column("Alpha without those who failed")]


class Checks(Record):
    least: int  # the share that is asked for, in percent
    people: list[RaterChecks]
    agreement: list[AgreementBothWays]

    @property
    def failed(self) -> list[RaterChecks]:
        return [row for row in self.people if 100 * row.n_passed < self.least * row.n]


def parts(checks: Checks) -> list[Part]:
    note = (
        "Checks are items whose right answers are known and which are in no other figure; one is passed if all its "
        "answers are right. Wilson's 95 % intervals."
    )
    found: list[Part] = [Table("Checks passed", columns_of(RaterChecks), checks.people, note)]
    if checks.failed:
        named = [public_name(row) for row in checks.failed[:MOST_NAMED]]
        more = len(checks.failed) - len(named)
        names = listed([*named, *([f"{more} more"] if more else [])])
        found.append(Text(f"Fewer than {checks.least} % of their checks passed: {names}."))
        found.append(Table("Agreement with and without them", columns_of(AgreementBothWays), checks.agreement))
    else:
        found.append(Text(f"Everybody who had checks passed {checks.least} % of them or more."))
    return found


def methods(checks: Checks | None, are_left_out: bool) -> str:
    """What was done with checks, for a paper; empty where there are none."""
    if checks is None:
        return ""
    n = len(checks.failed)
    if not are_left_out or not n:
        return f"{n_of(len(checks.people), 'annotators')} had checks with known answers among their items."
    return (
        f"{n_of(n, 'annotators')} who passed fewer than {checks.least} % of their checks {either(n, 'is', 'are')} "
        "left out."
    )
