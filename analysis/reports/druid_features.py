"""Characteristics of evidence (DRUID, table 10 and figure 2), and what goes with its use (section 5.4, figure 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.reports.behind_sets import UnitSets, key, parts_of
from analysis.reports.druid_data import FEATURES, PERPLEXITY, Feature, Pairs, model_names, stance_dimension
from analysis.reports.druid_means import mean_table
from analysis.reports.druid_models import Model
from analysis.reports.figures import number
from analysis.sources import Run, Source

if TYPE_CHECKING:
    import numpy as np

    from analysis.stats import FeatureCorrelations

PERMUTATIONS = 999
COEFFICIENTS = ("spearman", "pearson")
EVERYTHING = ("source", "")  # the key of all pairs
MAX_NAMED = 3  # characteristics that are named where they have the same pairs behind them


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


def described(pairs: Pairs, found: list[Characteristic], sets: UnitSets) -> dict:
    """Mean and deviation of each, over all pairs, by stance and by source."""
    import numpy as np

    stance = stance_dimension(pairs.kind).slug
    groups = [("all", "", EVERYTHING, np.ones(len(pairs.units), dtype=bool))]
    groups += [("stance", name, ("label", stance, name), pairs.has_stance(name)) for name in pairs.names]
    groups += [
        ("source", name, ("source", name), pairs.source_code == place) for place, name in enumerate(pairs.sources)
    ]
    table = mean_table(np.column_stack([one.values for one in found]), [where for *_, where in groups], pairs.cluster)
    together = known_together(found)
    for words, is_known in together:
        sets.add(~is_known, key("without", words))
    rows = [
        {
            "by": by,
            "group": name,
            "n": int(where.sum()),
            "cells": [cell | _behind(cell, words, of) for cell, (words, _) in zip(table[place], together, strict=True)],
        }
        for place, (by, name, of, where) in enumerate(groups)
    ]
    columns = [
        {"key": one.key, "title": one.title, "scale": one.scale, "run": one.run.uuid, "checker": one.run.name}
        for one in found
    ]
    return {"columns": columns, "groups": rows}


def _behind(cell: dict, words: str, of: tuple[str, ...]) -> dict[str, str]:
    """Keys of the pairs of a group with a value and without one: see `opened`."""
    with_value, without = (key(name, words, *(of if of != EVERYTHING else ())) for name in ("value", "without"))
    n, n_without = cell["n"], cell["n_undefined"]
    return {
        "figure": (with_value if n_without else key(*of)) if n else "",
        "without": (without if n else key(*of)) if n_without else "",
    }


def opened(behind: dict[str, list[int]], figure: str) -> list[int] | None:
    """Pairs with a value of a characteristic, or without one. Where it is undefined is stored once, of all pairs; what
    that leaves of a stance, of a source, or of the pairs with context usage is found when it is opened."""
    what, *parts = parts_of(figure)
    if what == "both" and len(parts) == 3:
        group, title = key("usage", *parts[:2]), parts[2]
    elif what in ("value", "without") and parts:
        group, title = key(*(parts[1:] or EVERYTHING)), parts[0]
    else:
        return None
    within, undefined = behind.get(group), behind.get(key("without", title))
    if within is None or undefined is None:
        return None
    known = set(undefined)
    return [unit for unit in within if (unit in known) == (what == "without")]


def known_together(found: list[Characteristic]) -> list[tuple[str, np.ndarray]]:
    """Of each characteristic where it is defined, and what to call these pairs: after all characteristics that are
    defined for the very same ones, since they share what is behind their cells."""
    import numpy as np

    known = [~np.isnan(one.values) for one in found]
    alike: dict[bytes, list[str]] = {}
    for one, where in zip(found, known, strict=True):
        alike.setdefault(where.tobytes(), []).append(one.title)
    return [(_titles(alike[where.tobytes()]), where) for where in known]


def _titles(names: list[str]) -> str:
    if len(names) > MAX_NAMED:
        return f"{names[0]} and {len(names) - 1} other characteristics"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


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
    together, is_used = known_together(found), model.usage.reason < 0
    rows = []
    for place, stance in enumerate(pairs.names):
        of_stance = key("usage", model.name, stance)
        n_used = int((is_used & (stratum == place)).sum())
        for column, (one, (words, _)) in enumerate(zip(found, together, strict=True)):
            cell, first = (place, column), tables[COEFFICIENTS[0]]
            row = {"stance": stance, "feature": one.title, "n": int(first.n[cell])}
            row["n_clusters"] = int(first.n_clusters[cell])
            both = of_stance if row["n"] == n_used else key("both", model.name, stance, words)
            row["figure"] = both if row["n"] else ""
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
