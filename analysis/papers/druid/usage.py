"""How language models use evidence (DRUID, sections 4.2 and 5.3, tables 11 and 22, figure 3)."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from analysis.figures.items import Items
from analysis.papers.druid.data import Pairs
from analysis.papers.druid.means import mean_table
from analysis.papers.druid.models import AnsweringModel, desired, known_stances
from analysis.papers.druid.result import (
    ALL,
    ANSWERS,
    NOT_RELEVANT,
    EvidenceUsage,
    MeanUsage,
    ModelUsage,
    UndefinedUsage,
    UsageDifference,
    UsageOfStance,
)
from analysis.papers.druid.shifts import shifts
from analysis.stats import memory_conflict
from analysis.stats.generation.shifts import desired_move
from analysis.stats.generation.usage import REASONS

COLUMNS = ("acu_mean", "acu_sum", "dp_false", "dp_none", "dp_true", "memory_conflict", "desired_move")
MAX_COMPARED = 6  # runs; every pair of them is compared


def usage(pairs: Pairs, models: list[AnsweringModel], items: Items) -> EvidenceUsage:
    """The part of the result about every model."""
    relevant = np.array([stance not in (None, NOT_RELEVANT) for stance in known_stances(pairs)], dtype=bool)
    rows = [(ALL, relevant), *((name, pairs.has_stance(name)) for name in pairs.names)]
    values = [_columns(pairs, model) for model in models]
    compared = list(combinations(range(len(models)), 2)) if len(models) <= MAX_COMPARED else []
    both = [(values[a][:, :2] - values[b][:, :2]) for a, b in compared]
    table = mean_table(np.column_stack(values + both), [where for _, where in rows], pairs.cluster)
    names = [name for name, _ in rows]
    parts = []
    for number, model in enumerate(models):
        _add_columns(items, number, model)
        start = number * len(COLUMNS)
        parts.append(
            ModelUsage(
                run=model.run.uuid,
                model=model.name,
                checker=model.run.name,
                stances=[
                    UsageOfStance(
                        stance=name,
                        desired=desired(name),
                        **dict(zip(COLUMNS, cells[start : start + len(COLUMNS)], strict=True)),
                    )
                    for name, cells in zip(names, table, strict=True)
                ],
                shifts=shifts(pairs, model, items, number),
                undefined=[
                    UndefinedUsage(reason=reason, n=int((model.usage.reason == place).sum()))
                    for place, reason in enumerate(REASONS)
                ],
            )
        )
    start = len(models) * len(COLUMNS)
    differences = [
        UsageDifference(
            a=models[a].name,
            b=models[b].name,
            rows=[
                MeanUsage(stance=name, acu_mean=cells[place], acu_sum=cells[place + 1])
                for name, cells in zip(names, table, strict=True)
            ],
        )
        for place, (a, b) in zip(range(start, start + 2 * len(compared), 2), compared, strict=True)
    ]
    return EvidenceUsage(models=parts, differences=differences)


def _add_columns(items: Items, number: int, model: AnsweringModel) -> None:
    """Whether context use is defined, or why not; and where the change of each answer's probability is."""
    run, reason = model.run.uuid, model.usage.reason
    items.add(f"usage{number}", f"Context usage of {model.name}", reason + 1, ["defined", *REASONS], run=run)
    for place, answer in enumerate(ANSWERS):
        title = f"Change of P({answer.capitalize()}) by {model.name} is defined"
        items.add_flag(f"change{number}.{answer}", title, ~np.isnan(model.usage.change[:, place]), run=run)


def _columns(pairs: Pairs, model: AnsweringModel) -> np.ndarray:
    """COLUMNS of one model, (n, 7)."""
    stances, usage = known_stances(pairs), model.usage
    return np.column_stack(
        [
            usage.acu_mean,
            usage.acu_sum,
            usage.change,
            memory_conflict(model.without, stances),
            desired_move(model.without, model.with_evidence, stances),
        ]
    )
