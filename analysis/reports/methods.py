"""What was done, in sentences that can stand in a paper: written from a result, so it says what was really computed."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from annotation import __version__

if TYPE_CHECKING:
    from analysis.reports.metrics import Report

# How a condition of a selection is said.
CONDITIONS = {
    "source": "units of the source {}",
    "label": "units that somebody labelled {}",
    "arm": "answers of the arm {}",
    "annotator": "answers of {}",
    "guidelines": "answers given under version {} of the guidelines",
    "since": "answers given on or after {}",
    "until": "answers given on or before {}",
}


def paragraph(report: Report, result: dict, computed_at: datetime | None = None) -> str:
    """The report's own sentences, and what the numbers were computed from, with which version of the software."""
    parts = [report.methods(result).strip(), _made_from(result, computed_at)]
    return " ".join(part for part in parts if part)


def _made_from(result: dict, computed_at: datetime | None) -> str:
    made = result.get("made_from", {})
    conditions = [CONDITIONS[name].format(value) for name, value in made.get("selection", {}).items()]
    only = f", of which only {'; '.join(conditions)} count" if conditions else ""
    if made.get("kind") == "release":
        said = f"Computed with Assay {__version__} from release {made['number']} of {result['project']}"
        return f"{said} (SHA-256 {made['sha256']}){only}."
    if made.get("kind") == "table":
        return f"Computed with Assay {__version__} from the table {result['project']}{only}."
    moment = f" as of {computed_at:%Y-%m-%d %H:%M} UTC" if computed_at else ""
    return f"Computed with Assay {__version__} from the labels of {result['project']}{moment}{only}."
