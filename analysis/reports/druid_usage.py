"""How language models use evidence (DRUID, sections 4.2 and 5.3, tables 11 and 22, figure 3)."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from analysis.reports.behind_sets import UnitSets, key
from analysis.reports.druid_data import NOT_RELEVANT, Pairs, stance_dimension
from analysis.reports.druid_means import mean_table
from analysis.reports.druid_models import Model, desired, known_stances
from analysis.reports.druid_shifts import shifts

if TYPE_CHECKING:
    import numpy as np

ALL_STANCES = ""  # the row of all relevant evidence
COLUMNS = ("acu_mean", "acu_sum", "dp_false", "dp_none", "dp_true", "memory_conflict", "desired_move")
# What the pairs that have a value of a column are called.
KNOWN = {
    "acu_mean": "usage",
    "acu_sum": "usage",
    "dp_false": "change-false",
    "dp_none": "change-none",
    "dp_true": "change-true",
    "memory_conflict": "before",
    "desired_move": "answered",
}
MAX_COMPARED = 6  # runs of which every pair is compared


def usage(pairs: Pairs, found: list[Model], sets: UnitSets) -> dict:
    """The part of the result about every model."""
    import numpy as np

    relevant = np.array([stance not in (None, NOT_RELEVANT) for stance in known_stances(pairs)], dtype=bool)
    rows = [(ALL_STANCES, relevant), *((name, pairs.has_stance(name)) for name in pairs.names)]
    values = [_columns(pairs, model) for model in found]
    differences = list(combinations(range(len(found)), 2)) if len(found) <= MAX_COMPARED else []
    both = [(values[a][:, :2] - values[b][:, :2]) for a, b in differences]
    table = mean_table(np.column_stack(values + both), [where for _, where in rows], pairs.cluster)
    parts, start = [], 0
    for model, own in zip(found, values, strict=True):
        its_rows = []
        for place, (name, where) in enumerate(rows):
            sets.put(where & (model.usage.reason < 0), key("usage", model.name, name))
            cells = dict(zip(COLUMNS, table[place][start:], strict=False))
            its_rows.append(
                {
                    "stance": name,
                    "desired": desired(name),
                    **_linked(pairs, model, cells, own, name, where, sets),
                    "without": sets.add(where & (model.usage.reason >= 0), key("unused", model.name, name)),
                }
            )
        parts.append(
            {
                "run": model.run.uuid,
                "model": model.name,
                "checker": model.run.name,
                "stances": its_rows,
                "shifts": shifts(pairs, model, sets),
                "undefined": _undefined(model, sets),
            }
        )
        start += len(COLUMNS)
    compared = []
    for place, (a, b) in enumerate(differences):
        names = found[a].name, found[b].name
        compared.append({"a": names[0], "b": names[1], "rows": []})
        for row, (stance, where) in enumerate(rows):
            cells = table[row][start + 2 * place :][:2]
            same = (key("usage", name, stance) for name in names)
            where = where & ~np.isnan(both[place][:, 0])
            figure = sets.add(where, key("compared", *names, stance), *same)
            compared[-1]["rows"].append({"stance": stance, "figure": figure, "acu_mean": cells[0], "acu_sum": cells[1]})
    return {"models": parts, "differences": compared}


def _linked(
    pairs: Pairs,
    model: Model,
    cells: dict[str, dict],
    values: np.ndarray,
    stance: str,
    where: np.ndarray,
    sets: UnitSets,
) -> dict[str, dict]:
    """Cells of one row with the keys of the pairs that have a value."""
    import numpy as np

    same = (key("usage", model.name, stance), key("label", stance_dimension(pairs.kind).slug, stance))
    found = {}
    for place, (column, cell) in enumerate(cells.items()):
        is_known = where & ~np.isnan(values[:, place])
        found[column] = cell | {"figure": sets.add(is_known, key(KNOWN[column], model.name, stance), *same)}
    return found


def _columns(pairs: Pairs, model: Model) -> np.ndarray:
    """COLUMNS of one model, (n, 7)."""
    import numpy as np

    from analysis.stats import memory_conflict
    from analysis.stats.shifts import desired_move

    stances, found = known_stances(pairs), model.usage
    return np.column_stack(
        [
            found.acu_mean,
            found.acu_sum,
            found.change,
            memory_conflict(model.without, stances),
            desired_move(model.without, model.with_evidence, stances),
        ]
    )


def _undefined(model: Model, sets: UnitSets) -> list[dict]:
    """Pairs without context use, by reason."""
    from analysis.stats.usage import REASONS

    found = []
    for place, reason in enumerate(REASONS):
        where = model.usage.reason == place
        sets.put(where, key("undefined", model.name, str(place)))
        found.append({"reason": reason, "n": int(where.sum())})
    return found
