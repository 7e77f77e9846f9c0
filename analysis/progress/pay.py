"""What people are paid: decimal arithmetic from the project's rate, hours of the server's clock, and checks."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import TextIO

from analysis.progress.people import PersonRow
from annotation.formats.files.spreadsheets import as_cell
from annotation.jobs.counts import Counted
from annotation.models import Participation, Project

WITHOUT_CENTS = ("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV")
WITHOUT_CENTS += ("XAF", "XOF", "XPF")
ROUNDING = (
    "Each person's amount is rounded once, half a cent up, to two decimals, or none where the currency has no cents. "
    "Bonuses are added after that."
)
SECONDS_PER_HOUR = 3600
NUMBERS = ("items", "hours", "checks_passed", "checks", "amount", "bonus", "total", "currency", "counted_at")
PEOPLE = ("person", "group", *NUMBERS)
PANEL = ("panel_participant", "panel_study", "panel_session", "outcome", *NUMBERS)


@dataclass(frozen=True)
class Pay:
    amount: Decimal
    bonus: Decimal

    @property
    def total(self) -> Decimal:
        return self.amount + self.bonus


def pay_of(project: Project, row: PersonRow) -> Pay:
    unit = Decimal(1) if project.pay_currency in WITHOUT_CENTS else Decimal("0.01")
    work = row.figures
    if project.pay_per == Project.PayPer.HOUR:
        amount = project.pay_rate * work.seconds / SECONDS_PER_HOUR
    else:
        amount = project.pay_rate * work.items
    passed, checks = work.checks
    has_passed = 100 * passed >= project.pay_bonus_percent * checks
    gets_bonus = has_passed and work.items and work.items >= project.pay_bonus_items
    bonus = project.pay_bonus if gets_bonus else Decimal(0)
    return Pay(*(one.quantize(unit, ROUND_HALF_UP) for one in (amount, bonus)))


def rule_of(project: Project) -> str:
    """The rate and the bonus in a sentence; empty without a rate."""
    if not project.pay_rate:
        return ""
    what = {Project.PayPer.HOUR: "hour of work", Project.PayPer.ITEM: "item that was answered, checks included"}
    words = f"{project.pay_rate} {project.pay_currency} per {what[project.pay_per]}"
    if project.pay_bonus:
        limits = [f"answered at least {project.pay_bonus_items:,} items"] if project.pay_bonus_items else []
        limits += (
            [f"passed at least {project.pay_bonus_percent} % of their checks"] if project.pay_bonus_percent else []
        )
        whom = " and ".join(limits) or "answered any"
        words += f", and a bonus of {project.pay_bonus} {project.pay_currency} for those who {whom}"
    return f"{words}."


def write_people(stream: TextIO, project: Project, rows: Iterable[PersonRow], counted: Counted) -> None:
    """By pseudonym, as in exports: no name and no id of a panel."""
    lines = ([as_cell(row.pseudonym), as_cell(row.group), *_numbers(project, row, counted)] for row in rows)
    _write(stream, PEOPLE, lines)


def write_panel(stream: TextIO, project: Project, rows: Iterable[PersonRow], counted: Counted) -> None:
    """Those whom a panel sent, by its ids."""
    known = {row.user_id: row for row in rows}
    people = project.participations.filter(is_test=False).exclude(panel_participant="").order_by("pk")
    _write(stream, PANEL, _of_panel(project, people, known, counted))


def _of_panel(
    project: Project, people: Iterable[Participation], rows: dict[int, PersonRow], counted: Counted
) -> Iterator[list]:
    for one in people:
        if row := rows.get(one.user_id):
            ids = (one.panel_participant, one.panel_study, one.panel_session)
            yield [*map(as_cell, ids), one.state, *_numbers(project, row, counted)]


def _numbers(project: Project, row: PersonRow, counted: Counted) -> list:
    pay, (passed, checks) = pay_of(project, row), row.figures.checks
    hours = (Decimal(row.figures.seconds) / SECONDS_PER_HOUR).quantize(Decimal("0.0001"), ROUND_HALF_UP)
    money = (pay.amount, pay.bonus, pay.total, project.pay_currency)
    at = counted.counted_at.isoformat(timespec="seconds") if counted.counted_at else ""
    return [row.figures.items, hours, passed, checks, *money, at]


def _write(stream: TextIO, columns: tuple[str, ...], lines: Iterable[list]) -> None:
    writer = csv.writer(stream)
    writer.writerow(columns)
    writer.writerows(lines)
