"""May a checker's labels stand in for a person's? The alternative annotator test of every checker."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.reports import methods_people, people_pictures
from analysis.reports.annotators import NO_PEOPLE, people_of
from analysis.reports.coding import coded_labels
from analysis.reports.derived import derived_from, with_derived, with_derived_labels
from analysis.reports.figures import RESAMPLES, figure, number, plain_figure
from analysis.reports.opened import UNITS, Behind, below, together
from analysis.reports.reference import as_answered, checker_codes
from analysis.sources import Run, Source
from analysis.sources.base import SLOT, dimensions_to_show
from analysis.sources.touched import latest, untouched
from annotation.task_types import Dimension, Label

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.stats import AlternativeTest, Labels

EPSILON = 0.1
# What the paper takes for whom the machine would stand in for.
EPSILONS = {
    "0": "0: no discount",
    "0.1": "0.1: crowd workers",
    "0.15": "0.15: skilled annotators",
    "0.2": "0.2: experts",
}
SCORINGS = {
    "scale": "Root mean squared difference on a scale, equal labels otherwise",
    "equal": "Equal labels everywhere",
}
MIN_UNITS = 30
Q = 0.05
NO_RUN = "No checker that gives labels has finished a run in project {}"


methods = methods_people.alternative_annotator
pictures = people_pictures.alternative_annotator


def compute(
    source: Source,
    epsilon: float = EPSILON,
    scoring: str = "scale",
    min_units: int = MIN_UNITS,
    touched: bool = False,
) -> dict:
    """The test for the newest finished run of each checker, over labels of people that this checker did not touch; with
    `touched`, over what people last said.

    `epsilon` is the discount for the machine being cheaper, from 0 to 1; `scoring` a key of SCORINGS; people with fewer
    than `min_units` (at least 2) units take no part. Wrong values raise ValueError; so does a project without a run.
    """
    if not (math.isfinite(epsilon) and 0 <= epsilon <= 1):
        raise ValueError(f"epsilon lies between 0 and 1, not {epsilon}")
    if scoring not in SCORINGS:
        raise ValueError(f"scoring is one of {', '.join(SCORINGS)}, not {scoring!r}")
    if min_units < 2:
        raise ValueError(f"min_units is at least 2, not {min_units}")
    import pandas as pd

    runs = source.newest_labelling_runs()
    if not runs:
        raise ValueError(source.how_to_have_runs() or NO_RUN.format(source.slug))
    kind = with_derived(source.type)
    units = source.unit_frame(kind.unit_kind)
    labels = with_derived_labels(kind, source.label_frame(units, every_revision=True))
    everything = latest(labels)
    kind = as_answered(kind, everything)
    dimensions = dimensions_to_show(kind, everything)
    origins, who = derived_from(kind), people_of(source)
    names = {one.id: one.name for one in who.values()}
    rows: dict[str, list[dict]] = {dimension.slug: [] for dimension in dimensions}
    behind: Behind = {UNITS: units["unit"].tolist()}
    for run in runs:
        said = _by_people(everything if touched else untouched(source, labels, run))
        strays = source.stray_frame(run)
        with_strays = replace(kind, dimensions=tuple(_with_strays(one, strays) for one in kind.dimensions))
        suggested = pd.concat([source.suggestion_frame(run), strays], ignore_index=True)
        codes = checker_codes(with_strays, units, with_derived_labels(kind, suggested))
        for dimension in [one for one in with_strays.dimensions if one.slug in rows]:
            mine = said[said["dimension"] == dimension.slug]
            n_all = _n_by_people(everything, dimension)
            row, ids = _test(dimension, run, mine, units, codes[dimension.slug][0], epsilon, scoring, min_units, names)
            rows[dimension.slug].append(
                row
                | {"n_labels": len(mine), "n_labels_touched": n_all - len(mine)}
                | {"n_strays": int((strays["dimension"] == dimension.slug).sum())}
            )
            behind |= ids
    return {
        "report": "alternative-annotator",
        "project": source.slug,
        "task_type": source.task_type,
        "epsilon": epsilon,
        "q": Q,
        "scoring": scoring,
        "min_units": min_units,
        "touched": touched,
        "n_units": len(units),
        "dimensions": [
            {
                "dimension": dimension.slug,
                "derived_from": origins.get(dimension.slug),
                "title": dimension.title,
                "scored_by": _scored_by(dimension, scoring),
                "checkers": rows[dimension.slug],
            }
            for dimension in dimensions
        ],
        "behind": behind,
    }


def _with_strays(dimension: Dimension, strays: pd.DataFrame) -> Dimension:
    """With the labels that the run alone gives: equal to nobody's, they count against it as its other labels do."""
    found = sorted(set(strays.loc[strays["dimension"] == dimension.slug, "label"]))
    return replace(dimension, labels=(*dimension.labels, *(Label(value, value) for value in found)))


