"""Every checker and every person against one reference, and every checker against every single person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from analysis.reports.annotators import people_of
from analysis.reports.figures import figure
from analysis.reports.opened import Behind, by_code
from analysis.reports.reference import Reference, checker_codes, codes_of, dawid_skene_of, references
from analysis.sources import Run, Source
from analysis.sources.base import SLOT
from annotation.task_types import Dimension, TaskType

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

# Columns of a table that can still be read; whoever labelled most is listed.
MAX_PEOPLE = 20

Codes = Mapping[str, "np.ndarray"]  # dimension -> a code per unit, -1 for none


def labellers(
    source: Source,
    kind: TaskType,
    units: pd.DataFrame,
    counted: pd.DataFrame,
    reference: str,
    from_everybody: dict[str, Reference],
    codes: Mapping[Run, Codes],
    dimensions: list[Dimension],
) -> dict[str, tuple[dict, Behind]]:
    """By dimension, with the units behind, how close every checker and every person is to the reference, to the
    posterior of Dawid-Skene, and every checker to every person.

    `counted` are the people's labels that count, `from_everybody` the reference made of them, `codes` what each run
    says. Against the majority, a person is held against the majority of the others, since their own label is part of it
    otherwise.
    """
    of_people = counted[counted["rater_kind"] != SLOT]
    who = people_of(source)
    n_labels = of_people["rater"].value_counts()
    # Who is listed must not depend on names, which a release's files do not have.
    everybody = sorted(n_labels.index, key=lambda rater: (-int(n_labels[rater]), rater))
    listed = sorted(everybody[:MAX_PEOPLE], key=lambda rater: (-int(n_labels[rater]), who[rater].name))
    said: dict[str, Codes] = {}
    held_against: dict[str, dict[str, Reference]] = {}
    for rater in listed:
        mine = of_people[of_people["rater"] == rater]
        said[rater] = {dimension.slug: codes_of(dimension, units, mine) for dimension in dimensions}
        held_against[rater] = from_everybody
        if reference == "majority":
            held_against[rater] = references(kind, source, reference, units, counted[counted["rater"] != rater])
    found = {}
    for dimension in dimensions:
        slug = dimension.slug
        by = {run.uuid: codes[run][slug] for run in codes} | {rater: said[rater][slug] for rater in listed}
        against = {run.uuid: from_everybody[slug] for run in codes}
        against |= {rater: held_against[rater][slug] for rater in listed}
        names = {run.uuid: ("checker", run.name) for run in codes}
        names |= {rater: ("person", who[rater].name) for rater in listed}
        rows = [
            {"kind": kind, "id": one, "name": name, "figure": f"{slug}/against/{one}"}
            | _against(dimension, against[one], by[one], units)
            for one, (kind, name) in names.items()
        ]
        result = {
            "labellers": rows,
            "posterior": _posterior(dimension, units, of_people, codes),
            "people": [who[rater].name for rater in listed],
            "against_people": [
                [
                    _accuracy(dimension, by[rater], by[run.uuid], units) | {"figure": f"{slug}/pair/{run.uuid}/{rater}"}
                    for rater in listed
                ]
                for run in codes
            ],
            "n_people_not_listed": len(everybody) - len(listed),
        }
        found[slug] = result, _behind(dimension, by, against, units)
    return found


def _behind(
    dimension: Dimension, by: dict[str, np.ndarray], against: dict[str, Reference], units: pd.DataFrame
) -> Behind:
    """What everybody said, and where there was a label to hold it against."""
    import numpy as np

    ids, behind = units["unit"].to_numpy(), {}
    for who, codes in by.items():
        names = [f"{dimension.slug}/said/{who}/{label}" for label in dimension.values]
        behind |= by_code(ids, np.arange(len(ids)), codes, names)
        behind[f"{dimension.slug}/against/{who}"] = ids[(codes >= 0) & (against[who].code >= 0)].tolist()
    return behind


def codes_of_runs(source: Source, kind: TaskType, units: pd.DataFrame, runs: list[Run]) -> dict[Run, Codes]:
    """What each run says, by dimension; derived labels too."""
    from analysis.reports.derived import with_derived_labels

    found = {}
    for run in runs:
        suggested = checker_codes(kind, units, with_derived_labels(kind, source.suggestion_frame(run)))
        found[run] = {slug: code for slug, (code, _) in suggested.items()}
    return found


def on_same_units(codes: Mapping[Run, Codes], dimensions: list[Dimension]) -> dict[Run, Codes]:
    """What each run says of the units that all of them label, dimension by dimension. A run without any label of a
    dimension takes part in it nowhere, and shrinks it for nobody."""
    import numpy as np

    found: dict[Run, dict] = {run: dict(by) for run, by in codes.items()}
    for slug in (dimension.slug for dimension in dimensions):
        taking_part = [run for run in codes if (codes[run][slug] >= 0).any()]
        shared = np.all([codes[run][slug] >= 0 for run in taking_part], axis=0)
        for run in taking_part:
            found[run][slug] = np.where(shared, codes[run][slug], -1)
    return found


def cluster_codes(units: pd.DataFrame) -> np.ndarray:
    return units["cluster"].astype("category").cat.codes.to_numpy()


def _against(dimension: Dimension, reference: Reference, said: np.ndarray, units: pd.DataFrame) -> dict:
    from analysis.stats import classification

    found = classification(reference.code, said, dimension.values, cluster_codes(units))
    return {"accuracy": figure(found.accuracy), "macro_f1": figure(found.macro_f1)}


def _accuracy(dimension: Dimension, person: np.ndarray, said: np.ndarray, units: pd.DataFrame) -> dict:
    from analysis.stats import classification

    return figure(classification(person, said, dimension.values, cluster_codes(units)).accuracy)


def _posterior(dimension: Dimension, units: pd.DataFrame, labels: pd.DataFrame, codes: Mapping[Run, Codes]) -> dict:
    """Each checker's expected accuracy by the posterior of Dawid-Skene over the people who have names."""
    from analysis.stats import expected_accuracy

    fit = dawid_skene_of(dimension, units, labels)
    return {
        "undefined": fit.undefined,
        "n_iterations": fit.n_iterations,
        "converged": fit.converged,
        "n_raters": len(fit.rater_names),
        "expected_accuracy": [
            figure(expected_accuracy(fit.posterior, codes[run][dimension.slug], cluster_codes(units))) for run in codes
        ],
    }
