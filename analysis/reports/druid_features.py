"""Characteristics of evidence (DRUID, table 10 and figure 2), and what goes with its use (section 5.4, figure 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.reports.druid_data import FEATURES, PERPLEXITY, Feature, Pairs, model_names
from analysis.reports.druid_means import mean_table
from analysis.reports.druid_usage import Model
from analysis.reports.figures import number
from analysis.sources import Run, Source

if TYPE_CHECKING:
    import numpy as np

    from analysis.stats import FeatureCorrelations

PERMUTATIONS = 999
COEFFICIENTS = ("spearman", "pearson")


@dataclass(frozen=True, eq=False)
class Characteristic:
    """One feature as one run measured it, of every pair; nan where undefined."""

    key: str
    title: str
    scale: str
    run: Run
    values: np.ndarray


def characteristics_of(source: Source, pairs: Pairs, runs: list[Run], perplexities: list[Run]) -> list[Characteristic]:
    """Each of FEATURES from the first run that has it, and the perplexity under every model, where any pair has one."""
    import numpy as np

    given: dict[str, Run] = {}
    for run in runs:
        for name in run.scores:
            given.setdefault(name, run)
    found = [
        _characteristic(source, pairs, given[feature.score], feature.score, feature)
        for feature in FEATURES
        if feature.score in given and feature.instead_of not in given
    ]
    names = model_names(perplexities)
    for run in perplexities:
        feature = Feature(PERPLEXITY, f"Perplexity ({names[run.uuid]})")
        found.append(_characteristic(source, pairs, run, f"{PERPLEXITY}/{run.uuid}", feature))
    return [one for one in found if not np.isnan(one.values).all()]


def _characteristic(source: Source, pairs: Pairs, run: Run, key: str, feature: Feature) -> Characteristic:
    values = pairs.values(source.score_frame(run, feature.score))
    return Characteristic(key, feature.title, feature.scale, run, values)


def described(pairs: Pairs, found: list[Characteristic]) -> tuple[dict, dict[str, list[int]]]:
    """Mean and deviation of each, over all pairs, by stance and by source, and the pairs where it is undefined."""
    import numpy as np

    of_source = pairs.units["source"].to_numpy()
    groups = [("all", "", np.ones(len(of_source), dtype=bool))]
    groups += [("stance", name, pairs.has_stance(name)) for name in pairs.names]
    groups += [("source", name, of_source == name) for name in pairs.sources]
    table = mean_table(np.column_stack([one.values for one in found]), [where for *_, where in groups], pairs.cluster)
    rows = [
        {"by": by, "group": name, "n": int(where.sum()), "cells": table[place]}
        for place, (by, name, where) in enumerate(groups)
    ]
    behind = {f"without/{one.title}": pairs.ids(np.isnan(one.values)) for one in found}
    columns = [
        {"key": one.key, "title": one.title, "scale": one.scale, "run": one.run.uuid, "checker": one.run.name}
        for one in found
    ]
    return {"columns": columns, "groups": rows}, behind


def side_by_side(found: list[tuple[Source, Pairs, list[Characteristic]]]) -> list[dict]:
    """Means of each data set's characteristics over all of its pairs, as figure 2 has them."""
    import numpy as np

    rows = []
    for source, pairs, measured in found:
        everywhere = [np.ones(len(pairs.units), dtype=bool)]
        values = np.column_stack([one.values for one in measured]) if measured else np.zeros((len(pairs.units), 0))
        (cells,) = mean_table(values, everywhere, pairs.cluster)
        columns = [
            {"title": one.title, "scale": one.scale, "checker": one.run.name, **cell}
            for one, cell in zip(measured, cells, strict=True)
        ]
        counts = {"n_pairs": len(pairs.units), "n_claims": pairs.n_claims}
        rows.append({"project": source.slug, "title": source.title, **counts, "characteristics": columns})
    return rows


def correlations(pairs: Pairs, model: Model, found: list[Characteristic], test: str) -> dict:
    """Of one model: every characteristic with context use, in every stance, as one family of tests."""
    import numpy as np

    from analysis.stats import feature_correlations

    stratum = np.array([pairs.names.index(one) if one is not None else -1 for one in pairs.stances], dtype=int)
    features = np.column_stack([one.values for one in found])
    # Both conventions order pairs alike and differ by a factor, so their coefficients are the same.
    arguments = (features, model.usage.acu_mean, stratum, len(pairs.names), pairs.cluster)
    tables = {
        name: feature_correlations(*arguments, coefficient=name, test=test, n_permutations=PERMUTATIONS)
        for name in COEFFICIENTS
    }
    bounds = {name: table.confidence_intervals() for name, table in tables.items()}
    rows = []
    for place, stance in enumerate(pairs.names):
        for column, one in enumerate(found):
            cell, first = (place, column), tables[COEFFICIENTS[0]]
            row = {"stance": stance, "feature": one.title, "n": int(first.n[cell])}
            row["n_clusters"] = int(first.n_clusters[cell])
            rows.append(row | {name: _cell(table, cell, bounds[name]) for name, table in tables.items()})
    n_tests = {name: int((~np.isnan(table.p_value)).sum()) for name, table in tables.items()}
    return {"run": model.run.uuid, "model": model.name, "n_tests": n_tests, "rows": rows}


def _cell(table: FeatureCorrelations, cell: tuple[int, int], bounds: tuple[np.ndarray, np.ndarray]) -> dict:
    names = ("estimate", "p_value", "p_holm", "p_bh", "p_units")
    return {
        **{name: number(getattr(table, name)[cell]) for name in names},
        "low": number(bounds[0][cell]),
        "high": number(bounds[1][cell]),
        "undefined": table.reason[cell],
        "no_p_value": table.p_reason[cell],
    }
