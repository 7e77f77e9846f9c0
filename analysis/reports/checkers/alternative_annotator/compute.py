"""May a checker's labels stand in for a person's? The alternative annotator test of every checker."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.reports.checkers.alternative_annotator.report import (
    EPSILON,
    MIN_UNITS,
    SIDES,
    AgainstPerson,
    AlternativeAnnotator,
    CheckerTest,
    LeftOutPerson,
    StandInQuestion,
    ToPass,
)
from analysis.reports.common import NUMERIC
from analysis.reports.estimates import RESAMPLES, coded_labels, plain_figure, to_figure
from analysis.reports.labels.derived import derived_from, fields_of_question, read_labels, with_derived_labels
from analysis.reports.labels.judgements import ROW, add_judgements, new_items
from analysis.reports.labels.raters import NO_PEOPLE, people_of
from analysis.reports.labels.reference import as_answered, checker_codes
from analysis.sources.base import Source, dimensions_to_show
from analysis.sources.outline import SLOT
from analysis.sources.touched import latest, untouched
from analysis.stats import AlternativeTest, Labels, alternative_annotator_test
from annotation.task_types import Dimension, Label

Q = 0.05


def compute(
    source: Source,
    *,
    epsilon: float = EPSILON,
    scoring: str = "scale",
    min_units: int = MIN_UNITS,
    touched: bool = False,
    quick: bool = False,
) -> tuple[AlternativeAnnotator, Items]:
    """The test for the newest finished run of each checker, over labels of people that this checker did not touch; with
    `touched`, over people's latest labels. `epsilon` is the discount for the machine being cheaper, from 0 to 1;
    `scoring` a key of SCORINGS; people with fewer than `min_units` (at least 2) units take no part. Wrong values raise
    ValueError.
    """
    if not (math.isfinite(epsilon) and 0 <= epsilon <= 1):
        raise ValueError(f"epsilon lies between 0 and 1, not {epsilon}")
    if min_units < 2:
        raise ValueError(f"min_units is at least 2, not {min_units}")
    kind, units, labels = read_labels(source, every_revision=True)
    everything = latest(labels)
    kind = as_answered(kind, everything)
    dimensions = dimensions_to_show(kind, everything)
    origins = derived_from(kind)
    names = {one.id: one.name for one in people_of(source).values()}
    rows: dict[str, list[CheckerTest]] = {dimension.slug: [] for dimension in dimensions}
    counted = {}
    runs = source.newest_labelling_runs()
    if not runs:
        raise ValueError(f"No checker has labelled all items of project {source.slug}: its runs try prompts on a part")
    for run in runs:
        of_run = everything if touched else untouched(source, labels, run)
        strays = source.stray_frame(run)
        with_strays = replace(kind, dimensions=tuple(_with_strays(one, strays) for one in kind.dimensions))
        suggested = pd.concat([source.suggestion_frame(run), strays], ignore_index=True)
        codes = checker_codes(with_strays, units, with_derived_labels(kind, suggested))
        tested = []
        for dimension in [one for one in with_strays.dimensions if one.slug in rows]:
            mine, labels_of_run = _by_people(of_run, dimension), codes[dimension.slug][0]
            coded = coded_labels(mine, units, dimension.values)
            test = alternative_annotator_test(
                coded,
                labels_of_run,
                epsilon=epsilon,
                q=Q,
                scoring=_scored_by(dimension, scoring),
                values=_places(dimension),
                min_units=min_units,
            )
            tested.append(_sides(dimension, test, coded, labels_of_run, units))
            rows[dimension.slug].append(
                CheckerTest(
                    run=run.uuid,
                    checker=run.checker,
                    version=run.version,
                    n_suggestions=int((labels_of_run >= 0).sum()),
                    undefined=test.winning_rate.undefined if len(mine) else NO_PEOPLE,
                    n_labels=len(mine),
                    n_labels_touched=len(_by_people(everything, dimension)) - len(mine),
                    n_strays=int((strays["dimension"] == dimension.slug).sum()),
                    **_tested(test, names, quick=quick),
                )
            )
        counted[run] = of_run.merge(pd.concat(tested, ignore_index=True), on=ROW, how="left")
    items = new_items(units)
    add_judgements(items, kind, everything, everything, {"test": ("{} against the annotator", SIDES)}, counted)
    return AlternativeAnnotator(
        epsilon=epsilon,
        q=Q,
        scoring=scoring,
        min_units=min_units,
        touched=touched,
        n_units=len(units),
        dimensions=[
            StandInQuestion(
                **fields_of_question(dimension, origins),
                scored_by=_scored_by(dimension, scoring),
                checkers=rows[dimension.slug],
            )
            for dimension in dimensions
        ],
    ), items


def _with_strays(dimension: Dimension, strays: pd.DataFrame) -> Dimension:
    """With the labels that the run alone gives: equal to nobody's, they count against it as its other labels do."""
    labels_outside = sorted(set(strays.loc[strays["dimension"] == dimension.slug, "label"]))
    return replace(dimension, labels=(*dimension.labels, *(Label(value, value) for value in labels_outside)))


