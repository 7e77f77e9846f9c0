"""A judge against soft labels: the distribution of people's labels of each row, which a plurality hides."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from analysis.figures.scales import with_ends
from analysis.figures.soft import soft_figures, soft_note
from analysis.judge.parts import Answered, TextTable
from analysis.judge.table import Columns, TableProblem, folded
from analysis.judge.verdict import JudgedColumn
from analysis.stats.soft.comparing import SoftLabelComparison, soft_label_comparison

FROM_ONE = 0.02  # probabilities may add up to so much more or less than 1


def probabilities_of(path: Path, column: str, cells: Sequence[str], columns: Columns) -> np.ndarray:
    """Probabilities by row and label, nan where a cell is empty. A cell is an object of JSON, label -> probability.
    TableProblem with the row for anything else."""
    place = {folded(label): code for code, label in enumerate(columns.labels)}
    found = np.full((columns.n_rows, len(columns.labels)), np.nan)
    for row, cell in enumerate(cells):
        if cell:
            try:
                found[row] = _distribution(cell, place)
            except ValueError as error:
                raise TableProblem(f"{path}: row {row + 1}, column {column!r}: {error}") from None
    return found


def _distribution(cell: str, place: dict[str, int]) -> np.ndarray:
    try:
        distribution = json.loads(cell)
    except ValueError:
        distribution = None
    if not isinstance(distribution, dict) or not distribution:
        raise ValueError(
            f'{cell[:80]!r} is no object in JSON from labels to probabilities, such as {{"yes": 0.8, "no": 0.2}}'
        )
    shares = np.zeros(len(place))
    for label, value in distribution.items():
        if folded(label.strip()) not in place:
            raise ValueError(
                f"gives a probability to {label!r}, which no column of labels holds; name all with --labels"
            )
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1 + FROM_ONE:
            raise ValueError(f"the probability of {label!r} is {value!r}, which is no number from 0 to 1")
        shares[place[folded(label.strip())]] += value
    if abs(shares.sum() - 1) > FROM_ONE:
        raise ValueError(f"the probabilities add up to {shares.sum():.3g} and not to 1")
    return shares


def soft_comparison(one: JudgedColumn, probabilities: np.ndarray | None) -> SoftLabelComparison | None:
    """None with one person, whose label is no distribution. Without `probabilities` the judge's label has all of it."""
    if not one.has_peers:
        return None
    certain = np.eye(len(one.columns.labels))
    people = np.stack([one.columns.codes[human] for human in one.humans])
    counts = sum(certain[codes] * (codes >= 0)[:, None] for codes in people)
    if probabilities is None:
        probabilities = np.where((one.predicted >= 0)[:, None], certain[one.predicted], np.nan)
    return soft_label_comparison(counts, probabilities, one.scale_values, one.columns.cluster)


def soft_table(answered: Answered) -> TextTable | None:
    if answered.soft is None:
        return None
    rows = [
        (each.title, with_ends(each.estimate, each.low, each.high, each.reason), f"{each.n:,}")
        for each in soft_figures(answered.soft, "judge")
    ]
    note = soft_note("judge", has_probabilities=bool(answered.probabilities), what="row")
    return TextTable(f"{answered.judgement.judge}: against soft labels", ("Measure", "Value", "n"), rows, note)


def soft_fields(answered: Answered) -> dict:
    """For JSON."""
    found = {
        each.name: {"estimate": each.estimate, "low": each.low, "high": each.high, "reason": each.reason}
        for each in soft_figures(answered.soft, "judge")
    }
    return found | {"n": answered.soft.n, "left_out": answered.soft.left_out}