def _by_people(labels: pd.DataFrame) -> pd.DataFrame:
    people = labels[labels["rater_kind"] != SLOT]
    return people.assign(who=people["rater"])


def _n_by_people(labels: pd.DataFrame, dimension: Dimension) -> int:
    return int(((labels["rater_kind"] != SLOT) & (labels["dimension"] == dimension.slug)).sum())


def _places(dimension: Dimension) -> list[float]:
    """Labels of an interval scale are numbers; of any other, their places count."""
    if dimension.level == "interval":
        return [float(value) for value in dimension.values]
    return [float(place) for place in range(len(dimension.values))]


def _scored_by(dimension: Dimension, scoring: str) -> str:
    return "rmse" if scoring == "scale" and dimension.level != "nominal" else "equal"


def _test(
    dimension: Dimension,
    run: Run,
    mine: pd.DataFrame,
    units: pd.DataFrame,
    codes: np.ndarray,
    epsilon: float,
    scoring: str,
    min_units: int,
    names: dict[str, str],
) -> tuple[dict, Behind]:
    from analysis.stats import alternative_annotator_test

    coded = _coded(dimension, mine, units)
    test = alternative_annotator_test(
        coded,
        codes,
        epsilon=epsilon,
        q=Q,
        scoring=_scored_by(dimension, scoring),
        values=_places(dimension),
        min_units=min_units,
    )
    row = {
        "run": run.uuid,
        "checker": run.checker,
        "version": run.version,
        "n_suggestions": int((codes >= 0).sum()),
        "passes": test.passes,
        "to_pass": _to_pass(test),
        "undefined": test.winning_rate.undefined if len(mine) else NO_PEOPLE,
        "winning_rate": figure(test.winning_rate),
        "advantage": figure(test.advantage),
        "people": [
            {
                "id": one.person,
                "name": names[one.person],
                "n_units": one.n_units,
                "model_wins": plain_figure(one.model_wins, "", one.n_units, of_model),
                "person_wins": plain_figure(one.person_wins, "", one.n_units, of_person),
                "n_model_ahead": int(one.model_ahead.sum()),
                "n_person_ahead": int(one.person_ahead.sum()),
                "p_value": number(one.p_value),
                "rejected": one.rejected,
                "n_needed": one.n_needed,
                "n_more": one.n_needed and one.n_needed - one.n_units,
            }
            for one, (of_model, of_person) in zip(test.people, test.person_intervals(RESAMPLES), strict=True)
        ],
        "left_out": [
            {"id": person, "name": names[person], "n_units": n} for person, n in test.units_of_left_out.items()
        ],
    }
    return row, _behind(f"{dimension.slug}/{run.uuid}", test, coded, codes, units)


def _to_pass(test: AlternativeTest) -> dict | None:
    """What would decide an open case: against how many more people the checker must hold its own to pass, and the units
    that the nearest of them would have to label beyond what they labelled. None where it passes, where the test is
    undefined, and where the checker does worse than epsilon allows against too many people."""
    if test.passes is not False:
        return None
    n_people = math.ceil(len(test.people) / 2) - sum(one.rejected for one in test.people)
    more = sorted(one.n_needed - one.n_units for one in test.people if one.n_needed is not None)
    return {"people": n_people, "units": more[:n_people]} if len(more) >= n_people else None


def _coded(dimension: Dimension, mine: pd.DataFrame, units: pd.DataFrame) -> Labels:
    return coded_labels(mine, units, dimension.values, by="who")


def _behind(prefix: str, test: AlternativeTest, coded: Labels, codes: np.ndarray, units: pd.DataFrame) -> Behind:
    """Of each person the units on which the checker, or the person, or neither was closer to the others, in the order
    of work; of those who take no part, the units that would have counted."""
    import numpy as np

    ids, found = units["unit"].to_numpy(), {}
    for one in test.people:
        tied = ~one.model_ahead & ~one.person_ahead
        for side, where in (("checker", one.model_ahead), ("person", one.person_ahead), ("tied", tied)):
            place = sorted(one.unit[where].tolist())
            found[f"{prefix}/{one.person}/{side}"] = ids[place].tolist()
    usable = (np.bincount(coded.unit, minlength=coded.n_units) > 1) & (codes >= 0)
    for person in test.units_of_left_out:
        place = np.sort(coded.unit[coded.rater == coded.rater_names.index(person)])
        found[f"{prefix}/{person}/few"] = ids[place[usable[place]]].tolist()
    return found


def opened(behind: Behind, figure: str) -> list[int] | None:
    """All units of a person's test, and all of a checker's tests."""
    match figure.split("/"):
        case [slug, run, person, "units"]:
            sides = below(behind, f"{slug}/{run}/{person}")
        case [slug, run]:
            sides = [key for key in below(behind, f"{slug}/{run}") if not key.endswith("/few")]
        case _:
            return None
    return together(behind, sides) or None
