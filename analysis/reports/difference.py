"""What changes from one checker run to another: labels, how sure they are, scores, failures, and what made them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports import methods_checkers
from analysis.reports.derived import derived_from, with_derived, with_derived_labels
from analysis.reports.figures import RESAMPLES, is_quick, named_figure, plain_figure
from analysis.reports.labellers import cluster_codes
from analysis.reports.opened import UNITS, Behind, below, part_of, together
from analysis.reports.reference import codes_of
from analysis.sources import Run, Source
from annotation.task_types import Dimension

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.stats import Moved
    from analysis.stats.moved import MovedFigure

SHIFT_BARS = 10


methods = methods_checkers.difference


def compute(source: Source, run: str, other: str) -> dict:
    """The difference of two finished runs of the project, by their UUIDs; the other one is where it starts from.

    Wrong values raise ValueError.
    """
    if not (run and other):
        raise ValueError("difference needs two runs: --run and --other")
    now, before = source.run(run), source.run(other)
    if now == before:
        raise ValueError("a run does not differ from itself; name two runs")
    kind = with_derived(source.type)
    origins = derived_from(kind)
    units = source.unit_frame(kind.unit_kind)
    said = {which.uuid: with_derived_labels(kind, source.suggestion_frame(which)) for which in (now, before)}
    failed = {which.uuid: set(source.failure_frame(which)["unit"].tolist()) for which in (now, before)}
    dimensions, behind = [], {UNITS: units["unit"].tolist()}
    for dimension in kind.dimensions:
        codes = [codes_of(dimension, units, said[which.uuid]) for which in (before, now)]
        if not any((code >= 0).any() for code in codes):
            continue
        derived = origins.get(dimension.slug)
        dimensions.append(_figures(dimension, units, *codes) | {"derived_from": derived})
        if not derived:
            dimensions[-1]["shift"] = _shift(source, dimension, before, now, units)
        behind |= _behind(dimension, units, *codes)
    gained, lost = failed[now.uuid] - failed[before.uuid], failed[before.uuid] - failed[now.uuid]
    behind["failures/gained"] = [unit for unit in units["unit"].tolist() if unit in gained]
    behind["failures/both"] = [
        unit for unit in units["unit"].tolist() if unit in failed[now.uuid] & failed[before.uuid]
    ]
    behind["failures/lost"] = [unit for unit in units["unit"].tolist() if unit in lost]
    scores = _scores(source, before, now, units)
    for row in scores:
        shared = row.pop("units")
        behind[f"score/{row['key']}"] = [unit for unit in units["unit"].tolist() if unit in shared]
        row["n_behind"] = len(behind[f"score/{row['key']}"])
    return {
        "report": "difference",
        "project": source.slug,
        "task_type": source.task_type,
        "run": _named(now),
        "other": _named(before),
        "n_units": len(units),
        "n_failed": len(failed[now.uuid]),
        "n_failed_other": len(failed[before.uuid]),
        "n_failures_gained": len(behind["failures/gained"]),
        "n_failures_lost": len(behind["failures/lost"]),
        "n_failures_both": len(behind["failures/both"]),
        "made_by": _made_by(before, now),
        "dimensions": dimensions,
        "scores": scores,
        "behind": behind,
    }


def _named(run: Run) -> dict:
    return {
        "uuid": run.uuid,
        "checker": run.checker,
        "version": run.version,
        "created_at": f"{run.created_at:%Y-%m-%d %H:%M}",
    }


def _made_by(before: Run, now: Run) -> list[dict]:
    """What differs in how the two describe themselves, by name; parameters and libraries one by one."""
    sides = [_flat({"checker": run.checker, "version": run.version} | run.provenance) for run in (before, now)]
    names = dict.fromkeys([*sides[0], *sides[1]])
    return [
        {"name": name, "other": sides[0].get(name, ""), "run": sides[1].get(name, "")}
        for name in names
        if sides[0].get(name, "") != sides[1].get(name, "")
    ]


def _flat(value: dict, path: str = "") -> dict[str, str]:
    found = {}
    for name, inner in value.items():
        if name in ("other_workers", "reused_from"):
            continue
        if isinstance(inner, dict):
            found |= _flat(inner, f"{path}{name} ")
        else:
            found[f"{path}{name}"] = ", ".join(map(str, inner)) if isinstance(inner, list) else str(inner)
    return found


def _figures(dimension: Dimension, units: pd.DataFrame, before: np.ndarray, now: np.ndarray) -> dict:
    import numpy as np

    from analysis.stats import Labels, classification, cohen_kappa

    cluster = cluster_codes(units)
    result = classification(before, now, dimension.values, cluster)
    rows = [(unit, rater) for rater, codes in enumerate((before, now)) for unit in np.flatnonzero(codes >= 0)]
    labels = Labels(
        unit=np.array([unit for unit, _ in rows], dtype=np.int64),
        rater=np.array([rater for _, rater in rows], dtype=np.int64),
        value=np.concatenate([codes[codes >= 0] for codes in (before, now)]),
        n_units=len(units),
        categories=dimension.values,
        cluster=cluster,
        rater_names=("other", "run"),
    )
    both = (before >= 0) & (now >= 0)
    return {
        "dimension": dimension.slug,
        "title": dimension.title,
        "level": dimension.level,
        "labels": [{"label": label.value, "title": label.title} for label in dimension.labels],
        "n_run": int((now >= 0).sum()),
        "n_other": int((before >= 0).sum()),
        "n_both": int(both.sum()),
        "n_changed": int((both & (before != now)).sum()),
        "n_only_run": int(((now >= 0) & (before < 0)).sum()),
        "n_only_other": int(((now < 0) & (before >= 0)).sum()),
        "agreement": named_figure("agreement", "Share of equal labels", result.accuracy),
        "kappa": named_figure("kappa", "Cohen's kappa", cohen_kappa(labels, "other", "run")),
        "confusion": result.confusion.tolist(),
        "shift": None,
    }


def _moved(before: np.ndarray, now: np.ndarray, of: np.ndarray, units: pd.DataFrame) -> Moved:
    """Of values of the units `of` in both runs, with intervals over claims or questions."""
    import pandas as pd

    from analysis.stats import moved

    cluster = pd.Series(cluster_codes(units), units["unit"].to_numpy()).loc[of].to_numpy()
    return moved(before, now, cluster, n_resamples=0 if is_quick() else RESAMPLES)


def _figure(found: MovedFigure, n: int) -> dict:
    return plain_figure(found.estimate, found.undefined, n, found.interval)


def _shift(source: Source, dimension: Dimension, before: Run, now: Run, units: pd.DataFrame) -> dict | None:
    """How far the probabilities moved: per unit half the sum of absolute differences over the labels, from 0 (the same)
    to 1; and each label's mean probability in both. None where no unit has probabilities of both runs."""
    import numpy as np

    sides = [source.probability_frame(run, dimension.slug, dimension.values) for run in (before, now)]
    shared = sides[0].index.intersection(sides[1].index)
    if not len(shared):
        return None
    other, run = (side.loc[shared].to_numpy() for side in sides)
    moved = np.abs(other - run).sum(axis=1) / 2
    found = _moved(other, run, shared.to_numpy(), units)
    counts, edges = np.histogram(np.clip(moved, 0, 1), bins=SHIFT_BARS, range=(0, 1))
    return {
        "n": len(shared),
        "mean": _figure(found.moved, found.n),
        "bars": [
            {"low": round(float(low), 2), "high": round(float(high), 2), "n": int(n)}
            for low, high, n in zip(edges, edges[1:], counts, strict=False)
        ],
        "labels": [
            {
                "label": label.value,
                "title": label.title,
                "other": _figure(first, found.n),
                "run": _figure(second, found.n),
            }
            for label, first, second in zip(dimension.labels, found.before, found.now, strict=True)
        ],
    }


