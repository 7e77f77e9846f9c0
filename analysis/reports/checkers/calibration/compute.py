"""How well each version of a prompt agrees with people, on the part that it was tuned on and on the one held out."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.reports.checkers.alternative_annotator.report import EPSILON, MIN_UNITS
from analysis.reports.checkers.calibration.report import (
    IS_EQUAL,
    NO_RUN,
    CalibratedQuestion,
    PromptCalibration,
    TriedVersion,
)
from analysis.reports.estimates import cluster_codes, coded_labels, to_figure
from analysis.reports.labels.derived import derived_from, fields_of_question
from analysis.reports.labels.judgements import add_judgements, new_items
from analysis.reports.labels.raters import NO_PEOPLE
from analysis.reports.labels.reference import as_answered, checker_codes, references
from analysis.sources.base import Source, dimensions_to_show
from analysis.sources.outline import SLOT, Run
from analysis.sources.touched import latest, untouched
from analysis.stats import AlternativeTest, Labels, alternative_annotator_test, classification, cohen_kappa
from annotation.machines.runs.workers import CALIBRATION
from annotation.task_types import Dimension


def compute(
    source: Source,
    *,
    epsilon: float = EPSILON,
    min_units: int = MIN_UNITS,
    touched: bool = False,
    quick: bool = False,
) -> tuple[PromptCalibration, Items]:
    """Of each finished run of a prompt, against the majority of the labels of people that it did not touch; with
    `touched`, of all of their last labels. `epsilon` and `min_units` are those of the alternative annotator test. Wrong
    values raise ValueError."""
    if not (math.isfinite(epsilon) and 0 <= epsilon <= 1):
        raise ValueError(f"epsilon lies between 0 and 1, not {epsilon}")
    if min_units < 2:
        raise ValueError(f"min_units is at least 2, not {min_units}")
    runs = [run for run in source.labelling_runs() if CALIBRATION in run.provenance]
    if not runs:
        raise ValueError(NO_RUN)
    runs.sort(key=lambda run: (run.provenance[CALIBRATION]["part"], run.provenance[CALIBRATION]["version"], run.uuid))
    units = source.unit_frame(source.type.unit_kind)
    labels = source.label_frame(units, every_revision=True)
    everything = latest(labels)
    kind = as_answered(source.type, everything)
    items = new_items(units)
    add_judgements(items, kind, everything)
    dimensions = [one for one in dimensions_to_show(kind, everything) if one.role]
    rows: dict[str, list[TriedVersion]] = {one.slug: [] for one in dimensions}
    for run in runs:
        mine = everything if touched else untouched(source, labels, run)
        reference = references(kind, source, "majority", units, mine)
        predicted = checker_codes(kind, units, source.suggestion_frame(run))
        failed = units["unit"].isin(source.failure_frame(run)["unit"]).to_numpy()
        items.add_flag(f"failed.{run.uuid}", f"Without an answer of {run.name}", failed)
        for dimension in dimensions:
            codes, of_people = predicted[dimension.slug][0], reference[dimension.slug].code
            both = (codes >= 0) & (of_people >= 0)
            parts = {"equal": both & (codes == of_people), "other": both & (codes != of_people)}
            title = f"{dimension.title}: {run.name}, prompt {run.provenance[CALIBRATION]['version']}"
            items.add_parts(f"{dimension.slug}.{run.uuid}", title, parts, IS_EQUAL)
            by_people = mine[(mine["rater_kind"] != SLOT) & (mine["dimension"] == dimension.slug)]
            test = alternative_annotator_test(
                coded_labels(by_people, units, dimension.values),
                codes,
                epsilon=epsilon,
                scoring="equal" if dimension.level == "nominal" else "rmse",
                values=[float(place) for place in range(len(dimension.values))],
                min_units=min_units,
            )
            rows[dimension.slug].append(
                TriedVersion(
                    run=run.uuid,
                    **_about(run),
                    n_suggestions=int((codes >= 0).sum()),
                    n_failed=int(failed.sum()),
                    n_touched=len(everything) - len(mine),
                    **_agreement(dimension, units, of_people, codes, quick=quick),
                    **_tested(test, len(by_people), quick=quick),
                )
            )
    tested = {run.provenance[CALIBRATION]["version"] for run in runs if run.provenance[CALIBRATION]["part"] == "test"}
    return PromptCalibration(
        epsilon=epsilon,
        min_units=min_units,
        touched=touched,
        n_units=len(units),
        n_tested=len(tested),
        dimensions=[
            CalibratedQuestion(**fields_of_question(one, derived_from(kind)), versions=rows[one.slug])
            for one in dimensions
        ],
    ), items


def _about(run: Run) -> dict:
    tried = run.provenance[CALIBRATION]
    return {
        "version": tried["version"],
        "part": tried["part"],
        "model": str(run.provenance.get("model", "")),
        "reasoning": str(run.parameters.get("reasoning", "")),
    }


def _agreement(dimension: Dimension, units: pd.DataFrame, people: np.ndarray, run: np.ndarray, *, quick: bool) -> dict:
    cluster = cluster_codes(units)
    labels = Labels.of_two(people, run, dimension.values, cluster, ("people", "run"))
    return {
        "agreement": to_figure(classification(people, run, dimension.values, cluster).accuracy, quick=quick),
        "kappa": to_figure(cohen_kappa(labels, "people", "run"), quick=quick),
    }


def _tested(test: AlternativeTest, n_labels: int, *, quick: bool) -> dict:
    return {
        "passes": test.passes,
        "why_untested": test.winning_rate.undefined if n_labels else NO_PEOPLE,
        "winning_rate": to_figure(test.winning_rate, quick=quick),
        "advantage": to_figure(test.advantage, quick=quick),
        "n_people": len(test.people),
    }