def _by_people(labels: pd.DataFrame, dimension: Dimension) -> pd.DataFrame:
    return labels[(labels["rater_kind"] != SLOT) & (labels["dimension"] == dimension.slug)]


def _places(dimension: Dimension) -> list[float]:
    """Labels of an interval or ratio scale are numbers; of any other, their places count."""
    if dimension.level in NUMERIC:
        return [float(value) for value in dimension.values]
    return [float(place) for place in range(len(dimension.values))]


def _scored_by(dimension: Dimension, scoring: str) -> str:
    return "rmse" if scoring == "scale" and dimension.level != "nominal" else "equal"


def _tested(test: AlternativeTest, names: dict[str, str], *, quick: bool) -> dict:
    """What the test found, as fields of a `CheckerTest`."""
    intervals = [(None, None)] * len(test.people) if quick else test.person_intervals(RESAMPLES)
    return {
        "passes": test.passes,
        "to_pass": _to_pass(test),
        "winning_rate": to_figure(test.winning_rate, quick=quick),
        "advantage": to_figure(test.advantage, quick=quick),
        "people": [
            AgainstPerson.taking(
                one,
                id=one.person,
                name=names[one.person],
                model_wins=plain_figure(one.model_wins, "", one.n_units, of_model),
                person_wins=plain_figure(one.person_wins, "", one.n_units, of_person),
                n_model_ahead=int(one.model_ahead.sum()),
                n_person_ahead=int(one.person_ahead.sum()),
                n_more=one.n_needed and one.n_needed - one.n_units,
            )
            for one, (of_model, of_person) in zip(test.people, intervals, strict=True)
        ],
        "left_out": [
            LeftOutPerson(id=person, name=names[person], n_units=n) for person, n in test.units_of_left_out.items()
        ],
    }


def _to_pass(test: AlternativeTest) -> ToPass | None:
    """What would decide an open case: against how many more people the checker must hold its own to pass, and the units
    that the nearest of them would have to label beyond what they labelled. None where it passes, where the test is
    undefined, and where the checker does worse than epsilon allows against too many people."""
    if test.passes is not False:
        return None
    n_people = math.ceil(len(test.people) / 2) - sum(one.rejected for one in test.people)
    more = sorted(one.n_needed - one.n_units for one in test.people if one.n_needed is not None)
    return ToPass(people=n_people, units=more[:n_people]) if len(more) >= n_people else None


def _sides(
    dimension: Dimension, test: AlternativeTest, coded: Labels, codes: np.ndarray, units: pd.DataFrame
) -> pd.DataFrame:
    """Of each label in the test who is closer to the other people, a key of SIDES; of people who take no part, those
    that would have counted. Columns of ROW, and `test`."""
    ids, parts = units["unit"].to_numpy(), []

    def add(person: str, unit: np.ndarray, side: np.ndarray | str) -> None:
        parts.append(pd.DataFrame({"unit": ids[unit], "rater": person, "test": side}))

    for one in test.people:
        add(one.person, one.unit, np.select([one.model_ahead, one.person_ahead], ["checker", "person"], "tied"))
    usable = (np.bincount(coded.unit, minlength=coded.n_units) > 1) & (codes >= 0)
    for person in test.units_of_left_out:
        unit = coded.unit[coded.rater == coded.rater_names.index(person)]
        add(person, unit[usable[unit]], "few")
    return pd.concat([pd.DataFrame(columns=[*ROW, "test"]), *parts], ignore_index=True).assign(dimension=dimension.slug)
