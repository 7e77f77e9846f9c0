"""Language models whose answers without and with the evidence are known (DRUID, section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.papers.druid.data import Pairs
from analysis.papers.druid.offered import MODES, model_names
from analysis.papers.druid.result import ANSWERS
from analysis.sources.base import Source
from analysis.sources.outline import Run
from analysis.stats import ContextUsage, context_usage
from analysis.stats.generation.usage import DESIRED


@dataclass(frozen=True, eq=False)
class AnsweringModel:
    """One run's probabilities, in the order of pairs, and what follows from them."""

    run: Run
    name: str
    without: np.ndarray  # (n, 3)
    with_evidence: np.ndarray  # (n, 3)
    usage: ContextUsage


def models(source: Source, pairs: Pairs, runs: list[Run]) -> list[AnsweringModel]:
    names, models = model_names(runs), []
    stances = known_stances(pairs)
    for run in runs:
        without, with_evidence = (
            np.column_stack([pairs.values(source.score_frame(run, f"p_{answer}_{mode}")) for answer in ANSWERS])
            for mode in MODES
        )
        usage = context_usage(without, with_evidence, stances)
        models.append(AnsweringModel(run, names[run.uuid], without, with_evidence, usage))
    return models


def known_stances(pairs: Pairs) -> list[str | None]:
    """The stances for which use of context is defined; other labels have none."""
    return [stance if stance in DESIRED else None for stance in pairs.stances]


def desired(stance: str) -> list[int] | None:
    """Signs of the desired changes, in the order of ANSWERS; None where rows of several signs are together."""
    return list(DESIRED[stance]) if stance in DESIRED else None
