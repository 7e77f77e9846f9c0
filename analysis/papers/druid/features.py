"""Characteristics of evidence (DRUID, table 10 and figure 2), and what goes with its use (section 5.4, figure 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.figures.items import Items
from analysis.figures.results import number
from analysis.papers.druid.data import Pairs
from analysis.papers.druid.means import mean_table
from analysis.papers.druid.models import AnsweringModel
from analysis.papers.druid.offered import FEATURES, PERPLEXITY, Feature, model_names
from analysis.papers.druid.result import (
    CharacteristicsOfGroup,
    ComparedData,
    EvidenceCharacteristics,
    FeatureCorrelation,
    MeasuredCharacteristic,
    ModelCorrelations,
    NamedMean,
    TestedCorrelation,
)
from analysis.sources.base import Source
from analysis.sources.outline import Run
from analysis.stats import FeatureCorrelations, feature_correlations

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
    run_of_score: dict[str, Run] = {}
    for run in runs:
        for name in run.scores:
            run_of_score.setdefault(name, run)
    characteristics = [
        _characteristic(source, pairs, run_of_score[feature.score], feature.score, feature)
        for feature in FEATURES
        if feature.score in run_of_score and feature.instead_of not in run_of_score
    ]
    names = model_names(perplexities)
    for run in perplexities:
        feature = Feature(PERPLEXITY, f"Perplexity ({names[run.uuid]})")
        characteristics.append(_characteristic(source, pairs, run, f"{PERPLEXITY}/{run.uuid}", feature))
    return [one for one in characteristics if not np.isnan(one.values).all()]


def _characteristic(source: Source, pairs: Pairs, run: Run, key: str, feature: Feature) -> Characteristic:
    values = pairs.values(source.score_frame(run, feature.score))
    return Characteristic(key, feature.title, feature.scale, run, values)


def described(pairs: Pairs, characteristics: list[Characteristic], items: Items) -> EvidenceCharacteristics:
    """Mean and deviation of each, over all pairs, by stance and by source."""
    for one in characteristics:
        codes = np.isnan(one.values).astype(int)
        items.add(f"value.{one.key}", one.title, codes, ["defined", "undefined"], run=one.run.uuid)
    groups = [("all", "", np.ones(len(pairs.units), dtype=bool))]
    groups += [("stance", name, pairs.has_stance(name)) for name in pairs.names]
    groups += [("source", name, pairs.source_code == place) for place, name in enumerate(pairs.sources)]
    table = mean_table(
        np.column_stack([one.values for one in characteristics]), [where for *_, where in groups], pairs.cluster
    )
    return EvidenceCharacteristics(
        columns=[MeasuredCharacteristic.taking(one, run=one.run.uuid, checker=one.run.name) for one in characteristics],
        groups=[
            CharacteristicsOfGroup(by=by, group=name, n=int(where.sum()), cells=cells)
            for (by, name, where), cells in zip(groups, table, strict=True)
        ],
    )


def side_by_side(data_sets: list[tuple[Source, Pairs, list[Characteristic]]]) -> list[ComparedData]:
    """Means of each data set's characteristics over all of its pairs, as figure 2 has them."""
    rows = []
    for source, pairs, measured in data_sets:
        everywhere = [np.ones(len(pairs.units), dtype=bool)]
        values = np.column_stack([one.values for one in measured]) if measured else np.zeros((len(pairs.units), 0))
        (cells,) = mean_table(values, everywhere, pairs.cluster)
        columns = [
            NamedMean.extending(cell, title=one.title, scale=one.scale, checker=one.run.name)
            for one, cell in zip(measured, cells, strict=True)
        ]
        rows.append(
            ComparedData(
                project=source.slug,
                title=source.title,
                n_pairs=len(pairs.units),
                n_claims=pairs.n_claims,
                characteristics=columns,
            )
        )
    return rows


def correlations(
    pairs: Pairs, model: AnsweringModel, characteristics: list[Characteristic], test: str
) -> ModelCorrelations:
    """Of one model: every characteristic with context use, in every stance, as one family of tests."""
    stratum = np.array([pairs.names.index(one) if one is not None else -1 for one in pairs.stances], dtype=int)
    features = np.column_stack([one.values for one in characteristics])
    # Both conventions order pairs alike and differ by a factor, so their coefficients are the same.
    arguments = (features, model.usage.acu_mean, stratum, len(pairs.names), pairs.cluster)
    tables = {
        name: feature_correlations(*arguments, coefficient=name, test=test, n_permutations=PERMUTATIONS)
        for name in COEFFICIENTS
    }
    bounds = {name: table.confidence_intervals() for name, table in tables.items()}
    first = tables[COEFFICIENTS[0]]
    return ModelCorrelations(
        run=model.run.uuid,
        model=model.name,
        n_tests={name: int((~np.isnan(table.p_value)).sum()) for name, table in tables.items()},
        rows=[
            FeatureCorrelation(
                stance=stance,
                feature=one.title,
                n=int(first.n[row, column]),
                n_clusters=int(first.n_clusters[row, column]),
                **{name: _cell(table, (row, column), bounds[name]) for name, table in tables.items()},
            )
            for row, stance in enumerate(pairs.names)
            for column, one in enumerate(characteristics)
        ],
    )


def _cell(
    table: FeatureCorrelations, cell: tuple[int, int], bounds: tuple[np.ndarray, np.ndarray]
) -> TestedCorrelation:
    names = ("estimate", "p_value", "p_holm", "p_bh", "p_units")
    return TestedCorrelation(
        **{name: number(getattr(table, name)[cell]) for name in names},
        low=number(bounds[0][cell]),
        high=number(bounds[1][cell]),
        undefined=table.reason[cell],
        no_p_value=table.p_reason[cell],
    )
