"""A checker's labels on a scale against people's: the verdict, distances, and errors along the scale."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.figures.results import NamedFigure
from analysis.figures.scales import at_the_ends, scale_rule, scale_sentences
from analysis.reports.checkers.comparison.result import ErrorAt, OnScale
from analysis.reports.estimates import bounded_figure, cluster_codes, named_figure
from analysis.reports.labels.reference import Reference
from analysis.reports.labels.scales import places_of
from analysis.stats import (
    Labels,
    ScaleError,
    ScaleStanding,
    cohen_kappa,
    errors_along,
    kendall_tau_b,
    pearson,
    scale_standing,
    spearman,
)
from annotation.task_types import Dimension

# With more people by units than this only as many columns as a unit has labels are held.
MOST_CELLS = 20_000_000
CORRELATIONS = (
    ("pearson", "Pearson's correlation", pearson),
    ("spearman", "Spearman's correlation", spearman),
    ("kendall_tau_b", "Kendall's tau-b", kendall_tau_b),
)


def on_scale(
    items: Items,
    dimension: Dimension,
    name: str,
    checker: np.ndarray,
    people: Reference,
    reference: np.ndarray,
    labels: pd.DataFrame | None,
    units: pd.DataFrame,
    *,
    are_named: bool,
) -> OnScale | None:
    """None for labels without an order, and where there is nothing to compare. `checker` are codes, `reference`
    people's value of each unit; `labels` are people's that count, None where the reference is no majority of them: it
    is then held as one person's. `are_named` says whether these are persons, and not places for unnamed ones."""
    places = np.array(places_of(dimension), dtype=float) if dimension.level != "nominal" else np.zeros(0)
    if len(places) < 3 or not ((checker >= 0) & np.isfinite(reference)).any():
        return None
    values = np.where(checker >= 0, places[checker], np.nan)
    matrix, has_names = people_on_scale(dimension, labels, units, places)
    has_peers = matrix is not None and ((np.isfinite(matrix).sum(axis=0) > 1) & (checker >= 0)).any()
    cluster = cluster_codes(units)
    if not has_peers:
        matrix = np.where(people.code >= 0, places[people.code], np.nan)[None, :]
    standing = scale_standing(matrix, values, places, cluster, are_exchangeable=not (are_named and has_names))
    errors = errors_along(values, reference, places, cluster)
    distance = np.abs(values - reference) / standing.step
    bins = np.where(np.isfinite(distance), np.ceil(np.nan_to_num(distance) - 1e-9), -1).astype(int)
    counts = np.bincount(bins[bins >= 0])
    titles = {str(steps): _steps(steps) for steps in range(len(counts))}
    items.add(f"{dimension.slug}.distance", f"{dimension.title}: {name} and people", bins, titles)
    nearest = np.abs(np.nan_to_num(reference)[:, None] - places[None, :]).argmin(axis=1)
    at, of_people = np.where(bins >= 0, nearest, -1), f"{dimension.title}: people’s value, where {name} gives one"
    items.add_labels(f"{dimension.slug}.along", of_people, at, dimension)
    items.add_flag(f"{dimension.slug}.rated", f"{dimension.title}: values of {name} and of people", bins >= 0)
    ruled = np.isfinite(values) & (np.isfinite(matrix).sum(axis=0) > (1 if has_peers else 0))
    items.add_flag(f"{dimension.slug}.ruled", f"{dimension.title}: what the verdict on {name} rests on", ruled)
    first, *_, last = dimension.labels
    return OnScale(
        sentence=scale_sentences(name, f"{first.title} to {last.title}", standing, errors.all, "unit"),
        rule=scale_rule(standing, who="checker", what="unit"),
        note=f"Checker minus people. {at_the_ends('checker')}",
        verdict=standing.verdict,
        closeness=standing.closeness,
        n=standing.n,
        figures=list(_figures(dimension, standing, errors.all, values, reference, people, checker, cluster)),
        along=[_error_at(dimension, places, one) for one in errors.at],
        distances=counts.tolist(),
    )


def people_on_scale(
    dimension: Dimension, labels: pd.DataFrame | None, units: pd.DataFrame, places: np.ndarray
) -> tuple[np.ndarray | None, bool]:
    """A row per person and a column per unit; and whether a row is a person, which with very many people it is not.
    None without labels."""
    mine = labels[labels["dimension"] == dimension.slug] if labels is not None else []
    if not len(mine):
        return None, True
    unit = pd.Index(units["unit"].to_numpy()).get_indexer(mine["unit"].to_numpy())
    value = places[pd.Index(dimension.values).get_indexer(mine["label"])]
    rater, names = pd.factorize(mine["rater"])
    has_names = len(names) * len(units) <= MOST_CELLS
    if not has_names:
        rater = mine.groupby("unit").cumcount().to_numpy()
    matrix = np.full((int(rater.max()) + 1, len(units)), np.nan)
    matrix[rater, unit] = value
    return matrix, has_names


def _figures(dimension, standing: ScaleStanding, error: ScaleError, values, reference, people, checker, cluster):
    kappa = bounded_figure(
        standing.kappa.estimate, standing.kappa_low, standing.kappa_high, standing.kappa_undefined, standing.n
    )
    of_pairs = "" if standing.gap is None else ", of the checker and a person"
    yield NamedFigure.extending(kappa, name="kappa", title=f"Weighted kappa, quadratic weights{of_pairs}")
    places = np.array(places_of(dimension), dtype=float)
    both = Labels.of_two(people.code, checker, dimension.values, cluster, ("people", "checker"))
    linear = cohen_kappa(both, 0, 1, "linear", places)
    yield named_figure("linear_kappa", "Weighted kappa, linear weights, with the reference", linear, quick=False)
    for name, title, measure in CORRELATIONS:
        yield named_figure(name, title, measure(values, reference, cluster), quick=False)
    if (gap := standing.gap) is not None:
        for name, title, value, ends in (
            ("checker_distance", "Mean distance of the checker to a person", gap.labeller, gap.labeller_ends),
            ("people_distance", "Mean distance of the other people to the same person", gap.people, gap.people_ends),
        ):
            figure = bounded_figure(value, *ends, gap.undefined, gap.n)
            yield NamedFigure.extending(figure, name=name, title=title)
        difference = bounded_figure(gap.estimate, gap.low, gap.high, gap.undefined, gap.n)
        yield NamedFigure.extending(difference, name="distance_difference", title="Difference of the distances")
    mean = bounded_figure(error.mean, error.low, error.high, error.undefined, error.n)
    yield NamedFigure.extending(mean, name="mean_error", title="Mean error (checker minus people)")
    absolute = bounded_figure(error.absolute, error.absolute_low, error.absolute_high, error.undefined, error.n)
    yield NamedFigure.extending(absolute, name="absolute_error", title="Mean absolute error")


def _error_at(dimension: Dimension, places: np.ndarray, error: ScaleError) -> ErrorAt:
    place = int(np.flatnonzero(places == error.value)[0])
    return ErrorAt(
        label=dimension.values[place],
        title=dimension.labels[place].title,
        n=error.n,
        error=bounded_figure(error.mean, error.low, error.high, error.undefined, error.n),
        absolute=bounded_figure(error.absolute, error.absolute_low, error.absolute_high, error.undefined, error.n),
    )


def _steps(steps: int) -> str:
    return "the same value" if not steps else "up to 1 step apart" if steps == 1 else f"up to {steps} steps apart"
