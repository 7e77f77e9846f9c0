"""Two runs, or more, against the same people: is one of them closer, and more than chance would have it?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.figures.results import number
from analysis.reports.checkers.comparison.result import MeasureDifference, RightRun, Several, Versus
from analysis.reports.checkers.comparison.significance import equivalent, significance
from analysis.reports.estimates import cluster_codes, named_figure
from analysis.sources.outline import Run
from analysis.stats import classification, labeller_difference, several_labellers
from annotation.task_types import Dimension

# By who of two runs is right, values of a column of the units that people and both of them label.
WHO_IS_RIGHT = {
    "both": "both are right",
    "run": "this run alone is right",
    "other": "the other run alone is right",
    "neither": "neither is right",
}


def versus(
    dimension: Dimension,
    people: np.ndarray,
    run: np.ndarray,
    other: np.ndarray,
    units: pd.DataFrame,
    margin: float,
) -> Versus:
    """Figures of the run minus those of the other, over units that people and both runs label. All are codes, one entry
    per unit, -1 for none; differences below `margin` would not matter."""
    difference = labeller_difference(people, run, other, dimension.values, cluster_codes(units))
    shared = (people >= 0) & (run >= 0) & (other >= 0)
    sides = {
        name: classification(np.where(shared, people, -1), codes, dimension.values)
        for name, codes in (("run", run), ("other", other))
    }
    return Versus(
        figures=[
            MeasureDifference.extending(
                named_figure(name, title, getattr(difference, name), quick=False),
                **{side: number(getattr(one, name).estimate) for side, one in sides.items()},
                equivalence=equivalent(getattr(difference, name), margin),
            )
            for name, title in (("accuracy", "Accuracy"), ("macro_f1", "Macro-F1"))
        ],
        n_only_run=difference.only_a_right,
        n_only_other=difference.only_b_right,
        tests=[significance(difference.mcnemar), significance(difference.permutation)],
    )


def add_who_is_right(
    items: Items, name: str, title: str, people: np.ndarray, run: np.ndarray, other: np.ndarray, of: Run, judged: str
) -> None:
    """The column of who of two runs is right; `of` is the other run."""
    shared = (people >= 0) & (run >= 0) & (other >= 0)
    code = np.where(shared, 2 * (run != people) + (other != people), -1)
    items.add(name, title, code, WHO_IS_RIGHT, run=of.uuid, judged=judged)


def several(
    dimension: Dimension, people: np.ndarray, codes: Mapping[Run, np.ndarray], units: pd.DataFrame
) -> tuple[Several, np.ndarray]:
    """Whether runs differ in their accuracy at all, over units that people and every one of them label, and which units
    these are. Codes as in `versus`."""
    test = several_labellers(people, list(codes.values()), dimension.values, cluster_codes(units))
    shared = np.all([people >= 0, *(code >= 0 for code in codes.values())], axis=0)
    return Several(
        n_pairable=test.n_pairable,
        n_discordant=test.n_discordant,
        runs=[RightRun(run=run.uuid, name=run.name, n_right=n) for run, n in zip(codes, test.n_right, strict=True)],
        tests=[significance(test.permutation), significance(test.cochran)],
    ), shared
