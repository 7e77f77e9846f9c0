"""Every report there is. To add one: a module, as `Report` describes it, and a line here."""

from __future__ import annotations

from analysis.papers.druid import show as druid
from analysis.papers.icat import show as icat
from analysis.papers.leakage import show as leakage
from analysis.papers.refchecker import show as refchecker
from analysis.papers.sufficiency import show as sufficiency
from analysis.reports.agreement.agreement import show as agreement
from analysis.reports.agreement.spans import show as spans
from analysis.reports.checkers.alternative_annotator import show as alternative_annotator
from analysis.reports.checkers.calibration import show as calibration
from analysis.reports.checkers.comparison import show as comparison
from analysis.reports.checkers.difference import show as difference
from analysis.reports.people.annotators import show as annotators
from analysis.reports.people.prefill_trial import show as prefill_trial
from analysis.reports.planning.planning import show as planning
from analysis.reports.rates.coverage import show as coverage
from analysis.reports.rates.matched import show as matched
from analysis.reports.rates.prevalence import show as prevalence
from analysis.reports.rates.rates import show as rates
from analysis.reports.report import Report

REPORTS: dict[str, Report] = {
    report.name: report
    for report in (
        agreement.REPORT,
        spans.REPORT,
        comparison.REPORT,
        annotators.REPORT,
        alternative_annotator.REPORT,
        calibration.REPORT,
        prevalence.REPORT,
        prefill_trial.REPORT,
        planning.REPORT,
        rates.REPORT,
        refchecker.REPORT,
        matched.REPORT,
        difference.REPORT,
        coverage.REPORT,
        leakage.REPORT,
        sufficiency.REPORT,
        druid.REPORT,
        icat.REPORT,
    )
}


def get_report(name: str) -> Report:
    """The report of that name. Unknown names raise ValueError."""
    if name not in REPORTS:
        raise ValueError(f"There is no report {name!r}; there are {', '.join(REPORTS)}")
    return REPORTS[name]
