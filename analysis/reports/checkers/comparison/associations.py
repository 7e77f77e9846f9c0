"""A score with the place of people's labels: is it more than chance, does it hold within sources and models, and does
it order the models themselves?"""

from __future__ import annotations

import numpy as np
import pandas as pd
from msgspec import UNSET

from analysis.reports.checkers.comparison.result import (
    OF_ITEMS,
    OF_MODELS,
    PARTIAL,
    PLAIN,
    WITHIN,
    Associations,
    CoefficientTest,
    CorrelationLevel,
    Significance,
)
from analysis.reports.estimates import RESAMPLES, cluster_codes, to_figure
from analysis.reports.labels.scales import places_of
from analysis.reports.words.numbers import n_of
from analysis.stats import (
    CorrelationTest,
    Estimate,
    correlation_test,
    item_correlation,
    kendall_tau_b,
    pearson,
    spearman,
    stratified_correlation,
    system_correlation,
)
from annotation.task_types import Dimension

COEFFICIENTS = {"pearson": "Pearson", "spearman": "Spearman", "kendall_tau_b": "Kendall's tau-b"}
# Fewer draws above so many units, so that nobody waits for minutes.
LARGE = 20_000
PERMUTATIONS, FEWER_PERMUTATIONS = 999, 99
FEWER_RESAMPLES = 200
# All orders of up to seven models are tried.
ORDERS_OF_MODELS = 9_999
# With fewer models their means have no correlation.
FEWEST_MODELS = 3
STRATA = {"source": "sources", "model": "models"}
OF_UNITS = "claims or questions"
DRAWN = {"by_item": OF_UNITS, "by_system": "models", "by_both": "models, and claims or questions"}


def associations(
    dimension: Dimension, label: np.ndarray, value: np.ndarray, units: pd.DataFrame, *, with_levels: bool
) -> Associations | None:
    """Tests of a dimension whose labels have an order; `with_levels` also the levels of such a one, or of one that
    judges what several models made and has labels on a scale. None for others. `label` is what people give each unit as
    a number, nan for none, and `value` its score."""
    is_ordinal = dimension.level != "nominal"
    has_models = with_levels and _n_values(units["model"]) >= FEWEST_MODELS
    if not is_ordinal and not (has_models and len(set(places_of(dimension)) - {None}) > 1):
        return None
    draws = FEWER_PERMUTATIONS if len(units) > LARGE else PERMUTATIONS
    return Associations(
        tests=_tests(label, value, units, draws) if is_ordinal else [],
        levels=_levels(label, value, units, is_ordinal, draws) if with_levels else [],
        n_scored=int((np.isfinite(label) & np.isfinite(value)).sum()),
    )


def _tests(people: np.ndarray, value: np.ndarray, units: pd.DataFrame, draws: int) -> list[CoefficientTest]:
    cluster = cluster_codes(units)
    return [
        _tested(
            correlation_test(value, people, name, cluster=cluster, n_permutations=draws),
            PLAIN,
            kind=CoefficientTest,
            title=title,
        )
        for name, title in COEFFICIENTS.items()
    ]


def _tested(test: CorrelationTest, name: str, kind: type[Significance] = Significance, **more: str) -> Significance:
    return kind.taking(test, name=name, exact=UNSET, **more)


def _levels(
    people: np.ndarray, value: np.ndarray, units: pd.DataFrame, is_shown: bool, draws: int
) -> list[CorrelationLevel]:
    """Each coefficient at segment level (over all units unless `is_shown` elsewhere, within sources, within models, and
    within each claim or question) and at system level. `test` is None where a row has none."""
    levels = []
    resamples = FEWER_RESAMPLES if len(units) > LARGE else RESAMPLES
    if not is_shown:
        cluster = cluster_codes(units)
        for measure in (pearson, spearman, kendall_tau_b):
            estimates = measure(value, people, cluster)
            title = COEFFICIENTS[estimates.coefficient]
            levels.append(_level("segment", "all units", title, OF_UNITS, estimates, resamples))
    for column, what in STRATA.items():
        if _n_values(units[column]) > 1:
            levels += _within(people, value, units, column, what, resamples, draws)
    if _n_values(units["model"]) >= FEWEST_MODELS:
        for name, title in COEFFICIENTS.items():
            estimate = item_correlation(value, people, units["cluster"].tolist(), name)
            levels.append(_level("segment", OF_ITEMS, title, OF_UNITS, estimate, resamples))
        levels += _of_systems(people, value, units)
    return levels


def _n_values(column: pd.Series) -> int:
    return int(column[column.notna() & (column != "")].nunique())


def _within(
    people: np.ndarray, value: np.ndarray, units: pd.DataFrame, column: str, what: str, resamples: int, draws: int
) -> list[CorrelationLevel]:
    """Every coefficient within strata, tested, then the mean over strata of every one. All draw the same clusters."""
    strata, cluster = units[column].fillna("").tolist(), cluster_codes(units)
    within, means = [], []
    for name, title in COEFFICIENTS.items():
        correlations = stratified_correlation(value, people, strata, name, cluster)
        test = _tested(correlation_test(value, people, name, strata, cluster, draws), WITHIN)
        over = f"within {what}{PARTIAL}"
        within.append(_level("segment", over, title, OF_UNITS, correlations.within, resamples, test))
        means.append(_level("segment", f"mean of {what}", title, OF_UNITS, correlations.mean, resamples))
    return within + means


def _of_systems(people: np.ndarray, value: np.ndarray, units: pd.DataFrame) -> list[CorrelationLevel]:
    named = (units["model"].notna() & (units["model"] != "")).to_numpy()
    models, items = units["model"][named].tolist(), units["cluster"][named].tolist()
    levels = []
    for name, title in COEFFICIENTS.items():
        correlations = system_correlation(value[named], people[named], models, items, name)
        test = correlation_test(
            correlations.score_means, correlations.label_means, name, n_permutations=ORDERS_OF_MODELS
        )
        for drawn, of in DRAWN.items():
            over = f"means of {n_of(len(correlations.systems), 'models')}"
            # One test, in the row of the first of its three intervals.
            mine = _tested(test, OF_MODELS) if drawn == "by_item" else None
            levels.append(_level("system", over, title, of, getattr(correlations, drawn), RESAMPLES, mine))
    return levels


def _level(
    level: str,
    over: str,
    coefficient: str,
    drawn: str,
    estimate: Estimate,
    n_resamples: int,
    test: Significance | None = None,
) -> CorrelationLevel:
    figure = to_figure(estimate, quick=False, n_resamples=n_resamples)
    about = {"level": level, "over": over, "coefficient": coefficient, "drawn": drawn, "test": test}
    return CorrelationLevel.extending(figure, **about)
