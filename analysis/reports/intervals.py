"""Figures with their intervals as cells of a table."""

from __future__ import annotations

from analysis.reports.figures import PENDING
from analysis.reports.tabular import LOW, Cell, Missing, Noted


def estimate(figure: dict | None) -> tuple[Cell, Cell, Cell]:
    """Value, low and high of a figure; in place of what there is none of, why, once that is known. What is to be said
    of the interval goes with its lower end."""
    if figure is None:
        return None, None, None
    if figure["estimate"] is None:
        return f"undefined: {figure['undefined']}", None, None
    reason = figure.get("interval", {}).get("undefined", "")
    if figure["low"] is None and reason not in ("", PENDING):
        return figure["estimate"], Missing(reason), None
    note = figure.get("interval", {}).get("note", "")
    return figure["estimate"], Noted(figure["low"], note) if note else figure["low"], figure["high"]


def intervals(*names: str) -> tuple[str, ...]:
    """Three columns for each of these figures."""
    return tuple(column for name in names for column in (name, f"{name}{LOW}", f"{name}, high"))
