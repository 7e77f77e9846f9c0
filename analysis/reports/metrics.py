"""Every report there is. To add one: a module with `compute(project, **parameters)`, and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True)
class Report:
    name: str
    title: str
    module: str
    parameters: tuple[str, ...] = ()

    @property
    def page(self) -> str:
        """Name of the address of the report's page, and of its templates behind `project_`."""
        return f"project_{self.name.replace('-', '_')}"

    def compute(self, project, **parameters) -> dict:
        """The report as plain data. Unknown parameters and wrong values raise ValueError."""
        unknown = sorted(set(parameters) - set(self.parameters))
        if unknown:
            known = ", ".join(self.parameters) or "none"
            raise ValueError(f"report {self.name} has no parameter {', '.join(unknown)}; it has {known}")
        function: Callable[..., dict] = import_module(self.module).compute
        return function(project, **parameters)


REPORTS: dict[str, Report] = {
    report.name: report
    for report in (
        Report("agreement", "Agreement between people", "analysis.reports.agreement", ("raters",)),
        Report(
            "comparison",
            "A checker against people",
            "analysis.reports.comparison",
            ("run", "reference", "touched", "score", "other"),
        ),
        Report("annotators", "Annotators", "analysis.reports.annotators", ("checkers", "units")),
        Report(
            "alternative-annotator",
            "May a checker stand in for a person?",
            "analysis.reports.alternative_annotator",
            ("epsilon", "scoring", "min_units"),
        ),
        Report(
            "prevalence", "How common each label is", "analysis.reports.prevalence", ("run", "reference", "touched")
        ),
        Report("rates", "Label and abstain rates", "analysis.reports.rates", ("reference",)),
        Report("matched", "Matched documents and claims", "analysis.reports.matched", ("reference", "run", "touched")),
        Report("difference", "The difference of two checker runs", "analysis.reports.difference", ("run", "other")),
        Report("coverage", "Coverage of aspects", "analysis.reports.coverage", ("reference", "k", "ties")),
    )
}


def get_report(name: str) -> Report:
    """The report of that name. Unknown names raise ValueError."""
    if name not in REPORTS:
        raise ValueError(f"There is no report {name!r}; there are {', '.join(REPORTS)}")
    return REPORTS[name]
