"""What changes from one checker run to another: labels, how sure they are, scores, failures, and what made them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.figures.results import Figure, NamedLabel
from analysis.reports.checkers.difference.report import (
    LabelChanges,
    MadeBy,
    MeanProbability,
    NamedRun,
    ProbabilityShift,
    RunDifference,
    ScoreChange,
    ShiftBar,
)
from analysis.reports.estimates import RESAMPLES, cluster_codes, named_figure, plain_figure
from analysis.reports.labels.derived import derived_from, fields_of_question, with_derived, with_derived_labels
from analysis.reports.labels.judgements import add_judgements, new_items
from analysis.reports.labels.reference import codes_of
from analysis.sources.base import Source
from analysis.sources.outline import Run
from analysis.stats import Labels, Moved, classification, cohen_kappa, moved
from analysis.stats.generation.paired_measurements import MovedFigure
from annotation.task_types import Dimension

SHIFT_BARS = 10
BY_WHOM = {
    "both": "by both runs",
    "first": "by the first run only",
    "second": "by the second run only",
}
FAILED_IN = {"second": "in the second run only", "first": "in the first run only", "both": "in both runs"}


def compute(source: Source, *, run: str, other: str, quick: bool = False) -> tuple[RunDifference, Items]:
    """The difference of two finished runs of the project, by their UUIDs; the other one is where it starts from.

    Wrong values raise ValueError.
    """
    if not (run and other):
        raise ValueError("difference needs two runs: --run and --other")
    now, before = source.run(run), source.run(other)
    if now == before:
        raise ValueError("a run cannot be compared with itself; name two runs")
    kind = with_derived(source.type)
    origins = derived_from(kind)
    units = source.unit_frame(kind.unit_kind)
    items = new_items(units, runs=[before.uuid, now.uuid])
    # No figure counts them: they are shown with the items.
    add_judgements(items, source.type, source.label_frame(units))
    suggestions = [with_derived_labels(kind, source.suggestion_frame(which)) for which in (before, now)]
    dimensions = []
    for dimension in kind.dimensions:
        codes = [codes_of(dimension, units, labels) for labels in suggestions]
        if not any((code >= 0).any() for code in codes):
            continue
        _add_labels(items, dimension, *codes)
        is_derived = dimension.slug in origins
        shift = None if is_derived else _shift(items, source, dimension, (before, now), units, quick)
        dimensions.append(_changes(dimension, units, *codes, origins, shift, quick=quick))
    failed = [units["unit"].isin(source.failure_frame(which)["unit"]).to_numpy() for which in (before, now)]
    first, second = failed
    parts = {"second": second & ~first, "first": first & ~second, "both": first & second}
    items.add_parts("failed", "Failed", parts, FAILED_IN)
    return RunDifference(
        run=_named(now),
        other=_named(before),
        n_units=len(units),
        n_failed=source.failure_frame(now)["unit"].nunique(),
        n_failed_other=source.failure_frame(before)["unit"].nunique(),
        n_failures_gained=int(parts["second"].sum()),
        n_failures_lost=int(parts["first"].sum()),
        n_failures_both=int(parts["both"].sum()),
        made_by=_made_by(before, now),
        dimensions=dimensions,
        scores=_scores(items, source, before, now, units, quick),
    ), items


def _named(run: Run) -> NamedRun:
    return NamedRun.taking(run, created_at=f"{run.created_at:%Y-%m-%d %H:%M}" if run.created_at else "")


def _made_by(before: Run, now: Run) -> list[MadeBy]:
    """What differs in how the two describe themselves, by name; parameters and libraries one by one."""
    sides = [_flat({"checker": run.checker, "version": run.version} | run.provenance) for run in (before, now)]
    names = dict.fromkeys([*sides[0], *sides[1]])
    return [
        MadeBy(name=name, other=sides[0].get(name, ""), run=sides[1].get(name, ""))
        for name in names
        if sides[0].get(name, "") != sides[1].get(name, "")
    ]


def _flat(value: dict, path: str = "") -> dict[str, str]:
    flat = {}
    for name, inner in value.items():
        if name in ("other_workers", "reused_from"):
            continue
        if isinstance(inner, dict):
            flat |= _flat(inner, f"{path}{name} ")
        else:
            flat[f"{path}{name}"] = ", ".join(map(str, inner)) if isinstance(inner, list) else str(inner)
    return flat


def _changes(
    dimension: Dimension,
    units: pd.DataFrame,
    before: np.ndarray,
    now: np.ndarray,
    origins: dict[str, str],
    shift: ProbabilityShift | None,
    *,
    quick: bool,
) -> LabelChanges:
    cluster = cluster_codes(units)
    result = classification(before, now, dimension.values, cluster)
    labels = Labels.of_two(before, now, dimension.values, cluster, ("other", "run"))
    both = (before >= 0) & (now >= 0)
    return LabelChanges(
        **fields_of_question(dimension, origins),
        level=dimension.level,
        labels=NamedLabel.of(dimension),
        n_run=int((now >= 0).sum()),
        n_other=int((before >= 0).sum()),
        n_both=int(both.sum()),
        n_changed=int((both & (before != now)).sum()),
        n_only_run=int(((now >= 0) & (before < 0)).sum()),
        n_only_other=int(((now < 0) & (before >= 0)).sum()),
        agreement=named_figure("agreement", "Share of equal labels", result.accuracy, quick=quick),
        kappa=named_figure("kappa", "Cohen's kappa", cohen_kappa(labels, "other", "run"), quick=quick),
        confusion=result.confusion.tolist(),
        shift=shift,
    )


def _moved(before: np.ndarray, now: np.ndarray, of: np.ndarray, units: pd.DataFrame, quick: bool) -> Moved:
    """Of values of the units `of` in both runs, with intervals over claims or questions."""
    cluster = pd.Series(cluster_codes(units), units["unit"].to_numpy()).loc[of].to_numpy()
    return moved(before, now, cluster, n_resamples=0 if quick else RESAMPLES)


def _figure(figure: MovedFigure, n: int) -> Figure:
    return plain_figure(figure.estimate, figure.undefined, n, figure.interval)


def _shift(
    items: Items, source: Source, dimension: Dimension, runs: tuple[Run, Run], units: pd.DataFrame, quick: bool
) -> ProbabilityShift | None:
    """None where no unit has probabilities of both runs."""
    sides = [source.probability_frame(run, dimension.slug, dimension.values) for run in runs]
    shared = sides[0].index.intersection(sides[1].index)
    if not len(shared):
        return None
    other, run = (side.loc[shared].to_numpy() for side in sides)
    figures = _moved(other, run, shared.to_numpy(), units, quick)
    edges = np.linspace(0, 1, SHIFT_BARS + 1)
    distance = np.clip(np.abs(other - run).sum(axis=1) / 2, 0, 1)
    bar = np.minimum(np.searchsorted(edges, distance, side="right") - 1, SHIFT_BARS - 1)
    bars = [
        ShiftBar(low=round(float(low), 2), high=round(float(high), 2), n=int(n))
        for low, high, n in zip(edges, edges[1:], np.bincount(bar, minlength=SHIFT_BARS), strict=False)
    ]
    of_units = pd.Series(bar, shared).reindex(units["unit"]).fillna(-1).astype(int).to_numpy()
    titles = {str(place): f"{one.low:.1f} to {one.high:.1f}" for place, one in enumerate(bars)}
    items.add(f"{dimension.slug}.moved", f"{dimension.title}: probabilities moved", of_units, titles)
    return ProbabilityShift(
        n=len(shared),
        mean=_figure(figures.moved, figures.n),
        bars=bars,
        labels=[
            MeanProbability(
                label=label.value, title=label.title, other=_figure(first, figures.n), run=_figure(second, figures.n)
            )
            for label, first, second in zip(dimension.labels, figures.before, figures.now, strict=True)
        ],
    )


def _scores(items: Items, source: Source, before: Run, now: Run, units: pd.DataFrame, quick: bool) -> list[ScoreChange]:
    """Scores that both runs have, over the units where both are defined."""
    rows = []
    for name in now.scores:
        if name not in before.scores:
            continue
        sides = [source.score_frame(run, name).set_index("unit")["value"].dropna() for run in (before, now)]
        shared = sides[0].index.intersection(sides[1].index)
        items.add_sets("score", "", {name: (f"Score {name} of both runs", units["unit"].isin(shared).to_numpy())})
        figures = _moved(*(side.loc[shared].to_numpy() for side in sides), shared.to_numpy(), units, quick)
        rows.append(
            ScoreChange(
                name=name,
                n=len(shared),
                other=_figure(figures.before[0], figures.n),
                run=_figure(figures.now[0], figures.n),
                moved=_figure(figures.moved, figures.n),
                pearson=_figure(figures.pearson[0], figures.n),
            )
        )
    return rows


# ---- the items behind figures ----


def _add_labels(items: Items, dimension: Dimension, before: np.ndarray, now: np.ndarray) -> None:
    """The label of either run, which of them labelled a unit, and whether its label changed."""
    slug, title = dimension.slug, dimension.title
    items.add_labels(f"{slug}.first", f"{title} in the first run", before, dimension)
    items.add_labels(f"{slug}.second", f"{title} in the second run", now, dimension)
    first, second = before >= 0, now >= 0
    by_whom = {"both": first & second, "first": first & ~second, "second": second & ~first}
    items.add_parts(f"{slug}.labelled", f"{title}: labelled", by_whom, BY_WHOM)
    items.add_flag(f"{slug}.changed", f"{title}: changed label", by_whom["both"] & (before != now))
