"""Every checker and every person against one reference, and every checker against every single person."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from msgspec import UNSET

from analysis.figures.items import Items
from analysis.figures.results import Figure
from analysis.reports.checkers.comparison.result import Labeller, Labellers, PosteriorAccuracy, WithPerson
from analysis.reports.checkers.comparison.significance import significance
from analysis.reports.common import DAWID_SKENE, OF_PEOPLE
from analysis.reports.estimates import cluster_codes, to_figure
from analysis.reports.labels.derived import with_derived_labels
from analysis.reports.labels.raters import people_of
from analysis.reports.labels.reference import Reference, checker_codes, codes_of, dawid_skene_of, references
from analysis.sources.base import Source
from analysis.sources.final import FinalDecisions
from analysis.sources.outline import SLOT, Run
from analysis.stats import Estimate, classification, expected_accuracy, paired_accuracy
from annotation.task_types import Dimension, TaskType

# Columns of a table that can still be read; those who labelled most are listed.
MAX_PEOPLE = 20

Codes = Mapping[str, np.ndarray]  # dimension -> a code per unit, -1 for none


def labellers(
    items: Items,
    source: Source,
    kind: TaskType,
    units: pd.DataFrame,
    counted: pd.DataFrame,
    reference: str,
    from_everybody: dict[str, Reference],
    codes: Mapping[Run, Codes],
    dimensions: list[Dimension],
    judged: str,
    final: FinalDecisions | None = None,
    *,
    all: bool,
) -> dict[str, Labellers]:
    """By dimension, how close every checker and every person is to the reference; with `all` also every checker to the
    posterior of Dawid-Skene, and to every person.

    `counted` are the people's labels that count, the table `judged` of the items; `from_everybody` is the reference
    made of them, `codes` what each run says, first the one that is compared. A reference made of people's labels is
    made of those of the others for a person, since their own label is part of it otherwise; and so that the two can
    be compared, the first run is held against the same others on the person's units. `final` are the decisions that
    count where the reference is final labels.
    """
    of_people = counted[counted["rater_kind"] != SLOT]
    who = people_of(source)
    n_labels = of_people["rater"].value_counts()
    # Who is listed must not depend on names, which a release's files do not have.
    everybody = sorted(n_labels.index, key=lambda rater: (-int(n_labels[rater]), rater))
    listed = sorted(everybody[:MAX_PEOPLE], key=lambda rater: (-int(n_labels[rater]), who[rater].name))
    labels: dict[str, Codes] = {}
    compared_with: dict[str, dict[str, Reference]] = {}
    for rater in listed:
        mine = of_people[of_people["rater"] == rater]
        labels[rater] = {dimension.slug: codes_of(dimension, units, mine) for dimension in dimensions}
        compared_with[rater] = from_everybody
        if reference in OF_PEOPLE:
            # The model takes no slots, which have no errors of their own.
            others = of_people if reference == DAWID_SKENE else counted
            others = others[others["rater"] != rater]
            compared_with[rater] = references(kind, source, reference, units, others, final=final)
    rows = {}
    for dimension in dimensions:
        slug = dimension.slug
        by = {run.uuid: codes[run][slug] for run in codes} | {rater: labels[rater][slug] for rater in listed}
        against = {run.uuid: from_everybody[slug] for run in codes}
        against |= {rater: compared_with[rater][slug] for rater in listed}
        names = {run.uuid: ("checker", run.name) for run in codes}
        names |= {rater: ("person", who[rater].name) for rater in listed}
        first = next(iter(codes.values()))[slug]
        for one, (what, name) in names.items():
            run = one if what == "checker" else ""
            _add_labeller(items, dimension, one, name, by[one], against[one].code, run, judged)
        rows[slug] = Labellers(
            labellers=[
                Labeller(kind=what, id=one, name=name, **_measures(dimension, against[one].code, by[one], units))
                for one, (what, name) in names.items()
            ],
            posterior=_posterior(dimension, units, of_people, codes) if all else UNSET,
            people=[who[rater].name for rater in listed],
            against_people=[
                [_accuracy(dimension, by[rater], by[run.uuid], units) for rater in listed]
                for run in (codes if all else ())
            ],
            n_people_not_listed=len(everybody) - len(listed),
            with_people=[
                one
                for rater in listed
                if (
                    one := _with_person(dimension, against[rater].code, first, by[rater], units, rater, names[rater][1])
                )
            ],
        )
    return rows


def _add_labeller(
    items: Items,
    dimension: Dimension,
    who: str,
    name: str,
    labels: np.ndarray,
    reference: np.ndarray,
    run: str,
    judged: str,
) -> None:
    """One labeller's labels, and where they equal the reference's."""
    of = {"run": run, "judged": judged}
    items.add_labels(f"{dimension.slug}.by.{who}", f"{dimension.title} by {name}", labels, dimension, **of)
    same = np.where((labels >= 0) & (reference >= 0), labels != reference, -1)
    items.add(
        f"{dimension.slug}.right.{who}",
        f"{dimension.title}: {name} and the reference",
        same,
        {"same": "the same label", "other": "different labels"},
        **of,
    )


def codes_of_runs(source: Source, kind: TaskType, units: pd.DataFrame, runs: list[Run]) -> dict[Run, Codes]:
    """What each run says, by dimension; derived labels too."""
    codes = {}
    for run in runs:
        suggested = checker_codes(kind, units, with_derived_labels(kind, source.suggestion_frame(run)))
        codes[run] = {slug: code for slug, (code, _) in suggested.items()}
    return codes


def on_same_units(codes: Mapping[Run, Codes], dimensions: list[Dimension]) -> dict[Run, Codes]:
    """What each run says of the units that all of them label, dimension by dimension. A run without any label of a
    dimension takes part in it nowhere, and shrinks it for nobody."""
    restricted: dict[Run, dict] = {run: dict(by) for run, by in codes.items()}
    for slug in (dimension.slug for dimension in dimensions):
        taking_part = [run for run in codes if (codes[run][slug] >= 0).any()]
        shared = np.all([codes[run][slug] >= 0 for run in taking_part], axis=0)
        for run in taking_part:
            restricted[run][slug] = np.where(shared, codes[run][slug], -1)
    return restricted


def _measures(
    dimension: Dimension, reference: np.ndarray, labels: np.ndarray, units: pd.DataFrame
) -> dict[str, Figure]:
    measures = classification(reference, labels, dimension.values, cluster_codes(units))
    return {"accuracy": _figure(measures.accuracy), "macro_f1": _figure(measures.macro_f1)}


def _with_person(
    dimension: Dimension,
    reference: np.ndarray,
    run: np.ndarray,
    person: np.ndarray,
    units: pd.DataFrame,
    who: str,
    name: str,
) -> WithPerson | None:
    """None where they share no unit that the reference decides."""
    found = paired_accuracy(reference, run, person, len(dimension.values), cluster_codes(units))
    if not found.n_pairable:
        return None
    return WithPerson(
        id=who,
        name=name,
        n_pairable=found.n_pairable,
        checker=found.accuracy_a,
        person=found.accuracy_b,
        n_only_checker=found.only_a_right,
        n_only_person=found.only_b_right,
        test=significance(found.test),
    )


def _accuracy(dimension: Dimension, person: np.ndarray, labels: np.ndarray, units: pd.DataFrame) -> Figure:
    return _figure(classification(person, labels, dimension.values, cluster_codes(units)).accuracy)


def _figure(estimate: Estimate) -> Figure:
    return to_figure(estimate, quick=False)


def _posterior(
    dimension: Dimension, units: pd.DataFrame, labels: pd.DataFrame, codes: Mapping[Run, Codes]
) -> PosteriorAccuracy:
    """Each checker's expected accuracy by the posterior of Dawid-Skene over the people who have names."""
    fit = dawid_skene_of(dimension, units, labels)
    return PosteriorAccuracy.taking(
        fit,
        n_raters=len(fit.rater_names),
        expected_accuracy=[
            _figure(expected_accuracy(fit.posterior, codes[run][dimension.slug], cluster_codes(units))) for run in codes
        ],
    )
