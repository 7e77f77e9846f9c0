"""What was done, in sentences that can stand in a paper: written from a result, so it says what was really computed."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from analysis.reports.words.sentences import listed, note_on_labels_seen
from analysis.sources.selection import ELSEWHERE
from analysis.sources.splits import name_split, split_in
from annotation import __version__

if TYPE_CHECKING:
    from analysis.reports.report import Report

# Phrases for the conditions of a selection; a `source` is called by what figures are split by.
CONDITIONS = {
    "source": "units of the {by} {}",
    "label": "units with the label {}",
    "arm": "answers of the arm {}",
    "annotator": "answers of {}",
    "guidelines": "answers given under version {} of the guidelines",
    "since": "answers given on or after {}",
    "until": "answers given on or before {}",
}


def paragraph(report: Report, result: dict, computed_at: datetime | None = None) -> str:
    """The report's own sentences, and what the numbers were computed from, with which version of the software."""
    parts = [report.methods(result).strip(), _made_from(result, computed_at), note_on_labels_seen(result)]
    if name := result.get("made_from", {}).get("piece_set"):
        parts.append(f"The pieces that were judged are those of the set {name}.")
    parts.append(_of_others(report, result))
    return " ".join(part for part in parts if part)


def _of_others(report: Report, result: dict) -> str:
    """What counts of other projects that the report reads, where only a part of this one does."""
    others, selection = report.sibling_slugs(result), result.get("made_from", {}).get("selection", {})
    parts = []
    if "source" in selection or "label" in selection:
        parts.append("only what comes from the same claims or questions counts (all of other data sets)")
    if clauses := [
        CONDITIONS[name].format(value) for name, value in selection.items() if name in ELSEWHERE and name in CONDITIONS
    ]:
        parts.append(f"of their labels only {'; '.join(clauses)} count")
    if not others or not parts:
        return ""
    return f"Of {'the other projects' if others == ['all'] else listed(others)} {', and '.join(parts)}."


def _made_from(result: dict, computed_at: datetime | None) -> str:
    made = result.get("made_from", {})
    software = listed([f"Assay {made.get('assay', __version__)}", *made.get("packages", [])])
    split = split_in(made)
    conditions = [
        CONDITIONS[name].format(value, by=name_split(split))
        for name, value in made.get("selection", {}).items()
        if name in CONDITIONS
    ]
    only = f"; only {'; '.join(conditions)} count" if conditions else ""
    if split and "source" not in made["selection"]:
        only += f", with the {name_split(split)} in the place of the source"
    if made.get("kind") == "release":
        # Only releases that are kept with their project have numbers; files written by the command have 0.
        which = f"release {made['number']}" if made["number"] else "a release"
        sentence = f"Computed with {software} from {which} of {result['project']}"
        return f"{sentence} (SHA-256 {made['sha256']}){only}."
    if made.get("kind") == "table":
        return f"Computed with {software} from the table {result['project']}{only}."
    moment = f" as of {computed_at:%Y-%m-%d %H:%M} UTC" if computed_at else ""
    return f"Computed with {software} from the labels of {result['project']}{moment}{only}."
