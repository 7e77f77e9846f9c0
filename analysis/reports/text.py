"""Reports as plain text tables, for the command line."""

from __future__ import annotations

from analysis.figures import tabular
from analysis.reports.metrics import get_report


def as_text(result: dict, *, is_folded: bool = False) -> str:
    """The report's tables, after its answer. Unknown reports raise ValueError."""
    lines = [f"{result['report']} of {result['project']} ({result['task_type']})"]
    report = get_report(result["report"])
    page = report.page_of(result)
    notes = dict.fromkeys([*page.notes, *result.get("notes", [])])
    tables = tabular.as_text(report.tables(result), is_folded=is_folded)
    return "\n\n".join([*lines, *page.answer.sentences, page.answer.n, *notes, tables])
