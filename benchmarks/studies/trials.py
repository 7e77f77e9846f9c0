"""Studies of trials of suggestions: agreeing with them, time and alpha."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis import stats
from analysis.stats import Effect, Labels
from benchmarks.studies.study import Figures, Study

# Annotators -> items; the last gives the true values.
ITEMS, LARGE = {24: 60, 6: 60, 1000: 20_000}, 1000
PER_ITEM, CATEGORIES = 6, ("no", "yes")
RIGHT, OWN, QUICKER = 0.7, 0.8, 0.75


@dataclass(frozen=True)
class Prefilled:
    """Labels of a trial, one entry each, with the suggestion about its item, whether that is right, and the time."""

    label: np.ndarray
    suggestion: np.ndarray
    seen: np.ndarray
    right: np.ndarray
    annotator: np.ndarray
    item: np.ndarray
    seconds: np.ndarray
    n_annotators: int


def prefilled(
    rng: np.random.Generator, n_annotators: int, follow: tuple[float, float] = (0.5, 0.2), quicker: float = QUICKER
) -> Prefilled:
    """Six labels per item, half of them after seeing a suggestion. An annotator who sees one takes it over with a
    chance of 0.5 where it is right and 0.2 where it is wrong, and finds the truth of a yes-no question four times in
    five else; both chances differ between people, the latter between items too. Seeing makes a quarter quicker, some
    more than others.
    """
    n_items = ITEMS[n_annotators]
    who = np.argpartition(rng.random((n_items, n_annotators)), PER_ITEM - 1, axis=1)[:, :PER_ITEM]
    annotator, item = rng.permuted(who, axis=1).ravel(), np.repeat(np.arange(n_items), PER_ITEM)
    seen = np.tile(np.arange(PER_ITEM) < PER_ITEM // 2, n_items)
    truth, right = rng.integers(0, 2, n_items), rng.random(n_items) < RIGHT
    suggestion = np.where(right, truth, 1 - truth)
    able = OWN + rng.normal(0, 0.05, n_annotators)[annotator] + rng.normal(0, 0.07, n_items)[item]
    own = np.where(rng.random(len(item)) < np.clip(able, 0, 1), truth[item], 1 - truth[item])
    trust = rng.normal(1, 0.2, n_annotators)[annotator] * np.where(right, *follow)[item]
    label = np.where(seen & (rng.random(len(item)) < trust), suggestion[item], own)
    pace = rng.normal(0, 0.3, n_annotators)[annotator] + rng.normal(0, 0.2, n_items)[item]
    gain = np.log(quicker) * rng.normal(1, 0.2, n_annotators)[annotator]
    seconds = 20 * np.exp(pace + rng.normal(0, 0.4, len(item)) + seen * gain)
    return Prefilled(label, suggestion[item], seen, right[item], annotator, item, seconds, n_annotators)


def side(data: Prefilled, rows: np.ndarray) -> Labels:
    names, n_items = tuple(map(str, range(data.n_annotators))), int(data.item.max()) + 1
    return Labels(data.item[rows], data.annotator[rows], data.label[rows], n_items, CATEGORIES, rater_names=names)


def effects(data: Prefilled) -> dict[str, Effect]:
    columns = data.seen, data.right.astype(int), data.annotator, data.item
    agreeing = stats.suggestion_effect(data.label == data.suggestion, *columns)
    times = stats.time_effect(data.seconds, *columns)
    is_right = np.zeros(int(data.item.max()) + 1, dtype=int)
    is_right[data.item] = data.right
    alpha = stats.alpha_effect(stats.krippendorff_alpha, side(data, data.seen), side(data, ~data.seen), is_right)
    found = {"contrast of right and wrong": agreeing.contrast}
    for name in ("right", "wrong"):
        of = agreeing.strata[name]
        found |= {
            f"difference, {name}": of.difference,
            f"within annotators, {name}": of.within,
            f"odds ratio, {name}": of.odds_ratio,
            f"marginal effect, {name}": of.marginal,
            f"alpha, {name}": alpha[name],
        }
    return found | {"time": times["all"].ratio, "time within annotators": times["all"].within}


def trial(data: Prefilled) -> Figures:
    return figures_of(effects(data))


def figures_of(found: dict[str, Effect]) -> Figures:
    return {name: (one.estimate, lambda one=one: (one.low, one.high)) for name, one in found.items()}


def of_one_side(data: Prefilled) -> Figures:
    """What each side of a trial is by itself."""
    agrees = (data.label == data.suggestion).astype(float)
    found = {}
    for name, rows in (("seen", data.seen), ("not seen", ~data.seen)):
        groups = [data.annotator[rows], data.item[rows]]
        found |= {
            f"share that agrees, {name}": stats.clustered_mean(agrees[rows], groups),
            f"time, {name}": stats.clustered_mean(np.log(data.seconds[rows]), groups).exponentiated(),
            f"alpha, {name}": stats.clustered_agreement(stats.krippendorff_alpha, side(data, rows)),
        }
    return figures_of(found)


STUDIES = {"a trial of suggestions": Study(prefilled, trial, (24, 6), LARGE)}
OF_ONE_SIDE = {"sides of a trial": Study(prefilled, of_one_side, (24, 6), LARGE)}


def nothing_seen(rng: np.random.Generator) -> dict[str, float]:
    """Trials in which suggestions are ignored, so that seeing them changes nothing."""
    found = effects(prefilled(rng, 24, follow=(0.0, 0.0), quicker=1.0))
    return {f"effect of suggestions, {name}": one.p_value for name, one in found.items()}
