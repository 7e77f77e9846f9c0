"""Every report there is. To add one: a folder, as `Report` describes it, and a line here; or a package of one's own."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any

from analysis.reports.report import Report
from plugins import EntryTable

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


def _problem_of(entry: Any) -> str:
    if not isinstance(entry, Report):
        return "it is no analysis.reports.report.Report"
    if not NAME.fullmatch(entry.name):
        return f"it has the name {entry.name!r}; use up to 40 small letters, digits and dashes"
    if find_spec(entry.module) is None:
        return f"there is no module {entry.module}"
    return ""


REPORTS: EntryTable[Report] = EntryTable(
    "assay.reports",
    "report",
    (
        "analysis.reports.agreement.agreement.show:REPORT",
        "analysis.reports.agreement.spans.report:REPORT",
        "analysis.reports.checkers.comparison.show:REPORT",
        "analysis.reports.people.annotators.report:REPORT",
        "analysis.reports.checkers.alternative_annotator.report:REPORT",
        "analysis.reports.checkers.calibration.report:REPORT",
        "analysis.reports.rates.prevalence.report:REPORT",
        "analysis.reports.people.prefill_trial.report:REPORT",
        "analysis.reports.planning.planning.report:REPORT",
        "analysis.reports.rates.rates.report:REPORT",
        "analysis.papers.refchecker.show:REPORT",
        "analysis.reports.rates.matched.report:REPORT",
        "analysis.reports.checkers.difference.report:REPORT",
        "analysis.reports.rates.coverage.report:REPORT",
        "analysis.reports.rates.preferences.report:REPORT",
        "analysis.reports.rates.errors.report:REPORT",
        "analysis.papers.leakage.show:REPORT",
        "analysis.papers.sufficiency.report:REPORT",
        "analysis.papers.druid.show:REPORT",
        "analysis.papers.icat.show:REPORT",
    ),
    name_of=lambda report: report.name,
    problem_of=_problem_of,
)


def get_report(name: str) -> Report:
    """The report of that name. Unknown names raise ValueError."""
    if name not in REPORTS:
        raise ValueError(f"There is no report {name!r}; there are {', '.join(REPORTS)}")
    return REPORTS[name]
