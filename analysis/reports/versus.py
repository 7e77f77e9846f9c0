"""Two runs, or more, against the same people: is one of them closer, and more than chance would have it?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from analysis.reports.equivalence import MARGIN, equivalence_of
from analysis.reports.figures import named_figure, number
from analysis.sources import Run
from annotation.task_types import Dimension

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.stats import PairedTest


def versus(
    dimension: Dimension,
    people: np.ndarray,
    run: np.ndarray,
    other: np.ndarray,
    units: pd.DataFrame,
    margin: float = MARGIN,
) -> tuple[dict, dict[str, list[int]]]:
    """Figures of the run minus those of the other, over units that people and both runs label, and the units behind
    them. All are codes, one entry per unit, -1 for none; differences below `margin` would not matter."""
    import numpy as np

    from analysis.stats import classification, labeller_difference

    cluster = units["cluster"].astype("category").cat.codes.to_numpy()
    found = labeller_difference(people, run, other, dimension.values, cluster)
    shared = (people >= 0) & (run >= 0) & (other >= 0)
    sides = {
        name: classification(np.where(shared, people, -1), codes, dimension.values)
        for name, codes in (("run", run), ("other", other))
    }
    ids = units["unit"].to_numpy()
    right = {"run": shared & (run == people) & (other != people), "other": shared & (other == people) & (run != people)}
    return {
        "figures": [
            named_figure(name, title, getattr(found, name))
            | {side: number(getattr(one, name).estimate) for side, one in sides.items()}
            | {"equivalence": equivalence_of(getattr(found, name), margin)}
            for name, title in (("accuracy", "Accuracy"), ("macro_f1", "Macro-F1"))
        ],
        "n_only_run": found.only_a_right,
        "n_only_other": found.only_b_right,
        "tests": [test_of(found.mcnemar), test_of(found.permutation)],
    }, {f"{dimension.slug}/only/{side}/units": ids[where].tolist() for side, where in right.items()} | {
        f"{dimension.slug}/of/versus": ids[shared].tolist()
    }


def several(
    dimension: Dimension, people: np.ndarray, codes: Mapping[Run, np.ndarray], units: pd.DataFrame
) -> tuple[dict, list[int]]:
    """Whether runs differ in their accuracy at all, over units that people and every one of them label, and these
    units. Codes as in `versus`."""
    import numpy as np

    from analysis.stats import several_labellers

    cluster = units["cluster"].astype("category").cat.codes.to_numpy()
    found = several_labellers(people, list(codes.values()), dimension.values, cluster)
    shared = np.all([people >= 0, *(code >= 0 for code in codes.values())], axis=0)
    return {
        "n_pairable": found.n_pairable,
        "n_discordant": found.n_discordant,
        "runs": [
            {"run": run.uuid, "name": run.name, "n_right": n} for run, n in zip(codes, found.n_right, strict=True)
        ],
        "tests": [test_of(found.permutation), test_of(found.cochran)],
    }, units["unit"].to_numpy()[shared].tolist()


def test_of(test: PairedTest) -> dict:
    return {
        "name": test.name,
        "statistic": number(test.statistic),
        "p_value": number(test.p_value),
        "undefined": test.undefined,
        "n_permutations": test.n_permutations or None,
        "exact": test.exact,
    }
