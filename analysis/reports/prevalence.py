"""How common each label is, from what people labelled and what a checker says of everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports import methods_checkers
from analysis.reports.derived import derived_from, with_derived, with_derived_labels
from analysis.reports.figures import number
from analysis.reports.reference import REFERENCES, checker_codes, references
from analysis.sources import Source
from analysis.sources.base import dimensions_to_show
from analysis.sources.touched import latest, untouched
from annotation.task_types import Dimension

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.stats import PoweredMean

NO_SPREAD = "no interval: by people all units have it or none has"


methods = methods_checkers.prevalence


def compute(source: Source, run: str, reference: str = "majority", touched: bool = False) -> dict:
    """The report on prevalence with one checker run, by its UUID.

    Shares are of all units: where a question is not asked, none of its labels is given. `reference` and `touched` as in
    the comparison. Wrong values raise ValueError.
    """
    checker_run = source.run(run)
    if checker_run.gives == "scores":
        raise ValueError(f"{checker_run.checker} gives scores and no labels, so it cannot say how common a label is")
    kind = with_derived(source.type)
    origins = derived_from(kind)
    units = source.unit_frame(kind.unit_kind)
    labels = with_derived_labels(kind, source.label_frame(units, every_revision=True))
    everything = latest(labels)
    counted = everything if touched else untouched(source, labels, checker_run)
    people = references(kind, source, reference, units, counted)
    said = checker_codes(kind, units, with_derived_labels(kind, source.suggestion_frame(checker_run)))
    found, behind = [], {}
    for dimension in dimensions_to_show(kind, everything):
        known = people[dimension.slug].code, people[dimension.slug].not_asked
        result, ids = _dimension(dimension, units, known, said[dimension.slug])
        votes = people[dimension.slug].counts()
        found.append(result | {"derived_from": origins.get(dimension.slug), "n_tied": votes["tied"]})
        behind |= ids
    return {
        "report": "prevalence",
        "project": source.slug,
        "task_type": source.task_type,
        "run": checker_run.uuid,
        "checker": checker_run.checker,
        "version": checker_run.version,
        "reference": reference,
        "reference_title": REFERENCES[reference],
        "touched": touched,
        "n_units": len(units),
        "dimensions": found,
        "behind": behind,
    }


def _dimension(
    dimension: Dimension,
    units: pd.DataFrame,
    people: tuple[np.ndarray, np.ndarray],
    checker: tuple[np.ndarray, np.ndarray],
) -> tuple[dict, dict[str, list[int]]]:
    """Both sides are the codes and where the question is not asked."""
    by_people, by_checker = (((code >= 0) | not_asked) for code, not_asked in (people, checker))
    both, others = by_people & by_checker, by_checker & ~by_people
    cluster = units["cluster"].astype("category").cat.codes.to_numpy()
    sides = {"both": both, "others": others, "people": by_people & ~by_checker, "neither": ~(by_people | by_checker)}
    ids = units["unit"].to_numpy()
    return {
        "dimension": dimension.slug,
        "title": dimension.title,
        **{f"n_{name}": int(where.sum()) for name, where in sides.items()},
        "labels": [
            {
                "label": label.value,
                "title": label.title,
                **_rates(place, people[0], checker[0], by_people, both, others, cluster),
            }
            for place, label in enumerate(dimension.labels)
        ],
    }, {f"{dimension.slug}/{name}": ids[where].tolist() for name, where in sides.items()}


def _rates(
    place: int,
    people: np.ndarray,
    checker: np.ndarray,
    by_people: np.ndarray,
    both: np.ndarray,
    others: np.ndarray,
    cluster: np.ndarray,
) -> dict:
    """People alone over all units that they labelled, both together, and the checker's own share of all its units."""
    from analysis.stats import prediction_powered_mean

    human, machine = (people == place).astype(float), (checker == place).astype(float)
    alone = prediction_powered_mean(
        human[by_people], machine[by_people], human[:0], cluster[by_people], cluster[:0], power=0.0
    )
    powered = prediction_powered_mean(human[both], machine[both], machine[others], cluster[both], cluster[others])
    of_checker = machine[both | others]
    return {
        "n_by_people": int(human[by_people].sum()),
        "people": _figure(alone),
        "powered": _figure(powered) | {"power": number(powered.power)},
        "checker": number(of_checker.mean()) if len(of_checker) else None,
    }


def _figure(found: PoweredMean) -> dict:
    """A share cannot lie outside 0..1, whatever the normal approximation says of its interval."""
    low, high = number(found.low), number(found.high)
    return {
        "estimate": number(found.estimate),
        "low": None if low is None else max(low, 0.0),
        "high": None if high is None else min(high, 1.0),
        "undefined": found.undefined,
        "interval": {"undefined": found.undefined or (NO_SPREAD if low is None else "")},
        "n": found.n,
        "n_others": found.n_others,
        "n_clusters": found.n_clusters,
    }
