"""How many more labels make an interval narrow enough, from what the labels so far say about people and labels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.figures.results import number
from analysis.reports.estimates import coded_labels, to_figure
from analysis.reports.labels.judgements import add_judgements, new_items, without_further
from analysis.reports.labels.reference import codes_of
from analysis.reports.planning.planning.report import (
    FULL,
    JUDGEMENTS,
    LABELLED,
    MOST_JUDGEMENTS,
    SETS,
    SHARED,
    TARGET,
    LabelPlan,
    NeededForAlpha,
    PlannedWidth,
    Planning,
    QuestionPlan,
    UnitsNeeded,
    Widths,
)
from analysis.sources.base import Source, dimensions_to_show
from analysis.sources.outline import SLOT, Run
from analysis.sources.touched import latest, untouched
from analysis.stats import (
    Labels,
    Needed,
    Pilot,
    Planned,
    judgements_needed,
    krippendorff_alpha,
    pilot_of,
    planned_alpha,
    planned_rate,
    units_needed,
)
from annotation.task_types import Dimension

# Studies simulated per number; the number of units that a width takes is then known to 1 or 2 %.
STUDIES = 500
SIZES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000)
FEW_SHARED = 30
CONDITIONAL = "asked about some units only, and it is unknown which of the others it would be asked about"


def compute(
    source: Source,
    *,
    target: float = TARGET,
    judgements: int = JUDGEMENTS,
    run: str = "",
    touched: bool = False,
    quick: bool = False,
) -> tuple[Planning, Items]:
    """The report on planning: expected half widths of 95 % intervals of alpha and of each label's share, and how many
    units with so many `judgements` each bring them down to `target`. With a run, shares also by prediction-powered
    inference; only labels that its checker did not touch are then the pilot, unless `touched`. Wrong values raise
    ValueError.
    """
    if not 0 < target < 1:
        raise ValueError(f"target lies between 0 and 1, not {target}")
    if not 2 <= judgements <= MOST_JUDGEMENTS:
        raise ValueError(f"judgements lie between 2 and {MOST_JUDGEMENTS}, not {judgements}")
    chosen = _labelling(source, run)
    kind = source.type
    units = source.unit_frame(kind.unit_kind)
    labels, _ = without_further(source, source.label_frame(units, every_revision=True), False)
    people = untouched(source, labels, chosen) if chosen and not touched else latest(labels)
    suggested = source.suggestion_frame(chosen) if chosen else None
    items = new_items(units, runs=[chosen.uuid if chosen else ""])
    add_judgements(items, kind, people, latest(labels))
    questions = []
    for dimension in dimensions_to_show(kind, latest(labels)):
        mine = people[people["dimension"] == dimension.slug]
        machine = codes_of(dimension, units, suggested) if suggested is not None else None
        questions.append(_question(items, dimension, mine, units, machine, target, judgements, quick))
    return Planning(
        target=target,
        judgements=judgements,
        run=chosen.uuid if chosen else "",
        checker=chosen.name if chosen else "",
        touched=touched,
        n_units=len(units),
        n_studies=STUDIES,
        dimensions=questions,
        notes=_notes(questions),
    ), items


def _labelling(source: Source, run: str) -> Run | None:
    if not run:
        return None
    chosen = source.run(run)
    if chosen.gives != "labels":
        raise ValueError(
            f"{chosen.name} gives scores and no labels, so it does not say how common a label is: choose another run"
        )
    return chosen


def _notes(questions: list[QuestionPlan]) -> list[str]:
    notes = [
        "People err independently of each other in this model, given the true label. Where some items are harder than "
        "others, or new people come, intervals will be somewhat wider."
    ]
    few = [one.title for one in questions if not one.undefined and one.n_shared < FEW_SHARED]
    if few:
        notes.append(f"A pilot of fewer than {FEW_SHARED} units with two labels is a rough guess: {', '.join(few)}.")
    return notes


def _question(
    items: Items,
    dimension: Dimension,
    labels: pd.DataFrame,
    units: pd.DataFrame,
    machine: np.ndarray | None,
    target: float,
    judgements: int,
    quick: bool,
) -> QuestionPlan:
    level = dimension.level
    coded = _coded(labels, units, dimension)
    per_unit = np.bincount(coded.unit, minlength=coded.n_units)
    pilot = pilot_of(coded, machine)
    has = {LABELLED: per_unit > 0, SHARED: per_unit > 1, FULL: per_unit >= judgements}
    items.add_sets(dimension.slug, dimension.title, {name: (SETS[name], where) for name, where in has.items()})
    n_full = int(has[FULL].sum())
    plans: dict = {"widths": [], "needed": None, "rates": []}
    if not pilot.undefined:
        many = {2, 3, 5, judgements}
        sizes = sorted(n for n in {*SIZES, len(units)} if n >= 2)
        plans["widths"] = _widths(lambda n, k: _alpha(pilot, n, k, level), sizes, many)
        plans["needed"] = _needed_for_alpha(pilot, level, target, judgements, n_full)
        have = int(has[LABELLED].sum())
        plans["rates"] = _rates(
            pilot, dimension, target, judgements, len(units), have, machine is not None, sizes, many
        )
    return QuestionPlan(
        dimension=dimension.slug,
        title=dimension.title,
        level=level,
        undefined=pilot.undefined,
        n_labelled=int(has[LABELLED].sum()),
        n_shared=int(has[SHARED].sum()),
        n_full=n_full,
        n_labels=coded.n_labels,
        cluster_size=pilot.cluster_size,
        correlation=number(pilot.correlation),
        alpha=to_figure(krippendorff_alpha(coded, level), quick=quick),
        **plans,
    )


def _widths(plan: Callable[[int, int], Planned], sizes: list[int], judgements: set[int]) -> list[Widths]:
    """The plans for every number of units with every number of judgements each."""
    return [Widths(judgements=k, plans=[PlannedWidth.taking(plan(n, k)) for n in sizes]) for k in sorted(judgements)]


def _coded(labels: pd.DataFrame, units: pd.DataFrame, dimension: Dimension) -> Labels:
    return coded_labels(labels, units, dimension.values, exchangeable=bool((labels["rater_kind"] == SLOT).any()))


def _alpha(pilot: Pilot, n: int, k: int, level: str) -> Planned:
    return planned_alpha(pilot, n, k, level, n_studies=STUDIES)


def _needed(needed: Needed, have: int) -> UnitsNeeded:
    """What a plan takes, and how many units more than there are."""
    if needed.plan is None:
        return _nothing_needed(needed.undefined)
    plan = needed.plan
    return UnitsNeeded(
        n_units=plan.n_units,
        more_units=max(plan.n_units - have, 0),
        judgements=plan.n_raters,
        half_width=number(plan.half_width),
        undefined="",
    )


def _needed_for_alpha(pilot: Pilot, level: str, target: float, judgements: int, have: int) -> NeededForAlpha:
    """By more units, or by more judgements of the units that have that many already."""
    by_units = units_needed(lambda n: _alpha(pilot, n, judgements, level), target, start=max(have, _start(pilot)))
    by_judgements = judgements_needed(lambda k: _alpha(pilot, max(have, 2), k, level), target, most=MOST_JUDGEMENTS)
    return NeededForAlpha(
        now=PlannedWidth.taking(_alpha(pilot, have, judgements, level)),
        by_units=_needed(by_units, have),
        by_judgements=_needed(by_judgements, have),
    )


def _start(pilot: Pilot) -> int:
    """Where a search begins: with a few clusters at least."""
    return max(100, 4 * pilot.cluster_size)


def _rates(
    pilot: Pilot,
    dimension: Dimension,
    target: float,
    judgements: int,
    n_units: int,
    have: int,
    with_machine: bool,
    sizes: list[int],
    many: set[int],
) -> list[LabelPlan]:
    rows, start = [], _start(pilot)
    for place, label in enumerate(dimension.labels):

        def alone(n: int, k: int = 1, place: int = place) -> Planned:
            return planned_rate(pilot, place, n, k)

        def together(n: int, place: int = place) -> Planned:
            return planned_rate(pilot, place, n, 1, n_others=max(n_units - n, 1))

        checker = None
        if with_machine and dimension.asked_when is None:
            checker = _needed(units_needed(together, target, start, most=max(n_units - 1, 2)), have)
        elif with_machine:
            checker = _nothing_needed(CONDITIONAL)
        rows.append(
            LabelPlan(
                label=label.value,
                title=label.title,
                now=PlannedWidth.taking(alone(have)),
                one=_needed(units_needed(alone, target, start), have),
                several=_needed(units_needed(lambda n, plan=alone: plan(n, judgements), target, start), have),
                checker=checker,
                # One person's judgements have a share, though no agreement.
                widths=_widths(alone, sizes, {1, *many}),
            )
        )
    return rows


def _nothing_needed(reason: str) -> UnitsNeeded:
    return UnitsNeeded(n_units=None, more_units=None, judgements=None, half_width=None, undefined=reason)
