"""How language models use evidence (DRUID, sections 4.2 and 5.3, tables 11, 21 and 22, figure 3)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from analysis.reports.druid_data import ANSWERS, MODES, NOT_RELEVANT, Pairs, model_names
from analysis.reports.druid_means import mean_table
from analysis.sources import Run, Source

if TYPE_CHECKING:
    import numpy as np

    from analysis.stats import ContextUsage

ALL_STANCES = ""  # the row of all relevant evidence
COLUMNS = ("acu_mean", "acu_sum", "dp_false", "dp_none", "dp_true", "memory_conflict", "desired_move")
# Rows of the paper's table 21; the one in the middle leaves out evidence that leans in favour.
PAPER_ROWS = {
    "refutes": ("refutes",),
    "insufficient": ("insufficient-refutes", "insufficient-contradictory", "insufficient-neutral"),
    "supports": ("supports",),
}
MAX_COMPARED = 6  # runs of which every pair is compared


@dataclass(frozen=True, eq=False)
class Model:
    """One run's probabilities, in the order of pairs, and what follows from them."""

    run: Run
    name: str
    without: np.ndarray  # (n, 3)
    with_evidence: np.ndarray  # (n, 3)
    usage: ContextUsage


def models(source: Source, pairs: Pairs, runs: list[Run]) -> list[Model]:
    import numpy as np

    from analysis.stats import context_usage

    names, found = model_names(runs), []
    stances = known_stances(pairs)
    for run in runs:
        without, with_evidence = (
            np.column_stack([pairs.values(source.score_frame(run, f"p_{answer}_{mode}")) for answer in ANSWERS])
            for mode in MODES
        )
        usage = context_usage(without, with_evidence, stances)
        found.append(Model(run, names[run.uuid], without, with_evidence, usage))
    return found


def known_stances(pairs: Pairs) -> list[str | None]:
    """The stances of which it is known what use of context would be; other labels have none."""
    from analysis.stats.usage import DESIRED

    return [stance if stance in DESIRED else None for stance in pairs.stances]


def usage(pairs: Pairs, found: list[Model]) -> tuple[dict, dict[str, list[int]]]:
    """The part of the result about every model, and the units behind its figures."""
    import numpy as np

    relevant = np.array([stance not in (None, NOT_RELEVANT) for stance in known_stances(pairs)], dtype=bool)
    rows = [(ALL_STANCES, relevant), *((name, pairs.has_stance(name)) for name in pairs.names)]
    values = [_columns(pairs, model) for model in found]
    differences = list(combinations(range(len(found)), 2)) if len(found) <= MAX_COMPARED else []
    values += [(values[a][:, :2] - values[b][:, :2]) for a, b in differences]
    table = mean_table(np.column_stack(values), [where for _, where in rows], pairs.cluster)
    parts, behind, start = [], {}, 0
    for model in found:
        its_rows = [
            {"stance": name, "desired": _desired(name), **dict(zip(COLUMNS, table[place][start:], strict=False))}
            for place, (name, _) in enumerate(rows)
        ]
        for name, where in rows:
            behind[f"usage/{model.name}/{name}"] = pairs.ids(where & (model.usage.reason < 0))
        shifts, ids = _shifts(pairs, model)
        undefined, more = _undefined(pairs, model)
        behind |= ids | more
        parts.append(
            {
                "run": model.run.uuid,
                "model": model.name,
                "checker": model.run.name,
                "stances": its_rows,
                "shifts": shifts,
                "undefined": undefined,
            }
        )
        start += len(COLUMNS)
    compared = [
        {
            "a": found[a].name,
            "b": found[b].name,
            "rows": [
                {
                    "stance": name,
                    "acu_mean": table[row][start + 2 * place],
                    "acu_sum": table[row][start + 2 * place + 1],
                }
                for row, (name, _) in enumerate(rows)
            ],
        }
        for place, (a, b) in enumerate(differences)
    ]
    return {"models": parts, "differences": compared}, behind


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


def _desired(stance: str) -> list[int] | None:
    """Signs of the desired changes, in the order of ANSWERS; None where rows of several signs are together."""
    from analysis.stats.usage import DESIRED

    return list(DESIRED[stance]) if stance in DESIRED else None


def _shifts(pairs: Pairs, model: Model) -> tuple[dict, dict[str, list[int]]]:
    """Counts of answers before and after, by stance and by the paper's rows, and the pairs in every cell."""
    import numpy as np

    from analysis.stats import prediction_shifts
    from analysis.stats.shifts import predicted_answers

    stances = known_stances(pairs)
    names = [name for name in pairs.names if _desired(name)]
    found = prediction_shifts(model.without, model.with_evidence, stances, names)
    rows = [
        {
            "stance": stance,
            "desired": _desired(stance),
            "n": int(found.n_pairs[place]),
            "before": found.before[place].tolist(),
            "after": found.after[place].tolist(),
            "change": found.change[place].tolist(),
            "transitions": found.transitions[place].tolist(),
            "desired_moves": int(found.desired_moves[place]),
            "memory_conflicts": int(found.memory_conflicts[place]),
        }
        for place, stance in enumerate(found.stances)
    ]
    behind = {}
    before, after = predicted_answers(model.without), predicted_answers(model.with_evidence)
    known = (before >= 0) & (after >= 0)
    for name in names:
        here = pairs.has_stance(name) & known
        for place, answer in enumerate(ANSWERS):
            behind[f"answer/{model.name}/{name}/{answer}"] = pairs.ids(here & (after == place))
    conflicts = np.array([stance == "refutes" for stance in stances]) & (before == ANSWERS.index("true"))
    conflicts |= np.array([stance == "supports" for stance in stances]) & (before == ANSWERS.index("false"))
    for name in ("refutes", "supports"):
        behind[f"conflict/{model.name}/{name}"] = pairs.ids(conflicts & pairs.has_stance(name))
    return {"rows": rows, "paper": _paper_rows(rows), "left_out": found.left_out}, behind


def _paper_rows(rows: list[dict]) -> list[dict]:
    """The three rows of table 21, where the task type has all of their stances."""
    by_name = {row["stance"]: row for row in rows}
    if not set(sum(PAPER_ROWS.values(), ())) <= set(by_name):
        return []
    found = []
    for name, stances in PAPER_ROWS.items():
        mine = [by_name[stance] for stance in stances]
        summed = {
            key: [sum(cells) for cells in zip(*(row[key] for row in mine), strict=True)] for key in ("after", "change")
        }
        # The row of undecided evidence is counted as if all of it wanted the answer None, which the paper does.
        signs = _desired(stances[-1])
        moves = sum(sign * change for sign, change in zip(signs, summed["change"], strict=True))
        counts = {key: sum(row[key] for row in mine) for key in ("n", "memory_conflicts")}
        found.append({"row": name, "stances": list(stances), **summed, **counts, "desired_moves": moves})
    return found


def _undefined(pairs: Pairs, model: Model) -> tuple[list[dict], dict[str, list[int]]]:
    """Pairs without context use, by reason."""
    from analysis.stats.usage import REASONS

    found, behind = [], {}
    for place, reason in enumerate(REASONS):
        where = model.usage.reason == place
        behind[f"undefined/{model.name}/{place}"] = pairs.ids(where)
        found.append({"reason": reason, "n": int(where.sum())})
    return found, behind