def _scores(source: Source, before: Run, now: Run, units: pd.DataFrame) -> list[dict]:
    """Scores that both runs have, over the units where both are defined."""
    rows = []
    for name in now.scores:
        if name not in before.scores:
            continue
        sides = [source.score_frame(run, name).set_index("unit")["value"].dropna() for run in (before, now)]
        shared = sides[0].index.intersection(sides[1].index)
        found = _moved(*(side.loc[shared].to_numpy() for side in sides), shared.to_numpy(), units)
        rows.append(
            {
                "name": name,
                "key": part_of(name),
                "units": set(shared.tolist()),
                "n": len(shared),
                "other": _figure(found.before[0], found.n),
                "run": _figure(found.now[0], found.n),
                "moved": _figure(found.moved, found.n),
                "pearson": _figure(found.pearson[0], found.n),
            }
        )
    return rows


def _behind(dimension: Dimension, units: pd.DataFrame, before: np.ndarray, now: np.ndarray) -> dict[str, list[int]]:
    """Units of every cell ("" where a run has no label), and all whose label changed, in the order of work."""
    ids, width = units["unit"].to_numpy(), len(dimension.values) + 1
    names = ("", *dimension.values)  # code -1 comes first
    cell = (before + 1) * width + now + 1
    found = {
        f"{dimension.slug}/{said}/{says}": ids[cell == row * width + column].tolist()
        for row, said in enumerate(names)
        for column, says in enumerate(names)
    }
    found[f"{dimension.slug}/changed"] = ids[(before >= 0) & (now >= 0) & (before != now)].tolist()
    return found


def opened(behind: Behind, figure: str) -> list[int] | None:
    """Units that both runs labelled, or one of them alone."""
    slug, *parts = figure.split("/")
    if parts not in (["both"], ["only-before"], ["only-now"]) or f"{slug}/changed" not in behind:
        return None
    cells = {tuple(key.split("/")[1:]): key for key in below(behind, slug) if key.count("/") == 2}
    wanted = {"both": (True, True), "only-before": (True, False), "only-now": (False, True)}[parts[0]]
    return together(behind, [key for cell, key in cells.items() if (bool(cell[0]), bool(cell[1])) == wanted])
