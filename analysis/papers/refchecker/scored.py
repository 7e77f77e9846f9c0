"""Scores of whole answers by methods elsewhere, such as SelfCheckGPT, FActScore and FacTool, against people's rates.

A method's score of an answer is the mean of what it gave the answer's pieces: an answer's own score stands at all of
them. It is set against the share of the answer's pieces that people do not call entailed, the hallucination rate.
"""

from __future__ import annotations

import numpy as np

from analysis.papers.refchecker.data import Study
from analysis.papers.refchecker.result import ScoredAnswers, ScoredSetting
from analysis.reports.estimates import to_figure
from analysis.stats import pearson, spearman
from annotation.formats.names import OUTSIDE


def scored_answers(study: Study, people: np.ndarray, *, quick: bool) -> list[ScoredAnswers]:
    """One for each score of each finished run of a checker elsewhere, the oldest run first."""
    counts = study.counts(people)
    total = counts.sum(axis=1)
    known = study.complete(people) & (total > 0)
    rate = np.where(known, 1 - counts[:, 0] / np.where(known, total, 1), np.nan)
    found = []
    for run in reversed(study.source.runs()):
        if run.gives != "scores" or not run.checker.startswith(OUTSIDE):
            continue
        for name in run.scores:
            values = study.source.score_frame(run, name).set_index("unit")["value"]
            score = _of_answers(study, values.reindex(study.units["unit"]).to_numpy(dtype=float))
            method = run.checker.removeprefix(OUTSIDE)
            title = f"{method} {run.version}" if name == method else f"{method} {run.version}, {name}"
            settings = [_of_setting(study, setting, score, rate, quick=quick) for setting in study.settings]
            found.append(ScoredAnswers(run=run.uuid, title=title, settings=settings))
    return found


def _of_answers(study: Study, of_unit: np.ndarray) -> np.ndarray:
    """The mean of an answer's pieces; nan where none has a value."""
    place, has = study.units["place"].to_numpy(), ~np.isnan(of_unit)
    n = np.bincount(place[has], minlength=len(study.responses))
    sums = np.bincount(place[has], weights=of_unit[has], minlength=len(study.responses))
    return np.where(n > 0, sums / np.maximum(n, 1), np.nan)


def _of_setting(study: Study, setting: str, score: np.ndarray, rate: np.ndarray, *, quick: bool) -> ScoredSetting:
    where = (study.responses["setting"] == setting).to_numpy()
    sides = score[where], rate[where], study.item_codes()[where]
    return ScoredSetting(
        setting=setting,
        pearson=to_figure(pearson(*sides), quick=quick),
        spearman=to_figure(spearman(*sides), quick=quick),
    )
